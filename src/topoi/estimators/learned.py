"""What the chains of one model leave: the attributes of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.chain.diagnostics import rhat_ess
from topoi.chain.loop import Run, Schedule
from topoi.chain.model import TopicModel
from topoi.estimators.number_of_topics import found_by
from topoi.estimators.problem import Problem, SupervisedProblem
from topoi.predict.scores import Chain


def learned(problem: Problem, runs: list[Run], schedule: Schedule) -> dict[str, Any]:
    """Fitted attributes by name, of the chains that have learned a problem; the best chain becomes the model."""
    best = best_of(runs)
    found = {
        "_seed": problem.seed,
        "model_": best.model,
        "doc_topic_prior_": best.model.alpha,
        "topic_word_prior_": best.model.beta,
        "traces_": [np.column_stack((run.trace.sweep, run.trace.log_joint)) for run in runs],
        "log_joint_": np.column_stack((best.trace.sweep, best.trace.log_joint)),
        "n_sweeps_": best.n_sweeps,
        "stopped_": best.stopped,
        "n_iter_": best.n_sweeps,
        "chains_": [run.model for run in runs],
        "rhat_": _rhat([run.trace.after(schedule.n_burn_in) for run in runs]),
        **found_by(best),
    }
    if best.doc_topic is not None:
        found["doc_topic_"] = best.doc_topic
    if problem.watch is not None:
        found["validation_traces_"] = [np.column_stack((run.trace.sweep, run.trace.held_out)) for run in runs]
        found["validation_measure_"] = problem.watch.measure
    return found


def learned_with_weights(problem: SupervisedProblem, runs: list[Run], schedule: Schedule) -> dict[str, Any]:
    """The same of a problem with targets: also the loss, and the weights of the topics in units of its scores."""
    chains = [Chain(run.model, run.weights, run.beside) for run in runs]
    return learned(problem, runs, schedule) | {
        "_chains": chains,
        "response_": problem.response,
        **weights_of(chains, best_of(runs).model, problem.response.unit),
    }


def weights_of(chains: list[Chain], best: TopicModel, unit: float) -> dict[str, Any]:
    """Fitted attributes: the weights of the topics of the best chain, whose model is `best`, and how sure they are."""
    weights = next(chain.weights for chain in chains if chain.model is best)
    return {
        "topic_weights_": weights.mean(0).astype(np.float64) / unit,
        "topic_weights_std_": weights.std(0).astype(np.float64) / unit,
    }


def best_of(runs: list[Run]) -> Run:
    """The chain with the highest log joint in the end."""
    return max(runs, key=lambda run: run.trace.log_joint[-1] if run.trace.log_joint else -np.inf)


def _rhat(traces: list[list[float]]) -> float:
    """R-hat of the log joint over the chains; chains that stopped early are compared over the sweeps of all."""
    shortest = min(map(len, traces))
    return rhat_ess(np.array([trace[:shortest] for trace in traces]).reshape(len(traces), shortest))["rhat"]

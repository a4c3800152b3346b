"""topoi as a competitor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Problem, priors
from benchmarks.harness import Recorder
from topoi.chain.loop import Progress, Rules, Schedule, run
from topoi.chain.model import TopicModel, sample_counts
from topoi.chain.plan import make_plan
from topoi.chain.priors import fixed_priors
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus

WARM_UP_DOCUMENTS = 200


def start(corpus: Corpus, n_topics: int, seed: int) -> State:
    """A fresh state with the priors of the comparison."""
    alpha, beta = priors(n_topics)
    return new_state(corpus, fixed_priors(np.full(n_topics, alpha), beta), seed)


def last_model(state: State) -> TopicModel:
    """The state's only sample as a model."""
    counts = sample_counts(state)
    return TopicModel(counts, counts, 1, fixed_priors(state.alpha, state.beta))


def small_corpus(problem: Problem) -> Corpus:
    """A few documents with a vocabulary of their own: the same types as the real corpus, hardly any work."""
    rows = problem.train[:WARM_UP_DOCUMENTS]
    return Corpus.from_counts(rows[:, np.unique(rows.indices)])


def warm_up(problem: Problem, sampler: str, n_topics: int) -> None:
    """Have the kernels of all samplers of a plan compiled, or read from the cache."""
    plan = make_plan(sampler, problem.corpus, n_topics)
    run(start(small_corpus(problem), n_topics, 0), plan, Schedule(4 * max(plan.opening, 1), 1))


def fit(sampler: str, problem: Problem, n_topics: int, seed: int, recorder: Recorder) -> None:
    """Run the estimator's own loop with a plan, a sampler's or "auto"; everything but reading the data counts."""
    corpus = problem.corpus
    warm_up(problem, sampler, n_topics)
    n_sweeps = max(recorder.check_points)
    recorder.begin()
    state = start(corpus, n_topics, seed)

    def topics() -> NDArray[Any]:
        return last_model(state).topic_word()

    def callback(progress: Progress) -> bool:
        return recorder.step(topics)

    plan = make_plan(sampler, corpus, n_topics)
    run(state, plan, Schedule(n_sweeps, 1), Rules(evaluate_every=n_sweeps + 1), callbacks=[callback])

"""The only loop: sweeps, updates of priors, callbacks, kept samples, budgets, and a way out that loses nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Journal
from topoi.chain.engines.local import Engine, Local
from topoi.chain.merging import find_joins
from topoi.chain.model import TopicModel, check_whole, join_columns
from topoi.chain.plan import Plan
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samples import Samples, Trace, Watch
from topoi.chain.small_topics import find_places
from topoi.chain.state import State
from topoi.errors import ParameterError


@dataclass(frozen=True)
class Schedule:
    """`n_sweeps` sweeps, of which the first `burn_in` are thrown away and `n_samples` of the rest are kept."""

    n_sweeps: int = 200
    n_samples: int = 10
    burn_in: int | None = None

    def __post_init__(self) -> None:
        check_whole("n_sweeps", self.n_sweeps)
        check_whole("n_samples", self.n_samples)
        if self.burn_in is None:
            return
        check_whole("burn_in", self.burn_in, 0)
        if self.burn_in >= self.n_sweeps:
            raise ParameterError(
                "burn_in", f"must be from 0 to n_sweeps - 1 = {self.n_sweeps - 1}, not {self.burn_in!r}"
            )

    @property
    def n_burn_in(self) -> int:
        """Sweeps before the first sample may be kept: half of them unless said otherwise."""
        return self.n_sweeps // 2 if self.burn_in is None else self.burn_in

    @property
    def kept(self) -> frozenset[int]:
        """Sweeps (counted from 1) after which a sample is kept: evenly spaced after the burn-in, the last included."""
        room = self.n_sweeps - self.n_burn_in
        n = min(self.n_samples, room)
        return frozenset(self.n_sweeps - (j * room) // n for j in range(n))


@dataclass(frozen=True)
class Progress:
    """What a callback is told after every sweep; `log_joint` and `held_out` are None between their evaluations."""

    sweep: int
    n_sweeps: int
    n_burn_in: int
    chain: int
    sampler: str
    seconds: float
    tokens_per_second: float
    log_joint: float | None
    info: dict[str, float]
    model: int = 0  # which one, where a fit has several (a classifier with a model per class)
    held_out: float | None = None  # the score of documents that are not learned from, if there are some
    measure: str = ""  # its name
    bytes_read: int = 0  # of files, with an engine, since the callback before: by all tasks, and by the driver
    bytes_written: int = 0


#: Called after every sweep; the run stops if it returns True.
Callback = Callable[[Progress], bool | None]


@dataclass
class Run:
    """What a run leaves: the model, the topic shares of its documents, the trace, and why it ended."""

    model: TopicModel
    doc_topic: NDArray[np.float32] | None  # None if nobody wants them
    trace: Trace
    state: State  # without topics where an engine other than `Local` has them; also of topics that the model has not
    n_sweeps: int
    seconds: float
    weights: NDArray[np.float32]  # η of every kept sample (samples, tasks, K); no samples without responses
    stopped: str  # "finished", "callback", "time", "converged" or "interrupted"
    counts: sparse.csr_array  # word–topic counts (V, K) of the last sweep
    topics: Callable[[NDArray[np.int64]], NDArray[np.int64]]  # of the tokens of some documents, after the last sweep
    beside: dict[str, NDArray[Any]]  # what else the samples hold (samples, tasks, …), see `Supervision.beside`


@dataclass(frozen=True)
class Rules:
    """When to evaluate, and when to stop early; every rule that stops is off by default."""

    evaluate_every: int = 10
    max_seconds: float | None = None
    tol: float | None = None  # stop when the log joint gains less than this share of itself, three times running


def run(
    state: State,
    plan: Plan,
    schedule: Schedule,
    rules: Rules | None = None,
    pool: Pool | None = None,
    callbacks: Sequence[Callback] = (),
    interrupted: Callable[[], bool] = lambda: False,
    chain: int = 0,
    model: int = 0,
    journal: Journal | None = None,
    watch: Watch | None = None,
    engine: Engine | None = None,
    of_documents: bool = True,
) -> Run:
    """Run the chain of `state` (which is changed) to the end of the schedule, or until a rule stops it.

    With a journal it goes on where the journal's last checkpoint is, and writes others. A watch scores the model so far
    whenever the log joint is evaluated; the chain does not depend on it. Without an engine the topics are in `state`,
    and are moved on the threads of `pool`. Without `of_documents` the run leaves no topic shares of its documents.
    """
    rules, pool = rules or Rules(), pool or Pool(1)
    engine = engine or Local(state, pool)
    trace, samples, kept = Trace(watched=watch.key if watch else ""), Samples(of_documents), schedule.kept
    if journal is not None:
        engine.resume(journal, samples, trace)
    begun = time.perf_counter()
    sweep, last = state.sweep, schedule.n_sweeps
    stopped = "finished"
    if rules.tol is not None and trace.settled(rules.tol):  # it had ended when it was killed, or is called again
        stopped, last = "converged", sweep
    for sweep in range(state.sweep + 1, last + 1):
        kind = SAMPLERS[plan.sampler(sweep - 1, schedule.n_burn_in)]
        before = time.perf_counter()
        parts, priors = plan.groups_of(sweep - 1, schedule.n_burn_in), state.priors
        if parts > 1:
            engine.join(np.arange(state.n_topics) // parts)
        info = engine.sweep(kind, plan.options or {})
        if parts > 1:  # every sweep ends with all topics, whatever comes between it and the next
            engine.divide(parts, priors)
        rate = state.corpus.n_tokens / max(time.perf_counter() - before, 1e-9)

        if state.priors.due(sweep):
            engine.update_priors()
            trace.follow(sweep, state.priors.topics.figures())
            info = info | state.priors.topics.figures()
        if state.priors.topics.settles(sweep) and (joins := find_joins(engine)) is not None:
            engine.join(joins)
        value = None
        if sweep % rules.evaluate_every == 0 or sweep == schedule.n_sweeps:
            value = engine.log_joint()
            trace.sweep.append(sweep)
            trace.log_joint.append(value)
        if sweep in kept:
            engine.keep(samples)
        score = None
        if watch is not None and value is not None:
            score = samples.watched(watch, state, engine.counts, pool)
            trace.held_out.append(score)

        seconds = time.perf_counter() - begun
        told = (sweep, schedule.n_sweeps, schedule.n_burn_in, chain, kind.name, seconds, rate, value, info, model)
        moved = engine.moved()
        progress = Progress(*told, score, watch.measure if watch else "", moved.read, moved.written)
        wishes = [callback(progress) for callback in callbacks]  # every callback hears of every sweep
        if sweep == schedule.n_sweeps:
            break
        if journal is not None and journal.due(sweep):
            engine.checkpoint(journal, samples, trace)
        if any(wish is True for wish in wishes):
            stopped = "callback"
        elif interrupted():
            stopped = "interrupted"
        elif rules.max_seconds is not None and seconds >= rules.max_seconds:
            stopped = "time"
        elif rules.tol is not None and trace.settled(rules.tol):
            stopped = "converged"
        else:
            continue
        break
    if journal is not None:
        engine.checkpoint(journal, samples, trace)
    if samples.n == 0:  # stopped before the first sample was due: the state as it is
        engine.keep(samples)
    counts = samples.last if samples.last is not None and samples.last_sweep == sweep else engine.counts()
    weights, found = np.array(samples.weights, np.float32), samples.model(state)
    places, number = find_places(found, counts, state.priors)
    if len(places) < state.n_topics:
        found, counts = found.joined(number), join_columns(counts, number)
        weights = weights[..., places] if len(weights) else weights
    return Run(
        found, engine.doc_topic(samples, number), trace, state, sweep, time.perf_counter() - begun, weights, stopped,
        counts, lambda documents: number[engine.topics(documents)], samples.kept_beside(),
    )  # fmt: skip

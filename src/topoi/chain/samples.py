"""What a run gathers: sums over the kept samples, the log joint, scores of documents that it does not learn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.model import TopicModel
from topoi.chain.state import State


@dataclass(frozen=True)
class Watch:
    """A `score` of the model so far, on documents that it does not learn from.

    It is given topics, weights (samples, tasks, K) and what else the samples hold, by name (samples, tasks, …).
    `measure` names the score; `key` is a hash of the documents: scores of others are not mixed with theirs.
    """

    measure: str
    key: str
    score: Callable[[TopicModel, NDArray[np.float32], dict[str, NDArray[Any]], Pool], float]


@dataclass
class Trace:
    """Over the run: `log_joint[j]` after sweep `sweep[j]` and, where there is a `Watch`, its score `held_out[j]`."""

    sweep: list[int] = field(default_factory=list)
    log_joint: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    watched: str = ""  # key of the watch; "" if there is none
    #: Numbers of the prior of topics (`TopicPrior.figures`) after each of its updates, and "sweep", by name.
    figures: dict[str, list[float]] = field(default_factory=dict)

    def follow(self, sweep: int, figures: Mapping[str, float]) -> None:
        """Enter numbers of a prior after a sweep."""
        for name, value in {"sweep": float(sweep), **figures}.items() if figures else ():
            self.figures.setdefault(name, []).append(value)

    def after(self, sweep: int) -> list[float]:
        """The log joints of later sweeps than `sweep`."""
        return [value for at, value in zip(self.sweep, self.log_joint, strict=True) if at > sweep]

    def settled(self, tol: float, times: int = 3) -> bool:
        """Whether the last `times` evaluations each gained less than the share `tol` of the value."""
        last = self.log_joint[-times - 1 :]
        gains = [(b - a) / abs(b) if b else np.inf for a, b in pairwise(last)]
        return len(gains) == times and all(gain < tol for gain in gains)


class Samples:
    """Sums over the kept samples; those of the topic shares of documents, the largest, only with `of_documents`."""

    def __init__(self, of_documents: bool = True) -> None:
        self.of_documents = of_documents
        self.counts: sparse.csr_array | None = None
        self.last: sparse.csr_array | None = None
        self.last_sweep = 0
        self.shares: NDArray[np.float32] | None = (
            None  # (D, K), unless an engine keeps them elsewhere or nobody wants them
        )
        self.n = 0
        self.weights: list[NDArray[np.float32]] = []
        self.beside: dict[str, list[NDArray[Any]]] = {}  # `Supervision.beside`
        self.draws: dict[str, list[NDArray[Any]]] = {}  # `TopicPrior.sampled`

    def add(self, state: State, counts: sparse.csr_array, total: sparse.csr_array | None = None) -> None:
        """Keep a sample: the word–topic counts (V, K) and the weights of the state as it is.

        `total` is the sum of these and all counts before, where an engine has made it.
        """
        self.last, self.last_sweep = counts, state.sweep
        if total is None:
            total = self.last if self.counts is None else self.counts + self.last
        self.counts = total
        if state.supervision is not None:
            self.weights.append(state.supervision.eta[:, : state.n_topics].copy())
            for name, array in state.supervision.beside.items():
                self.beside.setdefault(name, []).append(array.copy())
        for name, array in state.priors.topics.sampled().items():
            self.draws.setdefault(name, []).append(array.copy())
        self.n += 1

    def model(self, state: State) -> TopicModel:
        """The model of the samples so far."""
        assert self.counts is not None
        assert self.last is not None
        draws = {name: np.array(arrays) for name, arrays in self.draws.items()}
        return TopicModel(
            sparse.csr_array(self.counts), self.last, self.n, state.priors.given(None), state.corpus.vocabulary,
            draws=draws,
        )  # fmt: skip

    def watched(self, watch: Watch, state: State, now: Callable[[], sparse.csr_array], pool: Pool) -> float:
        """The score of the model that the run would leave if it ended now; nothing is changed."""
        if self.n:
            return watch.score(self.model(state), np.array(self.weights, np.float32), self.kept_beside(), pool)
        counts, s = now(), state.supervision
        model = TopicModel(counts, counts, 1, state.priors.given(None), state.corpus.vocabulary)
        weights = np.empty((0, 0, 0), np.float32) if s is None else s.eta[None, :, : state.n_topics]
        beside = {} if s is None else {name: array[None] for name, array in s.beside.items()}
        return watch.score(model, weights, beside, pool)

    def kept_beside(self) -> dict[str, NDArray[Any]]:
        """What the samples hold besides topics and weights, by name (samples, tasks, …)."""
        return {name: np.array(arrays) for name, arrays in self.beside.items()}

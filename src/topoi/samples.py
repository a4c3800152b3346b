"""What a run gathers: sums over the kept samples, and the log joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.model import TopicModel
from topoi.state import State


@dataclass
class Trace:
    """Log joint over the run: `log_joint[j]` after sweep `sweep[j]`."""

    sweep: list[int] = field(default_factory=list)
    log_joint: list[float] = field(default_factory=list)

    def after(self, sweep: int) -> list[float]:
        """The log joints of later sweeps than `sweep`."""
        return [value for at, value in zip(self.sweep, self.log_joint, strict=True) if at > sweep]

    def settled(self, tol: float, times: int = 3) -> bool:
        """Whether the last `times` evaluations each gained less than the share `tol` of the value."""
        last = self.log_joint[-times - 1 :]
        gains = [(b - a) / abs(b) if b else np.inf for a, b in pairwise(last)]
        return len(gains) == times and all(gain < tol for gain in gains)


class Samples:
    """Sums over the kept samples."""

    def __init__(self) -> None:
        self.counts: sparse.csr_array | None = None
        self.last: sparse.csr_array | None = None
        self.last_sweep = 0
        self.shares: NDArray[np.float32] | None = None  # (D, K), unless an engine keeps them elsewhere
        self.n = 0
        self.weights: list[NDArray[np.float32]] = []

    def add(self, state: State, counts: sparse.csr_array) -> None:
        """Keep a sample: the word–topic counts (V, K) and the weights of the state as it is."""
        self.last, self.last_sweep = counts, state.sweep
        self.counts = self.last if self.counts is None else self.counts + self.last
        if state.supervision is not None:
            self.weights.append(state.supervision.eta[:, : state.n_topics].copy())
        self.n += 1

    def model(self, state: State) -> TopicModel:
        """The model of the samples so far."""
        assert self.counts is not None
        assert self.last is not None
        return TopicModel(
            sparse.csr_array(self.counts), self.last, self.n, state.alpha, state.beta, state.corpus.vocabulary
        )

"""Delayed counts: the collapsed conditional with word–topic counts frozen for a sweep (after AD-LDA).

    p(z_i = k | rest) ≈ (n_dk⁻ + α_k) · (n_wk + β) / (n_k + Vβ),    n_wk, n_k as at the start of the sweep

Documents are independent, so the sweep is parallel, and there is no φ to draw. It is *not* exact: the frozen counts
still hold the token that moves. But it converges in fewer sweeps than a sampled φ, which makes it the burn-in kernel:
an exact sampler takes over afterwards. AD-LDA lets each processor update its own copy of the counts, so that its answer
depends on the number of processors; freezing them for all does not. For few topics, and under a tilt, all topics are
weighed with a dense table of counts; for many, rows are split (`topoi.chain.counts.split`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.counts.split import DENSE_SHARE, SPLIT_ABOVE, SplitRows
from topoi.chain.factors.tables import fill_counts
from topoi.chain.samplers.partial import Partial
from topoi.chain.samplers.split import move_split
from topoi.chain.state import State


class Delayed(Partial):
    """Sampler with counts frozen for a sweep."""

    name = "delayed"
    exact = False
    parallel = True
    factor = "delayed"
    draw = "gibbs"
    tilts = True
    cost = "O(topics of the word), at most O(K), sixteen topics at a time"
    reference = "Newman, Asuncion, Smyth & Welling (2009), Distributed algorithms for topic models, JMLR 10"
    bias = 0.138
    options: ClassVar = {"dense_up_to": 0, "dense_share": 0}

    def __init__(
        self, state: State, pool: Pool | None = None, dense_up_to: int = SPLIT_ABOVE, dense_share: int = DENSE_SHARE
    ) -> None:
        super().__init__(state, pool, dense_up_to)
        self.split = not self.dense and state.supervision is None
        self.dense_share = dense_share
        self.rows: SplitRows | None = None

    @property
    def needs_mass(self) -> bool:
        """Its draws do not need the masses of the prior's part."""
        return False

    def fill(self) -> None:
        """Freeze the counts in a dense table."""
        fill_counts(self.state, self.phi, self.pool)

    def begin(self) -> None:
        """Freeze the counts."""
        if not self.split:
            super().begin()
            return
        if self.rows is None:
            self.rows = SplitRows.empty(self.state, self.dense_share)
        self.rows.fill(self.state, self.pool)

    def move(self) -> list[Any]:
        """Move every token; on a cluster the counts come as a table."""
        if self.split and self.rows is None:
            self.rows = SplitRows.of_table(self.state, self.phi.table, self.dense_share)
        return super().move()

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> Any:
        """Move the tokens of documents first … last − 1 given the counts."""
        if self.rows is not None:
            return move_split(self.state, self.rows, self.alpha, first, last, stream, live=False)
        return super().block(first, last, stream)

    def word_factor(self) -> NDArray[np.float64]:
        """(n_wk + β)/(n_k + Vβ) of the sweep as an array (V, K)."""
        if self.rows is None:
            return super().word_factor()
        k = self.state.n_topics
        factor: NDArray[np.float64] = (self.rows.to_dense(k).astype(np.float64) + self.state.beta) * self.rows.scale[:k]
        return factor

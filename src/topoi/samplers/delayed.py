"""Delayed counts: the collapsed conditional with word–topic counts frozen for a sweep (after AD-LDA).

    p(z_i = k | rest) ≈ (n_dk⁻ + α_k) · (n_wk + β) / (n_k + Vβ),    n_wk, n_k as at the start of the sweep

Documents are independent, so the sweep is parallel, and there is no φ to draw. It is *not* exact: the frozen counts
still hold the token that moves. But it converges in fewer sweeps than a sampled φ, which makes it the burn-in kernel:
an exact sampler takes over afterwards. AD-LDA lets each processor update its own copy of the counts, so that its answer
depends on the number of processors; freezing them for all does not. For few topics, and under a tilt, all topics are
weighed with a dense table of counts; for many, rows are split (`topoi.split`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._pool import Pool
from topoi.samplers._fixed import sweep_dense
from topoi.samplers.base import Sampler
from topoi.samplers.partial import NO_COUNTS
from topoi.samplers.split import move_split
from topoi.split import DENSE_SHARE, SPLIT_ABOVE, SplitRows
from topoi.state import State
from topoi.tables import DenseFactor, fill_counts


class Delayed(Sampler):
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
        self,
        state: State,
        pool: Pool | None = None,
        dense_up_to: int = SPLIT_ABOVE,
        dense_share: int = DENSE_SHARE,
    ) -> None:
        super().__init__(state, pool)
        self.rows: SplitRows | None = None
        if state.n_topics > dense_up_to and state.supervision is None:
            self.rows = SplitRows.empty(state, dense_share)
        else:
            self.table = DenseFactor.empty(state)

    def begin(self) -> None:
        """Freeze the counts."""
        if self.rows is not None:
            self.rows.fill(self.state, self.pool)
        else:
            fill_counts(self.state, self.table, self.pool)

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> Any:
        """Move the tokens of documents first … last − 1 given the counts."""
        state = self.state
        if self.rows is not None:
            return move_split(state, self.rows, self.alpha, first, last, stream, live=False)
        if state.supervision is not None:
            return self.tilted_block(first, last, stream, self.table, NO_COUNTS, live=False)
        corpus, table = state.corpus, self.table
        return sweep_dense(
            corpus.words, corpus.doc_ptr, first, last, state.z, table.table, table.offset, table.scale, self.alpha,
            stream,
        )  # fmt: skip

    def word_factor(self) -> NDArray[np.float64]:
        """(n_wk + β)/(n_k + Vβ) of the sweep as an array (V, K)."""
        k = self.state.n_topics
        if self.rows is not None:
            counts, scale = self.rows.to_dense(k), self.rows.scale
        else:
            counts, scale = self.table.table[:, :k], self.table.scale
        factor: NDArray[np.float64] = (counts.astype(np.float64) + self.state.beta) * scale[:k]
        return factor

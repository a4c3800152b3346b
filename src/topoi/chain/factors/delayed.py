"""Delayed counts: those of the start of the sweep, for all of it (after AD-LDA).

    φ_wk = (n_wk + β) / (n_k + Vβ),    n_wk, n_k as at the start of the sweep

There is nothing to draw. Not exact: the counts still hold the token that moves. They are in a dense table or, with a
`share`, in rows of two kinds (`topoi.chain.counts.split`), which are quicker for many topics; or nowhere, for a sampler
that goes through words and counts the tokens of one at a time. A sampler whose blocks go on from them with counts of
their own has them `summed`: it needs n_k as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Numbers, PerWord
from topoi._machine.pool import Pool
from topoi.chain.counts.split import SplitRows
from topoi.chain.factors._table import TableFactor
from topoi.chain.factors.base import probabilities, scale_of_counts
from topoi.chain.state import State, topic_counts


class DelayedFactor(TableFactor):
    """Counts frozen for a sweep; with a `share` they are in `rows` and, in one process, in no table at all.

    Unless they are `stored` there is nothing but the topics that they follow from. If they are `summed`, `n_k` has
    their sums, padded, also where the table was made elsewhere.
    """

    name = "delayed"
    exact = False
    beta_per_word = True
    follows = frozenset({"rows", "n_k"})
    bias = 0.138
    reference = "Newman, Asuncion, Smyth & Welling (2009), Distributed algorithms for topic models, JMLR 10"

    def __init__(
        self, state: State, pool: Pool, masses: bool = False, share: int | None = None, stored: bool = True,
        summed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(state, pool, masses, share=share, stored=stored, summed=summed)
        self.share = share
        self.stored = stored
        self.summed = summed
        self.n_k = np.zeros(self.width)
        self.rows: SplitRows | None = None

    @property
    def offset(self) -> PerWord:
        """β, which is added to every count; of a table that has a β for each word in its rows, nothing."""
        if self._with_beta:
            return 0.0
        return self.state.beta

    @property
    def _with_beta(self) -> bool:
        """Whether `draw` adds β to the counts: that of each word to its row, once, and not in the kernels."""
        return self.stored and self.share is None and isinstance(self.state.beta, np.ndarray)

    def begin(self) -> None:
        """Freeze the counts."""
        if not self.stored:
            return
        if self.share is None:
            super().begin()
            return
        if self.rows is None:
            self.rows = SplitRows.empty(self.state, self.share)
        self.rows.fill(self.state, self.pool)
        self.set_scale([self.rows.n_k])

    def draw(self) -> Sequence[Numbers]:
        """Put the counts into the table; returns n_k. The order of sums of whole numbers does not matter."""
        n_k = np.sum(super().draw(), axis=0)
        if self._with_beta:
            self.table[:, : self.state.n_topics] += np.asarray(self.state.beta)[:, None]
        return [n_k]

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """1/(n_k + Vβ)."""
        k = self.state.n_topics
        self.n_k = np.sum(sums, axis=0)
        self.scale[:k] = scale_of_counts(self.n_k[:k], self.state.beta_sum)

    def opened(self) -> None:
        """Rows of the two kinds, or sums, from a table that was made elsewhere."""
        if self.share is not None:
            self.rows = SplitRows.of_table(self.state, self.table, self.share)
        if self.summed:
            self.n_k = self.table.sum(0, dtype=np.float64)

    def to_dense(self) -> NDArray[np.float64]:
        """φ of the sweep as an array (V, K)."""
        if not self.stored:
            n_wk = topic_counts(self.state)[0] + (self.state.base_table if len(self.state.base_table) else 0.0)
            return probabilities(n_wk, self.offset, scale_of_counts(n_wk.sum(0), self.state.beta_sum))
        if self.rows is None:
            return super().to_dense()
        return probabilities(self.rows.to_dense().astype(np.float64), self.offset, self.scale[: self.state.n_topics])

"""Live counts: φ integrated out, its place taken by the counts of all tokens but the one that moves.

    φ_wk = (n_wk⁻ + β) / (n_k⁻ + Vβ)                                  (⁻: without the token that moves)

This is the collapsed conditional's own word factor: exact, and sequential, since every token changes it for the next.
Kernels keep the counts up to date, in the form that suits them: a dense table, or rows with the topics that a word has
(`topoi.chain.counts`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Numbers, PerWord
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros, pad
from topoi.chain.counts.dense import count_table
from topoi.chain.counts.moves import LiveCounts
from topoi.chain.counts.packed import Rows
from topoi.chain.counts.split import SplitRows
from topoi.chain.factors.base import WordFactor, scale_of_counts
from topoi.chain.state import State


class LiveFactor(WordFactor):
    """Counts that a sweep keeps up to date: in a dense table (V, K padded), unless `rows` hold them."""

    name = "live"
    exact = True
    fixed = False
    beta_per_word = True
    reference = "Griffiths & Steyvers (2004), Finding scientific topics, PNAS 101"
    table: Floats
    n_k: NDArray[np.float64]

    def __init__(self, state: State, pool: Pool, rows: Rows | SplitRows | None = None) -> None:
        super().__init__(state, pool)
        self.rows = rows
        self.scale = aligned_zeros((pad(state.n_topics),), state.real)
        if rows is None:
            self.table = aligned_zeros((state.corpus.n_words, len(self.scale)), state.real)
            self.n_k = count_table(state, self.table, pool)
        else:
            self.n_k = rows.n_k
        self.refresh()

    @property
    def offset(self) -> PerWord:
        """β, which is added to every count."""
        return self.state.beta

    @property
    def counts(self) -> LiveCounts:
        """What kernels get of the counts, if these are in a table."""
        return LiveCounts(self.table, self.n_k, self.scale, self.state.beta, self.state.beta_sum)

    def refresh(self) -> None:
        """Make the scale from n_k, and from β as the state has it."""
        k = self.state.n_topics
        self.scale[:k] = scale_of_counts(self.n_k[:k], self.state.beta_sum)

    def kept_counts(self) -> Numbers:
        """The counts as an array (V, K), pseudo-counts included."""
        k = self.state.n_topics
        return self.table[:, :k] if self.rows is None else self.rows.to_dense()

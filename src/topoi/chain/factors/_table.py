"""Factors in a dense table: a row for every word, padded to whole lanes; padded topics have scale 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Numbers, PerWord
from topoi._machine.jit import inlined, kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros, pad, padded
from topoi.chain.counts.dense import count_blocks, word_blocks
from topoi.chain.factors.base import FixedFactor, Part, probabilities
from topoi.chain.state import State


@inlined
def phi_at(table: Floats, offset: float, scale: Floats, w: Int, k: Int) -> float:
    """φ_wk = (x_wk + offset) · scale_k, as `draw_topic` and `probabilities` have it for all topics at once."""
    phi: float = (table[w, k] + offset) * scale[k]
    return phi


@kernel
def prior_masses(table: Floats, first: Int, last: Int, offsets: PerWord, weight: Floats, mass: Floats) -> None:
    """Mass of the prior part of each word. Equivalent to ``mass[w] = ((table[w] + offset) * weight).sum()``."""
    for w in range(first, last):
        total, offset = 0.0, of_word(offsets, w)
        for k in range(weight.shape[0]):
            total += (table[w, k] + offset) * weight[k]
        mass[w] = total


class TableFactor(FixedFactor):
    """φ_wk = (table[w, k] + offset) · scale[k]; with `masses` also mass[w] = Σ_k α_k φ_wk.

    A member says in `draw` what the table holds, and in `set_scale` what each topic is scaled by.
    """

    def __init__(self, state: State, pool: Pool, masses: bool = False, **settings: Any) -> None:
        super().__init__(state, pool, masses=masses, **settings)
        self.masses = masses
        self.width = pad(state.n_topics)
        self.scale = aligned_zeros((self.width,), state.real)
        self.table = aligned_zeros((0, self.width), state.real)  # made when first drawn: perhaps that is elsewhere
        self.mass = np.zeros(0)

    @property
    def offset(self) -> PerWord:
        """What is added to every item of the table, or of each row; `sweep_dense` takes one number for all."""
        return 0.0

    @property
    def drawn(self) -> Sequence[Part]:
        """The table."""
        return (Part("table", self.state.real, (self.width,)),)

    @property
    def given(self) -> Sequence[Part]:
        """The table, and the masses where they are wanted."""
        return (*self.drawn, Part("mass", np.float64)) if self.masses else self.drawn

    def draw(self) -> Sequence[Numbers]:
        """Put the counts into the table; returns n_k of every block of words, padded."""
        n_words = self.state.corpus.n_words
        if len(self.table) != n_words:
            self.table = aligned_zeros((n_words, self.width), self.state.real)
        return count_blocks(self.state, self.table, self.pool)

    def finish(self) -> None:
        """mass[w] = Σ_k α_k φ_wk, where it is wanted."""
        if not self.masses:
            return
        weight = padded(self.state.alpha, np.float64) * self.scale
        if len(self.mass) != len(self.table):
            self.mass = np.zeros(len(self.table))

        def work(block: tuple[int, int, int]) -> None:
            prior_masses(self.table, block[1], block[2], self.offset, weight, self.mass)

        self.pool.map(work, word_blocks(self.state))

    def to_dense(self) -> NDArray[np.float64]:
        """φ of the sweep as an array (V, K)."""
        k = self.state.n_topics
        return probabilities(self.table[:, :k].astype(np.float64), self.offset, self.scale[:k])

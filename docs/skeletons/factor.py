"""A Dirichlet draw, one entry after the other: φ is a variable of the chain, drawn given the topics once per sweep.

    γ_wk ~ Gamma(n_wk + β),    φ_wk = γ_wk / Σ_w γ_wk,    so that    φ_k ~ Dirichlet(n_·k + β)

A skeleton to copy. Say here: the formula in the names of our arrays (as above), whether it is exact and why, what it
costs per sweep (here O(V·K) gamma draws), the paper and its section, and where you differ from it. `dirichlet` is the
same in earnest: quicker where counts are 0, and with logarithms for a β so small that draws of whole topics are below
SMALLEST.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Numbers, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import WORD_FACTOR, gamma, new_stream
from topoi.chain.counts.dense import word_blocks
from topoi.chain.factors._table import TableFactor

SMALLEST = 1e-30  # a topic must not have nothing but zeros


@kernel
def draw_rows(table: Floats, first: Int, last: Int, beta: float, n_topics: Int, total: Floats, stream: Stream) -> None:
    """Replace counts in rows first … last − 1 by draws γ_wk ~ Gamma(n_wk + β); add their sums to `total`."""
    for w in range(first, last):
        for k in range(n_topics):
            table[w, k] = max(gamma(stream, table[w, k] + beta), SMALLEST)
            total[k] += table[w, k]


class PlainFactor(TableFactor):
    """Gamma draws, scaled by their sums over the words."""

    name = "plain_dirichlet"
    exact = True  # if not: exact = False and bias = what `python verify/bias.py <name>` prints
    reference = "Magnusson, Jonsson, Villani & Broman (2018), Sparse partially collapsed MCMC, JCGS 27"

    def draw(self) -> Sequence[Numbers]:
        """Fill the table with draws; returns their sums by topic, of every block of words."""
        state = self.state
        super().draw()  # puts the counts n_wk into the table

        def work(block: tuple[int, int, int]) -> NDArray[np.float64]:
            number, first, last = block
            total = np.zeros(self.width)
            stream = new_stream(state.seed, WORD_FACTOR, state.sweep, number)
            draw_rows(self.table, first, last, state.beta, state.n_topics, total, stream)
            return total

        return self.pool.map(work, word_blocks(state))

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """1/Σ_w γ_wk."""
        total = np.zeros(self.width)
        for part in sums:  # in the order of the words: the same rounding on any number of threads or machines
            total += part
        k = self.state.n_topics
        self.scale[:k] = 1.0 / total[:k]

"""A Dirichlet draw: φ is a variable of the chain, drawn given the topics once per sweep.

    γ_wk ~ Gamma(n_wk + β),    φ_wk = γ_wk / Σ_w γ_wk,    so that    φ_k ~ Dirichlet(n_·k + β)

Exact, and parallel over documents; O(V·K) per sweep. Nearly all counts are 0: their draws are made by a method that
costs one uniform number most of the time (`gamma_rows`). A topic without tokens may draw nothing but zeros, or so
little that they would count: then it is drawn once more, by logarithms. Shares of gamma draws do not depend on their
sum, so to look at the sum and draw again favours no shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Numbers, PerWord, Stream
from topoi._machine.jit import inlined, kernel, of_word
from topoi._machine.rng import WORD_FACTOR, gamma, log_gamma, new_stream, uniform
from topoi.chain.counts.dense import word_blocks
from topoi.chain.factors._table import TableFactor

# A smaller gamma draw comes as 0. Where it were a topic's share of a word, beside one near 1, it could not change the
# float32 sum over the topics of a token; as a denormal it would cost time.
NEGLIGIBLE = 1e-20
# Where the draws of a topic sum to less, a part that came as 0 may have been more than NEGLIGIBLE of it.
ENOUGH = 1.0


@inlined
def small_gamma(stream: Stream, shape: float, u: float, negligible: float) -> float:
    """Gamma(shape) for 0 < shape < 1 by rejection on the log scale (Liu, Martin & Syring 2017), from u uniform on.

    `negligible` is NEGLIGIBLE ** shape: what comes below it is 0.
    """
    below_one = envelope_below_one(shape)
    while True:
        if u < below_one:
            if u < negligible * below_one:
                return 0.0
            x: float = math.exp(math.log(u / below_one) / shape)  # u^(1/shape), u uniform again
            v = uniform(stream)
            if v < 1.0 - x or v < math.exp(-x):  # 1 − x ≤ e^−x, and nearly always enough
                return x
        else:
            x = ((u - below_one) / (1.0 - below_one)) ** (-1.0 / (1.0 - shape))
            if uniform(stream) < x * math.exp(1.0 - x):
                return x
        u = uniform(stream)


@kernel
def envelope_below_one(shape: float) -> float:
    """The share of the envelope of `small_gamma` that is for X ≤ 1: its mass there is 1."""
    return 1.0 / (1.0 + shape / (math.e * (1.0 - shape)))


@kernel
def gamma_rows(
    table: Floats, first: Int, last: Int, betas: PerWord, n_topics: Int, total: Floats, stream: Stream
) -> None:
    """Replace counts in rows first … last − 1 by draws γ_wk ~ Gamma(n_wk + β); add their sums to `total`.

    Nearly all counts are 0, and with a small β most of their draws are negligible, which one uniform number tells. So a
    row is gone through twice: the first time notes, without a branch, which draws are not, and the second makes those.
    """
    before, small, negligible, least = -1.0, False, 0.0, 0.0
    place, begun = np.zeros(n_topics + 1, np.int64), np.zeros(n_topics + 1)
    for w in range(first, last):
        beta = of_word(betas, w)
        if beta != before:  # a power costs as much as a short row
            before = beta
            small = beta < 0.5
            negligible = NEGLIGIBLE**beta
            least = negligible * envelope_below_one(beta) if small else 0.0
        n = 0
        for k in range(n_topics):
            if table[w, k] == 0.0 and small:
                u = uniform(stream)
                place[n], begun[n] = k, u
                n += int(u >= least)
            else:
                table[w, k] = gamma(stream, table[w, k] + beta)
                total[k] += table[w, k]
        for j in range(n):
            k = place[j]
            table[w, k] = small_gamma(stream, beta, begun[j], negligible)
            total[k] += table[w, k]


@kernel
def dirichlet_column(table: Floats, k: Int, betas: PerWord, stream: Stream) -> None:
    """Fill column k with a draw of Dirichlet(β), by logarithms: each of its gamma draws may be too small for a float.

    Equivalent to ``x = log_gamma draws; table[:, k] = exp(x - x.max())``, which need not sum to 1.
    """
    n_words = table.shape[0]
    x = np.zeros(n_words)
    best = -np.inf
    for w in range(n_words):
        beta = of_word(betas, w)
        x[w] = log_gamma(stream, beta)
        best = max(best, x[w])
    for w in range(n_words):
        table[w, k] = math.exp(x[w] - best)


class DirichletFactor(TableFactor):
    """Gamma draws, scaled by their sums over the words."""

    name = "dirichlet"
    exact = True
    beta_per_word = True
    reference = "Magnusson, Jonsson, Villani & Broman (2018), Sparse partially collapsed MCMC, JCGS 27"

    def draw(self) -> Sequence[Numbers]:
        """Fill the table with draws, one stream per sweep and block of words; returns n_k and Σγ of every block."""
        state = self.state
        counts = super().draw()

        def work(block: tuple[int, int, int]) -> NDArray[np.float64]:
            total = np.zeros(self.width)
            stream = new_stream(state.seed, WORD_FACTOR, state.sweep, block[0])
            gamma_rows(self.table, block[1], block[2], state.beta, state.n_topics, total, stream)
            return total

        return list(map(np.stack, zip(counts, self.pool.map(work, word_blocks(state)), strict=True)))

    def _added(self, sums: Sequence[Numbers]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Σγ of all words, and the topics that are drawn anew."""
        n_k, total = np.zeros(self.width), np.zeros(self.width)
        for part in sums:  # in block order: the same rounding on any number of threads
            n_k += part[0]
            total += part[1]
        return total, np.flatnonzero(((n_k == 0) & (total < ENOUGH))[: self.state.n_topics])

    def changes_rows(self, sums: Sequence[Numbers]) -> bool:
        """Whether a topic is drawn anew."""
        return len(self._added(sums)[1]) > 0

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """1/Σ_w γ_wk; topics without tokens are drawn anew where their sum is small: there are few if Vβ is large."""
        state = self.state
        total, again = self._added(sums)
        for k in again:
            number = len(sums) + int(k)
            dirichlet_column(self.table, k, state.beta, new_stream(state.seed, WORD_FACTOR, state.sweep, number))
            total[k] = self.table[:, k].sum(dtype=np.float64)
        self.scale[: state.n_topics] = 1.0 / total[: state.n_topics]

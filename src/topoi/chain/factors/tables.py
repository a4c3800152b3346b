"""The word factor of every sampler, from the topics of the tokens: counts, frozen counts, or a Dirichlet draw.

Whatever its origin, a dense word factor has one form,

    φ_wk = (table[w, k] + offset) · scale[k]

| factor    | table                     | offset | scale           |
|-----------|---------------------------|--------|-----------------|
| collapsed | live counts n_wk          | β      | 1/(n_k + Vβ)    |
| delayed   | counts frozen for a sweep | β      | 1/(n_k + Vβ)    |
| Dirichlet | γ_wk ~ Gamma(n_wk + β)    | 0      | 1/Σ_w γ_wk      |

so that one kernel serves them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import WORD_FACTOR, gamma, log_gamma, new_stream, uniform
from topoi._machine.simd import aligned_zeros, pad, padded
from topoi.chain.counts.dense import count_table, word_blocks
from topoi.chain.state import State

# Below this a gamma draw cannot change a float32 sum in which some term is near 1; as a denormal it would cost time.
NEGLIGIBLE = 1e-25


@dataclass
class DenseFactor:
    """φ_wk = (table[w, k] + offset) · scale[k], rows padded to whole lanes; padded topics have scale 0.

    `mass[w]` is Σ_k α_k φ_wk, for the samplers that need it.
    """

    table: NDArray[Any]
    offset: float
    scale: NDArray[Any]
    mass: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def empty(state: State) -> DenseFactor:
        """A factor of the right shape, to be filled."""
        width = pad(state.n_topics)
        return DenseFactor(
            aligned_zeros((state.corpus.n_words, width), state.real), 0.0, aligned_zeros((width,), state.real)
        )


@kernel
def small_gamma(stream: Any, shape: Any, negligible: Any) -> Any:
    """Gamma(shape) for 0 < shape < 1, rejection on the log scale (Liu, Martin & Syring 2017); tiny values come as 0.

    `negligible` is NEGLIGIBLE ** shape. The smaller the shape the quicker: most draws cost one uniform number.
    """
    tail = shape / (math.e * (1.0 - shape))  # mass of the envelope for X > 1, that for X ≤ 1 being 1
    below_one = 1.0 / (1.0 + tail)
    while True:
        u = uniform(stream)
        if u < below_one:
            if u < negligible * below_one:
                return 0.0
            x = math.exp(math.log(u / below_one) / shape)  # u^(1/shape), u uniform again
            if uniform(stream) < math.exp(-x):
                return x
        else:
            x = ((u - below_one) / (1.0 - below_one)) ** (-1.0 / (1.0 - shape))
            if uniform(stream) < x * math.exp(1.0 - x):
                return x


@kernel
def gamma_rows(table: Any, first: Any, last: Any, beta: Any, n_topics: Any, total: Any, stream: Any) -> None:
    """Replace counts in rows first … last − 1 by draws γ_wk ~ Gamma(n_wk + β); add their sums to `total`."""
    small = beta < 0.5
    negligible = NEGLIGIBLE**beta
    for w in range(first, last):
        for k in range(n_topics):
            if table[w, k] == 0.0 and small:  # nearly all entries: draw them the quick way
                x = small_gamma(stream, beta, negligible)
            else:
                x = gamma(stream, table[w, k] + beta)
            table[w, k] = x
            total[k] += table[w, k]


@kernel
def dirichlet_column(table: Any, k: Any, beta: Any, stream: Any) -> None:
    """Fill column k with a draw of Dirichlet(β), by logarithms: each of its gamma draws may be too small for a float.

    Equivalent to ``x = log_gamma draws; table[:, k] = exp(x - x.max())``, which need not sum to 1.
    """
    n_words = table.shape[0]
    x = np.zeros(n_words)
    best = -np.inf
    for w in range(n_words):
        x[w] = log_gamma(stream, beta)
        best = max(best, x[w])
    for w in range(n_words):
        table[w, k] = math.exp(x[w] - best)


@kernel
def prior_masses(table: Any, first: Any, last: Any, offset: Any, weight: Any, mass: Any) -> None:
    """Mass of the prior part of each word. Equivalent to ``mass[w] = ((table[w] + offset) * weight).sum()``."""
    for w in range(first, last):
        total = 0.0
        for k in range(weight.shape[0]):
            total += (table[w, k] + offset) * weight[k]
        mass[w] = total


# A factor is made in two steps: the rows of words, which may be made in several places (on a cluster), and then the
# scale, from the sums over all words.


def fill_counts(state: State, factor: DenseFactor, pool: Pool) -> NDArray[np.float64]:
    """Put the counts of `state` into the factor (offset β, scale 1/(n_k + Vβ)); return n_k, padded."""
    n_k = count_table(state, factor.table, pool)
    scale_counts(state, factor, n_k)
    return n_k


def scale_counts(state: State, factor: DenseFactor, n_k: NDArray[np.float64]) -> None:
    """Offset and scale of a factor whose table holds counts."""
    factor.offset = state.beta
    factor.scale[: state.n_topics] = 1.0 / (n_k[: state.n_topics] + state.beta_sum)


def fill_dirichlet(state: State, factor: DenseFactor, pool: Pool) -> None:
    """Draw φ_k ~ Dirichlet(n_·k + β) into the factor: one stream per sweep and block of words."""
    n_k = count_table(state, factor.table, pool)
    scale_gammas(state, factor, n_k, gamma_table(state, factor.table, pool))


def gamma_table(state: State, table: NDArray[Any], pool: Pool) -> list[NDArray[np.float64]]:
    """Replace the counts in the table by draws γ_wk ~ Gamma(n_wk + β); returns the sums by topic of every block."""

    def work(block: tuple[int, int, int]) -> NDArray[np.float64]:
        total = np.zeros(table.shape[1])
        stream = new_stream(state.seed, WORD_FACTOR, state.sweep, block[0])
        gamma_rows(table, block[1], block[2], state.beta, state.n_topics, total, stream)
        return total

    return pool.map(work, word_blocks(state))


def scale_gammas(
    state: State, factor: DenseFactor, n_k: NDArray[np.float64], totals: list[NDArray[np.float64]]
) -> None:
    """Offset and scale of a factor whose table holds gamma draws; topics without tokens are drawn anew."""
    total = np.zeros(len(factor.scale))
    for part in totals:  # in block order: the same rounding on any number of threads
        total += part
    for k in np.flatnonzero(n_k[: state.n_topics] == 0):  # an empty topic may have drawn nothing but zeros
        number = len(totals) + int(k)
        dirichlet_column(factor.table, k, state.beta, new_stream(state.seed, WORD_FACTOR, state.sweep, number))
        total[k] = factor.table[:, k].sum(dtype=np.float64)
    factor.offset = 0.0
    factor.scale[: state.n_topics] = 1.0 / total[: state.n_topics]


def fill_prior_mass(state: State, factor: DenseFactor, pool: Pool) -> None:
    """mass[w] = Σ_k α_k φ_wk."""
    weight = padded(state.alpha, np.float64) * factor.scale
    if len(factor.mass) != len(factor.table):
        factor.mass = np.zeros(len(factor.table))

    def work(block: tuple[int, int, int]) -> None:
        prior_masses(factor.table, block[1], block[2], factor.offset, weight, factor.mass)

    pool.map(work, word_blocks(state))

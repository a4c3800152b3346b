"""A stick broken at random into K pieces, in an order of its own: how much each topic has of the corpus.

    ς_j ~ Beta(1, γ) for j < K, ς_K = 1;    Ψ_σ(j) = ς_j · Π_{i<j} (1 − ς_i);    σ: any order of the topics, all alike

This is GEM(γ) cut off at K pieces. The order is a variable of the chain, so that topics are exchangeable: one that has
lost its tokens goes to the end, where the pieces of new topics come from, and keeps no place among the large ones.

Given l_k tables (tables.py) the breaks are beta draws. With them integrated out, and L_j = Σ_{i≥j} l_σ(i),

    p(σ | l) ∝ Γ(γ + l_σ(K))/l_σ(K)! · Π_{1<j<K} 1/(γ + L_j)

so that a topic taken out of the order can be put back at any place with its probability, in O(K).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import gamma, log_beta, uniform

# e to this power is finite, and so are its products with the other weights of an order, of which it leaves no chance.
LARGEST_EXPONENT = 500.0


@kernel
def draw_order(order: Ints, tables: Ints, gamma_: float, stream: Stream) -> None:
    """One Gibbs step for the place of every topic, given the tables; changes `order`, topics from first to last."""
    n = order.shape[0]
    chance = np.zeros(n)
    others = np.zeros(n, np.int64)
    for k in range(n):
        m = 0
        for j in range(n):
            if order[j] != k:
                others[m] = order[j]
                m += 1
        own = tables[k]
        behind = 0.0  # tables of the others from place j on
        for j in range(m):
            behind += tables[others[j]]
        weight = 1.0
        total = 1.0
        chance[0] = 1.0
        for j in range(m):  # from before the j-th of the others to behind it
            if j + 1 < m:
                weight *= gamma_ + behind
                behind -= tables[others[j]]
                weight /= gamma_ + behind + own
            else:
                difference = log_last(own, gamma_) - log_last(tables[others[j]], gamma_)
                weight *= math.exp(min(difference, LARGEST_EXPONENT))
            total += weight
            chance[j + 1] = total
        u = uniform(stream) * total
        place = 0
        while place < m and u > chance[place]:
            place += 1
        for j in range(place):
            order[j] = others[j]
        order[place] = k
        for j in range(place, m):
            order[j + 1] = others[j]


@kernel
def log_last(tables: float, gamma_: float) -> float:
    """log Γ(γ + l)/l!: what the last place adds to the probability of an order."""
    return math.lgamma(gamma_ + tables) - math.lgamma(tables + 1.0)


@kernel
def draw_sticks(
    order: Ints, tables: Ints, gamma_: float, shape: float, rate: float, log_share: Floats, stream: Stream
) -> float:
    """Draw the breaks given the tables, and γ ~ Gamma(shape, rate) given the breaks; log Ψ goes to `log_share`.

    Breaks behind the last topic that has tables follow from γ alone: γ is drawn without them, then they are.
    """
    n = order.shape[0]
    behind = 0.0
    used = 0
    for j in range(n):
        behind += tables[order[j]]
        if tables[order[j]] > 0:
            used = j + 1
    left = 0.0
    known = min(used, n - 1)
    for j in range(known):
        behind -= tables[order[j]]
        log_broken, log_rest = log_beta(stream, 1.0 + tables[order[j]], gamma_ + behind)
        log_share[order[j]] = left + log_broken
        left += log_rest
    drawn: float = gamma(stream, shape + known) / (rate - left)
    for j in range(known, n - 1):
        log_broken, log_rest = log_beta(stream, 1.0, drawn)
        log_share[order[j]] = left + log_broken
        left += log_rest
    log_share[order[n - 1]] = left
    return drawn


def log_density(order: NDArray[np.int64], share: NDArray[np.float64], gamma_: float) -> float:
    """Log density of pieces in an order: γ^(K−1) Ψ_σ(K)^(γ−1) Π_{1<j<K} 1/R_j with R_j what is left before the j-th."""
    pieces = share[order]
    left = pieces[::-1].cumsum()[::-1]
    n = len(order)
    found = (n - 1) * math.log(gamma_) + (gamma_ - 1) * math.log(pieces[-1]) - np.log(left[1 : n - 1]).sum()
    return float(found) - math.lgamma(n + 1) if n > 1 else 0.0

"""Rows of a sparse φ, their topics rising: a word has those at row … row_end − 1 of `topics`, with the values `phi`."""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel


@kernel
def find(topics: Ints, lo: Int, hi: Int, k: Int) -> Int:
    """Position of topic k in topics[lo:hi] (sorted), or −1."""
    end = hi
    while lo < hi:
        middle = (lo + hi) // 2
        if topics[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    if lo < end and topics[lo] == k:
        return lo
    return -1


@kernel
def prior_mass(topics: Ints, phi: Floats, row: Int, row_end: Int, alpha: Floats) -> float:
    """Σ_k α_k φ_wk of a word. Equivalent to ``alpha[topics[row:row_end]] @ phi[row:row_end]``."""
    total = 0.0
    for j in range(row, row_end):
        total += alpha[topics[j]] * phi[j]
    return total


@kernel
def walk_prior(topics: Ints, phi: Floats, row: Int, row_end: Int, alpha: Floats, u: float) -> Int:
    """The topic where u of the masses α_k φ_wk of a word lie below; one with α > 0, however u is rounded."""
    new = np.int64(-1)
    for j in range(row, row_end):
        if alpha[topics[j]] > 0.0:
            new = np.int64(topics[j])
            u -= alpha[topics[j]] * phi[j]
            if u < 0.0:
                break
    return new

"""Topic shares of the documents of a state: θ_dk = (n_dk + α_dk)/(n_d + Σα_d)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.state import State


@kernel
def add_document_shares(doc_ptr: Ints, first: Int, last: Int, z: Ints, alpha: Floats, shares: Floats) -> None:
    """Add θ of documents first … last − 1 to the rows of `shares`; an empty document adds the prior's mean."""
    alpha_sum = 0.0
    for k in range(alpha.shape[0]):
        alpha_sum += alpha[k]
    n_d = np.zeros(alpha.shape[0])
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        norm = 1.0 / (hi - lo + alpha_sum)
        for i in range(lo, hi):
            n_d[z[i]] += 1.0
        for k in range(alpha.shape[0]):  # in float64, and rounded once
            shares[d, k] += (n_d[k] + alpha[k]) * norm
            n_d[k] = 0.0


def add_shares(state: State, shares: NDArray[np.float32], pool: Pool) -> None:
    """Add θ of every document to `shares` (D, K)."""
    ptr, alpha = state.corpus.block_ptr, state.priors.topics.alpha_of(state.corpus)

    def work(block: int) -> None:
        for first, last, row in alpha.runs(int(ptr[block]), int(ptr[block + 1])):
            add_document_shares(state.corpus.doc_ptr, first, last, state.z, row, shares)

    pool.map(work, range(len(ptr) - 1))

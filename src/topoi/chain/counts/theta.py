"""Topic shares of the documents of a state: θ_dk = (n_dk + α_dk)/(n_d + Σα_d)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.alpha import AlphaRows
from topoi.chain.state import State


@kernel
def add_document_shares(doc_ptr: Ints, first: Int, last: Int, z: Ints, prior: AlphaRows, shares: Floats) -> None:
    """Add θ of documents first … last − 1 to the rows of `shares`; an empty document adds the prior's mean."""
    n_d = np.zeros(prior.rows.shape[1])
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha = prior.rows[prior.row_of[d]]
        alpha_sum = 0.0
        for k in range(alpha.shape[0]):
            alpha_sum += alpha[k]
        norm = 1.0 / (hi - lo + alpha_sum)
        for i in range(lo, hi):
            n_d[z[i]] += 1.0
        for k in range(alpha.shape[0]):  # in float64, and rounded once
            shares[d, k] += (n_d[k] + alpha[k]) * norm
            n_d[k] = 0.0


def add_shares(state: State, shares: NDArray[np.float32], pool: Pool) -> None:
    """Add θ of every document to `shares` (D, K)."""
    corpus, ptr = state.corpus, state.corpus.block_ptr
    prior = state.priors.topics.alpha_of(corpus).for_kernels(corpus.n_documents, np.float64)

    def work(block: int) -> None:
        add_document_shares(corpus.doc_ptr, ptr[block], ptr[block + 1], state.z, prior, shares)

    pool.map(work, range(len(ptr) - 1))


def average_shares(sums: NDArray[np.float32], n_samples: int, number: NDArray[np.int64]) -> NDArray[np.float32]:
    """Average topic shares from their sums over samples, which are changed; that of topic k goes to topic number[k]."""
    sums /= np.float32(n_samples)  # in place: it may be the largest array of all, and is not needed again
    if np.array_equal(number, np.arange(sums.shape[1])):
        return sums
    joined = np.zeros((len(sums), int(number.max()) + 1), np.float32)
    for k, place in enumerate(number):
        joined[:, place] += sums[:, k]
    return joined

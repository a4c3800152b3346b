"""Topics of new documents by mean field: expected counts instead of drawn ones, so nothing is left to chance.

    γ_jk ∝ (n_k − γ_jk + α_k) · φ_wk,      n_k = Σ_j γ_jk

for the tokens j of a document, again and again until the expected counts n hardly change (CVB0: Asuncion, Welling,
Smyth & Teh 2009). Tokens of a word share their γ. It is the Gibbs step of `infer` with expectations for draws: not
exact (counts are treated as if they were their means), but without noise, which counts for more when a prediction is
made of a short chain. docs/supervised.md compares the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Float, Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES, aligned_zeros, pad
from topoi.chain.alpha import AlphaRows
from topoi.chain.model import TopicModel
from topoi.chain.state import real_of_documents
from topoi.corpus import Corpus

SETTLED = 1e-3  # share of a document's tokens that may still change topic in a sweep


@kernel
def normalise(weight: Floats, lanes: Floats) -> None:
    """Equivalent to ``weight /= weight.sum()``, the sum in an order that vectorises; no weight at all is left at 0."""
    lanes[:] = 0
    for first in range(0, weight.shape[0], LANES):
        for lane in range(LANES):
            lanes[lane] += weight[first + lane]
    total = lanes[0]
    for lane in range(1, LANES):
        total += lanes[lane]
    if total > 0:
        for k in range(weight.shape[0]):
            weight[k] /= total


@kernel
def settle_documents(
    ptr: Ints, rows: Ints, times: Floats, first: Int, last: Int, prior: AlphaRows, table: Floats, n_sweeps: Int,
    settled: Float, counts: Floats,
) -> None:  # fmt: skip
    """Fill counts[first:last] with the expected topic counts of the documents, whose words are rows of the table φ."""
    width = table.shape[1]
    longest = 1
    for d in range(first, last):
        longest = max(longest, ptr[d + 1] - ptr[d])
    share = np.zeros((longest, width), table.dtype)
    n, before, lanes = np.zeros(width, table.dtype), np.zeros(width, table.dtype), np.zeros(LANES, table.dtype)
    zero, one = table.dtype.type(0), table.dtype.type(1)
    for d in range(first, last):
        lo, m = ptr[d], ptr[d + 1] - ptr[d]
        alpha = prior.rows[prior.row_of[d]]
        n[:] = 0
        length = zero
        for j in range(m):
            length += times[lo + j]
            for k in range(width):
                share[j, k] = table[rows[lo + j], k] * (alpha[k] > zero)
            normalise(share[j], lanes)
            for k in range(width):
                n[k] += times[lo + j] * share[j, k]
        for _ in range(n_sweeps):
            for k in range(width):
                before[k] = n[k]
            for j in range(m):
                c, row = times[lo + j], rows[lo + j]
                for k in range(width):
                    n[k] = max(n[k] - c * share[j, k], zero)
                    share[j, k] = (n[k] + (c - one) * share[j, k] + alpha[k]) * table[row, k]
                normalise(share[j], lanes)
                for k in range(width):
                    n[k] += c * share[j, k]
            change = zero
            for k in range(width):
                change += abs(n[k] - before[k])
            if change <= settled * length:
                break
        for k in range(counts.shape[1]):
            counts[d, k] = n[k]


def expected_counts(
    model: TopicModel, corpus: Corpus, n_sweeps: int, pool: Pool, real: type[np.floating[Any]] | None = None
) -> NDArray[np.float64]:
    """Expected topic counts (D, K) of every document after at most `n_sweeps` sweeps."""
    real = real or real_of_documents(corpus)
    used, words = np.unique(corpus.words, return_inverse=True)
    table = aligned_zeros((len(used), pad(model.n_topics)), real)
    table[:, : model.n_topics] = model.word_probabilities(used, real)
    shape = (corpus.n_documents, max(len(used), 1))
    bag = sparse.csr_array((np.ones(corpus.n_tokens, real), words.astype(np.int32), corpus.doc_ptr.copy()), shape=shape)
    bag.sum_duplicates()
    counts = np.zeros((corpus.n_documents, model.n_topics))
    ptr, alpha = corpus.block_ptr, model.priors.topics.alpha_of(corpus)
    prior = alpha.for_kernels(corpus.n_documents, real, table.shape[1])
    start, rows = bag.indptr.astype(np.int64), bag.indices.astype(np.int32)

    def work(block: int) -> None:
        settle_documents(
            start, rows, bag.data, ptr[block], ptr[block + 1], prior, table, n_sweeps, real(SETTLED), counts
        )

    pool.map(work, range(len(ptr) - 1))
    return counts

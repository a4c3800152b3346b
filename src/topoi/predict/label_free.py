"""Topics of training documents as if they were new: the design on which the final weights are fitted.

The topics of a training document are pulled by its label, and its own tokens are among the counts that its topics are
found with. Neither is so for a new document. A predictor that was fitted on the pulled topics would trust topics more
than it should. Here the topics of every training document are found anew, by mean field as those of new documents are,
without its label and with its own tokens taken out of the counts:

    φ_wk without d = (n_wk − n_wk^d + β) / (n_k − n_k^d + Vβ)

with the counts n and the topics of the document after the last sweep. What other documents have learned from it stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Float, Floats, Int, Ints
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros, pad, padded
from topoi.chain.alpha import AlphaRows
from topoi.chain.loop import Run
from topoi.chain.state import real_of_documents
from topoi.corpus import Corpus
from topoi.predict.mean_field import SETTLED, settle_documents


@kernel
def settle_without_own(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, z: Ints, prior: AlphaRows, counts: Floats, n_k: Floats,
    beta: Float | Floats, v_beta: Float, n_sweeps: Int, settled: Float, out: Floats,
) -> None:  # fmt: skip
    """Fill out[first:last] with expected topic counts; z has the topics of the tokens of documents first … last − 1.

    `counts` (V, K padded) and `n_k` contain the tokens of each document, which are taken out of a copy of its rows.
    """
    width = counts.shape[1]
    longest = 1
    for d in range(first, last):
        longest = max(longest, doc_ptr[d + 1] - doc_ptr[d])
    table = np.zeros((longest, width), counts.dtype)
    times = np.zeros(longest, counts.dtype)
    rows, ptr = np.arange(longest).astype(np.int32), np.zeros(2, np.int64)
    word = np.zeros(longest, np.int64)
    scale = np.zeros(width, counts.dtype)
    begin = doc_ptr[first]
    for d in range(first, last):
        m = -1
        for k in range(width):
            scale[k] = n_k[k]
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if i == doc_ptr[d] or words[i] != words[i - 1]:
                m += 1
                times[m] = 0
                word[m] = words[i]
                for k in range(width):
                    table[m, k] = counts[words[i], k]
            times[m] += counts.dtype.type(1)
            table[m, z[i - begin]] -= counts.dtype.type(1)
            scale[z[i - begin]] -= counts.dtype.type(1)
        for j in range(m + 1):
            own_beta = of_word(beta, word[j])
            for k in range(width):
                table[j, k] = (table[j, k] + own_beta) / (scale[k] + v_beta)
        ptr[1] = m + 1
        own = AlphaRows(prior.rows, prior.row_of[d : d + 1], prior.start, prior.topics)
        settle_documents(ptr, rows, times, 0, 1, own, table, n_sweeps, settled, out[d : d + 1])


def label_free_shares(run: Run, corpus: Corpus, n_sweeps: int, pool: Pool) -> NDArray[np.float32]:
    """Topic shares θ (D, K) of the documents that `run` has learned from, each as if it were new."""
    real, priors = real_of_documents(corpus), run.model.priors
    n_words, n_topics = run.counts.shape
    counts = aligned_zeros((n_words, pad(n_topics)), real)
    counts[:, :n_topics] = run.counts.toarray()
    n_k = padded(np.asarray(run.counts.sum(0), np.float64), real)
    n_k[n_topics:] = 1
    beta = priors.words.beta.astype(real) if isinstance(priors.words.beta, np.ndarray) else real(priors.words.beta)
    blocks = corpus.block_ptr
    shares = np.zeros((corpus.n_documents, n_topics), np.float32)
    alpha = priors.topics.alpha_of(corpus)
    prior, by_document = alpha.for_kernels(corpus.n_documents, real, counts.shape[1]), alpha.by_document()

    def work(block: int) -> None:
        first, last = int(blocks[block]), int(blocks[block + 1])
        z = run.topics(np.arange(first, last))
        given = (n_k, beta, real(priors.words.total(n_words)), n_sweeps, real(SETTLED))
        expected = np.zeros((last - first, n_topics))
        ptr, words = corpus.doc_ptr[first : last + 1], corpus.words
        own = AlphaRows(prior.rows, prior.row_of[first:last], prior.start, prior.topics)
        settle_without_own(words, ptr, 0, last - first, z, own, counts, *given, expected)
        expected += by_document if alpha.row_of is None else by_document[first:last]
        shares[first:last] = expected / expected.sum(1, keepdims=True)

    pool.map(work, range(len(blocks) - 1))
    return shares

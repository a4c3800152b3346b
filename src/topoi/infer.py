"""Topics of new documents, the model fixed: a Gibbs chain of its own for each document.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk

The random stream of a document is keyed by its words, so that the answer for a document is the same alone or in a
batch, in any order, on any number of threads. Averages are taken over the second half of the sweeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._jit import kernel
from topoi._pool import Pool
from topoi._rng import INFER, seed_stream, uniform
from topoi._simd import LANES, draw_lane, pad, padded, weigh
from topoi.corpus import Corpus
from topoi.errors import CorpusError
from topoi.model import TopicModel, check_whole
from topoi.samplers._fixed import dense_document
from topoi.state import topic_dtype


@kernel
def first_topics(
    words: Any, lo: Any, hi: Any, z: Any, table: Any, offset: Any, scale: Any, alpha: Any, stream: Any,
    n_d: Any, p: Any, lanes: Any,
) -> None:  # fmt: skip
    """Give each token lo … hi − 1 a first topic, drawn given those before it; `n_d` ends as their counts."""
    n_d[:] = 0
    for i in range(lo, hi):
        weigh(n_d, alpha, table, words[i], offset, scale, p, lanes)
        k = max(draw_lane(p, lanes, uniform(stream)), 0)
        z[i] = k
        n_d[k] += 1


@kernel
def infer_documents(
    words: Any, doc_ptr: Any, first: Any, last: Any, keys: Any, seed: Any, z: Any, table: Any, offset: Any,
    scale: Any, alpha: Any, prior: Any, n_sweeps: Any, theta: Any,
) -> None:  # fmt: skip
    """Fill theta[first:last] with the average of (n_dk + α_k)/(n_d + Σα) over the second half of the sweeps.

    `alpha` is in the type of the table, for the draws; `prior` is α in full, for the shares.
    """
    n_topics = theta.shape[1]
    n_d = np.zeros(table.shape[1], table.dtype)
    p = np.zeros(table.shape[1], table.dtype)
    lanes = np.zeros(LANES, table.dtype)
    total = np.zeros(n_topics)
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        seed_stream(stream, seed, INFER, 0, keys[d])
        total[:] = 0.0
        first_topics(words, lo, hi, z, table, offset, scale, alpha, stream, n_d, p, lanes)
        for sweep in range(1, n_sweeps + 1):
            dense_document(words, lo, hi, z, table, offset, scale, alpha, stream, n_d, p, lanes)
            if 2 * sweep > n_sweeps:
                for k in range(n_topics):
                    total[k] += n_d[k]
        kept = n_sweeps - n_sweeps // 2
        norm = 0.0
        for k in range(n_topics):
            total[k] = total[k] / kept + prior[k]
            norm += total[k]
        for k in range(n_topics):
            theta[d, k] = total[k] / norm


def infer(
    model: TopicModel, corpus: Corpus, n_sweeps: int = 20, seed: int = 0, pool: Pool | None = None
) -> NDArray[np.float64]:
    """Topic shares θ (D, K) of every document of `corpus`; an empty document gets the prior's mean."""
    check_whole("infer_sweeps", n_sweeps)
    if corpus.n_words != model.n_words:
        raise CorpusError(f"the documents have {corpus.n_words} words, but the model {model.n_words}.")
    pool = pool or Pool(1)
    real = np.float32
    # Only the words that occur: the table of a small batch is small.
    used, words = np.unique(corpus.words, return_inverse=True)
    table = np.zeros((len(used), pad(model.n_topics)), real)
    table[:, : model.n_topics] = model.word_rows(used, real)
    scale, alpha = padded(model.scale, real), padded(model.alpha, real)
    words = words.astype(np.int32)
    words.flags.writeable = False  # as a corpus's own words, for which the kernels are compiled
    z = np.zeros(corpus.n_tokens, topic_dtype(model.n_topics))
    theta = np.zeros((corpus.n_documents, model.n_topics))
    ptr, keys = corpus.block_ptr, corpus.document_keys

    def work(block: int) -> None:
        infer_documents(
            words, corpus.doc_ptr, ptr[block], ptr[block + 1], keys, np.uint64(seed), z, table, model.beta, scale,
            alpha, model.alpha, n_sweeps, theta,
        )  # fmt: skip

    pool.map(work, range(len(ptr) - 1))
    return theta

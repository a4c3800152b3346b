"""Topics of new documents, the model fixed: a Gibbs chain of its own for each document.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk

The random stream of a document is keyed by its words, so that the answer for a document is the same alone or in a
batch, in any order, on any number of threads. Averages are taken over the second half of the sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Keys, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import INFER, seed_stream, uniform
from topoi._machine.simd import aligned_zeros, draw_topic, new_sums, pad, padded
from topoi.chain.alpha import AlphaRows, DocumentAlpha
from topoi.chain.model import TopicModel, check_whole
from topoi.chain.samplers._fixed import move_one, move_two
from topoi.chain.state import real_of_documents, topic_dtype
from topoi.corpus import Corpus
from topoi.corpus.batches import batches_by_words
from topoi.errors import CorpusError, ParameterError
from topoi.predict.mean_field import expected_counts


@kernel
def topics_in_turn(
    words: Ints, lo: Int, hi: Int, z: Ints, stream: Stream, n_d: Floats, p: Floats, alpha: Floats, table: Floats,
    offset: float, scale: Floats,
) -> None:  # fmt: skip
    """Give each token lo … hi − 1 a first topic, drawn given those before it; `n_d` ends as their counts."""
    n_d[:] = 0
    for i in range(lo, hi):
        k = draw_topic(n_d, words[i], p, uniform(stream), alpha, table, offset, scale)
        if k < 0:  # no topic has any weight: the first that the document can have
            k = np.argmax(alpha > 0)
        z[i] = k
        n_d[k] += 1


@kernel
def finish(total: Floats, kept: Int, prior: Floats, theta: Floats) -> None:
    """Shares from counts summed over `kept` sweeps. Equivalent to ``theta[:] = normalised(total / kept + prior)``."""
    norm = 0.0
    for k in range(theta.shape[0]):
        total[k] = total[k] / kept + prior[k]
        norm += total[k]
    for k in range(theta.shape[0]):
        theta[k] = total[k] / norm


@kernel
def infer_documents(
    words: Ints, doc_ptr: Ints, order: Ints, first: Int, last: Int, keys: Keys, seed: Int, z: Ints, exact: Floats,
    n_sweeps: Int, theta: Floats, prior: AlphaRows, table: Floats, offset: float, scale: Floats,
) -> None:  # fmt: skip
    """Fill theta with the average of (n_dk + α_k)/(n_d + Σα) over the second half of the sweeps, for order[first:last].

    `prior` has α in the type of the table, for the draws; `exact` has its rows in full, for the shares. Documents go in
    pairs, of about the same length by `order` (`move_two`); each has a stream of its own and sees nothing of the other.
    """
    common = (table, offset, scale)
    n_a, n_b = np.zeros(table.shape[1], table.dtype), np.zeros(table.shape[1], table.dtype)
    p_a, p_b = new_sums(prior.rows[0]), new_sums(prior.rows[0])
    total_a, total_b = np.zeros(theta.shape[1]), np.zeros(theta.shape[1])
    stream_a, stream_b = np.zeros(3, np.uint64), np.zeros(3, np.uint64)
    for j in range(first, last, 2):
        d = order[j]
        e = order[j + 1] if j + 1 < last else d
        alpha_a, alpha_b = prior.rows[prior.row_of[d]], prior.rows[prior.row_of[e]]
        same = prior.row_of[d] == prior.row_of[e]
        a, a_end = doc_ptr[d], doc_ptr[d + 1]
        b, b_end = a_end, a_end
        seed_stream(stream_a, seed, INFER, 0, keys[d])
        topics_in_turn(words, a, a_end, z, stream_a, n_a, p_a, alpha_a, *common)
        if j + 1 < last:
            b, b_end = doc_ptr[e], doc_ptr[e + 1]
            seed_stream(stream_b, seed, INFER, 0, keys[e])
            topics_in_turn(words, b, b_end, z, stream_b, n_b, p_b, alpha_b, *common)
        n = min(a_end - a, b_end - b)
        total_a[:] = 0.0
        total_b[:] = 0.0
        for sweep in range(1, n_sweeps + 1):
            if same:
                move_two(words, a, b, n, z, stream_a, stream_b, n_a, n_b, p_a, p_b, alpha_a, None, *common)
            else:
                move_two(words, a, b, n, z, stream_a, stream_b, n_a, n_b, p_a, p_b, alpha_a, alpha_b, *common)
            move_one(words, a + n, a_end, z, stream_a, n_a, p_a, alpha_a, *common)
            move_one(words, b + n, b_end, z, stream_b, n_b, p_b, alpha_b, *common)
            if 2 * sweep > n_sweeps:
                for k in range(theta.shape[1]):
                    total_a[k] += n_a[k]
                    total_b[k] += n_b[k]
        kept = n_sweeps - n_sweeps // 2
        finish(total_a, kept, exact[prior.row_of[d]], theta[d])
        if j + 1 < last:
            finish(total_b, kept, exact[prior.row_of[e]], theta[e])


METHODS = ("gibbs", "mean_field")


def check_method(method: str) -> None:
    """Raise an error that lists the choices unless `method` is one."""
    if method not in METHODS:
        raise ParameterError("infer_method", f"must be one of {', '.join(METHODS)}, not {method!r}")


@dataclass(frozen=True)
class FoldIn:
    """How new documents are folded in; `seed` is for draws."""

    n_sweeps: int
    seed: int
    method: str = "gibbs"

    def __call__(self, model: TopicModel, corpus: Corpus, pool: Pool) -> NDArray[np.float64]:
        """Topic shares of the documents."""
        return infer(model, corpus, self.n_sweeps, self.seed, pool, self.method)


def infer(
    model: TopicModel,
    corpus: Corpus,
    n_sweeps: int = 20,
    seed: int = 0,
    pool: Pool | None = None,
    method: str = "gibbs",
) -> NDArray[np.float64]:
    """Topic shares θ (D, K) of every document of `corpus`; an empty document gets the prior's mean.

    `method`: draws ("gibbs"), or expected topics ("mean_field"), of at most `n_sweeps` sweeps, where no seed is needed.
    """
    check_whole("infer_sweeps", n_sweeps)
    check_method(method)
    if corpus.n_words != model.n_words:
        raise CorpusError(f"the documents have {corpus.n_words} words, but the model {model.n_words}.")
    pool = pool or Pool(1)
    batches = batches_by_words(corpus, pad(model.n_topics))
    if len(batches) == 1:
        return _infer(model, corpus, n_sweeps, seed, pool, method, real_of_documents(corpus))
    theta = np.empty((corpus.n_documents, model.n_topics))
    for begin, end in batches:
        part = slice(*corpus.block_ptr[[begin, end]].tolist())
        theta[part] = _infer(model, corpus.take(part), n_sweeps, seed, pool, method, real_of_documents(corpus))
    return theta


def _infer(
    model: TopicModel, corpus: Corpus, n_sweeps: int, seed: int, pool: Pool, method: str, real: type[np.floating[Any]]
) -> NDArray[np.float64]:
    """Topic shares of documents, with a table of φ for all of their words."""
    alpha = model.priors.topics.alpha_of(corpus)
    if method == "mean_field":
        shares: NDArray[np.float64] = expected_counts(model, corpus, n_sweeps, pool, real) + alpha.by_document()
        shares /= shares.sum(1, keepdims=True)
        return shares
    return fold_in(model, corpus, alpha, n_sweeps, seed, pool, real)[0]


def fold_in(
    model: TopicModel, corpus: Corpus, alpha: DocumentAlpha, n_sweeps: int, seed: int, pool: Pool,
    real: type[np.floating[Any]] | None = None,
) -> tuple[NDArray[np.float64], NDArray[Any]]:  # fmt: skip
    """Topic shares θ (D, K) by draws, and the topics of all tokens after the last sweep."""
    real = real or real_of_documents(corpus)
    # Only the words that occur: the table of a small batch is small.
    used, words = np.unique(corpus.words, return_inverse=True)
    table = aligned_zeros((len(used), pad(model.n_topics)), real)
    table[:, : model.n_topics] = model.word_rows(used, real)
    beta = model.beta
    if isinstance(beta, np.ndarray):  # β of each word goes into its row: kernels add one number to all
        table[:, : model.n_topics] += beta[used][:, None]
        beta = 0.0
    scale, prior = padded(model.scale, real), alpha.for_kernels(corpus.n_documents, real, table.shape[1])
    words = words.astype(np.int32)
    words.flags.writeable = False  # as a corpus's own words, for which the kernels are compiled
    z = np.zeros(corpus.n_tokens, topic_dtype(model.n_topics))
    theta = np.zeros((corpus.n_documents, model.n_topics))
    ptr, keys = corpus.block_ptr, corpus.document_keys
    # Within a block, documents of like length side by side.
    block_of = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.lexsort((corpus.doc_lengths, block_of))

    def work(block: int) -> None:
        infer_documents(
            words, corpus.doc_ptr, order, ptr[block], ptr[block + 1], keys, np.uint64(seed), z, alpha.rows, n_sweeps,
            theta, prior, table, beta, scale,
        )  # fmt: skip

    pool.map(work, range(len(ptr) - 1))
    return theta, z

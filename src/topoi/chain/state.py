"""The state of a chain: the topic of every token, and the priors. Counts follow from it and are never stored here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Int, Ints, PerWord, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import DIVISION, INIT, integer, new_stream, uniform
from topoi.chain.alpha import AlphaRows
from topoi.corpus import Corpus

if TYPE_CHECKING:
    from topoi.chain.priors import Priors
    from topoi.chain.responses.supervision import Supervision

# Counts are kept as floats so that kernels multiply them without converting; float32 counts exactly below 2²⁴.
EXACT_FLOAT32 = 2**24
NO_BASE = np.zeros((0, 0), np.float32)


def topic_dtype(n_topics: int) -> type[np.unsignedinteger[Any]]:
    """Smallest integer that holds a topic: two bytes up to 65,536 topics."""
    return np.uint16 if n_topics <= 2**16 else np.uint32


def real_dtype(corpus: Corpus, pseudo_counts: sparse.csr_array | None = None) -> type[np.floating[Any]]:
    """float32 where it holds every count of a word, and of a document, exactly; else float64."""
    counts = corpus.word_counts if pseudo_counts is None else corpus.word_counts + pseudo_counts.sum(1)
    largest = max(counts.max(initial=0), corpus.doc_lengths.max(initial=0))
    return np.float32 if largest < EXACT_FLOAT32 else np.float64


def real_of_documents(corpus: Corpus) -> type[np.floating[Any]]:
    """float32 where it holds every count of a document exactly, else float64."""
    return np.float32 if corpus.doc_lengths.max(initial=0) < EXACT_FLOAT32 else np.float64


@dataclass
class State:
    """Topics `z` of the tokens of `corpus`, and the priors.

    `base_table` has the pseudo-counts (V, K) of the prior of words in the kernels' float type, `real`; no rows where
    there are none. `supervision` has the responses.
    """

    corpus: Corpus
    priors: Priors
    z: NDArray[np.unsignedinteger[Any]]
    seed: int
    sweep: int = 0
    base_table: NDArray[np.floating[Any]] = field(default_factory=lambda: NO_BASE)
    real: type[np.floating[Any]] = np.float32
    supervision: Supervision | None = None

    @property
    def alpha(self) -> NDArray[np.float64]:
        """α (K), where all documents have the same."""
        return self.priors.topics.alpha

    @property
    def beta(self) -> PerWord:
        """β, without pseudo-counts: one number, or one for each word of the corpus."""
        return self.priors.words.beta

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return len(self.alpha)

    @property
    def beta_sum(self) -> float:
        """Σ_w β, over the whole vocabulary."""
        return self.priors.words.total(self.corpus.n_words)


def widen(state: State) -> None:
    """Give all arrays that have a column for each topic as many as the prior of topics has; new ones are 0."""
    n, words = state.n_topics, state.priors.words
    if words.pseudo_counts is not None and words.pseudo_counts.shape[1] < n:
        counts = words.pseudo_counts.copy()
        counts.resize(counts.shape[0], n)
        state.priors = replace(state.priors, words=replace(words, pseudo_counts=counts))
    if len(state.base_table) and state.base_table.shape[1] < n:
        state.base_table = np.pad(state.base_table, ((0, 0), (0, n - state.base_table.shape[1])))
    if state.supervision is not None:
        state.supervision.widen(n)


def join(state: State, number: NDArray[np.int64]) -> None:
    """Make topic k part of topic number[k] in all that has a column for each topic; not in `z`, which may be elsewhere.

    Weights of joined topics are averages, by how much of the corpus these are expected to have.
    """
    share = state.alpha
    state.priors = state.priors.joined(number)
    counts = state.priors.words.pseudo_counts
    if counts is not None and len(state.base_table):
        state.base_table = counts.astype(state.real).toarray()
    if state.supervision is not None:
        state.supervision.join(number, share)


#: Tokens that are renumbered together: NumPy makes 16 bytes of each, eight times what the topics of all of them take.
RENUMBERED_AT_ONCE = 2**16


def renumber(z: NDArray[np.unsignedinteger[Any]], number: NDArray[np.int64]) -> None:
    """Make topic k topic number[k], in place. Equivalent to ``z[:] = number[z]``."""
    for start in range(0, len(z), RENUMBERED_AT_ONCE):
        piece = z[start : start + RENUMBERED_AT_ONCE]
        piece[:] = number[piece]


def divided(
    z: NDArray[np.unsignedinteger[Any]], corpus: Corpus, n_topics: int, parts: int, seed: int, sweep: int
) -> NDArray[np.unsignedinteger[Any]]:
    """Topics of which each becomes `parts` of the `n_topics` topics: k becomes parts·k, parts·k + 1, …

    All tokens that a document has of a topic go to the same part, which is drawn, one stream per block of documents.
    """
    fine = np.empty(len(z), topic_dtype(n_topics))
    for block, (first, last) in enumerate(pairwise(corpus.block_ptr.tolist())):
        stream = new_stream(seed, DIVISION, sweep, corpus.first_block + block)
        draw_parts(corpus.doc_ptr, first, last, z, n_topics, parts, fine, stream)
    return fine


@kernel
def draw_parts(
    doc_ptr: Ints, first: Int, last: Int, z: Ints, n_topics: Int, parts: Int, fine: Ints, stream: Stream
) -> None:
    """Fill `fine` of documents first … last − 1: a part of topic z for all tokens that a document has of it."""
    part = np.zeros(-(-n_topics // parts), np.int64)  # 0: not drawn yet
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if part[k] == 0:
                part[k] = 1 + integer(stream, min(parts, n_topics - parts * k))
            fine[i] = parts * k + part[k] - 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            part[z[i]] = 0


class Start(NamedTuple):
    """Where a chain goes on: the topics of all tokens, after so many sweeps."""

    topics: NDArray[Any]
    sweep: int


def new_state(
    corpus: Corpus, priors: Priors, seed: int, supervision: Supervision | None = None, start: Start | None = None
) -> State:
    """A state with the topics of `start`; without it they are drawn at random, or by the targets of `supervision`."""
    counts = priors.words.pseudo_counts
    real = real_dtype(corpus, counts)
    table = NO_BASE if counts is None else counts.astype(real).toarray()
    if start is not None:
        z = start.topics.astype(topic_dtype(priors.n_topics))
        return State(corpus, priors, z, seed, start.sweep, table, real, supervision)
    z = first_topics(corpus, priors, seed, supervision)
    return State(corpus, priors, z, seed, 0, table, real, supervision)


#: The share of tokens that begin in a topic of a camp of their document.
IN_CAMPS = 0.9


def first_topics(
    corpus: Corpus, priors: Priors, seed: int, supervision: Supervision | None = None
) -> NDArray[np.unsignedinteger[Any]]:
    """Topics drawn uniformly from those that a document may have (α > 0), one stream per block of documents.

    Tokens of seed words begin in the topics of their seeds, and the others in topics that need not grow from seeds.
    Where `supervision` asks for it, most tokens begin in topics that belong to the camps of their document: topics that
    know the targets from the first sweep on predict better, in fewer sweeps, than those that have to find them
    (docs/experiments.md).
    """
    z = np.zeros(corpus.n_tokens, topic_dtype(len(priors.topics.alpha)))
    alpha, seeds = priors.topics.alpha_of(corpus).for_kernels(corpus.n_documents, np.float64), priors.words.seeds
    begin = alpha if seeds is None else alpha._replace(rows=seeds.free(alpha.rows))
    for block, (first, last) in enumerate(pairwise(corpus.block_ptr.tolist())):
        stream = new_stream(seed, INIT, 0, corpus.first_block + block)
        fill_uniform(corpus.doc_ptr, first, last, z, begin, stream)
        if seeds is not None:
            tokens = slice(*corpus.doc_ptr[[first, last]].tolist())
            row_of = np.repeat(alpha.row_of[first:last], corpus.doc_lengths[first:last])
            seeds.move(z[tokens], corpus.words[tokens], alpha.rows > 0, row_of)
        if supervision is not None and supervision.camp_topics:
            camps = supervision.response.camps(supervision.y[first:last])
            sizes = np.array(supervision.camp_topics, np.int64)
            begins = np.where(sizes.sum() <= len(alpha.rows[0]), np.cumsum(sizes) - sizes, np.arange(len(sizes)))
            fill_camps(corpus.doc_ptr, first, last, z, begins % len(alpha.rows[0]), sizes, camps, IN_CAMPS, stream)
    return z


@kernel
def fill_uniform(doc_ptr: Ints, first: Int, last: Int, z: Ints, prior: AlphaRows, stream: Stream) -> None:
    """Draw the topics z of documents first … last − 1 uniformly from those whose α is above 0."""
    allowed = np.zeros(prior.rows.shape[1], np.int64)
    n = 0
    row_before = np.int64(-1)
    for d in range(first, last):
        if prior.row_of[d] != row_before:
            row_before = prior.row_of[d]
            n = 0
            for k in range(allowed.shape[0]):
                if prior.rows[row_before, k] > 0:
                    allowed[n] = k
                    n += 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            z[i] = allowed[integer(stream, n)]


@kernel
def fill_camps(
    doc_ptr: Ints,
    first: Int,
    last: Int,
    z: Ints,
    begins: Ints,
    sizes: Ints,
    camps: NDArray[np.bool_],
    share: float,
    stream: Stream,
) -> None:
    """Draw most of the topics z of documents first … last − 1 from those of their camps (last − first, …).

    Camp c has the topics from begins[c] on, sizes[c] of them.
    """
    own = np.zeros(camps.shape[1], np.int64)
    for d in range(first, last):
        n = 0
        for c in range(camps.shape[1]):
            if camps[d - first, c]:
                own[n] = c
                n += 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if n > 0 and uniform(stream) < share:
                c = own[integer(stream, n)]
                z[i] = begins[c] + integer(stream, sizes[c])


def topic_counts(state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts rebuilt from the topics alone: `n_wk` (V, K) and `n_k` (K), without the base. Slow and obvious."""
    n_wk = np.zeros((state.corpus.n_words, state.n_topics), np.int64)
    np.add.at(n_wk, (state.corpus.words, state.z.astype(np.int64)), 1)
    return n_wk, n_wk.sum(0)


def document_counts(state: State) -> NDArray[np.int64]:
    """`n_dk` (D, K), rebuilt from the topics alone."""
    n_dk = np.zeros((state.corpus.n_documents, state.n_topics), np.int64)
    documents = np.repeat(np.arange(state.corpus.n_documents), state.corpus.doc_lengths)
    np.add.at(n_dk, (documents, state.z.astype(np.int64)), 1)
    return n_dk

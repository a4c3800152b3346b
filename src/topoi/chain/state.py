"""The state of a chain: the topic of every token, and the priors. Counts follow from it and are never stored here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.rng import INIT, integer, new_stream
from topoi.corpus import Corpus

if TYPE_CHECKING:
    from topoi.chain.responses.supervision import Supervision

# Counts are kept as floats so that kernels multiply them without converting; float32 counts exactly below 2²⁴.
EXACT_FLOAT32 = 2**24
NO_BASE = np.zeros((0, 0), np.float32)


def topic_dtype(n_topics: int) -> type[np.unsignedinteger[Any]]:
    """Smallest integer that holds a topic: two bytes up to 65,536 topics."""
    return np.uint16 if n_topics <= 2**16 else np.uint32


def real_dtype(corpus: Corpus, base: NDArray[Any] | None = None) -> type[np.floating[Any]]:
    """float32 where it holds every count of a word, and of a document, exactly; else float64."""
    counts = corpus.word_counts if base is None else corpus.word_counts + base.sum(1)
    largest = max(counts.max(initial=0), corpus.doc_lengths.max(initial=0))
    return np.float32 if largest < EXACT_FLOAT32 else np.float64


def real_of_documents(corpus: Corpus) -> type[np.floating[Any]]:
    """float32 where it holds every count of a document exactly, else float64."""
    return np.float32 if corpus.doc_lengths.max(initial=0) < EXACT_FLOAT32 else np.float64


@dataclass
class State:
    """Topics `z` of the tokens of `corpus`, with the priors α (one per topic) and β (one for all words).

    `base` holds word–topic counts of documents that are not in the corpus (an earlier fit): they count as if their
    tokens were there, but their topics stay. `real` is the float type of the kernels. `supervision` has the responses.
    """

    corpus: Corpus
    alpha: NDArray[np.float64]
    beta: float
    z: NDArray[np.unsignedinteger[Any]]
    seed: int
    sweep: int = 0
    base: NDArray[np.floating[Any]] | None = None
    real: type[np.floating[Any]] = np.float32
    supervision: Supervision | None = None

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return len(self.alpha)

    @property
    def beta_sum(self) -> float:
        """Σ_w β, over the whole vocabulary."""
        return self.beta * self.corpus.n_words

    @property
    def base_table(self) -> NDArray[np.floating[Any]]:
        """`base` in the kernels' float type; an array with no rows when there is none."""
        return NO_BASE if self.base is None else np.ascontiguousarray(self.base, self.real)


def new_state(
    corpus: Corpus,
    alpha: NDArray[np.float64],
    beta: float,
    seed: int,
    base: NDArray[np.floating[Any]] | None = None,
) -> State:
    """A state with topics drawn uniformly at random, one stream per block of documents."""
    n_topics = len(alpha)
    z = np.zeros(corpus.n_tokens, topic_dtype(n_topics))
    edges = corpus.doc_ptr[corpus.block_ptr]
    for block in range(len(edges) - 1):
        fill_uniform(z, edges[block], edges[block + 1], n_topics, new_stream(seed, INIT, 0, corpus.first_block + block))
    return State(corpus, np.asarray(alpha, np.float64), float(beta), z, seed, 0, base, real_dtype(corpus, base))


@kernel
def fill_uniform(z: Any, first: Any, last: Any, n_topics: Any, stream: Any) -> None:
    """Draw z[first:last] uniformly from the topics."""
    for i in range(first, last):
        z[i] = integer(stream, n_topics)


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

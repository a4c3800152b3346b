"""How often words are together: in documents, or in windows that slide over the words as they were written.

Only the words of the topics are counted. What is counted over, documents or windows, is a boolean matrix of places and
words B, and all that coherence needs is in BᵀB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.chain.model import check_whole
from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError
from topoi.evaluate.topics import Topics

CELLS = 2**21  # of B at a time: some 50 MB


@dataclass(frozen=True)
class Together:
    """Counts over `n` places: `pairs` (m, m) of words, on its diagonal those of single words; `place` of each word."""

    n: int
    pairs: sparse.csr_array
    place: dict[Any, int]

    def of_topic(self, topic: Any) -> NDArray[np.float64]:
        """Counts (words, words) of the words of a topic that occur at all, in their order."""
        chosen = [self.place[word] for word in topic]
        counts: NDArray[np.float64] = self.pairs[chosen][:, chosen].toarray().astype(np.float64)
        seen = np.diag(counts) > 0
        return counts[np.ix_(seen, seen)]


def together_in_documents(topics: Topics, X: Any) -> Together:
    """Documents with both of two words. Topics are columns of X, or words if X is a `Corpus` with a vocabulary.

    Documents without words do not count.
    """
    corpus = X.in_memory if isinstance(X, Corpus) else Corpus.from_counts(X, allow_empty=True)
    words = _words_of(topics)
    columns = [_column(word, corpus) for word in words]
    present = corpus.to_counts().tocsc()[:, columns].tocsr()
    present.data = np.ones(len(present.data), np.int64)
    n = int(np.count_nonzero(corpus.doc_lengths))
    return Together(n, sparse.csr_array(present.T @ present), {word: j for j, word in enumerate(words)})


def together_in_windows(topics: Topics, documents: Iterable[Iterable[str]], window: int) -> Together:
    """Windows of `window` neighbouring tokens with both of two words; a shorter document is one window.

    The documents are lists of tokens in the order of the text, read once. All tokens take up room in a window, also
    those that are no topic's. A document without tokens has no window.
    """
    check_whole("window", window, 1)
    if isinstance(documents, Corpus) or hasattr(documents, "shape") or sparse.issparse(documents):
        raise CorpusError(
            "windows need the order of the words, which counts and a Corpus do not keep: give the documents as lists "
            "of tokens, or take a coherence of documents (u_mass, or npmi without a window)."
        )
    words = _words_of(topics)
    for word in words:
        if not isinstance(word, str):
            raise ParameterError("topics", f"has {word!r}; to be looked for in lists of tokens, words must be str")
    place = {word: j for j, word in enumerate(words)}
    pairs = sparse.csr_array((len(words), len(words)), dtype=np.int64)
    n = 0
    for n_windows, where, what in _windows(documents, place, window):
        n += n_windows
        present = sparse.csr_array(
            sparse.coo_array((np.ones(len(what), np.int64), (where, what)), shape=(n_windows, len(words)))
        )
        present.sum_duplicates()
        present.data[:] = 1  # a word that is twice in a window is in it once
        pairs = sparse.csr_array(pairs + present.T @ present)
    return Together(n, pairs, place)


def _windows(
    documents: Iterable[Iterable[str]], place: dict[Any, int], window: int
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Pieces of B: a number of windows, and the window and the word of each cell, some of them more than once."""
    n_windows, cells, where, what = 0, 0, [], []
    for tokens in _checked(documents):
        found = [(i, place[token]) for i, token in enumerate(tokens) if token in place]
        here = max(len(tokens) - window + 1, 1) if tokens else 0
        if found:
            at, word = np.array(found, np.int64).T
            # The windows with token i are those that begin at i − window + 1 … i, as far as there are such.
            first, last = np.maximum(at - window + 1, 0), np.minimum(at, here - 1)
            times = last - first + 1
            start = np.repeat(np.cumsum(times) - times, times)
            where.append(n_windows + np.repeat(first, times) + np.arange(times.sum()) - start)
            what.append(np.repeat(word, times))
            cells += int(times.sum())
        n_windows += here
        if cells >= CELLS:
            yield n_windows, np.concatenate(where), np.concatenate(what)
            n_windows, cells, where, what = 0, 0, [], []
    if n_windows:
        nothing = np.empty(0, np.int64)
        yield n_windows, np.concatenate([nothing, *where]), np.concatenate([nothing, *what])


def _checked(documents: Iterable[Iterable[str]]) -> Iterator[list[str]]:
    for row, document in enumerate(documents):
        if isinstance(document, str | bytes) or not isinstance(document, Iterable):
            raise CorpusError(f"document {row} is a {type(document).__name__}; it must be a list of tokens (str).", row)
        tokens = list(document)
        for token in tokens:
            if not isinstance(token, str):
                raise CorpusError(f"document {row} has {token!r}, which is no str.", row)
        yield tokens


def _words_of(topics: Topics) -> list[Any]:
    """Every word of the topics, once, in the order of the first time."""
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise ParameterError("topics", f"must be a list of lists of words, not {topics!r}")
    words: dict[Any, None] = {}
    for k, topic in enumerate(topics):
        if isinstance(topic, str) or not isinstance(topic, Iterable):
            raise ParameterError("topics", f"topic {k} is {topic!r}; it must be a list of words")
        here = list(topic)
        if len(set(here)) < len(here):
            twice = next(word for j, word in enumerate(here) if word in here[:j])
            raise ParameterError("topics", f"topic {k} has {twice!r} more than once")
        words.update(dict.fromkeys(here))
    return list(words)


def _column(word: Any, corpus: Corpus) -> int:
    if isinstance(word, int | np.integer) and not isinstance(word, bool):
        if not 0 <= word < corpus.n_words:
            raise ParameterError("topics", f"has the column {word}, but X has {corpus.n_words} columns")
        return int(word)
    if corpus.vocabulary is None:
        raise ParameterError("topics", f"has the word {word!r}, but X knows no words; give columns, or a Corpus with a "
                             "vocabulary")  # fmt: skip
    found = np.flatnonzero(corpus.vocabulary == word)
    if len(found) == 0:
        raise ParameterError("topics", f"has the word {word!r}, which is not in the vocabulary of X")
    return int(found[0])

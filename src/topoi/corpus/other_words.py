"""Other words: those of a text that topics do not count, for supervised models to predict from.

Topics are of words that say what a text is about: without stop words, rare words, numbers, and what was cleaned away as
no language of the author's. A prediction may use all of it, a sender or a quoted line as well. So these words are
counted beside the others: words that the vocabulary leaves out, and what a document lacks of its whole text. A word
counts if it is in two documents. They are n-grams of one word (`ngrams.py`), and go the same way.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.corpus.checks import Vocabulary, running_total

FEWEST_DOCUMENTS = 2  # that a word must be in
MOST = 200_000  # words: those in most documents
NUMBER, WORD = 4, 150  # bytes of a word that is kept, and of one in the index with its letters


class OtherWords:
    """Counts words: all that documents have in common, or those that are `known`."""

    def __init__(self, known: Vocabulary | None = None) -> None:
        self._known = known
        self._index: dict[str, int] = {} if known is None else {word: i for i, word in enumerate(known)}
        self._words, self._removed = _Rows(), _Rows()

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far, and what will be found from it."""
        return WORD * len(self._index) + 4 * NUMBER * (len(self._words.numbers) + len(self._removed.numbers))

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take in a document, and words of its text that were `removed` from it."""
        index = self._index
        for rows, words in ((self._words, document), (self._removed, removed)):
            if self._known is None:
                rows.add([index.setdefault(word, len(index)) for word in words])
            else:
                rows.add([index[word] for word in words if word in index])

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Vocabulary, sparse.csr_array]:
        """The words, and their counts in the documents; `vocabulary` are the words that topics count (None: all)."""
        names = np.empty(len(self._index), object)
        names[:] = list(self._index)
        own = self._words.counts(len(names))
        if vocabulary is None:
            own.data[:] = 0
        else:
            topical = set(vocabulary)
            own.data[np.array([name in topical for name in names], bool)[own.indices]] = 0
        counts = sparse.csr_array(own + self._removed.counts(len(names)))
        counts.eliminate_zeros()
        if self._known is None:
            chosen = _choose(counts, names)
            names, counts = names[chosen], sparse.csr_array(counts[:, chosen])
        counts.sort_indices()
        return names, counts


class _Rows:
    """Numbers of words, document by document."""

    def __init__(self) -> None:
        self.numbers, self._lengths = array("i"), array("q")

    def add(self, numbers: list[int]) -> None:
        self.numbers.extend(numbers)
        self._lengths.append(len(numbers))

    def counts(self, n_words: int) -> sparse.csr_array:
        """How often each document has each word."""
        ptr = running_total(np.array(self._lengths, np.int64))
        numbers = np.array(self.numbers, np.int32)
        found = sparse.csr_array((np.ones(len(numbers), np.int32), numbers, ptr), shape=(len(ptr) - 1, n_words))
        found.sum_duplicates()
        return found


def _choose(counts: sparse.csr_array, names: Vocabulary) -> NDArray[np.int64]:
    """The words to keep, in the order of the alphabet; of those in equally many documents the earlier ones stay."""
    n_documents = np.bincount(counts.indices, minlength=len(names))
    alphabetical = np.argsort(names, kind="stable") if len(names) else np.empty(0, np.int64)
    alphabetical = alphabetical[n_documents[alphabetical] >= FEWEST_DOCUMENTS]
    stays = np.argsort(-n_documents[alphabetical], kind="stable")[:MOST]
    return np.asarray(alphabetical[np.sort(stays)], np.int64)

"""N-grams: words that stand side by side in a text, counted while it is read, for a corpus keeps no order of words.

They are made of all words of a text, those that the vocabulary leaves out among them: "not good" says more than "good",
though "not" is a stop word. An n-gram counts if a word of it is in the vocabulary ("of the" is none), and if it is in
two documents. Counts go beside the documents, as `Corpus.about["ngrams"]`; their vocabulary is `Corpus.ngrams`. N-grams
of one word are those that topics do not count (`other_words.py`). They may be asked for together: (1, 2).

While documents are read their words are kept as numbers, 4 bytes each. An n-gram of n words can be frequent only if the
two of n − 1 words in it are. So numbers of frequent n-grams are found from those of the shorter ones, at every place of
the text, and never more n-grams are looked at together than fit into a bucket.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from sys import getsizeof
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.corpus.checks import MAX_COUNT, Vocabulary, read_vocabulary, running_total
from topoi.corpus.other_words import OtherWords
from topoi.errors import CorpusError, ParameterError

LARGEST = 3  # words of an n-gram, at most
FEWEST_DOCUMENTS = 2  # that an n-gram must be in
MOST = 200_000  # n-grams of a vocabulary: those in most documents
BUCKET = 2**22  # n-grams that are counted together
PIECE = 2**19  # words looked at together
NUMBER, WORD = 4, 100  # bytes of a word that is kept, and of one in the index beside its letters

Numbers = NDArray[np.int32]
Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ngrams:
    """A vocabulary of n-grams of `smallest` to `largest` words; `names` are words with a blank between.

    Where `smallest` is not told, as in files of earlier versions, it is 1 if `largest` is, else 2.
    """

    names: Vocabulary
    largest: int
    smallest: int = 0

    def __post_init__(self) -> None:
        if self.smallest == 0:
            object.__setattr__(self, "smallest", 1 if self.largest == 1 else 2)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> tuple[int, int]:
        """The fewest words of an n-gram, and the most."""
        return self.smallest, self.largest

    @property
    def in_words(self) -> str:
        """How many there are, of how many words."""
        some = str(self.largest) if self.smallest == self.largest else f"{self.smallest} to {self.largest}"
        return f"{len(self)} n-grams of {some} word{'' if self.largest == 1 else 's'}"

    def check(self) -> None:
        """Raise unless it is one: it may come from a stranger's file."""
        if type(self.largest) is not int or not 1 <= self.largest <= LARGEST:
            raise CorpusError(f"n-grams have 1 to {LARGEST} words, not {self.largest!r}.")
        if type(self.smallest) is not int or not 1 <= self.smallest <= self.largest:
            raise CorpusError(f"n-grams have 1 to {self.largest} words, not {self.smallest!r}.")
        if self.names.ndim != 1 or self.names.dtype != object:
            raise CorpusError("n-grams must be a list of texts.")
        read_vocabulary(self.names)

    def check_same(self, other: Ngrams | None, whose: str) -> None:
        """Raise unless `other` are the same n-grams; `whose` says of what these are."""
        do = "Read texts as it did: Corpus.from_texts(texts, like=model)."
        if other is None and self.smallest == 1:
            raise CorpusError(
                f"{whose} was fitted on texts, and predicts from words that topics leave out as well; X has counts, "
                "which do not tell them. Give texts, or read them as it did: Corpus.from_texts(texts, like=model)."
            )
        if other is None:
            raise CorpusError(f"{whose} has n-grams among its columns, but X has none: counts do not tell them. {do}")
        if other is self:
            return
        if (len(other), *other.sizes) != (len(self), *self.sizes):
            raise CorpusError(f"X has {other.in_words}, {whose} {self.in_words}. {do}")
        if (wrong := np.flatnonzero(self.names != other.names)).size:
            i = int(wrong[0])
            raise CorpusError(f"n-gram {i} of X is {other.names[i]!r}, but {self.names[i]!r} of {whose}. {do}")


def check_counts(counts: Any, n_documents: int, n_ngrams: int) -> None:
    """Raise unless these are counts (documents, n-grams): whole and positive, the columns of a row rising."""
    if counts.shape != (n_documents, n_ngrams):
        raise CorpusError(f"counts of n-grams must be ({n_documents}, {n_ngrams}), not {counts.shape}.")
    if counts.dtype.kind not in "iu" or (counts.nnz and not 1 <= counts.data.min() <= counts.data.max() <= MAX_COUNT):
        raise CorpusError(f"n-grams must be counted by whole numbers from 1 to {MAX_COUNT}.")
    falls = np.flatnonzero(counts.indices[1:] <= counts.indices[:-1]) + 1
    if not np.isin(falls, counts.indptr).all():
        raise CorpusError("the n-grams of a document are not in ascending order.")


def known_by(like: Any) -> tuple[Any, Ngrams | None]:
    """Words and n-grams of a corpus or a fitted estimator."""
    for end in ("", "_"):
        if hasattr(like, f"vocabulary{end}") and hasattr(like, f"ngrams{end}"):
            vocabulary, ngrams = getattr(like, f"vocabulary{end}"), getattr(like, f"ngrams{end}")
            if vocabulary is None:
                raise ParameterError("like", "knows columns by number; their words are not known")
            return vocabulary, ngrams
    raise ParameterError("like", f"must be a fitted estimator or a Corpus, not {type(like).__name__}")


class NgramCounter(Protocol):
    """What counts n-grams while documents are read."""

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far, and what will be found from it."""

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take in a document, whose words are in the order of the text, and words that were `removed` from it."""

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Ngrams, sparse.csr_array]:
        """The n-grams, and their counts in the documents; `vocabulary` are the words that topics count."""


def new_counter(asked: Any) -> NgramCounter | None:
    """What counts the n-grams that are asked for, as by a user, or those that are known; None: none are."""
    if asked is None:
        return None
    known = asked if isinstance(asked, Ngrams) else None
    smallest, largest = read_sizes(asked) if known is None else known.sizes
    if largest == 1:
        return SingleWords(known)
    several = NewNgrams(largest, smallest=max(smallest, 2)) if known is None else KnownNgrams(known)
    return several if smallest > 1 else SinglesAndSeveral(SingleWords(known), several, known)


def read_sizes(asked: Any) -> tuple[int, int]:
    """The fewest and the most words of the n-grams that a user asks for: 1; up to 2 or 3 words; or from … to."""
    sizes = asked if isinstance(asked, tuple | list) and len(asked) == 2 else (1 if asked == 1 else 2, asked)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in sizes)
    if not whole or not 1 <= sizes[0] <= sizes[1] <= LARGEST:
        raise ParameterError(
            "ngrams",
            f"must be None, 1 to {LARGEST} words, the fewest and the most as (1, 2), or Ngrams of a corpus, "
            f"not {asked!r}",
        )
    return int(sizes[0]), int(sizes[1])


class SingleWords:
    """Counts words that topics do not count: those of a vocabulary, or all that documents have in common."""

    def __init__(self, known: Ngrams | None = None) -> None:
        self._known = known
        self._words = OtherWords(None if known is None else known.names)

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far, and what will be found from it."""
        return self._words.n_bytes

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take in a document and words that were removed from it."""
        self._words.add(document, removed)

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Ngrams, sparse.csr_array]:
        """The words, and their counts in the documents."""
        names, counts = self._words.finish(vocabulary)
        return self._known or Ngrams(names, 1), counts


class SinglesAndSeveral:
    """Counts words that topics do not count, and n-grams of several words; what has the same name is one column."""

    def __init__(self, singles: SingleWords, several: NewNgrams | KnownNgrams, known: Ngrams | None = None) -> None:
        self._singles, self._several, self._known = singles, several, known

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far, and what will be found from it."""
        return self._singles.n_bytes + self._several.n_bytes

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take in a document and words that were removed from it, which have no neighbours."""
        self._singles.add(document, removed)
        self._several.add(document)

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Ngrams, sparse.csr_array]:
        """The words and n-grams, sorted together, and their counts in the documents."""
        vocabulary = None if vocabulary is None else list(vocabulary)
        words, of_words = self._singles.finish(vocabulary)
        ngrams, of_ngrams = self._several.finish(vocabulary)
        if self._known is not None:  # both have a column for each of them
            counts = sparse.csr_array(of_words + of_ngrams)
            counts.sort_indices()
            return self._known, counts
        both = sparse.csr_array(sparse.hstack((of_words, of_ngrams), "csr"))
        every = np.concatenate((words.names, ngrams.names))
        names, place = np.unique(every, return_inverse=True) if len(every) else (every, np.empty(0, np.int64))
        columns = place.astype(np.int32)[both.indices]
        counts = sparse.csr_array((both.data, columns, both.indptr), shape=(both.shape[0], len(names)))
        counts.sum_duplicates()
        return Ngrams(names, ngrams.largest, 1), counts


class KnownNgrams:
    """Counts the n-grams of a vocabulary."""

    def __init__(self, ngrams: Ngrams) -> None:
        self._ngrams = ngrams
        self._index = {name: i for i, name in enumerate(ngrams.names)}
        self._found = array("i")
        self._lengths = array("q")

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far."""
        return NUMBER * len(self._found)

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Count the n-grams of a document, whose words are in the order of the text."""
        before, index = len(self._found), self._index
        for n in range(max(self._ngrams.smallest, 2), self._ngrams.largest + 1):
            names = map(" ".join, zip(*(document[k:] for k in range(n)), strict=False))
            self._found.extend(index[name] for name in names if name in index)
        self._lengths.append(len(self._found) - before)

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Ngrams, sparse.csr_array]:
        """The n-grams, and their counts in the documents."""
        indptr = running_total(np.array(self._lengths, np.int64))
        return self._ngrams, _counted(np.array(self._found, np.int32), indptr, len(self._ngrams))


class _Level(NamedTuple):
    """Frequent n-grams of n words: the n-gram that begins at each word of the text (−1: none), and for each n-gram its
    words (n-grams, n) and the number of documents that have it.
    """

    at: Numbers
    words: NDArray[np.int64]
    n_documents: NDArray[np.int64]


class NewNgrams:
    """Gathers documents, and finds the n-grams that they have in common."""

    def __init__(self, largest: int, most: int = MOST, smallest: int = 2) -> None:
        self._smallest, self._largest, self._most = smallest, largest, most
        self._index: defaultdict[str, int] = defaultdict(None)
        self._index.default_factory = self._index.__len__  # a word that is not there gets the next number
        self._numbers = array("i")
        self._lengths = array("q")
        self._n_index = 0

    @property
    def n_bytes(self) -> int:
        """What is kept of the documents so far, and what will be found from it."""
        return self._n_index + self._largest * NUMBER * len(self._numbers)

    def add(self, document: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take in a document, whose words are in the order of the text."""
        before = len(self._index)
        self._numbers.extend(map(self._index.__getitem__, document))
        self._lengths.append(len(document))
        new = islice(reversed(self._index), len(self._index) - before)
        self._n_index += sum(WORD + getsizeof(word) for word in new)

    def finish(self, vocabulary: Iterable[str] | None = None) -> tuple[Ngrams, sparse.csr_array]:
        """The n-grams that have a word of the vocabulary (None: any), and their counts in the documents."""
        names = np.empty(len(self._index), object)
        names[:] = list(self._index)
        wanted = np.ones(len(names), bool)
        if vocabulary is not None:
            known = set(vocabulary)
            wanted[:] = [name in known for name in names]
        self._index.clear()
        doc_ptr = running_total(np.array(self._lengths, np.int64))
        numbers = np.frombuffer(self._numbers, np.int32) if len(self._numbers) else np.empty(0, np.int32)
        every = np.arange(len(names))
        below, levels = _Level(numbers, every[:, None], np.zeros(len(names), np.int64)), []
        for n in range(2, self._largest + 1):
            below = _longer(below, doc_ptr)
            if n >= self._smallest:
                levels.append(below)
        chosen, columns = _choose(levels, names, wanted, self._most)
        return Ngrams(chosen, self._largest, self._smallest), _count(levels, columns, doc_ptr, len(chosen))


def _longer(below: _Level, doc_ptr: Keys) -> _Level:
    """The frequent n-grams that are one word longer: two of those below, a word apart."""
    n = len(below.words)
    n_buckets = 1 + len(below.at) // BUCKET
    all_keys, all_documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for bucket in range(n_buckets):
        keys, documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for first, _, start, stop in _pieces(doc_ptr):
            key = _keys(below.at, doc_ptr, start, stop, n)
            here = np.flatnonzero((key >= 0) & (key % n_buckets == bucket))
            keys.append(key[here])
            documents.append(first - 1 + np.searchsorted(doc_ptr[first:], start + here, side="right"))
        found, n_with = _frequent(np.concatenate(keys), np.concatenate(documents))
        all_keys.append(found)
        all_documents.append(n_with)
    keys_found, n_documents = np.concatenate(all_keys), np.concatenate(all_documents)
    order = np.argsort(keys_found, kind="stable")
    keys_found, n_documents = keys_found[order], n_documents[order]
    at = np.full(len(below.at), -1, np.int32)
    for _, _, start, stop in _pieces(doc_ptr):
        key = _keys(below.at, doc_ptr, start, stop, n)
        place = np.minimum(np.searchsorted(keys_found, key), max(len(keys_found) - 1, 0))
        if len(keys_found):
            at[start:stop] = np.where(keys_found[place] == key, place, -1)
    words = np.column_stack((below.words[keys_found // max(n, 1)], below.words[keys_found % max(n, 1), -1]))
    return _Level(at, words, n_documents)


def _keys(at: Numbers, doc_ptr: Keys, start: int, stop: int, n: int) -> Keys:
    """A number for each pair of neighbours that begins from `start` to `stop`, whole documents; −1 if there is none."""
    left = at[start:stop].astype(np.int64)
    right = np.append(at[start + 1 : stop], -1).astype(np.int64)
    ends = doc_ptr[np.searchsorted(doc_ptr, start, side="right") : np.searchsorted(doc_ptr, stop, side="right")]
    right[ends[ends > start] - start - 1] = -1
    return np.where((left >= 0) & (right >= 0), left * n + right, -1)


def _frequent(keys: Keys, documents: Keys) -> tuple[Keys, Keys]:
    """Keys that enough documents have, and how many do; `documents` rises."""
    order = np.argsort(keys, kind="stable")
    keys, documents = keys[order], documents[order]
    new_key = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    new = new_key | np.append(True, documents[1:] != documents[:-1])[: len(keys)]
    first = np.flatnonzero(new_key)
    n_with = np.add.reduceat(new.astype(np.int64), first) if len(first) else np.empty(0, np.int64)
    enough = n_with >= FEWEST_DOCUMENTS
    return keys[first][enough], n_with[enough]


def _choose(
    levels: list[_Level], names: Vocabulary, wanted: NDArray[np.bool_], most: int
) -> tuple[Vocabulary, list[Numbers]]:
    """Names of the n-grams to keep, sorted; and for every level the column of each n-gram, −1 if it is left out.

    Of n-grams that are in equally many documents the shorter and then the earlier ones stay.
    """
    candidates = [np.flatnonzero(wanted[level.words].any(1)) for level in levels]
    n_documents = np.concatenate([level.n_documents[own] for level, own in zip(levels, candidates, strict=True)])
    stays = np.zeros(len(n_documents), bool)
    stays[np.argsort(-n_documents, kind="stable")[:most]] = True
    of_levels = np.split(stays, np.cumsum([len(own) for own in candidates])[:-1])
    kept = [own[stay] for own, stay in zip(candidates, of_levels, strict=True)]
    texts = [
        " ".join(words) for level, own in zip(levels, kept, strict=True) for words in names[level.words[own]].tolist()
    ]
    together = np.empty(len(texts), object)
    together[:] = texts
    # Where words have blanks in them, n-grams of other words may have the same name: they are one.
    chosen, place = np.unique(together, return_inverse=True) if texts else (together, np.empty(0, np.int64))
    columns, first = [], 0
    for level, own in zip(levels, kept, strict=True):
        column = np.full(len(level.words), -1, np.int32)
        column[own] = place[first : first + len(own)]
        columns.append(column)
        first += len(own)
    return chosen, columns


def _count(levels: list[_Level], columns: list[Numbers], doc_ptr: Keys, n_ngrams: int) -> sparse.csr_array:
    """Counts (documents, n-grams), a piece at a time."""
    parts = [sparse.csr_array((0, n_ngrams), dtype=np.int32)]
    for first, last, start, stop in _pieces(doc_ptr):
        found = np.stack([
            np.where(level.at[start:stop] >= 0, column[level.at[start:stop]], -1) if len(column)
            else np.full(stop - start, -1, np.int32)
            for level, column in zip(levels, columns, strict=True)
        ], axis=1)  # fmt: skip
        kept = found >= 0
        indptr = running_total(kept.sum(1))[doc_ptr[first : last + 1] - start]
        parts.append(_counted(found[kept], indptr, n_ngrams))
    return sparse.csr_array(sparse.vstack(parts, "csr"))


def _counted(columns: Numbers, indptr: Keys, n_columns: int) -> sparse.csr_array:
    """Counts of columns that come one by one, those of each row together."""
    counts = sparse.csr_array((np.ones(len(columns), np.int32), columns, indptr), shape=(len(indptr) - 1, n_columns))
    counts.sum_duplicates()
    return counts


def _pieces(doc_ptr: Keys) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, start, stop): whole documents and their words, some PIECE of them at a time."""
    n, first = len(doc_ptr) - 1, 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(doc_ptr, doc_ptr[first] + PIECE, side="right")) - 1)
        yield first, last, int(doc_ptr[first]), int(doc_ptr[last])
        first = last

"""Word numbers of documents, gathered in one growing array of 4 bytes a token and finished in place.

Neither the texts nor a second copy of the tokens is ever in memory: words are renumbered, sorted within their documents
and pruned a piece at a time, each piece written over where tokens have been read already.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, repeat
from sys import getsizeof
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import MAX_TOKENS, running_total
from topoi.corpus.text.limits import Limits, Pruned
from topoi.corpus.text.phrases import Pairs, find_phrases
from topoi.corpus.text.stems import Stem, choose_forms, held_words

PIECE = 2**19  # tokens worked on together
LONG = 2**26  # characters of texts whose words have not been counted yet
CHARACTERS = 16  # of text for a byte of the limit: as many as zlib can make of a byte of the file
TOKEN, DOCUMENT, WORD = 4, 16, 100  # bytes; those of a word beside its letters
JOINING = 40  # bytes of a token while phrases are looked for

UNKNOWN, IGNORED = -1, -2


def is_piece(n_tokens: int, n_documents: int, n_characters: int) -> bool:
    """Whether documents are enough to be counted together; the first that are decide which words are stop words."""
    return n_tokens >= PIECE or n_documents >= PIECE or n_characters >= LONG


# Which words of the first documents, by how often each comes, are stop words.
StopWords = Callable[[Mapping[str, int]], Iterable[str]]


class Memory(Protocol):
    """The memory that may be used."""

    def ask(self, n_bytes: int, what: str) -> None:
        """Raise if so many bytes are too many; `what` begins a sentence that says what for."""


class NoLimit:
    """That of texts that are in memory already."""

    def ask(self, n_bytes: int, what: str) -> None:
        """Nothing is too much."""


class Tokens:
    """The tokens of all documents so far: `words`, in the order in which they came, and `lengths` of the documents."""

    def __init__(self, memory: Memory) -> None:
        self.words = array("i")
        self.lengths = array("q")
        self.memory = memory

    def extend(self, words: NDArray[np.int32], lengths: NDArray[np.int64], more: int = 0) -> None:
        """Append documents; there are `more` bytes beside the tokens."""
        self._ask(len(words), len(lengths), more)
        for start in range(0, len(words), PIECE):
            self.words.frombytes(np.ascontiguousarray(words[start : start + PIECE], np.int32).tobytes())
        self.lengths.frombytes(np.ascontiguousarray(lengths, np.int64).tobytes())

    def extend_counted(self, words: NDArray[np.int64], counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Append documents in which each of the `words` comes as often as `counts` says."""
        self._ask(int(counts.sum()), len(lengths))
        ends = np.cumsum(counts)
        first = 0
        while first < len(words):  # a piece at a time, which one count alone may exceed
            begin = int(ends[first] - counts[first])
            last = max(first + 1, int(np.searchsorted(ends, begin + PIECE, side="right")))
            self.words.frombytes(np.repeat(words[first:last].astype(np.int32), counts[first:last]).tobytes())
            first = last
        self.lengths.frombytes(np.ascontiguousarray(lengths, np.int64).tobytes())

    def _ask(self, n_tokens: int, n_documents: int, more: int = 0) -> None:
        n_tokens, n_documents = len(self.words) + n_tokens, len(self.lengths) + n_documents
        if n_tokens > MAX_TOKENS:
            raise MemoryError("too many tokens")
        n_bytes = TOKEN * n_tokens + DOCUMENT * n_documents + more
        self.memory.ask(n_bytes, f"It has {n_tokens} tokens or more, in {n_documents} documents")

    def frequencies(self, n_words: int) -> NDArray[np.int64]:
        """How often each word comes."""
        view, counts = np.frombuffer(self.words, np.int32), np.zeros(n_words, np.int64)
        for start in range(0, len(view), PIECE):
            counts += np.bincount(view[start : start + PIECE], minlength=n_words)
        return counts

    def recode(self, table: NDArray[np.int32]) -> None:
        """Put word ``table[w]`` where word w is."""
        view = np.frombuffer(self.words, np.int32)
        for start in range(0, len(view), PIECE):
            view[start : start + PIECE] = table[view[start : start + PIECE]]

    def renumber(self, table: NDArray[np.int32], sort: bool) -> None:
        """Give word w the number ``table[w]``, or drop its tokens if that is negative; then sort each document.

        `sort` may be False if the table does not change the order of the words that it keeps.
        """
        end, n_words = 0, int(table.max(initial=0)) + 1
        view, lengths = np.frombuffer(self.words, np.int32), np.frombuffer(self.lengths, np.int64)
        for first, last, start, stop in _pieces(lengths.copy()):
            words, kept = drop(table[view[start:stop]], lengths[first:last], 0)
            if sort:
                words = _sorted(words, kept, n_words)
            view[end : end + len(words)] = words
            lengths[first:last] = kept
            end += len(words)
        del view, lengths  # an array in use cannot shrink
        del self.words[end:]

    def count(self, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of documents with each word, and of its tokens; the documents must be sorted."""
        n_with, n_tokens = np.zeros(n_words, np.int64), np.zeros(n_words, np.int64)
        view, lengths = np.frombuffer(self.words, np.int32), np.frombuffer(self.lengths, np.int64)
        for first, last, start, stop in _pieces(lengths):
            words = view[start:stop]
            is_first = np.ones(len(words), bool)
            np.not_equal(words[1:], words[:-1], out=is_first[1:])
            begins = running_total(lengths[first:last])[:-1]
            is_first[begins[begins < len(words)]] = True
            n_tokens += np.bincount(words, minlength=n_words)
            n_with += np.bincount(words[is_first], minlength=n_words)
        return n_with, n_tokens

    def prune(self, n_words: int, limits: Limits) -> Pruned:
        """Drop the words that the limits exclude, and say which are kept; the documents must be sorted."""
        if limits.absent:
            return Pruned(np.ones(n_words, bool))
        pruned = limits.prune(*self.count(n_words), n_documents=len(self.lengths))
        self.renumber(np.where(pruned.kept, np.cumsum(pruned.kept) - 1, UNKNOWN).astype(np.int32), sort=False)
        return pruned

    def views(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """`words` and `lengths` as arrays; while they are looked at nothing can be added."""
        return np.frombuffer(self.words, np.int32), np.frombuffer(self.lengths, np.int64)

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """`words` and `doc_ptr` of a corpus."""
        return np.frombuffer(self.words, np.int32), running_total(np.frombuffer(self.lengths, np.int64))


class TextTokens:
    """Gathers documents that are lists of words, and numbers the words as they come, or as a vocabulary does.

    Single `letters` are left out, and stop words: which they are is asked when the first documents have been counted.
    With `phrases` words stay in their order up to the end, stop words among them.
    """

    def __init__(
        self,
        letters: frozenset[str],
        stop_words: StopWords | None,
        vocabulary: NDArray[np.object_] | None,
        memory: Memory,
        phrases: bool = False,
    ) -> None:
        self.tokens = Tokens(memory)
        self.n_kept = 0  # bytes of what the reader keeps beside the words: ids, labels, texts
        self._n_asked = 0  # of these, for how many memory was asked
        self.n_dropped = self.n_stop_words = 0  # tokens that a vocabulary lacks, and that are stop words
        self.pairs: Pairs = []  # words that are one phrase, if these are looked for
        self.held: list[str] = []  # stop words that are not stemmed: see `topoi.corpus.text.stems`
        self._n_vocabulary = self._n_counted = 0  # bytes and number of words so far
        self._n_text = self._n_characters = 0  # characters so far, and since the last piece
        self._vocabulary = vocabulary
        self._stop_words = stop_words if vocabulary is None else None
        self._phrases = phrases and vocabulary is None
        self._numbers: list[int] = []  # of the documents since the last piece
        self._ends: list[int] = []
        self._index: dict[str, int] = {}
        self._n_letters = self._fewest = 0  # words that are no words have the first numbers: letters, then stop words
        if vocabulary is None:
            self._n_letters = len(letters)
            self._begin(sorted(letters))
            self._fewest = len(letters)
        else:
            ignored = () if stop_words is None else stop_words({})
            self._index = {word: i for i, word in enumerate(vocabulary)} | dict.fromkeys((*letters, *ignored), IGNORED)
            known = self._index.get
            self._look_up: Callable[[list[str]], Any] = lambda words: map(known, words, repeat(UNKNOWN))

    def _begin(self, words: list[str]) -> None:
        """Number these words from 0; C code then gives a word that is not there the next number."""
        index: defaultdict[str, int] = defaultdict(None, {word: i for i, word in enumerate(words)})
        index.default_factory = index.__len__
        self._index = index
        self._look_up = lambda words: map(index.__getitem__, words)

    def add(self, document: list[str], n_characters: int) -> None:
        """Append a document that was a text of so many characters."""
        if self.n_kept - self._n_asked > LONG:  # not only when a piece is done: its documents may have long ids
            self._n_asked = self.n_kept
            self.tokens.memory.ask(self.n_kept, "Ids, labels and columns of its documents are kept")
        self._n_characters += n_characters
        self._numbers.extend(self._look_up(document))
        self._ends.append(len(self._numbers))
        if is_piece(len(self._numbers), len(self._ends), self._n_characters):
            self.flush()

    def flush(self) -> None:
        """Count the documents since the last piece; after the first it is known which words are stop words."""
        numbers = np.frombuffer(array("i", self._numbers), np.int32)
        lengths = np.diff(np.array([0, *self._ends])).astype(np.int64)
        self._numbers.clear()
        self._ends.clear()
        self._n_text += self._n_characters
        self._n_characters = 0
        what = f"Its texts have {self._n_text} characters or more, which are not kept but take their time"
        self.tokens.memory.ask(self._n_text // CHARACTERS, what)
        if self._vocabulary is not None:
            self.n_dropped += int((numbers == UNKNOWN).sum())
        else:
            numbers = self._without_stop_words(numbers)
            self.n_stop_words += int(((numbers >= self._n_letters) & (numbers < self._fewest)).sum())
            new = islice(reversed(self._index), len(self._index) - self._n_counted)
            self._n_vocabulary += sum(WORD + getsizeof(word) for word in new)
            self._n_counted = len(self._index)
        fewest = 0 if self._phrases else self._fewest
        self.tokens.extend(*drop(numbers, lengths, fewest), self._n_vocabulary + self.n_kept)

    def _without_stop_words(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of the first piece as they are when stop words have the first ones; those of others as given."""
        if self._stop_words is None:
            return numbers
        words = list(self._index)
        counts = np.bincount(numbers, minlength=len(words)).tolist()
        letters = words[: self._n_letters]
        counted = dict(zip(words[self._n_letters :], counts[self._n_letters :], strict=True))
        ignored = sorted(set(self._stop_words(counted)).difference(letters))
        self._stop_words = None
        self._begin(list(dict.fromkeys([*letters, *ignored, *words])))
        self._fewest = self._n_letters + len(ignored)
        return np.array([self._index[word] for word in words], np.int32)[numbers]

    def take(self) -> Tokens:
        """The tokens so far, which then are here no longer; words that come again have the same numbers."""
        self.flush()
        taken, self.tokens = self.tokens, Tokens(self.tokens.memory)
        return taken

    @property
    def words(self) -> list[str]:
        """All words so far, in the order of their numbers; those of the first `fewest` are no words of a corpus."""
        return [] if self._vocabulary is not None else list(self._index)

    @property
    def fewest(self) -> int:
        """The number of letters and stop words."""
        return self._fewest

    def finish(self, limits: Limits, stem: Stem | None = None) -> tuple[NDArray[np.object_], Pruned]:
        """Make the tokens those of a corpus; the words of its vocabulary, in order, and what was left out.

        With `stem` words of the same stem become one.
        """
        self.flush()
        if self._vocabulary is not None:
            n_words = len(self._vocabulary)
            self.tokens.renumber(np.arange(n_words, dtype=np.int32), sort=True)
            return self._vocabulary, Pruned(np.ones(n_words, bool))
        words = list(self._index)  # in the order of their numbers
        self._index.clear()
        forms = np.arange(len(words), dtype=np.int32)
        stop_words = words[self._n_letters : self._fewest]
        if stem is not None:
            forms = choose_forms(words, self.tokens.frequencies(len(words)), self._fewest, stem)
            self.tokens.recode(forms)
        stays = forms == np.arange(len(words))
        if self._phrases:
            self.tokens.memory.ask(JOINING * len(self.tokens.words), "Phrases are looked for among its words")
            self.pairs, names, numbers, lengths = find_phrases(*self.tokens.views(), words, self._fewest)
            self.tokens = Tokens(self.tokens.memory)
            self.tokens.extend(numbers, lengths)
            words += names
            stays = np.append(stays, np.ones(len(names), bool))
        stays[: self._fewest] = False
        order = sorted(np.flatnonzero(stays).tolist(), key=words.__getitem__)
        table = np.full(len(words), UNKNOWN, np.int32)
        table[np.array(order, np.int64)] = np.arange(len(order))
        self.tokens.renumber(table, sort=True)
        vocabulary = np.empty(len(order), object)
        vocabulary[:] = [words[i] for i in order]
        pruned = self.tokens.prune(len(order), limits)
        vocabulary = vocabulary[pruned.kept]
        if stem is not None:
            parts = (part for pair in self.pairs for part in pair)
            self.held = held_words(stop_words, (*vocabulary, *parts), stem)
        return vocabulary, pruned


def drop(
    words: NDArray[np.int32], lengths: NDArray[np.int64], fewest: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Documents without the words below `fewest`."""
    kept = words >= fewest
    if kept.all():
        return words, lengths
    ends = running_total(kept.astype(np.int64))[running_total(lengths)]
    return words[kept], np.diff(ends)


def _sorted(words: NDArray[np.int32], lengths: NDArray[np.int64], n_words: int) -> NDArray[np.int32]:
    """Each document in ascending order: one sort of (document, word) for all of them."""
    if len(lengths) == 1:  # it may be longer than a piece: no numbers of 8 bytes beside it
        return np.sort(words)
    document = np.repeat(np.arange(len(lengths)), lengths)
    keys = document * n_words + words
    keys.sort()
    keys -= document * n_words
    return keys.astype(np.int32)


def _pieces(lengths: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, start, stop): documents and their tokens, some PIECE of them at a time."""
    doc_ptr = running_total(lengths)
    first = 0
    while first < len(lengths):
        last = max(first + 1, int(np.searchsorted(doc_ptr, doc_ptr[first] + PIECE, side="right")) - 1)
        last = min(last, first + PIECE)
        yield first, last, int(doc_ptr[first]), int(doc_ptr[last])
        first = last

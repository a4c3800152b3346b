"""Texts of which every process has a part: counted, merged, and encoded, with the bytes that all in one go would have.

    first texts    until they are a piece (`tokens.is_piece`): they decide the languages, as they do in one go
    count          each part: texts are cut and numbered as they come; words are counted; the numbers are kept there
    merge          in the order of the parts: how often words come, in how many documents; from it the vocabulary
    (count again   in how many documents each stem is, if words are stemmed: forms are known only now)
    encode         each part: what was kept, in the numbers of the vocabulary

Texts are read once, but for the first. Of what grows with the corpus the process that merges has the words, and some
50 bytes a document; tokens are where they were counted.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.workers import Arrays, Keep, Kept, Workers
from topoi._version import __version__
from topoi.corpus.checks import Vocabulary
from topoi.corpus.text.cutting import Cutting, Decided, StopWords, Text
from topoi.corpus.text.gather import hash_of, n_characters, prepared, removed_of, texts_array
from topoi.corpus.text.limits import Limits, Pruned
from topoi.corpus.text.preparation import Preparation, TextOptions
from topoi.corpus.text.stems import choose_forms, held_words
from topoi.corpus.text.tokens import UNKNOWN, Memory, NoLimit, TextTokens, Tokens, is_piece
from topoi.errors import CorpusError, ParameterError, WorkersError

CHUNK = 2**22  # tokens that are kept together: a worker holds no more of a part, however large that is

#: Says how far it is: what is done, how many parts of how many.
Tell = Callable[[str, int, int], None]


@dataclass
class Notes:
    """What whoever reads a part notes beside the words: of each document, and of those that could not be read."""

    beside: list[Any] = field(default_factory=list)
    n_bytes: int = 0  # of these
    n_skipped: int = 0
    messages: list[str] = field(default_factory=list)
    n_missing: int = 0  # texts


TakeNotes = Callable[[Notes], None]
#: Reads a part, and notes what there is to note; gives texts.
Reader = Callable[[Any, Notes], Iterator[Text]]


@dataclass(frozen=True)
class Order:
    """What every process needs to know; all of it goes from one to the other."""

    read: Reader
    options: TextOptions
    vocabulary: Vocabulary | None = None
    known: Preparation | None = None
    memory: Callable[[Any], Memory] | None = None  # that may be used for a part
    keep: Keep | None = None
    decided: Decided | None = None


class Counted(NamedTuple):
    """What a part tells of itself."""

    stamp: str
    listed: bool | None  # whether documents are lists of words; None if there are none
    words: list[str]
    n_with: NDArray[np.int64]
    n_tokens: NDArray[np.int64]
    hashes: NDArray[np.int64]
    cleaned: Counter[str]
    n_stop_words: int
    n_dropped: int
    n_encoded: int  # tokens, if there is a vocabulary
    notes: Notes


class Numbered(NamedTuple):
    """What is kept of a part: words and lengths of documents in chunks, and what the numbers mean."""

    chunks: list[Kept]
    words: Kept
    fewest: int


@dataclass(frozen=True)
class Encoding:
    """The number of each word in the corpus; None if words have those of a vocabulary already."""

    keep: Keep
    final: dict[str, int] | None
    n_words: int


@dataclass(frozen=True)
class Built:
    """What came of all parts: the vocabulary, how it came about, and the documents piece by piece."""

    vocabulary: Vocabulary
    preparation: Preparation
    n_documents: int
    n_tokens: int
    n_dropped: int
    pieces: Callable[[], Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]]


class First:
    """Counts the first texts; a task, as reading them is."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.n_tokens = self.n_documents = self.n_characters = 0
        self.listed: bool | None = None

    @property
    def enough(self) -> bool:
        """Whether they are a piece."""
        return is_piece(self.n_tokens, self.n_documents, self.n_characters)

    def add(self, text: Text, cutting: Cutting) -> None:
        """Count the words of a text."""
        document = cutting.cut(text)
        self.counts.update(document)
        self.n_tokens += len(document)
        self.n_documents += 1
        self.n_characters += n_characters(text)


def first_texts(part: Any, shared: tuple[Order, First]) -> First:
    """Count the first texts of a part, after those of the parts before."""
    order, before = shared
    first = First()
    first.__dict__.update(vars(before) | {"counts": Counter(before.counts)})
    cutting: Cutting | None = None
    for text in order.read(part, Notes()):
        if first.listed is None:
            first.listed = isinstance(text, list)
        cutting = cutting or Cutting(order.options, listed=first.listed)
        first.add(text, cutting)
        if first.enough:
            break
    return first


def count(part: Any, order: Order) -> tuple[Counted, Numbered]:
    """Cut, number and count the texts of a part."""
    notes, hashes = Notes(), []
    listed: bool | None = None
    cutting = tokens = None
    numbered = _Chunks(order)
    for text in order.read(part, notes):
        if cutting is None or tokens is None:
            listed = isinstance(text, list)
            cutting, tokens = _begin(order, part, listed)
        if isinstance(text, list) is not listed:
            raise mixed()
        document = cutting.cut(text)
        hashes.append(hash_of(document))
        tokens.n_kept = notes.n_bytes
        tokens.add(cutting.as_known(document), n_characters(text))
        if len(tokens.tokens.words) >= CHUNK or len(tokens.tokens.lengths) >= CHUNK:
            numbered.add(tokens)
    if cutting is None or tokens is None:
        cutting, tokens = _begin(order, part, False)
    numbered.add(tokens)
    words = tokens.words
    told = Counted(
        stamp(), listed, words[tokens.fewest :], *numbered.counts(len(words), tokens.fewest),
        np.array(hashes, np.int64), cutting.clean.removed, tokens.n_stop_words, tokens.n_dropped, numbered.n_tokens,
        notes,
    )  # fmt: skip
    assert order.keep is not None
    spelled = np.frombuffer(json.dumps(words[tokens.fewest :]).encode(), np.uint8)
    return told, Numbered(numbered.chunks, order.keep((spelled,)), tokens.fewest)


def stamp() -> str:
    """What words depend on beside the options."""
    return f"topoi {__version__}, Unicode {unicodedata.unidata_version}"


def mixed() -> CorpusError:
    """The error of documents of two kinds."""
    return CorpusError("some texts are strings, others lists of words; make them one or the other.")


def _begin(order: Order, part: Any, listed: bool) -> tuple[Cutting, TextTokens]:
    memory = NoLimit() if order.memory is None else order.memory(part)
    cutting = Cutting(order.options, order.vocabulary, order.known, listed)
    stop_words = StopWords(order.options, cutting, order.vocabulary is not None, order.decided)
    asked = stop_words if stop_words.needed else None
    return cutting, TextTokens(cutting.letters, asked, order.vocabulary, memory)


class _Chunks:
    """The documents of a part so far, kept in chunks; their words are counted before."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.chunks: list[Kept] = []
        self.n_tokens = 0
        self._n_with, self._n = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, tokens: TextTokens) -> None:
        """Keep the documents that have been gathered."""
        chunk = tokens.take()
        if not chunk.lengths:
            return
        if self._order.vocabulary is None:
            n_words = len(tokens.words)
            chunk.renumber(np.arange(n_words, dtype=np.int32), sort=True)
            n_with, n = chunk.count(n_words)
            for own, new in ((self._n_with, n_with), (self._n, n)):
                new[: len(own)] += own
            self._n_with, self._n = n_with, n
        self.n_tokens += len(chunk.words)
        assert self._order.keep is not None
        self.chunks.append(self._order.keep(chunk.views()))

    def counts(self, n_words: int, fewest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """In how many documents each word is, and how often it comes."""
        found = []
        for counted in (self._n_with, self._n):
            whole = np.zeros(n_words, np.int64)
            whole[: len(counted)] = counted
            found.append(whole[fewest:])
        return found[0], found[1]


def count_forms(numbered: Numbered, encoding: Encoding) -> NDArray[np.int64]:
    """In how many documents of a part each form is."""
    n_with = np.zeros(encoding.n_words, np.int64)
    for chunk in numbered.chunks:
        n_with += _encoded(chunk.arrays(), _table(numbered, encoding)).count(encoding.n_words)[0]
    return n_with


def encode(numbered: Numbered, encoding: Encoding) -> list[Kept]:
    """The documents of a part in the numbers of the corpus, chunk by chunk: words and lengths."""
    table = _table(numbered, encoding)
    out = [encoding.keep(_encoded(chunk.taken(), table).views()) for chunk in numbered.chunks]
    numbered.words.taken()
    return out


def _table(numbered: Numbered, encoding: Encoding) -> NDArray[np.int32]:
    if encoding.final is None:
        return np.arange(encoding.n_words, dtype=np.int32)
    words = json.loads(numbered.words.arrays()[0].tobytes())
    of_words = [encoding.final.get(word, UNKNOWN) for word in words]
    return np.array([UNKNOWN] * numbered.fewest + of_words, np.int32)


def _encoded(documents: Arrays, table: NDArray[np.int32]) -> Tokens:
    words, lengths = documents
    tokens = Tokens(NoLimit())
    tokens.extend(words, lengths)
    tokens.renumber(table, sort=True)
    return tokens


class _Merged:
    """Words of all parts so far, numbered as they come, and what the parts tell beside."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.n_with, self.n_tokens = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.hashes: list[NDArray[np.int64]] = []
        self.cleaned: Counter[str] = Counter()
        self.n_stop_words = self.n_dropped = self.n_encoded = 0
        self.listed: bool | None = None

    def add(self, told: Counted) -> None:
        """Take in what the next part tells."""
        if told.stamp != stamp():
            raise WorkersError(
                f"a worker has {told.stamp}, and here is {stamp()}: words could differ; install the same there"
            )
        if self.listed is None:
            self.listed = told.listed
        elif told.listed is not None and told.listed is not self.listed:
            raise mixed()
        index = self.index
        numbers = np.array([index.setdefault(word, len(index)) for word in told.words], np.int64)
        for name in ("n_with", "n_tokens"):
            counts = getattr(self, name)
            if len(index) > len(counts):  # twice as long: each is copied but a few times
                counts = np.append(counts, np.zeros(max(len(index) - len(counts), len(counts)), np.int64))
                setattr(self, name, counts)
            counts[numbers] += getattr(told, name)
        self.hashes.append(told.hashes)
        for what, n in told.cleaned.items():
            self.cleaned[what] += n
        self.n_stop_words += told.n_stop_words
        self.n_dropped += told.n_dropped
        self.n_encoded += told.n_encoded


def build(
    parts: Sequence[Any], order: Order, workers: Workers, tell: Tell | None = None, note: TakeNotes | None = None
) -> Built:
    """The corpus of all parts; `note` gets what is noted of each, in their order."""
    _check(order)
    say = tell or (lambda what, done, of: None)
    order = replace(order, keep=workers.keep)
    order = replace(order, decided=_decide(parts, order, workers))
    merged = _Merged()
    kept: list[Any] = []
    say("counting words", 0, len(parts))
    for told, numbered in workers.begin(count, parts, order):
        merged.add(told)
        if note is not None:
            note(told.notes)
        kept.append(numbered)
        say("counting words", len(kept), len(parts))
    cutting = Cutting(order.options, order.vocabulary, order.known, bool(merged.listed))
    cutting.clean.removed = merged.cleaned
    stop_words = StopWords(order.options, cutting, order.vocabulary is not None, order.decided)
    ignored = sorted(set(stop_words({})).difference(cutting.letters)) if stop_words.needed else []
    hashes = np.concatenate(merged.hashes) if merged.hashes else np.zeros(0, np.int64)
    if order.vocabulary is not None:
        vocabulary, pruned, n_tokens = order.vocabulary, Pruned(np.ones(len(order.vocabulary), bool)), merged.n_encoded
        final, held = None, []
    else:
        recount = _recount(kept, workers) if stop_words.stem is not None else None
        vocabulary, pruned, n_tokens, final = _choose(
            merged, order.options.limits, stop_words.stem, len(hashes), recount
        )
        held = held_words(ignored, vocabulary, stop_words.stem) if stop_words.stem is not None else []
    removed = removed_of(merged.cleaned, merged.n_stop_words, pruned)
    made = prepared(
        order.options, order.known, cutting, stop_words.language, removed, hashes,
        (texts_array(()), stop_words.stemmed, texts_array(held)),
    )  # fmt: skip

    def pieces() -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        encoding, waiting = Encoding(workers.keep, final, len(vocabulary)), deque(kept)
        kept.clear()  # on a cluster what nobody asks for any more is forgotten
        items = (waiting.popleft() for _ in range(len(waiting)))
        say("encoding documents", 0, len(parts))
        for done, chunks in enumerate(workers.run(encode, items, encoding)):
            for chunk in chunks:
                words, lengths = chunk.taken()
                yield words, lengths
            say("encoding documents", done + 1, len(parts))

    return Built(vocabulary, made, len(hashes), n_tokens, merged.n_dropped, pieces)


def _check(order: Order) -> None:
    if order.options.phrases and order.vocabulary is None:
        raise ParameterError(
            "phrases", "are looked for in all texts together, which cannot be done in parts; leave them out, or read "
            "the texts in one go"
        )  # fmt: skip
    lemmas = order.options.lemmas
    if lemmas is not None and not isinstance(lemmas, str) and not hasattr(lemmas, "__fspath__"):
        raise ParameterError("lemmas", "must be the name of a pipeline, or its folder: every process loads its own")


def _decide(parts: Sequence[Any], order: Order, workers: Workers) -> Decided | None:
    """What the first texts decide, if anything."""
    if order.vocabulary is not None:
        return None
    first = First()
    if not StopWords(order.options, Cutting(_without_lemmas(order.options)), False).depends:
        return None
    for part in parts:
        first = next(iter(workers.run(first_texts, [part], (order, first))))
        if first.enough:
            break
    cutting = Cutting(_without_lemmas(order.options), listed=bool(first.listed))
    stop_words = StopWords(order.options, cutting, False)
    counts = {word: n for word, n in first.counts.items() if word not in cutting.letters}
    return stop_words.decide(counts) if stop_words.depends else None


def _without_lemmas(options: TextOptions) -> TextOptions:
    """Options of which only stop words matter: no pipeline is loaded for them."""
    return replace(options, lemmas=None)


def _recount(kept: list[Any], workers: Workers) -> Callable[[dict[str, int], int], NDArray[np.int64]]:
    def recount(final: dict[str, int], n_words: int) -> NDArray[np.int64]:
        total = np.zeros(n_words, np.int64)
        for n_with in workers.run(count_forms, kept, Encoding(workers.keep, final, n_words)):
            total += n_with
        return total

    return recount


def _choose(
    merged: _Merged,
    limits: Limits,
    stem: Any,
    n_documents: int,
    recount: Callable[[dict[str, int], int], NDArray[np.int64]] | None,
) -> tuple[Vocabulary, Pruned, int, dict[str, int]]:
    """The vocabulary, what was left out, the number of tokens, and the number of every word that is not left out."""
    words = list(merged.index)
    merged.index.clear()
    n_with, n_tokens = merged.n_with[: len(words)], merged.n_tokens[: len(words)]
    forms = np.arange(len(words), dtype=np.int32)
    if stem is not None:
        forms = choose_forms(words, n_tokens, 0, stem)
        n_tokens = np.bincount(forms, n_tokens, len(words)).astype(np.int64)
    order = sorted(np.flatnonzero(forms == np.arange(len(words))).tolist(), key=words.__getitem__)
    rank = np.full(len(words), UNKNOWN, np.int64)
    rank[order] = np.arange(len(order))
    n_tokens = n_tokens[order]
    pruned = Pruned(np.ones(len(order), bool))
    if n_documents and not limits.absent:
        if recount is None:
            n_with = n_with[order]
        else:
            n_with = recount(dict(zip(words, rank[forms].tolist(), strict=True)), len(order))
        pruned = limits.prune(n_with, n_tokens, n_documents=n_documents)
    number = np.where(pruned.kept, np.cumsum(pruned.kept) - 1, UNKNOWN)
    vocabulary = texts_array(words[i] for i, kept in zip(order, pruned.kept.tolist(), strict=True) if kept)
    numbers = number[rank[forms]] if len(words) else rank
    final = {word: at for word, at in zip(words, numbers.tolist(), strict=True) if at >= 0}
    return vocabulary, pruned, int(n_tokens[pruned.kept].sum()), final

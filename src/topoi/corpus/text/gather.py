"""From texts, one by one, to the arrays of a corpus: cleaned, cut, counted, and then forgotten."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import Vocabulary
from topoi.corpus.text.cutting import Cutting, StopWords, Text
from topoi.corpus.text.limits import Pruned
from topoi.corpus.text.preparation import NAMED, Preparation, TextOptions
from topoi.corpus.text.tokens import Memory, NoLimit, TextTokens


class Gathering:
    """Documents so far. Words are those of a `vocabulary`, else all that `options` leave; `known` are the phrases.

    `counter` counts n-grams of every document beside its words. Documents that are `listed` are lists of words, of
    which nothing is left out but what is asked for.
    """

    def __init__(
        self,
        options: TextOptions,
        vocabulary: Vocabulary | None = None,
        known: Preparation | None = None,
        counter: Any = None,
        memory: Memory | None = None,
        listed: bool = False,
    ) -> None:
        self._options, self._known, self._counter = options, known, counter
        self._cutting = Cutting(options, vocabulary, known, listed)
        self._hashes = array("q")
        self._stop_words = StopWords(options, self._cutting, vocabulary is not None)
        stop_words = self._stop_words if self._stop_words.needed else None
        phrases = options.phrases and vocabulary is None
        self._tokens = TextTokens(self._cutting.letters, stop_words, vocabulary, memory or NoLimit(), phrases)

    def add(self, text: Text, n_kept: int = 0) -> None:
        """Take in a document; `n_kept` bytes are kept beside the words of all so far."""
        if self._counter is None:
            document = self._cutting.cut(text)
        else:
            document, in_order, removed = self._cutting.cut_with_others(text)
            self._counter.add(in_order, removed)
            n_kept += self._counter.n_bytes
        self._hashes.append(hash_of(document))
        self._tokens.n_kept = n_kept
        self._tokens.add(self._cutting.as_known(document), n_characters(text))

    def finish(self) -> tuple[Any, Preparation, int]:
        """The arrays and the vocabulary of the corpus, how they were made, and how many tokens its words lack."""
        self._tokens.flush()  # before it the language may not be known
        stop_words = self._stop_words
        vocabulary, pruned = self._tokens.finish(self._options.limits, stop_words.stem)
        pairs, held = texts_array(map(" ".join, self._tokens.pairs)), texts_array(self._tokens.held)
        removed = removed_of(self._cutting.clean.removed, self._tokens.n_stop_words, pruned)
        made = prepared(
            self._options, self._known, self._cutting, stop_words.language, removed,
            np.frombuffer(self._hashes, np.int64), (pairs, stop_words.stemmed, held),
        )  # fmt: skip
        return (*self._tokens.tokens.arrays(), vocabulary), made, self._tokens.n_dropped


def n_characters(text: Text) -> int:
    """The length of a text, or of the words that are listed."""
    return len(text) if isinstance(text, str) else sum(map(len, text))


def hash_of(document: list[str]) -> int:
    """A hash of the words in their order, the same in every process; 0 of a document without any."""
    if not document:
        return 0
    words = "\0".join((str(len(document)), *document))
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def removed_of(cleaned: Mapping[str, int], n_stop_words: int, pruned: Pruned) -> dict[str, int]:
    """What was left out, by name."""
    removed: Counter[str] = Counter(cleaned)
    removed["stop words"] = n_stop_words
    for name, counts in (("rare", pruned.rare), ("common", pruned.common), ("less frequent", pruned.beyond)):
        removed[f"{name} words"], removed[f"{name} tokens"] = counts
    return {name: n for name, n in removed.items() if n}


def prepared(
    options: TextOptions,
    known: Preparation | None,
    cutting: Cutting,
    language: str,
    removed: dict[str, int],
    hashes: NDArray[np.int64],
    forms: tuple[Vocabulary, str, Vocabulary],
) -> Preparation:
    """How the texts of a corpus became words; `forms` are what was found in them, if no vocabulary was known."""
    copies = _copies(hashes)
    removed |= {"copies": len(copies)} if len(copies) else {}
    return Preparation(
        cutting.clean.clean, bool(options.lowercase), options.token_pattern or "", cutting.as_they_are, language,
        removed, copies[:NAMED], *(forms if known is None else known.forms), cutting.lemmas,
    )  # fmt: skip


def texts_array(values: Iterable[str]) -> Vocabulary:
    """Texts as an array of objects."""
    listed = list(values)
    found = np.empty(len(listed), object)
    found[:] = listed
    return found


def _copies(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows (n, 2) of documents and of earlier ones with the same words in the same order; empty ones (0) are not."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rows = np.flatnonzero((first[inverse] != np.arange(len(hashes))) & (hashes != 0))
    return np.column_stack((rows, first[inverse[rows]])).astype(np.int64)

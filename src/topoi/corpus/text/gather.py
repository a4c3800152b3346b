"""From texts, one by one, to the arrays of a corpus: cleaned, cut, counted, and then forgotten."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import Vocabulary
from topoi.corpus.text.clean import Cleaner
from topoi.corpus.text.limits import Pruned
from topoi.corpus.text.phrases import join_phrases
from topoi.corpus.text.preparation import NAMED, UNKNOWN_LANGUAGE, Preparation, TextOptions
from topoi.corpus.text.stop_words import cut_list, languages_in, recognise, stop_words_of
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
        self._as_they_are = listed or options.tokenized
        self._words = options.words
        self._clean = Cleaner("none" if self._as_they_are else options.clean)
        self._pairs = {} if known is None else known.phrases
        self._language = ""
        self._hashes = array("q")
        letters = frozenset() if listed else self._words.letters
        auto = options.stop_words == "auto"
        keeps = options.stop_words in (None, "none") or (auto and (self._as_they_are or vocabulary is not None))
        stop_words = None if keeps else self._stop_words
        phrases = options.phrases and vocabulary is None
        self._tokens = TextTokens(letters, stop_words, vocabulary, memory or NoLimit(), phrases)

    def _stop_words(self, counts: Mapping[str, int]) -> Iterable[str]:
        """The stop words of the corpus, of which these are words and how often they come."""
        asked = self._options.stop_words
        if asked is None or not isinstance(asked, str):
            self._language = "given"
            return self._as_cut(asked or ())
        names = languages_in(asked)
        if asked == "auto":
            found = recognise(counts, self._words.in_order)
            names = [found] if found else []
        self._language = ",".join(names) or UNKNOWN_LANGUAGE
        return frozenset().union(*(self._as_cut(stop_words_of(name)) for name in names))

    def _as_cut(self, words: Iterable[str]) -> frozenset[str]:
        """Stop words as they stand in documents."""
        return frozenset(words) if self._as_they_are else cut_list(words, self._words.in_order)

    def add(self, text: str | list[str], n_kept: int = 0) -> None:
        """Take in a document; `n_kept` bytes are kept beside the words of all so far."""
        if isinstance(text, str):
            document, n_characters = self._words.cut(self._clean(text)), len(text)
        else:
            document, n_characters = text, sum(map(len, text))
        self._hashes.append(hash(tuple(document)) if document else 0)
        if self._counter is not None:
            letters = self._words.letters if isinstance(text, str) else frozenset()
            self._counter.add([word for word in document if word not in letters])
            n_kept += self._counter.n_bytes
        if self._pairs:
            document = join_phrases(document, self._pairs)
        self._tokens.n_kept = n_kept
        self._tokens.add(document, n_characters)

    def finish(self) -> tuple[Any, Preparation, int]:
        """The arrays and the vocabulary of the corpus, how they were made, and how many tokens its words lack."""
        vocabulary, pruned = self._tokens.finish(self._options.limits)
        copies = _copies(np.frombuffer(self._hashes, np.int64))
        removed = self._removed(pruned) | ({"copies": len(copies)} if len(copies) else {})
        pairs = np.empty(len(self._tokens.pairs), object)
        pairs[:] = [" ".join(pair) for pair in self._tokens.pairs]
        options = self._options
        made = Preparation(
            self._clean.clean, bool(options.lowercase), options.token_pattern or "", self._as_they_are, self._language,
            removed, copies[:NAMED], pairs if self._known is None else self._known.pairs,
        )  # fmt: skip
        return (*self._tokens.tokens.arrays(), vocabulary), made, self._tokens.n_dropped

    def _removed(self, pruned: Pruned) -> dict[str, int]:
        removed: Counter[str] = Counter(self._clean.removed)
        removed["stop words"] = self._tokens.n_stop_words
        for name, counts in (("rare", pruned.rare), ("common", pruned.common), ("less frequent", pruned.beyond)):
            removed[f"{name} words"], removed[f"{name} tokens"] = counts
        return {name: n for name, n in removed.items() if n}


def _copies(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows (n, 2) of documents and of earlier ones with the same words in the same order; empty ones (0) are not."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rows = np.flatnonzero((first[inverse] != np.arange(len(hashes))) & (hashes != 0))
    return np.column_stack((rows, first[inverse[rows]])).astype(np.int64)

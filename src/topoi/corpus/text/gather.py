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
from topoi.corpus.text.lemmas import Lemmatizer, find_lemmas, load_lemmas
from topoi.corpus.text.limits import Pruned
from topoi.corpus.text.phrases import join_phrases
from topoi.corpus.text.preparation import NAMED, UNKNOWN_LANGUAGE, Preparation, TextOptions
from topoi.corpus.text.stems import Stem, stemmer_of
from topoi.corpus.text.stop_words import LANGUAGES, cut_list, languages_in, recognise, stop_words_of
from topoi.corpus.text.tokens import Memory, NoLimit, TextTokens
from topoi.errors import ParameterError


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
        self._every = options.every_word
        self._clean = Cleaner("none" if self._as_they_are else options.clean)
        if listed and options.lemmas is not None:
            raise ParameterError("lemmas", "are made of whole texts, but the documents are lists of words")
        self._lemmatize = None if self._as_they_are else _lemmatizer(options, known)
        self._lemmas = known.lemmas if known is not None else self._lemmatize.sign if self._lemmatize else ""
        self._pairs = {} if known is None else known.phrases
        self._language = ""
        self._hashes = array("q")
        letters = frozenset() if listed else self._words.letters
        auto = options.stop_words == "auto"
        self._keeps = options.stop_words in (None, "none") or (auto and (self._as_they_are or vocabulary is not None))
        if options.stem and vocabulary is not None:
            raise ParameterError("stem", "chooses the words itself; leave it out where a vocabulary is given")
        self._stem: Stem | None = None
        self._stemmed = ""  # the language of it
        self._form = None if known is None or vocabulary is None else known.form_finder(vocabulary)
        stop_words = None if self._keeps and not options.stem else self._stop_words
        phrases = options.phrases and vocabulary is None
        self._tokens = TextTokens(letters, stop_words, vocabulary, memory or NoLimit(), phrases)

    def _stop_words(self, counts: Mapping[str, int]) -> Iterable[str]:
        """The stop words of the corpus, of which these are words and how often they come."""
        asked = self._options.stop_words
        names = languages_in(asked) if isinstance(asked, str) else []
        if asked == "auto" or (self._options.stem and not names):
            names = recognise(counts, self._words.in_order)
        if self._options.stem and counts:
            self._begin_to_stem(names)
        if self._keeps:
            return ()
        if not isinstance(asked, str):
            self._language = "given"
            return self._as_cut(asked or ())
        self._language = ",".join(names) or UNKNOWN_LANGUAGE
        return frozenset().union(*(self._as_cut(stop_words_of(name)) for name in names))

    def _begin_to_stem(self, names: list[str]) -> None:
        """Find the stemmer for texts of these languages: that of the first, which most of the words are of."""
        if not names:
            raise ParameterError(
                "stem", "needs to know the language of the texts, but none was recognised; name it, as in "
                "stop_words='german'"
            )  # fmt: skip
        self._stemmed = LANGUAGES.get(names[0].lower(), names[0].lower())
        self._stem = stemmer_of(self._stemmed)

    def _as_cut(self, words: Iterable[str]) -> frozenset[str]:
        """Stop words as they stand in documents."""
        return frozenset(words) if self._as_they_are else cut_list(words, self._words.in_order)

    def add(self, text: str | list[str], n_kept: int = 0) -> None:
        """Take in a document; `n_kept` bytes are kept beside the words of all so far."""
        if isinstance(text, str):
            cleaned, n_characters = self._clean(text), len(text)
            document = self._words.cut(cleaned if self._lemmatize is None else self._lemmatize(cleaned))
        else:
            document, n_characters = text, sum(map(len, text))
        self._hashes.append(hash(tuple(document)) if document else 0)
        if self._counter is not None:
            if isinstance(text, str):
                letters = self._words.letters
                written = document if self._lemmatize is None else self._words.cut(cleaned)
                in_order = [word for word in written if word not in letters]
                self._counter.add(in_order, self._removed_words(text, in_order))
            else:
                self._counter.add(document)
            n_kept += self._counter.n_bytes
        if self._form is not None:
            document = list(map(self._form, document))
        if self._pairs:
            document = join_phrases(document, self._pairs)
        self._tokens.n_kept = n_kept
        self._tokens.add(document, n_characters)

    def _removed_words(self, text: str, document: list[str]) -> list[str]:
        """Words of a text that its document lacks: of parts that were cleaned away, and with digits in them."""
        if self._as_they_are:
            return []
        if not self._options.token_pattern:
            text = text.replace("n't", "nt").replace("n’t", "nt")  # as `Words` has them
        missing = Counter(self._every.in_order(text))
        missing.subtract(document)
        return list(missing.elements())  # those that are there more often than in the document

    def finish(self) -> tuple[Any, Preparation, int]:
        """The arrays and the vocabulary of the corpus, how they were made, and how many tokens its words lack."""
        self._tokens.flush()  # before it the language may not be known
        vocabulary, pruned = self._tokens.finish(self._options.limits, self._stem)
        copies = _copies(np.frombuffer(self._hashes, np.int64))
        removed = self._removed(pruned) | ({"copies": len(copies)} if len(copies) else {})
        options, known = self._options, self._known
        pairs, held = _texts(map(" ".join, self._tokens.pairs)), _texts(self._tokens.held)
        made = Preparation(
            self._clean.clean, bool(options.lowercase), options.token_pattern or "", self._as_they_are, self._language,
            removed, copies[:NAMED], *((pairs, self._stemmed, held) if known is None else known.forms), self._lemmas,
        )  # fmt: skip
        return (*self._tokens.tokens.arrays(), vocabulary), made, self._tokens.n_dropped

    def _removed(self, pruned: Pruned) -> dict[str, int]:
        removed: Counter[str] = Counter(self._clean.removed)
        removed["stop words"] = self._tokens.n_stop_words
        for name, counts in (("rare", pruned.rare), ("common", pruned.common), ("less frequent", pruned.beyond)):
            removed[f"{name} words"], removed[f"{name} tokens"] = counts
        return {name: n for name, n in removed.items() if n}


def _lemmatizer(options: TextOptions, known: Preparation | None) -> Lemmatizer | None:
    """What makes lemmas of texts: as asked for, or as the texts of a corpus or model that is `known` were made."""
    named = "" if known is None else known.lemmas
    if options.lemmas is None:
        return find_lemmas(named) if named else None
    found = load_lemmas(options.lemmas)
    if known is None or found.name == named.partition(" ")[0]:
        return found if known is None else find_lemmas(named)
    made = f"lemmas by {named}" if named else "not lemmas"
    raise ParameterError("lemmas", f"the words of the model are {made}, so that they cannot be those of {found.sign}")


def _texts(values: Iterable[str]) -> Vocabulary:
    listed = list(values)
    found = np.empty(len(listed), object)
    found[:] = listed
    return found


def _copies(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows (n, 2) of documents and of earlier ones with the same words in the same order; empty ones (0) are not."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rows = np.flatnonzero((first[inverse] != np.arange(len(hashes))) & (hashes != 0))
    return np.column_stack((rows, first[inverse[rows]])).astype(np.int64)

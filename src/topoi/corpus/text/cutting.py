"""How a text becomes a list of words: cleaned, cut, perhaps lemmatized. Which words are left out is decided elsewhere.

There is one way for texts that are gathered in this process (`gather`) and for those of which every process has a part
(`parts`): what it does to a text depends on the options and on that text alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from topoi.corpus.checks import Vocabulary
from topoi.corpus.text.clean import Cleaner
from topoi.corpus.text.lemmas import Lemmatizer, find_lemmas, load_lemmas
from topoi.corpus.text.phrases import join_phrases
from topoi.corpus.text.preparation import UNKNOWN_LANGUAGE, Preparation, TextOptions
from topoi.corpus.text.stems import Stem, stemmer_of
from topoi.corpus.text.stop_words import LANGUAGES, cut_list, languages_in, recognise, stop_words_of
from topoi.errors import ParameterError

Text = str | list[str]


class Cutting:
    """What cuts texts, as `options` ask for it; words are then brought to a `vocabulary` if one is `known`.

    Documents that are `listed` are lists of words, of which nothing is left out but what is asked for.
    """

    def __init__(
        self,
        options: TextOptions,
        vocabulary: Vocabulary | None = None,
        known: Preparation | None = None,
        listed: bool = False,
    ) -> None:
        self.as_they_are = listed or options.tokenized
        self.words = options.words
        self.letters = frozenset() if listed else self.words.letters
        self.clean = Cleaner("none" if self.as_they_are else options.clean)
        if listed and options.lemmas is not None:
            raise ParameterError("lemmas", "are made of whole texts, but the documents are lists of words")
        self._lemmatize = None if self.as_they_are else _lemmatizer(options, known)
        self.lemmas = known.lemmas if known is not None else self._lemmatize.sign if self._lemmatize else ""
        if options.stem and vocabulary is not None:
            raise ParameterError("stem", "chooses the words itself; leave it out where a vocabulary is given")
        self._pairs = {} if known is None else known.phrases
        self._form = None if known is None or vocabulary is None else known.form_finder(vocabulary)
        self._every, self._pattern = options.every_word, options.token_pattern

    def cut(self, text: Text) -> list[str]:
        """The words of a text, or those that are listed, in their order; single letters are among them."""
        if not isinstance(text, str):
            return text
        cleaned = self.clean(text)
        return self.words.cut(cleaned if self._lemmatize is None else self._lemmatize(cleaned))

    def cut_with_others(self, text: Text) -> tuple[list[str], list[str], list[str]]:
        """`cut`; all words as they are written, in order; and those that were removed: what n-grams are made of."""
        if not isinstance(text, str):
            return text, text, []
        cleaned = self.clean(text)
        document = self.words.cut(cleaned if self._lemmatize is None else self._lemmatize(cleaned))
        written = document if self._lemmatize is None else self.words.cut(cleaned)
        in_order = [word for word in written if word not in self.words.letters]
        return document, in_order, self._removed(text, in_order)

    def _removed(self, text: str, document: list[str]) -> list[str]:
        """Words of a text that its document lacks: of parts that were cleaned away, and with digits in them."""
        if self.as_they_are:
            return []
        if not self._pattern:
            text = text.replace("n't", "nt").replace("n’t", "nt")  # as `Words` has them
        missing = Counter(self._every.in_order(text))
        missing.subtract(document)
        return list(missing.elements())  # those that are there more often than in the document

    def as_known(self, document: list[str]) -> list[str]:
        """The words of a document in the forms, and joined to the phrases, of the vocabulary."""
        if self._form is not None:
            document = list(map(self._form, document))
        return join_phrases(document, self._pairs) if self._pairs else document


class Decided(NamedTuple):
    """What the first texts of a corpus decide: the languages that they are in, or that there is no word in them."""

    languages: tuple[str, ...]
    empty: bool = False


class StopWords:
    """The stop words of a corpus: called with the words of its first texts, and how often they come, it says which.

    What was `decided` from these before, in another process, is not decided again.
    """

    def __init__(
        self, options: TextOptions, cutting: Cutting, has_vocabulary: bool, decided: Decided | None = None
    ) -> None:
        self.language = ""
        self.stem: Stem | None = None
        self.stemmed = ""  # the language of it
        self._asked, self._stems = options.stop_words, options.stem
        self._cutting, self._decided = cutting, decided
        auto = self._asked == "auto"
        self._keeps = self._asked in (None, "none") or (auto and (cutting.as_they_are or has_vocabulary))
        self.needed = not self._keeps or self._stems
        self._looks = self.needed and ((auto and not self._keeps) or (self._stems and not self._named))
        #: Whether the first texts decide anything: languages, or that there is no word to stem.
        self.depends = self._looks or self._stems

    @property
    def _named(self) -> list[str]:
        return languages_in(self._asked) if isinstance(self._asked, str) else []

    def decide(self, counts: Mapping[str, int]) -> Decided:
        """What these words decide."""
        languages = recognise(counts, self._cutting.words.in_order) if self._looks else ()
        return Decided(tuple(languages), not counts)

    def __call__(self, counts: Mapping[str, int]) -> Iterable[str]:
        """The stop words; `language` and `stem` are known from then on."""
        decided = self._decided or self.decide(counts)
        names = list(decided.languages) if self._looks else self._named
        if self._stems and not decided.empty:
            self._begin_to_stem(names)
        if self._keeps:
            return ()
        if not isinstance(self._asked, str):
            self.language = "given"
            return self._as_cut(self._asked or ())
        self.language = ",".join(names) or UNKNOWN_LANGUAGE
        return frozenset().union(*(self._as_cut(stop_words_of(name)) for name in names))

    def _begin_to_stem(self, names: list[str]) -> None:
        """Find the stemmer for texts of these languages: that of the first, which most of the words are of."""
        if not names:
            raise ParameterError(
                "stem", "needs to know the language of the texts, but none was recognised; name it, as in "
                "stop_words='german'"
            )  # fmt: skip
        self.stemmed = LANGUAGES.get(names[0].lower(), names[0].lower())
        self.stem = stemmer_of(self.stemmed)

    def _as_cut(self, words: Iterable[str]) -> frozenset[str]:
        """Stop words as they stand in documents."""
        return frozenset(words) if self._cutting.as_they_are else cut_list(words, self._cutting.words.in_order)


def _lemmatizer(options: TextOptions, known: Preparation | None) -> Lemmatizer | None:
    """What makes lemmas of texts: as asked for, or as the texts of a corpus or model that is `known` were made."""
    named: Any = "" if known is None else known.lemmas
    if options.lemmas is None:
        return find_lemmas(named) if named else None
    found = load_lemmas(options.lemmas)
    if known is None or found.name == named.partition(" ")[0]:
        return found if known is None else find_lemmas(named)
    made = f"lemmas by {named}" if named else "not lemmas"
    raise ParameterError("lemmas", f"the words of the model are {made}, so that they cannot be those of {found.sign}")

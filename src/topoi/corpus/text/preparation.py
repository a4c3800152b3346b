"""How texts become words: what is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import Vocabulary, read_vocabulary
from topoi.corpus.text.clean import Cleaner, check_clean
from topoi.corpus.text.lemmas import SIGN, check_lemmas, find_lemmas
from topoi.corpus.text.limits import Limits
from topoi.corpus.text.phrases import JOINT, join_phrases
from topoi.corpus.text.simple_pattern import is_simple
from topoi.corpus.text.stems import form_finder, stemmer_of
from topoi.corpus.text.stop_words import LANGUAGES, check_stop_words
from topoi.corpus.text.tokenizer import TOKEN_PATTERN, Words, check_pattern
from topoi.errors import CorpusError, ParameterError

UNKNOWN_LANGUAGE = "unknown"
JUNK = ("headers", "quoted lines", "signatures", "addresses", "tags", "encoded lines")  # what `clean` leaves out
NAMED = 5  # copies of documents that are kept by number


@dataclass(frozen=True)
class TextOptions:
    """What is asked for; see `Corpus.from_texts` for the meaning."""

    clean: str = "auto"
    lowercase: bool = True
    token_pattern: str | None = None
    stop_words: str | Iterable[str] | None = "auto"
    tokenized: bool = False
    min_df: float | str = "auto"
    max_df: float | str = "auto"
    max_features: int | None = None
    phrases: bool = False
    stem: bool = False
    lemmas: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.stop_words, str | None) and isinstance(self.stop_words, Iterable):
            object.__setattr__(self, "stop_words", tuple(self.stop_words))  # which may be read but once
        check_clean(self.clean)
        check_pattern(self.token_pattern)
        check_stop_words(self.stop_words)
        Limits(self.min_df, self.max_df, self.max_features)
        for name in ("lowercase", "tokenized", "phrases", "stem"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(name, f"must be True or False, not {getattr(self, name)!r}")
        check_lemmas(self.lemmas)
        if self.lemmas is not None and (self.stem or self.tokenized):
            other = "stem is another way to make words one" if self.stem else "tokenized texts are cut already"
            raise ParameterError("lemmas", f"are made of whole texts, and {other}; choose one of the two")

    @property
    def limits(self) -> Limits:
        """Which words are too rare or too common."""
        return Limits(self.min_df, self.max_df, self.max_features)

    @property
    def words(self) -> Words:
        """How a text is cut."""
        return Words(self.lowercase, self.token_pattern, self.tokenized)

    @property
    def every_word(self) -> Words:
        """How a text is cut where words with digits count as well."""
        return Words(self.lowercase, self.token_pattern or TOKEN_PATTERN, self.tokenized)


@dataclass(frozen=True, eq=False)
class Preparation:
    """How texts became the words of a corpus, as new texts need it, and what was left out, as people want to know it.

    `language` is that of the stop words: "" where none were asked for, "given" where they were given as a list,
    "unknown" where no language was recognised. `removed` counts what was left out, by name. `copies` (n, 2)
    are documents, counted from 0, and earlier ones of which they are copies: the first few. `pairs` are the words of
    phrases, with a blank between. `stem` is the language by whose stems words are one, "" if they are not; `held` are
    words that are not stemmed all the same. `lemmas` is the name and version of the spaCy pipeline that puts lemmas in
    the place of words, "" if none does.
    """

    clean: str = "none"
    lowercase: bool = True
    token_pattern: str = ""  # "" are letters
    tokenized: bool = False
    language: str = ""
    removed: dict[str, int] = field(default_factory=dict)
    copies: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    pairs: Vocabulary = field(default_factory=lambda: np.empty(0, object))
    stem: str = ""
    held: Vocabulary = field(default_factory=lambda: np.empty(0, object))
    lemmas: str = ""

    @property
    def options(self) -> TextOptions:
        """What prepares new texts in the same way: words are chosen by a vocabulary then."""
        pattern = self.token_pattern or None
        return TextOptions(self.clean, self.lowercase, pattern, None, self.tokenized, 1, 1.0)

    def options_with(self, token_pattern: str | None, lemmas: Any) -> TextOptions:
        """`options`, with a pattern and a pipeline of spaCy that users name because they do not believe the model."""
        if token_pattern is None:
            self.check_pattern()
            return replace(self.options, lemmas=lemmas)
        return replace(self.options, token_pattern=token_pattern, lemmas=lemmas)

    @property
    def phrases(self) -> dict[tuple[str, str], str]:
        """Names of phrases, by the two words of each."""
        return {(a, b): a + JOINT + b for a, b in (pair.split(" ") for pair in self.pairs)}

    @property
    def forms(self) -> tuple[Vocabulary, str, Vocabulary]:
        """The last fields, which say what becomes of words once a text is cut."""
        return self.pairs, self.stem, self.held

    def form_finder(self, vocabulary: Iterable[str]) -> Callable[[str], str] | None:
        """What brings words to the forms of a vocabulary that have the same stem; None if words are not stemmed."""
        if not self.stem:
            return None
        held = (*self.held, *self.options.words.letters)  # single letters are no words
        return form_finder(stemmer_of(self.stem), vocabulary, self.phrases, held)

    def cut(self, texts: Iterable[str], vocabulary: Iterable[str] = ()) -> list[list[str]]:
        """The words of texts, cleaned, in their order; those that a vocabulary lacks are among them."""
        words, clean, phrases = self.options.words, Cleaner(self.clean), self.phrases
        lemmatize = find_lemmas(self.lemmas) if self.lemmas else str
        form = self.form_finder(vocabulary)
        out = []
        for text in texts:
            document = words.cut(lemmatize(clean(text)))
            if form is not None:
                document = list(map(form, document))
            document = join_phrases(document, phrases) if phrases else document
            out.append([word for word in document if word not in words.letters])
        return out

    def check(self) -> None:
        """Raise unless it can be one: it may come from a stranger's file."""
        try:
            self.options  # noqa: B018 (it checks them)
        except ParameterError as error:
            raise CorpusError(f"how texts became words: {error}") from error
        if self.copies.ndim != 2 or self.copies.shape[1] != 2 or self.copies.dtype != np.int64:
            raise CorpusError("copies of documents must be pairs of numbers.")
        for what, values in (("phrases", self.pairs), ("words that are not stemmed", self.held)):
            if values.ndim != 1 or values.dtype != object:
                raise CorpusError(f"{what} must be a list of texts.")
            read_vocabulary(values)
        if self.stem and self.stem not in LANGUAGES.values():
            raise CorpusError(f"there is no language {self.stem!r:.60} to stem words by.")
        if self.lemmas and not SIGN.fullmatch(self.lemmas):
            raise CorpusError(f"{self.lemmas!r:.60} is no name of a spaCy pipeline with its version.")
        if wrong := next((pair for pair in self.pairs if len(pair.split(" ")) != 2), None):
            raise CorpusError(f"the phrase {wrong!r} is not two words.")

    def check_pattern(self) -> None:
        """Raise if texts could take for ever to cut: whoever wrote the file of a model chose the pattern."""
        if self.token_pattern and not self.tokenized and not is_simple(self.token_pattern):
            raise ParameterError(
                "X", f"the model's texts were cut by the pattern {self.token_pattern!r}, on which some could take for "
                "ever. If you trust whoever made the model, cut the texts by it yourself: "
                "Corpus.from_texts(texts, like=model, token_pattern=…)"
            )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Itself as plain values."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, values: Any) -> Preparation:
        """From plain values, which may be a stranger's; an error if they cannot be."""
        kinds = {
            "clean": str, "lowercase": bool, "token_pattern": str, "tokenized": bool, "language": str, "removed": dict,
            "copies": list, "pairs": list, "stem": str, "held": list, "lemmas": str,
        }  # fmt: skip
        if isinstance(values, dict):
            values = {"stem": "", "held": [], "lemmas": ""} | values  # files from before there were stems or lemmas
        if not isinstance(values, dict) or values.keys() != kinds.keys():
            raise CorpusError("it does not say how texts became words.")
        if wrong := next((name for name, kind in kinds.items() if type(values[name]) is not kind), None):
            raise CorpusError(f"how texts became words: {wrong!r} is {values[wrong]!r:.60}.")
        if not all(isinstance(key, str) and type(n) is int for key, n in values["removed"].items()):
            raise CorpusError("what was left out of texts must be counted by whole numbers.")
        try:
            copies = np.array(values["copies"], np.int64).reshape(-1, 2)
        except (ValueError, TypeError, OverflowError) as error:
            raise CorpusError(f"copies of documents must be pairs of numbers: {error}.") from error
        pairs, held = (read_vocabulary(values[name]) for name in ("pairs", "held"))
        found = cls(**{**values, "copies": copies, "pairs": pairs, "held": held})
        found.check()
        return found

    def sentences(self) -> list[str]:
        """What was left out, in one sentence or two; none if nothing was."""
        n = self.removed
        words: list[str] = []
        if n.get("stop words"):
            names = " and ".join(name.strip().title() for name in self.language.split(","))
            whose = "as given" if self.language == "given" else f"of {names}"
            words.append(f"{counted(n['stop words'], 'stop word')} {whose}")
        words += [
            f"{counted(n[f'{name} words'], f'{name} word')} ({counted(n[f'{name} tokens'], 'time')})"
            for name in ("rare", "common", "less frequent")
            if n.get(f"{name} words")
        ]
        out = [f"Left out: {', '.join(words)}."] if words else []
        if self.language == UNKNOWN_LANGUAGE:
            out = [" ".join((*out, "No language was recognised, so that stop words stay: see stop_words."))]
        if self.stem:
            out = [" ".join((*out, f"Words are one by stems of {self.stem.title()}, shown as their usual form."))]
        if self.lemmas:
            out = [" ".join((*out, f"Words are lemmas by the spaCy pipeline {self.lemmas}."))]
        more = []
        if junk := [f"{n[name]:,} {name}" for name in JUNK if n.get(name)]:
            more.append(f"Cleaned: {', '.join(junk)}.")
        if copies := n.get("copies"):
            named = ", ".join(f"{row} (of {first})" for row, first in (self.copies + 1).tolist())
            are = "1 document is a copy of another" if copies == 1 else f"{copies:,} documents are copies of others"
            more.append(f"{are}: {'' if copies <= len(self.copies) else 'as '}document {named}.")
        return [*out, *([" ".join(more)] if more else [])]


def counted(n: int, what: str) -> str:
    """So many of something, as "1 word" or "2 words"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def prepared_by(like: Any) -> Preparation:
    """How the texts of a corpus or a fitted estimator became words; if it does not say, as in version 0.1.0."""
    for name in ("preparation", "preparation_"):
        if isinstance(known := getattr(like, name, None), Preparation):
            return known
    return Preparation(token_pattern=TOKEN_PATTERN)

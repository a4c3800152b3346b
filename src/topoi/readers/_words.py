"""Texts cut into words, as scikit-learn's CountVectorizer does it with the same options."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from typing import Any

from topoi.errors import ParameterError

TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # noqa: S105 (a token is a word here, no secret)

_LETTERS = string.ascii_letters + string.digits + "_"
# In ASCII the words of TOKEN_PATTERN are what stands between other characters than these.
_TO_BLANKS = {code: chr(code) if chr(code) in _LETTERS else " " for code in range(128)}

Cut = Callable[[str], list[str]]


class Words:
    """How a text becomes words: `cut` it, then leave out those in `ignored`."""

    def __init__(
        self,
        lowercase: bool = True,
        token_pattern: str = TOKEN_PATTERN,
        stop_words: str | Iterable[str] | None = None,
        tokenized: bool = False,
    ) -> None:
        self.cut: Cut
        self.letters: frozenset[str] = frozenset()  # that `cut` gives, but are no words
        self.stop_words = _stop_words(stop_words)
        self.ignored = self.stop_words
        pattern = _compiled(token_pattern)
        if tokenized:
            self.cut = str.split
        elif token_pattern == TOKEN_PATTERN:
            self.cut = _quick(pattern.findall, lowercase)
            self.letters = frozenset(_LETTERS)  # `_quick` gives single letters too
            self.ignored = self.stop_words | self.letters
        elif lowercase:
            self.cut = lambda text: pattern.findall(text.lower())
        else:
            self.cut = pattern.findall


def _quick(findall: Cut, lowercase: bool) -> Cut:
    """The words of a text, and single letters; four times as fast as the pattern where the text is ASCII."""

    def cut(text: str) -> list[str]:
        if lowercase:
            text = text.lower()
        return text.translate(_TO_BLANKS).split() if text.isascii() else findall(text)

    return cut


def _compiled(token_pattern: Any) -> re.Pattern[str]:
    try:
        pattern = re.compile(token_pattern)
        if not isinstance(token_pattern, str):
            raise TypeError("it is not a str")
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise ParameterError("token_pattern", f"{token_pattern!r} is not a regular expression: {error}") from error
    if pattern.groups > 1:
        raise ParameterError("token_pattern", f"has {pattern.groups} groups; at most one may be captured, use (?:…)")
    return pattern


def _stop_words(stop_words: Any) -> frozenset[str]:
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ParameterError("stop_words", f"must be None, 'english' or a list of words, not {stop_words!r}")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        return frozenset(str(word) for word in stop_words)
    except TypeError as error:
        raise ParameterError("stop_words", f"must be None, 'english' or a list of words, not {stop_words!r}") from error

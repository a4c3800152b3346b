"""Texts cut into words: runs of letters, in lower case, unless a pattern says otherwise.

A word has two letters or more, of any script. An apostrophe ends a word, and what is left of one letter is none:
"l'été" is "été", "Ann's" is "ann". Only "n't" stays with its verb: "don't" is "dont".
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

from topoi.errors import ParameterError

#: That of scikit-learn's CountVectorizer, whose words have digits and underscores too. Models of version 0.1.0 have it.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # noqa: S105 (a token is a word here, no secret)

SOFT_HYPHEN = "\u00ad"
# Blocks of Unicode with marks that are part of words, as the vowels of Hindi: a pattern has no class of them.
_WITH_MARKS = ((0x300, 0x370), (0x483, 0x488), (0x591, 0x5C8), (0x610, 0x6EE), (0x711, 0x74B), (0x900, 0x1000))

Cut = Callable[[str], list[str]]


class Words:
    """How a text becomes words: `cut` it, then leave out the single `letters` that it gives for the sake of speed."""

    def __init__(self, lowercase: bool = True, token_pattern: str | None = None, tokenized: bool = False) -> None:
        self.cut: Cut
        self.letters: frozenset[str] = frozenset()
        if tokenized:
            self.cut = str.split
        elif token_pattern is None:
            self.letters = frozenset(string.ascii_letters)
            self.cut = _quick(string.ascii_letters, lowercase, _find_letters)
        elif token_pattern == TOKEN_PATTERN:
            kept = string.ascii_letters + string.digits + "_"
            self.letters = frozenset(kept)
            self.cut = _quick(kept, lowercase, re.compile(TOKEN_PATTERN).findall)
        else:
            findall = _compiled(token_pattern).findall
            self.cut = (lambda text: findall(text.lower())) if lowercase else findall

    def in_order(self, text: str) -> list[str]:
        """All words of a text, for what looks at neighbours."""
        letters = self.letters
        return [word for word in self.cut(text) if word not in letters] if letters else self.cut(text)


def _quick(kept: str, lowercase: bool, findall: Cut) -> Cut:
    """The words of a text, and single letters; several times as fast as a pattern where the text is ASCII."""
    blanks = {code: chr(code) if chr(code) in kept else " " for code in range(128)}
    joins = "_" not in kept

    def cut(text: str) -> list[str]:
        if lowercase:
            text = text.lower()
        if joins and "n't" in text:
            text = text.replace("n't", "nt")
        return text.translate(blanks).split() if text.isascii() else findall(text)

    return cut


def _find_letters(text: str) -> list[str]:
    """The words of two letters or more of a text that is not ASCII."""
    text = unicodedata.normalize("NFC", text).replace("n’t", "nt").replace(SOFT_HYPHEN, "")
    return [word for word in _letters().findall(text) if len(word) > 1]


@cache
def _letters() -> re.Pattern[str]:
    """Letters, and marks between or after them."""
    candidates = (chr(code) for first, end in _WITH_MARKS for code in range(first, end))
    marks = "".join(character for character in candidates if unicodedata.category(character)[0] == "M")
    return re.compile(rf"[^\W\d_]++(?:[{marks}]++[^\W\d_]*+)*+")


def check_pattern(token_pattern: Any) -> None:
    """Raise unless it is None or a regular expression."""
    if token_pattern is not None:
        _compiled(token_pattern)


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

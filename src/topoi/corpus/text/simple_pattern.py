r"""Regular expressions whose time grows with the length of the text and no faster, whoever wrote them.

Python's `re` can take years for a short text, and has no time limit. A pattern that stands in a file (a model's, say)
is therefore used only if it is simple: alternatives (|), each of which has, in this order,

    \b                 or not
    C, C{n}            characters and fixed numbers of them, as many as you like
    C+, C*, C?, C{m,}  a repeated character, or not
    (?:CC+)*           more of that kind after a character that joins them, as in \w+(?:-\w+)*, or not
    \b                 or not

where C is a letter, an escape or a class ([…]). After what is repeated nothing can fail, so that there is no way back
to try, but for \b at the end. That one is allowed where there is \b at the beginning, what is repeated are word
characters, and what joins them is none: then the way back is within one word.
"""

from __future__ import annotations

import re
import sys
from functools import cache

LONGEST = 200  # characters of a pattern

_CHARACTER = r"(?:\\[wWdDsS]|\\[^\w\s]|[^\\.^$*+?{}\[\]|()]|\[\^?(?:\\[wWdDsS]|\\[^\w\s]|[^\\\[\]])+\])"
_FIXED = r"(?:\{\d\})?"
_REPEATED = r"(?:[+*?]|\{\d\d?,(?:\d\d?)?\})"
_ALTERNATIVE = re.compile(
    rf"(?P<begin>\\b)?(?P<fixed>(?:{_CHARACTER}{_FIXED})*)"
    rf"(?:(?P<first>{_CHARACTER}){_REPEATED}(?:\(\?:(?P<joint>{_CHARACTER})(?P<more>{_CHARACTER})\+\)[*?])?)?"
    r"(?P<end>\\b)?(?:\||$)"
)


def is_simple(pattern: str) -> bool:
    """Whether a pattern is one whose time grows with the length of the text."""
    rest = pattern.removeprefix("(?u)")
    if not rest or len(rest) > LONGEST or rest.endswith("|"):
        return False
    at = 0
    while at < len(rest):
        found = _ALTERNATIVE.match(rest, at)
        if found is None or not _ends(found):
            return False
        at = found.end()
    return True


def _ends(found: re.Match[str]) -> bool:
    """Whether a boundary at the end, if there is one, is found soon."""
    if not found["end"] or not found["first"]:
        return True
    words = [found["first"], *([found["more"]] if found["more"] else [])]
    joined = found["joint"] is None or _none_is(found["joint"], r"(?=\w)")
    return bool(found["begin"]) and joined and all(_none_is(character, r"(?!\w)") for character in words)


def _none_is(character: str, kind: str) -> bool:
    """Whether no character of Unicode is both: a test of every one of them, a fraction of a second."""
    return re.search(f"{kind}{character}", _every_character()) is None


@cache
def _every_character() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))

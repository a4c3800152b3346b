"""What is in a text but is no language: addresses, markup, encoded files; and of messages, what is not the author's.

A text is looked at by itself, whatever others there are, so that new documents are cleaned as those of the fit were.
The time is proportional to the length of a text: patterns begin where no earlier match could have, and what they
repeat is not given back.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

from topoi.corpus.text.messages import is_message, lines_of, own_words
from topoi.errors import ParameterError

#: What may be asked for. "auto": messages are told by their headers; "email": every text is one.
CLEAN = ("auto", "email", "none")
PARAGRAPH = "\n\n"  # what stands between the texts of several columns
LONGEST = 50  # characters of ASCII without a blank that may be a word, or several

_URL = re.compile(r"""(?:\b(?:https?|ftps?|file|gopher|news|telnet|mailto|wais)://|\bwww\d?\.)[^\s<>"]*+""", re.I)
_ADDRESS = re.compile(r"(?<![\w.+%=-])[\w.+%=-]++@[\w.-]++")
# A host by itself: of a domain that is no word, or of three names or more.
_DOMAINS, _COUNTRIES = "com|edu|org|net|gov|mil|arpa", "at|au|be|ca|ch|de|dk|es|fi|fr|il|it|jp|nl|no|nz|se|uk|us|za"
_HOST = re.compile(
    rf"(?<![\w.-])(?:(?:[a-z\d-]++\.){{1,8}}(?:{_DOMAINS})|(?:[a-z\d-]++\.){{2,8}}(?:{_COUNTRIES}))(?![\w-])", re.I
)
_HOST_ENDS = re.compile(rf"\.(?:{_DOMAINS}|{_COUNTRIES})\b", re.I)  # quick: it begins with a character
# With a slash at its end and nothing before it only what HTML closes so: "<child/>" may be a word of the text.
_TAG = re.compile(r"</?[a-z][a-z0-9]*+(?:\s[^<>]*+)?+>|<(?:br|hr|wbr)/>|<![a-z][^<>]*+>", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});", re.I)
_LONG = re.compile(rf"(?<![!-~])[!-~]{{{LONGEST},}}+")
_UUENCODED = re.compile(r"M[ -`]{60}\s*$")  # a full line: its length, then 60 characters of which none is lower case
_UU_LAST = re.compile(r"(?:[!-L][ -`]{1,60}|`)\s*$")
_UU_BEGIN = re.compile(r"begin [0-7]{3,4} \S")
_ARMOUR = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]+)-----")
#: Parts of a page that nobody reads.
_UNSEEN = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))


class Joined(str):
    """The texts of several columns as one text, of which each is cleaned by itself.

    The title before it would hide that a body begins with the headers of a message, and a title is never a signature.
    """

    __slots__ = ("lengths",)
    lengths: tuple[int, ...]  # of the texts; they are not kept a second time

    @classmethod
    def of(cls, texts: Sequence[str]) -> Joined:
        """These texts, in their order."""
        whole = cls(PARAGRAPH.join(texts))
        whole.lengths = tuple(map(len, texts))
        return whole

    def columns(self) -> list[str]:
        """The texts that were joined."""
        out, at = [], 0
        for length in self.lengths:
            out.append(self[at : at + length])
            at += length + len(PARAGRAPH)
        return out


class Cleaner:
    """Takes out of texts what is no language; `removed` counts it."""

    def __init__(self, clean: str = "auto") -> None:
        check_clean(clean)
        self.clean = clean
        self.removed: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        """The text without."""
        if self.clean == "none":
            return text
        if isinstance(text, Joined):
            return PARAGRAPH.join(map(self, text.columns()))
        if self.clean == "email" or is_message(text):
            text = own_words(text, self.removed)
        text = self._decoded(text)
        if "<" in text:
            text = self._without_markup(text)
        if "&" in text and _ENTITY.search(text):
            text = html.unescape(text)
        if "://" in text or "www" in text or "WWW" in text:
            text = self._count("addresses", _URL, text)
        if "@" in text:
            text = self._count("addresses", _ADDRESS, text)
        if _HOST_ENDS.search(text):
            text = self._count("addresses", _HOST, text)
        if len(text) >= LONGEST and max(map(len, text.split()), default=0) >= LONGEST:
            text = self._count("encoded lines", _LONG, text)
        return text

    def _count(self, what: str, pattern: re.Pattern[str], text: str) -> str:
        text, n = pattern.subn(" ", text)
        self.removed[what] += n
        return text

    def _decoded(self, text: str) -> str:
        """The text without files that were encoded as lines of text: by uuencode, or as a signature or key."""
        armoured = "-----BEGIN " in text
        if not armoured and not text.startswith("M") and "\nM" not in text and "\tM" not in text:
            return text
        lines = lines_of(text)
        if not armoured and not any(map(_UUENCODED.match, lines)):
            return text
        kept = list(_plain_lines(lines))
        self.removed["encoded lines"] += len(lines) - len(kept)
        return "\n".join(kept)

    def _without_markup(self, text: str) -> str:
        for begin, end in _UNSEEN:
            if begin in text or begin.upper() in text:
                text = _without(text, begin, end)
        return self._count("tags", _TAG, text)


def check_clean(clean: object) -> None:
    """Raise unless it is one of the ways to clean texts."""
    if clean not in CLEAN:
        raise ParameterError("clean", f"must be one of {', '.join(map(repr, CLEAN))}, not {clean!r}")


def _plain_lines(lines: list[str]) -> list[str]:
    """Lines that are not encoded."""
    kept: list[str] = []
    inside = ""  # the block whose end is awaited
    encoded = False  # whether the line before was
    ends = Counter(found[2] for line in lines if (found := _ARMOUR.match(line)) and found[1] == "END")
    for line in lines:
        found = _ARMOUR.match(line)
        if found and found[1] == "BEGIN":
            if "MESSAGE" not in found[2] and ends[found[2]]:  # a signed message is text, its signature is not
                inside = found[2]
        elif found:
            ends[found[2]] -= 1
            inside = "" if found[2] == inside else inside
        elif not inside:
            full, is_end = _UUENCODED.match(line) is not None, line.strip() == "end"
            is_rest = encoded and (is_end or not line.strip() or _UU_LAST.match(line) is not None)
            if not (full or is_rest or _UU_BEGIN.match(line)):
                kept.append(line)
            encoded = full or (is_rest and not is_end)
    return kept


def _without(text: str, begin: str, end: str) -> str:
    """The text without parts from `begin` to `end`, in capitals or not; what has no end stays."""
    small, kept, at = text.lower(), [], 0
    if len(small) != len(text):  # a letter whose small form is two
        return text
    while (start := small.find(begin, at)) >= 0 and (stop := small.find(end, start)) >= 0:
        kept.append(text[at:start])
        at = stop + len(end)
    return " ".join((*kept, text[at:]))

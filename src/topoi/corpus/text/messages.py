"""E-mail and news: what of a message its author wrote, without headers, quoted replies and signature.

Messages are lines. Files of texts often have other characters where line breaks were: a text without any line break is
cut at its tabs.
"""

from __future__ import annotations

import re
from collections import Counter

#: Names of headers by which a text shows that it is a message.
KNOWN = frozenset((
    "approved", "bcc", "cc", "content-transfer-encoding", "content-type", "date", "delivered-to",
    "distribution", "followup-to", "from", "in-reply-to", "keywords", "lines", "message-id", "mime-version",
    "newsgroups", "nntp-posting-host", "organization", "path", "received", "references", "reply-to",
    "return-path", "sender", "subject", "summary", "supersedes", "to", "x-mailer", "x-newsreader", "xref",
))  # fmt: skip
#: Headers whose text is part of what the author says.
SAID = frozenset(("subject", "summary", "keywords"))
EVERY = frozenset(("from", "message-id", "subject", "to"))  # of which any message has one
FEWEST = 2  # known headers, before a text is taken for a message
LONGEST_SIGNATURE = 12  # lines
LONGEST_ADDRESS = 6  # lines of a signature without a rule
LONGEST_ATTRIBUTION = 160  # characters of "Jane Doe <jane@example.org> wrote:"

_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]{1,40}): ?(.*)", re.DOTALL)
_MAILBOX = re.compile(r"From \S+ ")  # begins a message in a file of many
_REPLY = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|tr)\s*(?:\[\d+\])?:\s*)+", re.IGNORECASE)
_QUOTED = re.compile(r"\s*(?:[A-Za-z]{0,4}>|[|}]|:(?:\s|$))")
_OPENING = re.compile(r"\s*(?:In (?:a previous )?article\b|In message\b|In <|Quoted from\b|On \S.*\bwrote:$)")
_ATTRIBUTION = re.compile(r"\b(?:writes|wrote|schrieb|schreibt|écrit|escribió|says|said)(?:\s+in [\w.]+)?\s*:+\s*$")
_ADDRESS = re.compile(r"\w@\w")
_RULE = re.compile(r"\s*[-_=~*#]{2,}\s*$")


def lines_of(text: str) -> list[str]:
    """The lines of a text; where it has but one, its tabs are taken for the line breaks that it had."""
    text = text.strip("\r\n")
    return text.splitlines() if "\n" in text or "\r" in text else text.split("\t")


def is_message(text: str) -> bool:
    """Whether a text begins as a message does: with two headers or more, among them one of those of every message."""
    start = text[:4000].lstrip()
    if ":" not in start[:200]:
        return False
    lines = lines_of(start)
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    found = [match[1].lower() if (match := _HEADER.match(line)) else "" for line in lines[:end]]
    known = KNOWN.intersection(found)
    return len(known) >= FEWEST and bool(known & EVERY) and any(name in KNOWN for name in found[:2])


def own_words(text: str, removed: Counter[str]) -> str:
    """What the author of a message wrote; `removed` is told how much of what was left out."""
    lines = lines_of(text)
    said, body = _after_headers(lines)
    if len(body) < len(lines):
        removed["headers"] += 1
    kept = _without_signature(body)
    removed["signatures"] += len(kept) < len(body)
    own = [line for line in kept if not _is_quoted(line) and not _is_header(line)]
    removed["quoted lines"] += len(kept) - len(own)
    return "\n".join((*said, *own))


def _after_headers(lines: list[str]) -> tuple[list[str], list[str]]:
    """The texts of headers that are part of the message, and its body; lines without headers are all body."""
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    blank = next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines))
    found = [_HEADER.match(line) for line in lines[first:blank]]
    names = [match[1].lower() if match else "" for match in found]
    known = [i for i, name in enumerate(names) if name in KNOWN or name.startswith("x-")]
    if not known:
        return [], lines
    end = first + known[-1] + 1
    while end < blank and lines[end].startswith((" ", "\t")):  # goes on with the last header
        end += 1
    said = [_REPLY.sub("", match[2]) for name, match in zip(names, found, strict=True) if match and name in SAID]
    return said, _after_more_headers(lines[end:])


def _after_more_headers(body: list[str]) -> list[str]:
    """The body without a first paragraph that is headers alone, as those of regular postings ("Archive-name: …")."""
    first = next((i for i, line in enumerate(body) if line.strip()), len(body))
    last = next((i for i in range(first, len(body)) if not body[i].strip()), len(body))
    if last - first >= FEWEST and all(_HEADER.match(line) for line in body[first:last]):
        return body[last:]
    return body


def _without_signature(body: list[str]) -> list[str]:
    """The body up to the last rule ("-- ") that only a few lines follow."""
    end = len(body)
    while end and not body[end - 1].strip():
        end -= 1
    rules = [i for i in range(max(1, end - LONGEST_SIGNATURE - 1), end) if _RULE.match(body[i])]
    return body[: rules[0]] if rules else _without_address(body)


def _without_address(body: list[str]) -> list[str]:
    """The body without a last paragraph of a few lines that has an address: a signature without a rule."""
    end = len(body)
    while end and not body[end - 1].strip():
        end -= 1
    first = end
    while first and body[first - 1].strip():
        first -= 1
    is_signature = first and end - first <= LONGEST_ADDRESS and any(_ADDRESS.search(line) for line in body[first:end])
    return body[:first] if is_signature else body


def _is_header(line: str) -> bool:
    """Whether a line of a body is one of the headers of a message that it passes on; those that say something stay."""
    found = _HEADER.match(line)
    return found is not None and found[1].lower() in KNOWN - SAID


def _is_quoted(line: str) -> bool:
    if _QUOTED.match(line):
        return True
    if line.endswith((":", ": ")) and len(line) <= LONGEST_ATTRIBUTION and _ATTRIBUTION.search(line):
        return True
    return _OPENING.match(line) is not None

"""SVMlight and LIBSVM: `label index:count index:count …` a line; `1,3 5:2` has two labels, `5:2` none.

Indices count from 1, or from 0 with ``first_index=0``. What follows a # is a comment, `qid:…` is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from topoi.corpus.checks import MAX_COUNT, MAX_WORDS
from topoi.readers._counts import BAD_COUNT
from topoi.readers._request import Request, short

MAX_LINE = 2**24  # characters: a number of two of them takes a hundred bytes on its way
_PAIRS = re.compile(r"\s*(?:[0-9]{1,18}:[0-9]{1,18}(?:\s+|\Z))*", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(?:\.0*)?", re.ASCII)
_INDEX = re.compile(r"[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

Row = tuple[list[int], list[int], Any]  # columns from 0, counts, label


def rows(request: Request) -> Iterator[Row]:
    """Every line that is not blank."""
    faults, name = request.faults, request.name
    for number, line in request.source.lines(faults):
        if len(line) > MAX_LINE:
            faults.document(name, f"the line is longer than {MAX_LINE >> 20} MiB, too long for counts.", line=number)
            continue
        body = line.partition("#")[0]
        if not body or body.isspace():
            continue
        head, pairs = _split(body)
        label, problem = _label(request, head)
        if problem is None:
            columns, counts, problem = _parse(pairs, request.first_index)
        if problem:
            faults.document(name, problem, line=number)
            continue
        yield columns, counts, label


def _split(body: str) -> tuple[str, str]:
    """What stands before the pairs, and the pairs."""
    head, _, pairs = body.partition(" ") if " " in body else body.partition("\t")
    if ":" in head or "\t" in head:
        parts = body.split(None, 1)
        head, pairs = (parts[0], parts[1] if len(parts) > 1 else "") if ":" not in parts[0] else ("", body)
    if "qid:" in pairs:
        pairs = " ".join(pair for pair in pairs.split() if not pair.startswith("qid:"))
    return head, pairs


def _label(request: Request, head: str) -> tuple[Any, str | None]:
    """A label or several, a target, or None; and what is wrong with it, if anything."""
    if request.numeric:
        return request.read_answer(head) if not head or _NUMBER.fullmatch(head) else (None, _no_label(head))
    if "," not in head and request.label_separator is None:
        return _one_label(head) if head else (None, None)
    several = [_one_label(part) for part in head.split(request.label_separator or ",") if part]
    problem = next((problem for _, problem in several if problem), None)
    return [label for label, _ in several], problem


def _one_label(head: str) -> tuple[int | None, str | None]:
    if _WHOLE.fullmatch(head):
        return int(head.partition(".")[0]), None
    return None, _no_label(head)


def _no_label(head: str) -> str:
    if _NUMBER.fullmatch(head):
        return f"the label is {head}; labels are whole numbers. To predict numbers, give target=True."
    return f"the line begins with {short(head)}; expected a whole number, or several as in 1,3."


def _parse(pairs: str, first_index: int) -> tuple[list[int], list[int], str | None]:
    if _PAIRS.fullmatch(pairs):
        numbers = list(map(int, pairs.replace(":", " ").split()))
        columns, counts = numbers[::2], numbers[1::2]
    else:
        columns, counts = [], []
        for pair in pairs.split():
            index, colon, count = pair.partition(":")
            if not colon or not _INDEX.fullmatch(index):
                return [], [], f"expected index:count, not {short(pair)}."
            value = float(count) if _NUMBER.fullmatch(count) else math.nan
            if not 0 <= value <= MAX_COUNT or value != math.floor(value):
                return [], [], f"{short(pair)}: {BAD_COUNT}"
            columns.append(int(index))
            counts.append(int(value))
    if first_index:
        columns = [column - first_index for column in columns]
    if columns and min(columns) < 0:
        return [], [], "the index 0: indices count from 1. If they count from 0 in this file, give first_index=0."
    if columns and max(columns) >= MAX_WORDS:
        return [], [], f"the index {max(columns) + first_index} is too large; at most {MAX_WORDS} words are possible."
    if counts and max(counts) > MAX_COUNT:
        return [], [], f"the count {max(counts)}: {BAD_COUNT}"
    return columns, counts, None

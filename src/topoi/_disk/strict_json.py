"""JSON that a stranger may have written: how deep and how large it is shows before anything is made of it.

Python's parser ends in a RecursionError where values are nested too deeply, and so does whoever prints or walks what it
gives; whole numbers have no end, and overflow wherever they are used. All of it is a ValueError here.
"""

from __future__ import annotations

import json
import os
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

from topoi.errors import TopoiError

DEPTH = 100  # lists and objects within each other
MANY = 10**6  # lists and objects in all: an empty one takes three bytes in the text and sixty in memory
LARGEST = 2**64  # of whole numbers in files of our own

# A string that has no end reaches to the end of the text: so no character is looked at twice.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


class JSONError(TopoiError, ValueError):
    """JSON that is too deep, too large, or has too large a number."""


def parse(text: str) -> Any:
    """The value that a text has; ValueError if it has none, or one that is too deep or too large."""
    if text.count("[") + text.count("{") > DEPTH:  # else there is nothing to look for, as in nearly all texts
        brackets = _BRACKET.findall(_STRING.sub("", text))
        if len(brackets) > 2 * MANY:
            raise JSONError(f"the JSON has more than {MANY} lists and objects.")
        if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > DEPTH:
            raise JSONError(f"the JSON is nested more than {DEPTH} deep.")
    return json.loads(text)


def read(path: Path, most: int = 2**26) -> Any:
    """The value in a file of our own of at most so many bytes; OSError if there is no file, ValueError if it is bad."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise JSONError("it is not a file.")
    with path.open("rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        data = file.read(min(n_bytes, most) + 1)  # which allocates as much
    if len(data) > most:
        raise JSONError(f"it has more than {most} bytes.")
    value = parse(data.decode("utf-8"))
    _check_numbers(value)
    return value


def _check_numbers(value: Any) -> None:
    """Raise for a whole number that no place in our files can hold."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, int) and not -LARGEST < item < LARGEST:
            raise JSONError(f"it has a whole number of {item.bit_length()} bits.")

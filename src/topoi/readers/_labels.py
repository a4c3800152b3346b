"""Labels and ids of documents, gathered as numbers: what many documents share is in memory once."""

from __future__ import annotations

import math
from array import array
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.readers._covariates import comma_hint

NOT_KNOWN, SINGLE = -1, -2  # in place of the number of labels


class LabelColumn:
    """One label per document, several, or None where it is not known; a label is a str, an int or a bool."""

    def __init__(self, separator: str | None = None, none_is_known: bool = False) -> None:
        self._separator = separator
        self._none_is_known = none_is_known  # in a file with lists, None is a list without labels
        self._index: dict[tuple[type, Any], int] = {}  # 1 and True are equal, but not the same label
        self._codes = array("i")
        self._lengths = array("i")
        self.n_known = 0
        self.n_bytes = 0  # of the labels that there are, in memory

    def add(self, value: Any) -> None:
        """The label of the next document: one, a list of them, or None. It is checked before: see `check_label`."""
        self.n_known += value is not None
        if self._separator is not None and isinstance(value, str):
            value = [part for part in map(str.strip, value.split(self._separator)) if part]
        if isinstance(value, list):
            codes = dict.fromkeys(map(self._code, value))  # once each
            self._codes.extend(codes)
            self._lengths.append(len(codes))
        elif value is None:
            self._lengths.append(NOT_KNOWN)
        else:
            self._codes.append(self._code(value))
            self._lengths.append(SINGLE)

    def _code(self, value: Any) -> int:
        n_before = len(self._index)
        code = self._index.setdefault((type(value), value), n_before)
        if code == n_before:
            self.n_bytes += 200 + getsizeof(value)
        return code

    def finish(self) -> NDArray[Any] | list[list[Any] | None]:
        """An array of one label per document, or a list of lists if any document has a list."""
        names = one_kind([value for _, value in self._index])
        lengths = np.array(self._lengths)
        if (lengths >= 0).any():
            return self._lists(names)
        labels = np.full(len(lengths), None, object)
        labels[lengths == SINGLE] = names[np.array(self._codes)] if len(self._codes) else None
        return labels if (lengths == NOT_KNOWN).any() or names.dtype == object else labels.astype(names.dtype)

    def _lists(self, names: NDArray[Any]) -> list[list[Any] | None]:
        labels: list[list[Any] | None] = []
        words, start = names.tolist(), 0
        for length in self._lengths:
            if length == NOT_KNOWN:
                labels.append([] if self._none_is_known else None)
                continue
            end = start + (1 if length == SINGLE else length)
            labels.append([words[code] for code in self._codes[start:end]])
            start = end
        return labels


class TopicLabelColumn(LabelColumn):
    """Names of the topics that a document may have, as lists of texts; None where a field is empty: not known."""

    def add(self, value: Any) -> None:
        """Those of the next document: one, a list of them, or None."""
        super().add(None if isinstance(value, str) and not value.strip() else value)

    def finish(self) -> list[list[Any] | None]:
        """A list for each document, or None."""
        return [None if own is None else [str(name).strip() for name in _as_list(own)] for own in super().finish()]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class NumberColumn:
    """One number per document, NaN where it is not known."""

    n_bytes = 0  # those of a number are part of its document's

    def __init__(self) -> None:
        self._values = array("d")
        self.n_known = 0

    def add(self, value: float | None) -> None:
        """The target of the next document."""
        self.n_known += value is not None
        self._values.append(math.nan if value is None else value)

    def finish(self) -> NDArray[np.float64]:
        """All of them."""
        return np.array(self._values, np.float64)


def one_kind(values: list[Any]) -> NDArray[Any]:
    """Labels or ids as an array: whole numbers, booleans, or else strings."""
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, bool)
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    names = np.empty(len(values), object)
    names[:] = [str(value) for value in values]
    return names


def check_label(value: Any) -> str | None:
    """What is wrong with a label, if anything."""
    if value is None or isinstance(value, str | int):
        return None
    if isinstance(value, list):
        bad = next((item for item in value if not isinstance(item, str | int)), value)
        return None if bad is value else f"the labels hold {bad!r}; labels are strings or whole numbers."
    if isinstance(value, float):
        what = f"the label is {value!r}; labels are strings or whole numbers."
        return f"{what} To predict a number, name its column as target."
    return f"the label is a {type(value).__name__}; labels are strings, whole numbers, or lists of them."


def read_target(value: Any) -> tuple[float | None, str | None]:
    """A number to predict, None if it is not known; and what is wrong with it, if anything."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, None
    try:
        if isinstance(value, bool | list | dict) or (isinstance(value, str) and "_" in value):
            raise ValueError
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return None, f"the target is {str(value)[:50]!r}, not a number.{comma_hint(value)}"
    if math.isnan(number):
        return None, None
    return number, "the target is infinite; it must be a finite number." if math.isinf(number) else None

"""Covariates of documents, gathered by column: numbers if every value of a column is one, else categories.

Different values are in memory once, as labels are. A value that is missing is a fault of its document: whoever reads
knows best whether to fill it in, to name it, or to leave the document out.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError, warn_user

#: What a column may be said to be; None is found out.
KINDS = ("number", "category", None)
#: What a column of names of topics is, which is read beside covariates.
TOPIC_LABELS = "topic labels"
#: What a column is that documents are grouped by afterwards; it may have anything in it, and nothing.
GROUP = "group"
DECIMAL_COMMA = re.compile(r"[-+]?\d+(\.\d{3})*,\d+")  # 12,50 or 1.234,50
MISSING = (
    "has no value; fill it in, give what is missing a name of its own, or leave such documents out: on_error='skip'."
)


def read_wanted(given: Any) -> dict[str, str | None]:
    """The covariates that a user asks for, by name, and what each is said to be."""
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise ParameterError("covariates", f"must be a list of columns, as ['price', 'brand'], not {given!r}")
    names = list(given)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ParameterError("covariates", f"has {name!r}; name a column")
        if names.count(name) > 1:
            raise ParameterError("covariates", f"has the column {name!r} more than once")
    wanted = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names)
    for name, kind in wanted.items():
        if kind not in KINDS:
            raise ParameterError("covariates", f"{name!r} is said to be {kind!r}; a column is 'number' or 'category'")
    return wanted


def read_groups(given: Any, taken: Mapping[str, Any]) -> list[str]:
    """The columns to group by that a user asks for; `taken` has those that are read as something else."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError("groups", f"must be a list of columns, as ['date', 'section'], not {given!r}")
    for name in given:
        if not isinstance(name, str) or not name:
            raise ParameterError("groups", f"has {name!r}; name a column")
        if taken.get(name) == TOPIC_LABELS:
            raise ParameterError("groups", f"has the column {name!r}, which has the topic labels; name another")
    return list(dict.fromkeys(given))


def as_number(value: Any) -> float | None:
    """A value as a number, which may be NaN or infinite; None if it is not one."""
    if isinstance(value, bool | list | dict) or (isinstance(value, str) and "_" in value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (ValueError, TypeError):
        return None


def comma_hint(value: Any) -> str:
    """What to do about a number with a decimal comma; nothing for anything else."""
    return " Write decimals with a point." if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip()) else ""


def check_covariate(value: Any, kind: str | None) -> str | None:
    """What is wrong with a value, if anything, as the end of a sentence."""
    if kind == GROUP:
        return f"is a {type(value).__name__}; one value is needed." if isinstance(value, list | dict) else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return MISSING
    if isinstance(value, list | dict):
        return f"is a {type(value).__name__}; covariates are numbers, texts, true or false."
    number = as_number(value)
    if number is None:
        return f"is {str(value)[:50]!r}; it must be a number.{comma_hint(value)}" if kind == "number" else None
    if math.isnan(number):
        return MISSING
    return "is infinite, or too large; it must be a finite number." if math.isinf(number) else None


class CovariateColumn:
    """A value for each document; those that are equal as texts are the same."""

    def __init__(self, kind: str | None, name: str = "") -> None:
        self._kind = kind
        self._name = name
        self._index: dict[str, int] = {}
        self._codes = array("i")
        self.n_bytes = 0  # of the values that there are, in memory

    def add(self, value: Any) -> None:
        """The value of the next document. It is checked before: see `check_covariate`."""
        text, n_before = str(value).strip(), len(self._index)
        code = self._index.setdefault(text, n_before)
        if code == n_before:
            self.n_bytes += 200 + getsizeof(text)
        self._codes.append(code)

    def finish(self) -> NDArray[Any]:
        """Numbers (float64), or else texts (objects)."""
        codes = np.array(self._codes, np.int64)
        numbers = [as_number(text) for text in self._index] if self._kind != "category" else [None]
        if None not in numbers:
            return np.array(numbers, np.float64)[codes]
        if self._kind is None:
            self._warn_of_commas(numbers)
        texts = np.empty(len(self._index), object)
        texts[:] = list(self._index)
        return texts[codes]

    def _warn_of_commas(self, numbers: Sequence[float | None]) -> None:
        """Numbers of which some have a decimal comma become categories, which is hardly what is meant."""
        others = [text for text, number in zip(self._index, numbers, strict=True) if number is None]
        if all(map(DECIMAL_COMMA.fullmatch, others)):
            warn_user(
                f"the covariate {self._name!r} has numbers with a decimal comma, as {others[0]!r}: its values are "
                "taken for categories. Write decimals with a point, as 12.50, for a number."
            )


class GroupColumn(CovariateColumn):
    """A value for each document, as text; None where there is none."""

    def __init__(self) -> None:
        super().__init__("category")

    def add(self, value: Any) -> None:
        """The value of the next document."""
        super().add("" if value is None or value != value else value)  # NaN is not equal to itself

    def finish(self) -> NDArray[Any]:
        """Texts, or None (objects)."""
        texts = super().finish()
        texts[texts == ""] = None
        return texts

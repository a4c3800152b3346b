"""What the fields of an object in a file may hold, declared in words of our own.

A class that can be written to a file has one `Field` for each of its fields. They are not read out of its type
annotations: those belong to the type checker and to other libraries, which change what they look like from one version
to the next (numpy 2.5 turned `NDArray` into a type alias), and a file must mean the same under all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Field:
    """What a field may hold: in words for error messages, and as a check of a value."""

    name: str
    holds: Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


FLAG = Field("true or false", lambda value: isinstance(value, bool))
WHOLE = Field("a whole number of 64 bits", _is_whole)
NUMBER = Field("a number", _is_number)
TEXT = Field("a text", lambda value: isinstance(value, str))
MAPPING = Field("a mapping", lambda value: isinstance(value, dict))
SPARSE = Field("a sparse matrix", lambda value: isinstance(value, sparse.csr_array))


def array_of(dtype: str | None = None) -> Field:
    """An array, of one dtype or of any."""
    wanted = None if dtype is None else np.dtype(dtype)
    name = "an array" if dtype is None else f"an array of {dtype}"
    return Field(name, lambda value: isinstance(value, np.ndarray) and (wanted is None or value.dtype == wanted))


def list_of(item: Field) -> Field:
    """A list, each item of which is as the field says."""
    return Field(
        f"a list, each item {item.name}", lambda value: isinstance(value, list) and all(map(item.holds, value))
    )


def mapping_of(item: Field) -> Field:
    """A mapping from texts to what the field says."""
    return Field(
        f"a mapping from texts, each value {item.name}",
        lambda value: (
            isinstance(value, dict) and all(isinstance(key, str) and item.holds(held) for key, held in value.items())
        ),
    )


def optional(field: Field) -> Field:
    """None, or what the field says."""
    return Field(f"nothing or {field.name}", lambda value: value is None or field.holds(value))


def either(first: Field, second: Field) -> Field:
    """What the one field says or the other."""
    return Field(f"{first.name} or {second.name}", lambda value: first.holds(value) or second.holds(value))


def instance_of(cls: type[Any]) -> Field:
    """An object of a class that is itself written field by field."""
    return Field(f"a {cls.__name__}", lambda value: isinstance(value, cls))

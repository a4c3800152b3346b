"""The numbers of a loss that a user may give (cost, margin, ε): what is allowed, and how large they may be."""

from __future__ import annotations

import math
from dataclasses import field
from numbers import Real
from typing import Any

from topoi.errors import ParameterError

# The largest cost (times weight), margin and ε. Such a cost is a wall already. Beyond, the log density of a Pólya–Gamma
# variable, a difference of numbers of the size of the cost, has no digit left (at 1e18 its sampler never ends), and
# squares of weights leave float32.
STRONGEST = 1e12


def setting(default: float, *, zero: bool = False, none: bool = True) -> Any:
    """A field of a response that a user may set to a positive number: also to 0 if `zero`, and to None if `none`.

    None asks for the default, or for what suits the documents (`Response.suited`).
    """
    return field(default=default, metadata={"zero": zero, "none": none})


def check_setting(name: str, value: Any, zero: bool = False, none: bool = True) -> None:
    """Raise unless `value` is what `setting` allows."""
    if value is None and none:
        return
    # The type first: NumPy compares an array with 0 item by item.
    if not isinstance(value, Real) or not (float(value) >= 0 if zero else float(value) > 0) or math.isinf(float(value)):
        what = "a number of at least 0" if zero else "a positive number"
        raise ParameterError(name, f"must be {what}{' or None' if none else ''}, not {value!r}")


def check_strength(name: str, value: float) -> None:
    """Raise if a number of a loss is so large that draws would lose their digits."""
    if not value <= STRONGEST:
        raise ParameterError(name, f"must be at most {STRONGEST:g}, not {value:g}")

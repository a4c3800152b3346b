"""Numbers that users give for priors, and those that updates make of them: what kernels can compute with."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from topoi.errors import ParameterError, TopoiError

# Kernels multiply α, β and 1/(n_k + Vβ) in float32, where the product must not vanish (it would below 1e-45).
SMALLEST = 1e-10
LARGEST = 1e10


class PriorError(TopoiError, ArithmeticError):
    """A prior whose update gave numbers that kernels cannot compute with."""


def as_positive(parameter: str, value: Any, which: str = "") -> float | None:
    """`value` as a float; None if it is not a positive number, an error if it is one that a prior cannot have."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        return None
    if not SMALLEST <= float(value) <= LARGEST:
        raise ParameterError(parameter, f"{which}is {value!r}; must be from {SMALLEST:g} to {LARGEST:g}")
    return float(value)


def check_positive(parameter: str, value: Any, which: str) -> float:
    """`value` as a float; an error unless it is a positive number that a prior can have."""
    number = as_positive(parameter, value, which)
    if number is None:
        raise refused(parameter, value, which, "a positive number")
    return number


def refused(parameter: str, value: Any, which: str, allowed: str) -> ParameterError:
    """The error of a value that is none of those that are `allowed`."""
    a_number = isinstance(value, Real) and not isinstance(value, bool)
    what = repr(value) if a_number else f"{value!r}, a {type(value).__name__}"
    return ParameterError(parameter, f"{which}is {what}; must be {allowed}")


def check_updated(prior: str, what: str, values: Any) -> None:
    """Raise unless all numbers of a prior are, after an update, in the range of those that a user may give."""
    numbers = np.atleast_1d(np.asarray(values, np.float64))
    wrong = ~((numbers >= SMALLEST) & (numbers <= LARGEST))  # NaN is in no range
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        which = f"{what}{list(place)}" if np.ndim(values) else what
        raise PriorError(
            f"an update of the prior {prior!r} made {which} {numbers[place]:g}; kernels take numbers from {SMALLEST:g} "
            f"to {LARGEST:g}"
        )

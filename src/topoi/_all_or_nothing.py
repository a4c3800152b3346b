"""A method that fails leaves its object as it was: a fitted estimator goes on predicting what it did."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """The method; if it raises, the attributes of its object are put back."""

    @wraps(method)
    def wrapped(self: Any, *given: Any, **named: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *given, **named)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast("Method", wrapped)

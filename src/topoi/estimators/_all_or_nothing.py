"""Work that fails leaves its object as it was: a fitted estimator goes on predicting what it did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing(thing: Any) -> Iterator[None]:
    """If the block raises, the attributes of `thing` are put back."""
    before = dict(vars(thing))
    try:
        yield
    except BaseException:
        vars(thing).clear()
        vars(thing).update(before)
        raise

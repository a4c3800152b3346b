"""BLAS on one thread: with several it adds up in an order that depends on how many there are."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside: list[Any] = []  # one entry for everybody inside; the first holds the limit
_found: tuple[int, ThreadpoolController] | None = None  # the libraries, and how many modules there were then


def _libraries() -> ThreadpoolController:
    """The libraries of this process. To look for them takes longer than most of what is done with them.

    A module that is imported may bring another one.
    """
    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS has one thread until the last who asked for it leaves: the limit is that of the whole process."""
    with _lock:
        _inside.append(_inside[0] if _inside else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()

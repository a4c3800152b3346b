"""BLAS on one thread: with several it adds up in an order that depends on how many there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside: list[threadpool_limits] = []  # one entry for everybody inside; the first holds the limit


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS has one thread until the last who asked for it leaves: the limit is that of the whole process."""
    with _lock:
        _inside.append(_inside[0] if _inside else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()

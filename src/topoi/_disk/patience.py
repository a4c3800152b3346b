"""How long a run that is under way asks a store again that does not answer.

Whoever begins with a wrong address wants to hear of it at once. But a run has reached the store before, and stopping it
may cost hours: a server that is started anew, or a network that is away for a minute, must not. All that we ask of a
store can be asked twice. The packages of stores try again by themselves, for seconds.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from topoi.errors import ParameterError, StorageError

P = ParamSpec("P")
R = TypeVar("R")
VARIABLE = "TOPOI_STORE_SECONDS"
USUAL = 120.0
#: Seconds between two questions: few at first, more later.
FIRST, LAST = 0.5, 10.0
SPELL = 0.2  # seconds after which a stop that was asked for is heard


class SilentStoreError(StorageError):
    """A store cannot be reached, or has refused for no reason that would last."""


def limit() -> float:
    """The seconds for which a run goes on asking."""
    given = os.environ.get(VARIABLE, "")
    try:
        seconds = float(given) if given else USUAL
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ParameterError(VARIABLE, f"must be a number of seconds, not {given!r}")
    return seconds


_of_thread = threading.local()


@contextmanager
def patient(check: Callable[[], None] = lambda: None) -> Iterator[None]:
    """In this block this thread asks stores again; `check` raises if the user wants to wait no more."""
    before = getattr(_of_thread, "check", None)
    _of_thread.check = check
    try:
        yield
    finally:
        _of_thread.check = before


def asked_again(ask: Callable[P, R]) -> Callable[P, R]:
    """A question to a store that is asked again while the store is silent, where there is patience."""

    @functools.wraps(ask)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        check = getattr(_of_thread, "check", None)
        if check is None:
            return ask(*args, **kwargs)
        begun, pause = time.monotonic(), FIRST
        while True:
            try:
                return ask(*args, **kwargs)
            except SilentStoreError as error:
                most = limit()
                if time.monotonic() + pause > begun + most:
                    raise StorageError(f"{error}; asked again for {most:g} seconds ({VARIABLE})") from error
            _sleep(pause, check)
            pause = min(2 * pause, LAST)

    return run


def _sleep(seconds: float, check: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check()
        time.sleep(min(left, SPELL))

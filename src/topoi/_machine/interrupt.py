"""Ctrl-C as a request to stop: the sweep in hand is finished, and what has been learned so far is returned."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Request:
    """Within this context the first signal `number` sets `requested`; a second one raises KeyboardInterrupt.

    Only the main thread can listen to signals; in any other thread the context does nothing.
    """

    number: int

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None
        self._listening = False

    def __enter__(self) -> Self:
        if self._may_listen() and threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(self.number, self._handle)
            self._listening = True
            _listening.append(self)
        return self

    def _may_listen(self) -> bool:
        return True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening:
            _listening.remove(self)
            signal.signal(self.number, self._previous if self._previous is not None else signal.SIG_DFL)


_listening: list[Request] = []


class Interrupt(Request):
    """Ctrl-C as a request.

    Where SIGINT is ignored (a background job) or handled outside Python the context does nothing: that is not ours to
    change.
    """

    number = signal.SIGINT

    def _may_listen(self) -> bool:
        return signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)


def check_stop() -> None:
    """Raise KeyboardInterrupt if a stop was asked for: in a wait for others, who may never come, nothing is in hand."""
    if threading.current_thread() is threading.main_thread():
        stop_if_asked()


def stop_if_asked() -> None:
    """The same in any thread; one of a pool hands the error on to whoever waits for its answer."""
    if any(request.requested for request in _listening):
        raise KeyboardInterrupt

"""Ctrl-C as a request to stop: the sweep in hand is finished, and what has been learned so far is returned."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """Within this context the first Ctrl-C sets `requested`; a second one raises KeyboardInterrupt as usual.

    Only the main thread can listen to signals; in any other thread the context does nothing. Nor does it where SIGINT
    is ignored (a background job) or handled outside Python: that is not ours to change.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None
        self._listening = False

    def __enter__(self) -> Interrupt:
        ours = signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
        if ours and threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
            self._listening = True
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening:
            signal.signal(signal.SIGINT, self._previous)

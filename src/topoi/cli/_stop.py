"""SIGTERM as a request to stop, as Ctrl-C is: the sweep in hand is finished, and the model so far is saved.

A callback tells the fit. It works also where Ctrl-C is ignored, as in background jobs, and with several chains.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Stop:
    """Within this context SIGTERM sets `requested` if `gentle`, which the fit asks for after every sweep.

    Before and after, and if it comes a second time, it raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.requested = False
        self.gentle = False  # whether there is something to save
        self._previous: Any = None
        self._listening = False

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():  # no other thread hears signals
            self._previous = signal.signal(signal.SIGTERM, self._handle)
            self._listening = True
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.gentle or self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def __call__(self, progress: Any) -> bool:
        """As a callback of the fit: whether to stop."""
        return self.requested

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening:
            signal.signal(signal.SIGTERM, self._previous if self._previous is not None else signal.SIG_DFL)

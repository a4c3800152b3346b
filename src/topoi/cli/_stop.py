"""SIGTERM as a request to stop, as Ctrl-C is: the sweep in hand is finished, and the model so far is saved.

A callback tells the fit. It works also where Ctrl-C is ignored, as in background jobs, and with several chains.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

from topoi._machine.interrupt import Request


class Stop(Request):
    """Within this context SIGTERM sets `requested` if `gentle`, which the fit asks for after every sweep.

    Before and after, and if it comes a second time, it raises KeyboardInterrupt.
    """

    number = signal.SIGTERM
    hears_pilots = True

    def __init__(self) -> None:
        super().__init__()
        self.gentle = False  # whether there is something to save

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.gentle:
            raise KeyboardInterrupt
        super()._handle(number, frame)

    def __call__(self, progress: Any) -> bool:
        """As a callback of the fit: whether to stop."""
        return self.requested

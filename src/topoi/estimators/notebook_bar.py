"""A progress bar in a notebook: one piece of output that is replaced while a fit goes on.

rich, which draws the bar on terminals, needs ipywidgets in a notebook, both in the kernel and on the page, and shows
nothing without them. IPython's own display does with plain HTML, in every notebook that there is.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Hashable
from html import escape
from typing import Any

#: Seconds between two updates: the page need not follow every sweep.
EVERY = 0.1


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython in a terminal is not."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """Lines, each a bar and a text, shown in the cell that is running; threads may call it at the same time."""

    def __init__(self) -> None:
        self._lines: dict[Hashable, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._drawn = -EVERY
        self._handle: Any = None

    def update(self, key: Hashable, done: float, text: str) -> None:
        """Set the line of this key: the share that is done, and its text."""
        with self._lock:
            self._lines[key] = (min(max(done, 0.0), 1.0), text)
            if time.monotonic() - self._drawn >= EVERY:
                self._draw()

    def remove(self, key: Hashable) -> None:
        """Make room: the line of this key is shown no more."""
        with self._lock:
            self._lines.pop(key, None)

    def close(self) -> None:
        """Draw the last state."""
        with self._lock:
            if self._handle is not None or self._lines:
                self._draw()

    def _draw(self) -> None:
        from IPython.display import display

        html = "".join(
            f'<div style="font-variant-numeric:tabular-nums"><progress max="1" value="{done:.4f}"></progress> '
            f"{escape(text)}</div>"
            for done, text in self._lines.values()
        )
        texts = "\n".join(text for _, text in self._lines.values())
        shown = {"text/html": html, "text/plain": texts}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
        self._drawn = time.monotonic()

"""Bytes that a run moves: counted where its files are read and written, for the thread that does so.

Of files on a disk, what is read and written counts, whether the system has it in memory already or not. Of objects in a
store, what is fetched and put; what a copy in the cache of this machine has is not moved. A file that is mapped counts
as a whole when a process maps it first: which of its pages are read nobody is told, and the system keeps them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Moved:
    """Bytes that were read and written."""

    read: int = 0
    written: int = 0

    def add(self, other: Moved) -> None:
        """Add others to these."""
        self.read += other.read
        self.written += other.written

    def take(self) -> Moved:
        """These, from now on counted anew."""
        taken = Moved(self.read, self.written)
        self.read = self.written = 0
        return taken


_of_thread = threading.local()


@contextmanager
def counted() -> Iterator[Moved]:
    """What this thread reads and writes in the block, without what it counts in blocks within."""
    before, now = getattr(_of_thread, "moved", None), Moved()
    _of_thread.moved = now
    try:
        yield now
    finally:
        _of_thread.moved = before


def note_read(n_bytes: int) -> None:
    """So many bytes were read."""
    now = getattr(_of_thread, "moved", None)
    if now is not None:
        now.read += n_bytes


def note_written(n_bytes: int) -> None:
    """So many bytes were written."""
    now = getattr(_of_thread, "moved", None)
    if now is not None:
        now.written += n_bytes


#: Files that this process has mapped, the last ones; no sweep of a run maps as many.
_mapped: OrderedDict[Path, None] = OrderedDict()
_lock = threading.Lock()
MOST = 256


def note_mapped(path: Path, n_bytes: int) -> None:
    """A file that is never written anew, of so many bytes, was mapped to be read."""
    with _lock:
        is_new = path not in _mapped
        _mapped[path] = None
        _mapped.move_to_end(path)
        if len(_mapped) > MOST:
            _mapped.popitem(last=False)
    if is_new:
        note_read(n_bytes)

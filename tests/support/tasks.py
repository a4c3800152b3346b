"""Faults in the tasks of Dask workers: processes of their own, in which nothing can be patched from here."""

from __future__ import annotations

FAULTS = """
import errno, os, signal, time
from pathlib import Path

import numpy as np

from topoi.chain.engines.cluster import _documents, _job

true = _job.write_arrays  # Dask may run this file twice
fault = Path({fault!r})


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def eat():
    held = []
    while len(held) < 150:
        held.append(np.ones(2**20))
        time.sleep(0.02)
    raise MemoryError("nobody minds")


def fill():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_arrays(path, arrays):
    if fault.exists() and path.name.startswith("z-"):
        {{"kill": kill, "eat": eat, "fill": fill}}[fault.read_text("utf-8")]()
    true(path, arrays)


_documents.write_arrays = write_arrays
"""


class Faults:
    """What workers do in place of writing topics, from when it is said until it is over."""

    def __init__(self, folder):
        self.path = folder / "fault"
        self.preload = folder / "faults.py"
        self.preload.write_text(FAULTS.format(fault=str(self.path)), "utf-8")

    def at(self, sweep, what):
        """A callback with which they begin after a sweep."""
        return lambda progress: self.begin(what) if progress.sweep == sweep else None

    def begin(self, what):
        new = self.path.with_suffix(".new")
        new.write_text(what, "utf-8")
        new.replace(self.path)

    def end(self):
        self.path.unlink(missing_ok=True)

"""Ends of a fit in the middle: an exception that stands in for a process that ends at once."""

from __future__ import annotations

from topoi.cli import fit as command


class Killed(BaseException):
    """Stands in for a process that ends at once: nothing of it is caught."""


def killer(sweep):
    def kill(progress):
        if progress.sweep == sweep:
            raise Killed

    return [kill]


def kill_after(monkeypatch, sweep):
    """From now on a fit ends in the middle."""

    class Deadly(command.Speed):
        def __call__(self, progress):
            super().__call__(progress)
            if progress.sweep == sweep:
                raise Killed

    monkeypatch.setattr(command, "Speed", Deadly)

"""A progress bar over the fits of a choice, on standard error. Silent in pipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topoi.chain.loop import Callback, Progress


@contextmanager
def fits_bar(wanted: bool, n_fits: int) -> Iterator[Callable[[int, str], list[Callback]]]:
    """A function that begins fit number n of the name given, and returns the callbacks that show its sweeps."""
    if not wanted:
        yield lambda number, name: []
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True))
    task = bar.add_task("", total=n_fits)

    def begin(number: int, name: str) -> list[Callback]:
        bar.update(task, completed=number, description=f"fit {number + 1} of {n_fits}: {name}")

        def show(progress: Progress) -> None:
            if progress.model == progress.chain == 0:  # the others run beside it, or after it
                bar.update(task, completed=number + progress.sweep / progress.n_sweeps)

        return [show]

    with bar:
        yield begin

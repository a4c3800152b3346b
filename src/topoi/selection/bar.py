"""A progress bar over the fits of a choice: on standard error, silent in pipes; in a notebook, in the cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topoi.chain.loop import Callback, Progress
from topoi.estimators.notebook_bar import NotebookBar, in_notebook


@contextmanager
def fits_bar(wanted: bool, n_fits: int) -> Iterator[Callable[[int, str], list[Callback]]]:
    """A function that begins fit number n of the name given, and returns the callbacks that show its sweeps."""
    if not wanted:
        yield lambda number, name: []
        return
    if in_notebook():
        cell = NotebookBar()
        try:
            yield _steps(n_fits, lambda done, text: cell.update(0, done / n_fits, text))
        finally:
            cell.close()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True))
    task = bar.add_task("", total=n_fits)
    with bar:
        yield _steps(n_fits, lambda done, text: bar.update(task, completed=done, description=text))


def _steps(n_fits: int, show: Callable[[float, str], None]) -> Callable[[int, str], list[Callback]]:
    """The function that begins a fit, given one that shows how many fits are done and which one runs."""

    def begin(number: int, name: str) -> list[Callback]:
        text = f"fit {number + 1} of {n_fits}: {name}"
        show(number, text)

        def follow(progress: Progress) -> None:
            if progress.model == progress.chain == 0:  # the others run beside it, or after it
                show(number + progress.sweep / progress.n_sweeps, text)

        return [follow]

    return begin

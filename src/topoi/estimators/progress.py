"""A progress bar: sweeps, tokens/s, bytes that an engine moves in files, log joint, held-out score, time left.

On standard error, where it is silent in pipes; in a notebook, as output of the cell.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topoi.chain.loop import Callback, Progress
from topoi.estimators.notebook_bar import NotebookBar, in_notebook
from topoi.estimators.watch import NAMES

WIDE = 110  # columns from which on there is room for every name; fewer, and the bar itself would give way
LEAST = 76  # columns from which on there is room for the rate and scores; fewer, and the sweeps would give way
SIZE = 10  # columns of a number of bytes
IN_FILES = " in files"


@contextmanager
def progress_bar(wanted: bool) -> Iterator[list[Callback]]:
    """Callbacks that show the progress of a run while the context lasts; none unless `wanted`."""
    if not wanted:
        yield []
        return
    if in_notebook():
        bar_of_cell = NotebookBar()
        try:
            yield [_in_cell(bar_of_cell)]
        finally:
            bar_of_cell.close()
        return
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    narrow = console.width < WIDE
    measured = (
        TextColumn("{task.fields[rate]:.1f} M/s" if narrow else "{task.fields[rate]:.1f} M tokens/s"),
        *((TextColumn("{task.fields[moved]}"),) if console.width >= LEAST + SIZE else ()),
        TextColumn("{task.fields[log_joint]}"),
        TextColumn("{task.fields[held_out]}"),
    )
    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *(measured if console.width >= LEAST else ()),
        TimeRemainingColumn(),
        console=console,
    )
    tasks: dict[tuple[int, int], int] = {}

    def show(progress: Progress) -> None:
        key = (progress.model, progress.chain)
        if key not in tasks:
            tasks[key] = int(bar.add_task("", total=progress.n_sweeps, rate=0.0, moved="", log_joint="", held_out=""))
        several_models = any(model for model, _ in list(tasks))
        name = f"model {progress.model + 1} " if several_models else ""
        name += f"chain {progress.chain + 1} " if any(chain for _, chain in list(tasks)) else ""
        phase = "burn-in" if progress.sweep <= progress.n_burn_in else "sampling"
        fields: dict[str, object] = {"rate": progress.tokens_per_second / 1e6}
        if files := progress.bytes_read + progress.bytes_written:
            fields["moved"] = decimal(files) + (IN_FILES if console.width >= WIDE + SIZE + len(IN_FILES) else "")
        if progress.log_joint is not None:
            fields["log_joint"] = f"log joint {progress.log_joint:,.0f}"
        if progress.held_out is not None and not math.isnan(progress.held_out):
            measure = "" if narrow else f"{NAMES[progress.measure]} "
            fields["held_out"] = f"held-out {measure}{progress.held_out:,.4g}"
        if several_models:  # there may be hundreds: those that are done make room
            fields["visible"] = progress.sweep < progress.n_sweeps
        description = f"{name}{phase}" if narrow else f"{name}{phase} ({progress.sampler})"
        bar.update(tasks[key], completed=progress.sweep, description=description, **fields)  # type: ignore[arg-type]

    with bar:
        yield [show]


def _in_cell(bar: NotebookBar) -> Callback:
    """A callback that shows the progress of every model and chain as a line of its own."""
    from rich.filesize import decimal

    seen: dict[tuple[int, int], tuple[str, str]] = {}  # the last scores of each
    lines: dict[tuple[int, int], tuple[float, str]] = {}

    def name(key: tuple[int, int]) -> str:
        """What tells it from the others: nothing, as long as there are none."""
        parts = zip(("model", "chain"), key, zip(*list(seen), strict=True), strict=True)
        return "".join(f"{what} {number + 1}, " for what, number, all_of_them in parts if any(all_of_them))

    def show(progress: Progress) -> None:
        key = (progress.model, progress.chain)
        is_new, (joint, held_out) = key not in seen, seen.get(key, ("", ""))
        if progress.log_joint is not None:
            joint = f", log joint {progress.log_joint:,.0f}"
        if progress.held_out is not None and not math.isnan(progress.held_out):
            held_out = f", held-out {NAMES[progress.measure]} {progress.held_out:,.4g}"
        seen[key] = (joint, held_out)
        phase = "burn-in" if progress.sweep <= progress.n_burn_in else "sampling"
        done, share = progress.sweep == progress.n_sweeps, progress.sweep / progress.n_sweeps
        left = progress.seconds * (1 / share - 1)
        when = f"{progress.seconds:,.1f} s" if done else f"{left:,.0f} s left"
        text = f"{phase} ({progress.sampler}), sweep {progress.sweep:,} of {progress.n_sweeps:,}"
        rate = f", {progress.tokens_per_second / 1e6:.1f} M tokens/s"
        if progress.bytes_read or progress.bytes_written:
            rate += f", {decimal(progress.bytes_read)} read, {decimal(progress.bytes_written)} written"
        lines[key] = (share, f"{text}{rate}{joint}{held_out}, {when}")
        for one in list(lines) if is_new else [key]:  # names of the others may have grown
            bar.update(one, lines[one][0], name(one) + lines[one][1])
        if done and any(model for model, _ in list(seen)):  # there may be hundreds: those that are done make room
            for one in [one for one, (so_far, _) in list(lines.items()) if so_far == 1.0]:
                lines.pop(one, None)
                bar.remove(one)

    return show


def remarks(wanted: bool) -> Callable[[str], None]:
    """Where remarks go, as on what is waited for: to standard error, above the bar; nowhere unless `wanted`."""
    return (lambda remark: print(remark, file=sys.stderr, flush=True)) if wanted else (lambda remark: None)

"""A progress bar on standard error: sweeps, tokens/s, log joint, held-out score, time left. Silent in pipes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topoi.chain.loop import Callback, Progress
from topoi.estimators.watch import NAMES

WIDE = 110  # columns from which on there is room for every name; fewer, and the bar itself would give way
LEAST = 76  # columns from which on there is room for the rate and scores; fewer, and the sweeps would give way


@contextmanager
def progress_bar(wanted: bool) -> Iterator[list[Callback]]:
    """Callbacks that show the progress of a run while the context lasts; none unless `wanted`."""
    if not wanted:
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    narrow = console.width < WIDE
    measured = (
        TextColumn("{task.fields[rate]:.1f} M/s" if narrow else "{task.fields[rate]:.1f} M tokens/s"),
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
            tasks[key] = int(bar.add_task("", total=progress.n_sweeps, rate=0.0, log_joint="", held_out=""))
        several_models = any(model for model, _ in list(tasks))
        name = f"model {progress.model + 1} " if several_models else ""
        name += f"chain {progress.chain + 1} " if any(chain for _, chain in list(tasks)) else ""
        phase = "burn-in" if progress.sweep <= progress.n_burn_in else "sampling"
        fields: dict[str, object] = {"rate": progress.tokens_per_second / 1e6}
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


def remarks(wanted: bool) -> Callable[[str], None]:
    """Where remarks go, as on what is waited for: to standard error, above the bar; nowhere unless `wanted`."""
    return (lambda remark: print(remark, file=sys.stderr, flush=True)) if wanted else (lambda remark: None)

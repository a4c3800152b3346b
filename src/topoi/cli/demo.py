"""`topoi demo`: topics with no data at hand."""

from __future__ import annotations

from typing import Annotated

import typer

from topoi.cli._app import INTERRUPTED, console


def demo(
    topics: Annotated[int, typer.Option(min=1, help="Number of topics.")] = 20,
    sweeps: Annotated[int, typer.Option(min=1, help="Sweeps over all tokens.")] = 200,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same topics.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores. They do not change the result.")] = -1,
) -> None:
    """Find the topics of the Python standard library's docstrings: no data needed."""
    log = console(stderr=True)
    with log.status("loading …"):
        from topoi.cli._demo import run

    if not run(topics, sweeps, seed, jobs, console(), log):
        raise typer.Exit(INTERRUPTED)

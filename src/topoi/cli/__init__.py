"""The command line. A file has one command or a few that belong together; what they do is in the modules they call,
which are imported when they are run: nothing heavy is imported for `--help`.

Exit codes: 0 done, 2 bad options or input, 130 stopped by Ctrl-C or SIGTERM (what has been learned is kept), 1 a fault
of topoi's own.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from topoi import __version__

# Importing a command makes it known; this is their order in the help.
from topoi.cli import convert, demo, evaluate, explain, export, fit, info, predict, report, topics, transform, warmup  # noqa: F401
from topoi.cli._app import app

__all__ = ["app", "main"]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"topoi {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Topic models by fast, provably correct sampling.

    From a table of texts to a page about its topics:

    \b
      topoi fit posts.csv --text text --label label --topics 20 -o model
      topoi topics model
      topoi predict model new.csv -o predictions.csv
      topoi report model posts.csv -o report.html

    No data at hand? `topoi demo`. Each command explains itself: `topoi fit --help`.
    """


def main() -> None:
    """Entry point of the command `topoi`."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows a question mark
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app()

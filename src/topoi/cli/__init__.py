"""The command line. A file has one command or a few that belong together; what they do is in the modules they call,
which are imported when they are run: nothing heavy is imported for `--help`.

Exit codes: 0 done, 2 bad options or input, 130 stopped by Ctrl-C or SIGTERM (what has been learned is kept), 1 a fault
of topoi's own.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated

import typer

from topoi import __version__
from topoi._machine.terminal import harmless
from topoi.cli import (
    apply,
    card,
    choose,
    convert,
    demo,
    effects,
    evaluate,
    explain,
    export,
    fit,
    info,
    predict,
    report,
    shares,
    topics,
    transform,
    warmup,
)
from topoi.cli._app import app
from topoi.cli._groups import described, grouped

COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Learn": (fit.fit, choose.choose, fit.resume, demo.demo),
    "Edit a model": (apply.apply,),
    "Use a model": (predict.predict, transform.transform, explain.explain),
    "Look at a model": (
        topics.topics,
        shares.shares,
        effects.effects,
        evaluate.evaluate,
        report.report,
        card.card,
        info.info,
    ),
    "Files": (convert.convert, export.export),
    "This machine": (warmup.warmup,),
}

OUR_FAULT = "This is a fault of topoi itself: please report it, with the lines above and the command that you gave."

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


for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(help=described(_command), rich_help_panel=_panel)(grouped(_command))


def main() -> None:
    """Entry point of the command `topoi`."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows a question mark
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    show = warnings.formatwarning
    warnings.formatwarning = lambda *given, **more: harmless(show(*given, **more))
    try:
        app(prog_name="topoi")  # by whatever name it was started: `python -m topoi`, topoi.exe
    except Exception:  # a fault of ours; its message may quote a file
        typer.echo(harmless(traceback.format_exc()) + OUR_FAULT, err=True)
        sys.exit(1)

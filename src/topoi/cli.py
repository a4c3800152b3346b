"""The command line. Commands only: what they do is in the modules they call, which are imported when they are run.

Exit codes: 0 done, 2 bad options or input, 130 stopped by Ctrl-C (`demo` then shows the topics so far).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from topoi import __version__
from topoi.errors import TopoiError

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="topoi",
    help="Topic models by fast, provably correct sampling.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

BAD_INPUT = 2
INTERRUPTED = 130
PIPE_WIDTH = 100  # columns where there is no terminal to ask


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, width=None if terminal else PIPE_WIDTH)


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
    """Topic models by fast, provably correct sampling."""


@app.command()
def demo(
    topics: Annotated[int, typer.Option(min=1, help="Number of topics.")] = 20,
    sweeps: Annotated[int, typer.Option(min=1, help="Sweeps over all tokens.")] = 200,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same topics.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores. They do not change the result.")] = -1,
) -> None:
    """Find the topics of the Python standard library's docstrings: no data needed."""
    log = _console(stderr=True)
    with log.status("loading …"):
        from topoi.demo import run

    if not run(topics, sweeps, seed, jobs, _console(), log):
        raise typer.Exit(INTERRUPTED)


@app.command()
def info() -> None:
    """Show versions, the folder of the compile cache, and every sampler."""
    import platform
    from importlib.metadata import version

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from topoi import samplers_table
    from topoi._jit import cache_dir

    console = _console()
    facts = Table.grid(padding=(0, 2))
    facts.add_row("topoi", __version__)
    facts.add_row("Python", platform.python_version())
    for package in ("numpy", "numba", "scikit-learn"):
        facts.add_row(package, version(package))
    facts.add_row("cache", str(cache_dir() or "none: no folder can be written, every run compiles anew"))
    console.print(facts, highlight=False)

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("sampler", style="cyan", no_wrap=True)
    table.add_column("exact")
    table.add_column("parallel")
    table.add_column("cost per token", ratio=1)
    table.add_column("reference", ratio=1)
    for row in samplers_table():
        exact = "yes" if row["exact"] else f"no ({row['bias']:.3f})"
        table.add_row(row["name"], exact, "yes" if row["parallel"] else "no", row["cost"], row["reference"])
    console.print(table, highlight=False)
    console.print(" In brackets: distance from the posterior on a five-token corpus (docs/exactness.md).", style="dim")


def main() -> None:
    """Entry point of the command `topoi`."""
    try:
        app()
    except TopoiError as error:
        _console(stderr=True).print(f"Error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

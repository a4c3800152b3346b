"""The application, what its commands print to, and how they end."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from topoi._machine.terminal import harmless
from topoi.cli._messages import in_options, in_words
from topoi.errors import TopoiError

if TYPE_CHECKING:
    from topoi.cli._console import Console

BAD_INPUT = 2
INTERRUPTED = 130
PIPE_WIDTH = 100  # columns where there is no terminal to ask


@contextlib.contextmanager
def _harmless_usage() -> Iterator[None]:
    """Usage errors are printed by typer; they quote arguments, which may be names of files (`topoi topics *`)."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            error.message = harmless(str(error.message))  # type: ignore[attr-defined]
        raise


class Commands(TyperGroup):
    """All commands: errors that users can mend are one line, and a reader that has enough is no error."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find the command in the arguments."""
        with _harmless_usage():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            with _harmless_usage():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # as by `| head`
            _leave_pipe()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except TopoiError as error:
            complain(in_options(error))
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            name = "" if error.filename is None else f"{os.fspath(error.filename)}: "
            complain(f"{name}{error.strerror or error}.")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            complain("this does not fit into memory; take fewer topics (--topics) or words (--max-features).")
            raise typer.Exit(BAD_INPUT) from None
        return result


app = typer.Typer(
    name="topoi",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _leave_pipe() -> None:
    """Send what is still buffered nowhere, so that Python does not complain about it at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(stderr: bool = False, quiet: bool = False) -> Console:
    """Where to print to; results go to standard output, all else to standard error."""
    from topoi.cli._console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, width=None if terminal else PIPE_WIDTH, quiet=quiet)


def complain(message: str) -> None:
    """Print what is wrong."""
    console(stderr=True).say(f"Error: {message}", "red")


def note(message: str, quiet: bool = False) -> None:
    """Print a remark to standard error."""
    console(stderr=True, quiet=quiet).say(message, "yellow")


@contextlib.contextmanager
def waiting(what: str, quiet: bool = False) -> Iterator[None]:
    """Say on a terminal what is being done while it takes its time."""
    log = console(stderr=True, quiet=quiet)
    with log.status(what):
        yield


@contextlib.contextmanager
def told_warnings(quiet: bool = False) -> Iterator[None]:
    """Print the library's warnings about documents as remarks, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for message in dict.fromkeys(str(found.message) for found in caught if issubclass(found.category, UserWarning)):
        note(f"Warning: {in_words(message)}", quiet)


def print_json(value: Any) -> None:
    """Print a value as JSON: plain ASCII, which every terminal and pipe takes; what is not a number is null."""
    typer.echo(json.dumps(plain(value), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

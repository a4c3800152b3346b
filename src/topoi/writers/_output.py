"""Where files go: a path, written whole or not at all, standard output, or a binary stream."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from topoi._disk.compressed import compressing, compression_of
from topoi._disk.whole import writing_whole
from topoi._machine.terminal import Harmless
from topoi.errors import FileError, ParameterError


def path_of(target: Any) -> Path | None:
    """The path, if it is one and not `"-"`."""
    if isinstance(target, str | os.PathLike) and os.fspath(target) != "-":
        return Path(os.fsdecode(target))
    return None


def name_of(target: Any) -> str:
    """The target, for messages."""
    return str(path_of(target) or ("standard output" if isinstance(target, str) else "the stream"))


@contextmanager
def output(target: Any) -> Iterator[BinaryIO]:
    """A binary stream to write to. A path is compressed if its suffix says so, and replaced only on success."""
    path, name = path_of(target), name_of(target)
    try:
        if path is not None:
            with writing_whole(path) as file, compressing(file, path.name) as stream:
                yield stream
        else:
            stream = _standard_output() if isinstance(target, str) else _check_stream(target)
            yield stream
            stream.flush()
    except BrokenPipeError:  # whoever reads has enough, as `head`
        raise
    except UnicodeEncodeError as error:
        what = f"{error.object[error.start : error.end]!r} in {error.object[:50]!r} is no character of Unicode"
        raise FileError(f"{name}: cannot be written: {what}.", name) from error
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror or error}.", name) from error


def choose(target: Any, format: Any, formats: dict[str, tuple[str, ...]], default: str | None) -> str:
    """The format that was asked for, or that the suffix tells; `default` for a stream."""
    path = path_of(target)
    if format is None and path is None and default is not None:
        return default
    if format is not None:
        asked = str(format).lower().lstrip(".")
        found = next((key for key, suffixes in formats.items() if asked == key or f".{asked}" in suffixes), None)
        told = f"must be one of {', '.join(map(repr, formats))}, not {format!r}"
    else:
        base = "" if path is None else path.name[: len(path.name) - len(compression_of(path.name))].lower()
        found = next((key for key, suffixes in formats.items() if base.endswith(suffixes)), None)
        if base.startswith("docword.") and "uci" in formats:
            found = "uci"
        told = f"of {name_of(target)} cannot be told from its name; give one of {', '.join(map(repr, formats))}"
    if found is None:
        raise ParameterError("format", told)
    return found


def _standard_output() -> BinaryIO:
    """Pipes and files get the bytes as they are; a terminal must not obey the texts of others."""
    return cast(BinaryIO, Harmless(sys.stdout.buffer)) if sys.stdout.isatty() else sys.stdout.buffer


def _check_stream(target: Any) -> BinaryIO:
    if isinstance(target, io.TextIOBase) or not hasattr(target, "write"):
        kind = type(target).__name__
        raise ParameterError("target", f"must be a path, '-' for standard output or a binary stream, not {kind}")
    return cast(BinaryIO, target)

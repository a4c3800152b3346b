"""Faults of a file: where they are, and whether they end the reading or are counted."""

from __future__ import annotations

from typing import Any

from topoi.errors import FileError, ParameterError

FEW = 5  # messages that are kept


def fault(
    path: str,
    what: str,
    line: int | None = None,
    column: int | None = None,
    row: int | None = None,
    byte: int | None = None,
) -> FileError:
    """An error that begins with the place: ``posts.csv, line 17, column 3: …``; all are counted from 1."""
    place = [path]
    place += [f"row {row}"] if row is not None else []
    place += [f"line {line}"] if line is not None else []
    place += [f"column {column}"] if column is not None else []
    place += [f"byte {byte}"] if byte is not None else []
    return FileError(f"{', '.join(place)}: {what}", path, line, column, row)


class Faults:
    """What becomes of a document that cannot be read: `"raise"`, or `"skip"` it and count."""

    def __init__(self, on_error: str = "raise") -> None:
        if on_error not in ("raise", "skip"):
            raise ParameterError("on_error", f"must be 'raise' or 'skip', not {on_error!r}")
        self._skip = on_error == "skip"
        self.n_skipped = 0
        self.messages: list[str] = []  # of the first few

    def document(self, path: str, what: str, **place: Any) -> None:
        """One document is broken: raise, or count it."""
        error = fault(path, what, **place)
        if not self._skip:
            raise error
        self.skip(error)

    def skip(self, error: FileError) -> None:
        """Count a document that is left out; raise where that is not wanted."""
        if not self._skip:
            raise error
        self.n_skipped += 1
        if len(self.messages) < FEW:
            self.messages.append(str(error))

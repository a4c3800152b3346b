"""Errors that say what is wrong, where it is and what to do; those here are ValueErrors, as scikit-learn has them."""

from __future__ import annotations

import sys
import warnings

#: Packages whose lines a warning does not point to: scikit-learn wraps methods of estimators, functools cached values.
NOT_THE_USER = ("topoi", "sklearn", "functools")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning that points to the user's line, however many functions lie between."""
    frame, level = sys._getframe(1).f_back, 3
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class TopoiError(Exception):
    """Base of every error that topoi raises on purpose."""


class CorpusError(TopoiError, ValueError):
    """Input documents that cannot be used; `row` and `column` say where, when one cell is to blame."""

    def __init__(self, message: str, row: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.row = row
        self.column = column


class FileError(CorpusError):
    """A file that cannot be read or written; `path` names it, and `line`, `column` or `row` say where, if known."""

    def __init__(
        self,
        message: str,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message, row, column)
        self.path = path
        self.line = line


class ParameterError(TopoiError, ValueError):
    """A parameter that cannot be used; `parameter` is its name."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(f"{parameter}: {message}")
        self.parameter = parameter

    def __reduce__(self) -> tuple[object, ...]:  # from one process to another
        return type(self), (self.parameter, str(self).removeprefix(f"{self.parameter}: "))


class TooLargeError(TopoiError, MemoryError):
    """An array that would be too large for the memory of most machines; the message says what to use in its place."""


class PackageMissingError(TopoiError, ImportError):
    """A package that only some methods need is not installed; the message says how to install it."""


class WorkersError(TopoiError, RuntimeError):
    """Processes or workers of a cluster that have ended before their work was done."""


class DiskError(TopoiError, OSError):
    """A path that topoi does not write to or delete: a link in a folder of its own, or what it did not make."""


class BusyError(DiskError):
    """A folder that another process is filling."""


class StorageError(DiskError):
    """An object store that cannot be used as a URL asks: not reached, not let in, or the URL is none."""


class MissingObjectError(StorageError, FileNotFoundError):
    """A URL at which there is no object."""

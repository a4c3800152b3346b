"""Texts as people have them: lists, arrays, columns of data frames, some of them missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from topoi.errors import CorpusError, warn_user


def as_texts(X: Any) -> list[Any] | None:
    """The values of X if they are texts, some of which may be missing; None if X is something else, as counts.

    A list, tuple, array or Series of strings, or a data frame or an array of one column of them.
    """
    column = _column(X)
    if column is None:
        return None
    return column if isinstance(next((value for value in column if not is_missing(value)), None), str) else None


def _column(X: Any) -> list[Any] | None:
    if isinstance(X, list | tuple):
        return list(X)
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):  # a data frame of pandas, polars, …
        columns = list(X.columns)
        return X[columns[0]].to_numpy().tolist() if len(columns) == 1 else None
    if isinstance(X, np.ndarray):
        if X.dtype.kind not in "OUT" or X.ndim not in (1, 2) or (X.ndim == 2 and X.shape[1] != 1):
            return None
        return list(X.ravel().tolist())
    if hasattr(X, "to_list") and hasattr(X, "dtype"):  # a Series
        return list(X.to_list())
    return None


def checked_texts(texts: Iterable[Any]) -> list[str]:
    """The texts, "" where one is missing, which a warning tells; an error for what is no text."""
    if isinstance(texts, str | bytes):
        raise CorpusError("texts is a single string; give a list of strings, one for each document: [text].")
    found = as_texts(texts)
    out: list[str] = []
    n_missing = 0
    for row, text in enumerate(list(texts) if found is None else found):
        if isinstance(text, str):
            out.append(text)
        elif is_missing(text):
            n_missing += 1
            out.append("")
        else:
            advice = " Decode it first: text.decode('utf-8')." if isinstance(text, bytes) else ""
            raise CorpusError(f"text {row} is {text!r:.60}, a {type(text).__name__}; texts must be str.{advice}", row)
    warn_missing(n_missing, len(out))
    return out


def warn_missing(n_missing: int, n_texts: int) -> None:
    """Say how many texts are missing, if any are."""
    if n_missing:
        what = "1 text is missing (None or NaN); it is" if n_missing == 1 else (
            f"{n_missing} of {n_texts} texts are missing (None or NaN); they are"
        )  # fmt: skip
        warn_user(f"{what} taken as empty {'document' if n_missing == 1 else 'documents'}.")


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT, or the NA of pandas."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT are not equal to themselves
    except (TypeError, ValueError):  # the NA of pandas is neither; an array is something
        return type(value).__name__ == "NAType"

"""Labels as people have them: one for each document, lists of several, an indicator matrix; some may be missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.text import is_missing
from topoi.errors import ParameterError
from topoi.estimators.labels import check_labels, check_mask

#: What the labels of a document are in, if there may be several.
LISTS = (list, tuple, set, frozenset, np.ndarray)


class GivenLabels(NamedTuple):
    """The labels of documents that have some, the names of the columns of an indicator matrix, if they have names, and
    a mask of the documents that have none.
    """

    known: NDArray[Any]
    names: NDArray[Any] | None
    unlabelled: NDArray[np.bool_]


def read_given(y: Any, n_documents: int, unlabelled: Any = None) -> GivenLabels:
    """The labels of `fit`. None and NaN say that those of a document are not known, and so does `unlabelled`."""
    mask = check_mask(unlabelled, n_documents)
    lists = label_lists(y)
    missing = _missing(y if lists is None else lists)
    if missing is not None and len(missing) == n_documents:
        mask = mask | missing
        if mask.all():
            raise ParameterError("y", "has not one label: each is None or NaN. Input y contains NaN.")
    if lists is None:
        return GivenLabels(check_labels(y, n_documents, mask), None, mask)
    if len(lists) != n_documents:
        raise ParameterError("y", f"has {len(lists)} lists of labels, but there are {n_documents} documents")
    names = _names([row for row, left_out in zip(lists, mask, strict=True) if not left_out])
    rows = [[] if left_out else row for row, left_out in zip(lists, mask, strict=True)]
    return GivenLabels(indicators(rows, names)[~mask], names, mask)


def label_lists(y: Any) -> list[Any] | None:
    """The lists of labels of documents, None where they are not known; None if y is something else.

    Rows of 0 and 1 that are equally long are an indicator matrix.
    """
    if hasattr(y, "toarray") or hasattr(y, "columns") or (isinstance(y, np.ndarray) and y.ndim != 1) or y is None:
        return None
    rows = y.to_list() if hasattr(y, "to_list") else list(y) if isinstance(y, list | tuple | np.ndarray) else []
    there = [row for row in rows if isinstance(row, LISTS)]
    if not there or any(not isinstance(row, LISTS) and not is_missing(row) for row in rows):
        return None
    ragged = len({len(row) for row in there}) > 1 or len(there) < len(rows)
    if not ragged and not any(isinstance(label, str) for row in there for label in row):
        return None
    return [list(row) if isinstance(row, LISTS) else None for row in rows]


def indicators(lists: list[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """An indicator matrix (documents, names) of lists of labels, all of which have a name."""
    column = {name: i for i, name in enumerate(names.tolist())}
    matrix = np.zeros((len(lists), len(names)), np.int64)
    for row, labels in enumerate(lists):
        for label in labels:
            if label not in column:
                few = ", ".join(map(repr, names[:10].tolist())) + (", …" if len(names) > 10 else "")
                raise ParameterError(
                    "y", f"document {row} has the label {label!r}, which the model does not know; it knows {few}"
                )
            matrix[row, column[label]] = 1
    return matrix


def _names(lists: list[Any]) -> NDArray[Any]:
    kinds = {type(label) for row in lists for label in row}
    if (
        not all(issubclass(kind, str | int | np.integer) for kind in kinds)
        or len({issubclass(k, str) for k in kinds}) > 1
    ):
        shown = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ParameterError("y", f"lists of labels must hold all strings or all whole numbers, not {shown}")
    names = np.array(sorted({label for row in lists for label in row}))
    if len(names) < 2:
        raise ParameterError("y", f"has lists of labels, but {len(names)} different label; two are needed")
    return names


def _missing(y: Any) -> NDArray[np.bool_] | None:
    """Which labels are None or NaN; None if y is no row of labels."""
    if hasattr(y, "to_numpy") and getattr(y, "ndim", 1) == 1:
        y = y.to_numpy()
    if isinstance(y, list | tuple):
        return np.array([is_missing(value) for value in y], bool)
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "fO":
        return np.array([is_missing(value) for value in y.tolist()], bool)
    return None

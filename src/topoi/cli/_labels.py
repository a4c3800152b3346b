"""Labels of a data set as the estimators take them, and back to names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topoi.cli._app import note
from topoi.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from topoi.corpus.target import Target
    from topoi.readers import Dataset


def to_learn(data: Dataset, option: str, quiet: bool = False) -> Target:
    """What is to be learned of documents by the option that asks for it: there must be something."""
    if data.unlabelled.all():
        raise ParameterError(option, "not one document has one; check the column")
    target = data.target
    if target.kind == "several" and len(target.values) < 2:
        n = len(target.values)
        raise ParameterError(option, f"there are lists of labels, but {n} different label; two are needed")
    if target.kind != "numbers":
        _say_spellings(target.values, quiet)
    return target


def _say_spellings(labels: list[Any], quiet: bool) -> None:
    """Say so if labels differ in capital letters or blanks only: they are rarely meant to be two."""
    spellings: dict[str, Any] = {}
    for label in labels:
        if (first := spellings.setdefault(" ".join(str(label).split()).casefold(), label)) != label:
            note(
                f"Warning: the labels {first!r} and {label!r} differ in capital letters or blanks only, and are "
                "learned as two; write them alike if they are one.",
                quiet,
            )
            break  # one tells what is the matter


def as_fit_takes_it(target: Target, data: Dataset) -> Any:
    """The labels or numbers of documents, as y of `fit`."""
    return indicators(as_lists(data.labels), target.values) if target.kind == "several" else data.labels


def indicators(labels: list[list[Any] | None], names: list[Any]) -> NDArray[np.int64]:
    """An indicator matrix (documents, names); labels that are not known have a row of zeros."""
    from sklearn.preprocessing import MultiLabelBinarizer

    known = by_text(names)
    lists = [[known[str(label)] for label in row or () if str(label) in known] for row in labels]
    matrix: NDArray[np.int64] = MultiLabelBinarizer(classes=names).fit_transform(lists)
    return matrix


@dataclass(frozen=True)
class Known:
    """The documents that predictions can be compared on: their rows and labels, and how many have foreign labels."""

    rows: NDArray[np.int64]
    y: Any
    n_foreign: int


def to_compare(target: Target, data: Dataset) -> Known | None:
    """Labels of new documents that a model knows; None if there are none."""
    import numpy as np

    if target.kind is None or data.labels is None:
        return None
    mask, classes = data.unlabelled, target.values
    if target.kind == "numbers":
        if data.label_kind != "numbers":
            raise ParameterError("target", "the model predicts numbers; name their column")
        rows = np.flatnonzero(~mask)
        return Known(rows, np.asarray(data.labels)[rows], 0) if len(rows) else None
    if data.label_kind == "numbers":
        raise ParameterError("label", "the model predicts labels, not numbers; name their column")
    known = by_text(classes)
    if target.kind == "several":
        lists = as_lists(data.labels)
        rows = np.flatnonzero(~mask)
        foreign = sum(any(str(label) not in known for label in labels or ()) for labels in lists)
        return Known(rows, indicators(lists, classes)[rows], foreign) if len(rows) else None
    if data.label_kind == "several":
        raise ParameterError("label", "documents have several labels, but the model knows one each")
    values = [None if label is None else known.get(str(label)) for label in plain_list(data.labels)]
    rows = np.array([row for row, label in enumerate(values) if label is not None], np.int64)
    foreign = int((~mask).sum()) - len(rows)
    if not len(rows):
        if foreign:
            raise ParameterError("label", f"not one document has a label that the model knows: {_few(classes)}")
        return None
    return Known(rows, np.array([values[row] for row in rows.tolist()]), foreign)


def as_lists(labels: Any) -> list[list[Any] | None]:
    """One label or several of each document as lists; None where they are not known."""
    return [row if row is None or isinstance(row, list) else [row] for row in plain_list(labels)]


def by_text(labels: list[Any]) -> dict[str, Any]:
    """Labels by what they look like: 3 of a JSON file is the 3 of a CSV file."""
    return {str(label): label for label in labels}


def plain_list(labels: Any) -> list[Any]:
    """Labels as values of Python."""
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def _few(names: list[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", …" if len(names) > 10 else "")

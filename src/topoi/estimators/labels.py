"""Labels of documents: checked, counted, weighed, and turned into the targets −1 and +1 of a response."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from topoi.chain.responses.settings import check_strength
from topoi.errors import ParameterError


def check_mask(unlabelled: Any, n_documents: int) -> NDArray[np.bool_]:
    """The mask of the documents whose labels are not known; None is that all are."""
    if unlabelled is None:
        return np.zeros(n_documents, bool)
    mask = np.asarray(unlabelled)
    if mask.shape != (n_documents,) or mask.dtype != bool:
        raise ParameterError("unlabelled", f"must be a mask of {n_documents} booleans, one per document")
    if mask.all():
        raise ParameterError("unlabelled", "marks every document; at least some need a label")
    return mask


def check_labels(
    y: Any,
    n_documents: int,
    mask: NDArray[np.bool_] | None = None,
    advice: str = "mark documents without a label by `unlabelled`",
) -> NDArray[Any]:
    """The labels of the documents that have one, checked; those of documents in `mask` are not looked at.

    `advice` is for labels that are missing.
    """
    if y is None:
        raise ParameterError("y", "requires y to be passed, but the target y is None")
    try:
        every = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    except ValueError as error:  # rows of different lengths
        raise ParameterError("y", f"must be one label per document, or an indicator matrix: {error}") from error
    if every.ndim == 0 or len(every) != n_documents:
        raise ParameterError("y", f"has shape {every.shape}, but there are {n_documents} documents")
    mask = np.zeros(n_documents, bool) if mask is None else mask
    labels: NDArray[Any] = every[~mask] if mask.any() else every  # no copy of a matrix that may be large
    missing = np.zeros(labels.shape, bool)
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype == object:
        missing = np.array([value is None or value != value for value in labels.ravel()])  # NaN is not itself
    if missing.any():
        row = int(np.flatnonzero(~mask)[missing.reshape(len(labels), -1).any(1)][0])
        raise ParameterError(
            "y", f"label {row} is NaN or infinite; {advice}. Input y contains NaN."
        )  # fmt: skip
    if labels.dtype == object:
        labels = np.array(labels.tolist())  # numbers, if they are, whatever stood between them
    try:
        check_classification_targets(labels)
    except (ValueError, TypeError) as error:  # the latter for bytes
        raise ParameterError("y", str(error)) from error
    return labels


@dataclass(frozen=True)
class Labels:
    """The labels that a model knows: `classes` in order, or the columns of an indicator matrix if `several`."""

    classes: NDArray[Any]
    several: bool  # any number of labels may be right, not one of many

    @classmethod
    def of(cls, labels: NDArray[Any], names: NDArray[Any] | None = None) -> Labels:
        """What there is in checked labels; `names` are those of the columns of an indicator matrix."""
        if names is not None or type_of_target(labels) == "multilabel-indicator":
            share = (labels > 0).mean(0)
            for value, what in ((0, "no positive label"), (1, "only positive labels")):
                columns = np.flatnonzero(share == value)
                if len(columns):
                    which = f"column {columns[0]} has" if len(columns) == 1 else f"columns {listed(columns)} have"
                    warnings.warn(f"y: {which} {what}; nothing can be learned there", UserWarning, stacklevel=4)
            return cls(np.arange(labels.shape[1]) if names is None else names, True)
        classes = np.unique(_one_each(labels))
        if len(classes) < 2:
            raise ParameterError("y", f"has only one class, {classes[0]!r}; a classifier needs at least two classes")
        return cls(classes, False)

    @property
    def binary(self) -> bool:
        """Whether there are two labels of which one is right: one task, for the second."""
        return not self.several and len(self.classes) == 2

    @property
    def one_of_many(self) -> bool:
        """Whether three labels or more compete."""
        return not self.several and len(self.classes) > 2

    def targets(self, labels: NDArray[Any]) -> NDArray[np.float32]:
        """−1 and +1 (documents, tasks)."""
        if self.several:
            chosen = labels > 0
        elif self.binary:
            chosen = (labels.ravel() == self.classes[1])[:, None]
        else:
            chosen = labels.ravel()[:, None] == self.classes[None, :]
        return np.where(chosen, np.float32(1), np.float32(-1))

    def numbers(self, labels: NDArray[Any]) -> NDArray[np.float32]:
        """The numbers 0, 1, … of the classes, as the targets (documents, 1) of classes that are in order."""
        return np.searchsorted(self.classes, labels.ravel()).astype(np.float32)[:, None]

    def normalised(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities (documents, labels) from those of the tasks: rows sum to 1 where one label is right."""
        if self.binary:
            return np.column_stack((1.0 - p[:, 0], p[:, 0]))
        return p / p.sum(1, keepdims=True) if self.one_of_many else p

    def weights(self, labels: NDArray[Any], class_weight: Any) -> NDArray[np.float64]:
        """Weight of the cost of every document, from `class_weight`."""
        if class_weight is None:
            return np.ones(len(labels))
        if self.several:
            raise ParameterError("class_weight", "cannot be used with an indicator matrix; leave it None")
        if isinstance(class_weight, dict):
            unknown = [label for label in class_weight if label not in self.classes.tolist()]
            if unknown:
                raise ParameterError("class_weight", f"has the class {unknown[0]!r}, which y does not have")
        labels = labels.ravel()
        try:
            per_class = np.asarray(compute_class_weight(class_weight, classes=self.classes, y=labels), float)
        except (ValueError, TypeError) as error:
            raise ParameterError("class_weight", str(error)) from error
        if not (np.isfinite(per_class) & (per_class >= 0)).all():
            raise ParameterError("class_weight", f"must be finite and not negative, not {class_weight!r}")
        check_strength("class_weight", per_class.max())
        return per_class[np.searchsorted(self.classes, labels)]

    def check_known(self, y: Any, n_documents: int) -> NDArray[Any]:
        """Labels to compare predictions with: raise if there is one that the model cannot predict."""
        labels = check_labels(y, n_documents, advice="score only documents whose labels are known")
        if self.several:
            if labels.ndim != 2 or labels.shape[1] != len(self.classes) or not np.isin(labels, (0, 1)).all():
                shape = f"({n_documents}, {len(self.classes)})"
                raise ParameterError("y", f"must be an indicator matrix {shape} of 0 and 1, as in fit")
            return labels
        labels = _one_each(labels)
        known = self.classes.tolist()
        unseen = [label for label in np.unique(labels).tolist() if label not in known]
        if unseen:
            few = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
            raise ParameterError("y", f"has the label {unseen[0]!r}, which the model does not know; it knows {few}")
        return labels


def listed(numbers: NDArray[Any], most: int = 8) -> str:
    """Numbers as text; where there are many, the first few and how many there are."""
    few = ", ".join(map(str, numbers[:most]))
    return few if len(numbers) <= most else f"{few}, … ({len(numbers)} in all)"


def _one_each(labels: NDArray[Any]) -> NDArray[Any]:
    if labels.ndim > 1 and labels.shape[1] != 1:
        raise ParameterError("y", "must be one label per document, or an indicator matrix of 0 and 1")
    one: NDArray[Any] = column_or_1d(labels, warn=True)
    return one


# Among so many documents without a label the few that have it would hardly be heard, and all labels be denied. Full
# balance (1) overdoes it: most documents that get a rare label then do not have it.
BALANCE = 1 / 3


def balance(targets: NDArray[Any], positive_weight: float | None) -> NDArray[np.float32]:
    """Weights (tasks) of the documents that have a label, against 1 for the others."""
    check_strength("positive_weight", positive_weight or 0.0)
    n_positive, n_negative = (targets > 0).sum(0), (targets < 0).sum(0)
    rarity = np.maximum(n_negative, 1) / np.maximum(n_positive, 1)
    if positive_weight is not None:
        return np.full(len(rarity), positive_weight, np.float32)
    # Not the power of an array, whose last bit depends on the processor.
    return np.array([one**BALANCE for one in np.maximum(rarity, 1.0).tolist()], np.float32)

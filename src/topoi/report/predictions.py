"""What the model says of the documents given, and what is right: labels as numbers into the target's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus import Corpus
from topoi.corpus.target import Target
from topoi.errors import ParameterError

NOT_KNOWN = -1  # of a class


@dataclass(frozen=True)
class Predictions:
    """Predicted and true values of every document.

    Classes: numbers (documents,) into `names`, which goes on after the model's own with labels that it does not know;
    several labels: indicators (documents, labels), −1 where not known; numbers: (documents, outputs), NaN where not
    known. `scores` are those of the labels (documents, labels), or the predicted numbers.
    """

    names: list[str]
    predicted: NDArray[Any]
    scores: NDArray[np.float64]
    truth: NDArray[Any] | None


def predictions(estimator: Any, target: Target, corpus: Corpus, y: Any, covariates: Any = None) -> Predictions | None:
    """The predictions for all documents of a corpus; None for a model that predicts nothing."""
    if target.kind is None:
        if y is not None:
            raise ParameterError("y", f"{type(estimator).__name__} predicts no labels; leave y out")
        if covariates is not None:
            raise ParameterError("covariates", f"{type(estimator).__name__} predicts nothing; leave them out")
        return None
    if target.kind == "numbers":
        numbers = np.asarray(estimator.predict(corpus, covariates=covariates), np.float64)
        numbers = numbers.reshape(corpus.n_documents, -1)
        return Predictions(target.names, numbers, numbers, _numbers(y, numbers.shape))
    scores = np.asarray(estimator.decision_function(corpus, covariates=covariates), np.float64)
    said = np.asarray(estimator.predict(corpus, covariates=covariates))
    if target.kind == "several":
        return Predictions(target.names, said, scores, _indicators(y, said.shape))
    if target.binary:
        scores = np.column_stack((-scores, scores))
    elif target.ordered:  # one score for all labels: it does not say which of them is next to the predicted one
        scores = np.asarray(estimator.predict_proba(corpus, covariates=covariates), np.float64)
    predicted, _ = _as_numbers(said.tolist(), target)
    truth, names = (None, target.names) if y is None else _classes(y, corpus.n_documents, target)
    return Predictions(names, predicted, scores, truth)


def _classes(y: Any, n_documents: int, target: Target) -> tuple[NDArray[np.int64], list[str]]:
    given = np.asarray(y)
    if given.shape not in ((n_documents,), (n_documents, 1)):
        raise ParameterError("y", f"has shape {given.shape}, but there are {n_documents} documents")
    truth, names = _as_numbers(given.ravel().tolist(), target)
    known = truth[truth != NOT_KNOWN]
    if len(known) and known.min() >= len(target.names):
        few = ", ".join(map(repr, target.values[:10])) + (", …" if len(target.values) > 10 else "")
        raise ParameterError("y", f"has no label that the model knows; it knows {few}")
    return truth, names


def _as_numbers(labels: list[Any], target: Target) -> tuple[NDArray[np.int64], list[str]]:
    """Labels as numbers, and the names with those of labels that the model does not know after its own."""
    number = {label: i for i, label in enumerate(target.values)}
    names = list(target.names)
    out = np.full(len(labels), NOT_KNOWN, np.int64)
    for row, label in enumerate(labels):
        if label is None or label != label:  # NaN is not itself
            continue
        if label not in number:
            number[label] = len(names)
            names.append(str(label))
        out[row] = number[label]
    return out, names


def _indicators(y: Any, shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    if y is None:
        return None
    given = np.asarray(y.toarray() if hasattr(y, "toarray") else y, np.float64)
    if given.shape != shape:
        raise ParameterError("y", f"has shape {given.shape}, but must be an indicator matrix {shape}")
    unknown = np.isnan(given)
    wrong = np.argwhere(~unknown & (given != 0) & (given != 1))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise ParameterError("y", f"row {row}, column {column} is {given[row, column]}; indicators are 0 and 1")
    return np.where(unknown, NOT_KNOWN, given).astype(np.int64)


def _numbers(y: Any, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    if y is None:
        return None
    try:
        given = np.asarray(y, np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError("y", f"must be numbers: {error}") from error
    if given.ndim == 1:
        given = given[:, None]
    if given.shape != shape:
        raise ParameterError("y", f"has shape {given.shape}, but predictions have {shape}")
    return given

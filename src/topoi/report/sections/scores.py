"""How right the predictions are: confusions and scores of labels, or errors of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.report.predictions import NOT_KNOWN, Predictions
from topoi.report.subject import Subject

MOST_POINTS = 1000  # of a plot of numbers


def data(subject: Subject) -> dict[str, Any] | None:
    """Scores of the documents whose truth is known; None where nothing can be compared."""
    target, found = subject.target, subject.predictions
    if found is None or found.truth is None:
        return None
    if target.kind == "numbers":
        return _numbers(found, found.truth)
    known = found.truth != NOT_KNOWN
    known = known.all(1) if known.ndim == 2 else known
    if not known.any():
        return None
    truth, predicted = found.truth[known], found.predicted[known]
    return _several(found, truth, predicted) if target.kind == "several" else _classes(found, truth, predicted)


def _classes(found: Predictions, truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    labels = np.arange(len(found.names))
    confusion = confusion_matrix(truth, predicted, labels=labels)
    scores = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0)
    cells = np.argwhere(confusion)
    occurs = confusion.sum(1) > 0
    return {
        "kind": "one",
        "names": found.names,
        "n": len(truth),
        "figures": [
            ["accuracy", float((truth == predicted).mean())],
            ["always the commonest label", float(confusion.sum(1).max() / len(truth))],
            ["F1, mean over labels", float(scores[2][occurs].mean())],
        ],
        "labels": _rows(scores),
        "confusion": [[int(i), int(j), int(confusion[i, j])] for i, j in cells],
    }


def _several(found: Predictions, truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    from sklearn.metrics import f1_score, precision_recall_fscore_support

    scores = precision_recall_fscore_support(truth, predicted, average=None, zero_division=0)
    return {
        "kind": "several",
        "names": found.names,
        "n": len(truth),
        "figures": [
            ["all labels of a document right", float((truth == predicted).all(1).mean())],
            ["F1 over all labels (micro)", float(f1_score(truth, predicted, average="micro", zero_division=0))],
            ["F1, mean over labels (macro)", float(f1_score(truth, predicted, average="macro", zero_division=0))],
        ],
        "labels": _rows(scores),
        "confusion": [],
    }


def _rows(scores: Any) -> list[list[float]]:
    """Precision, recall, F1 and number of documents, a row per label."""
    return [[float(p), float(r), float(f), int(n)] for p, r, f, n in zip(*scores, strict=True)]


def _numbers(found: Predictions, truth: NDArray[np.float64]) -> dict[str, Any] | None:
    outputs = []
    for column, name in enumerate(found.names):
        known = np.flatnonzero(~np.isnan(truth[:, column]))
        if len(known) == 0:
            continue
        true, predicted = truth[known, column], found.predicted[known, column]
        error = predicted - true
        spread = float(((true - true.mean()) ** 2).sum())
        some = np.arange(min(MOST_POINTS, len(known))) * len(known) // min(MOST_POINTS, len(known))
        outputs.append(
            {
                "name": name,
                "n": len(known),
                "r2": 1.0 - float((error**2).sum()) / spread if spread > 0 else None,
                "mae": float(np.abs(error).mean()),
                "rmse": float(np.sqrt((error**2).mean())),
                "true": true[some].tolist(),
                "predicted": predicted[some].tolist(),
            }
        )
    return {"kind": "numbers", "outputs": outputs} if outputs else None

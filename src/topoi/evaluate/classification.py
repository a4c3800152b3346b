"""Scores of predicted labels: one label per document, or any number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    multilabel_confusion_matrix,
    precision_recall_fscore_support,
)
from sklearn.utils.multiclass import type_of_target

from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.estimators.labels import check_labels

N_BINS = 15
SURE = 1e-15  # a probability of 0 for the right label costs −log of this, not infinity


@dataclass(frozen=True)
class ClassificationScores:
    """How predicted labels compare with the right ones; arrays are in the order of `labels`.

    `accuracy` is the share of documents that are right; if a document may have several labels, of those of which all
    labels are right (subset accuracy). `confusion` (labels, labels) counts documents by right and predicted label; with
    several labels (labels, 2, 2) by right and predicted, of each. `log_loss` and `calibration_error` are None where no
    probabilities were given.
    """

    labels: list[Any]
    several: bool
    accuracy: float
    micro_f1: float
    macro_f1: float
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    support: NDArray[np.int64]
    confusion: NDArray[np.int64]
    log_loss: float | None = None
    calibration_error: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All scores by name, as numbers and lists that JSON can hold; those of a label under `per_label`."""
        out: dict[str, Any] = {
            "subset_accuracy" if self.several else "accuracy": self.accuracy,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
        }
        if self.log_loss is not None and self.calibration_error is not None:
            out |= {"log_loss": self.log_loss, "calibration_error": self.calibration_error}
        columns = (self.precision.tolist(), self.recall.tolist(), self.f1.tolist(), self.support.tolist())
        out["per_label"] = [
            {"label": label, "precision": p, "recall": r, "f1": f, "support": n}
            for label, p, r, f, n in zip(self.labels, *columns, strict=True)
        ]
        out["confusion"] = self.confusion.tolist()
        return out


def classification_scores(
    truth: Any, predicted: Any, probabilities: Any = None, *, labels: Any = None, n_bins: int = N_BINS
) -> ClassificationScores:
    """Scores of predicted labels.

    Parameters
    ----------
    truth, predicted : (n_documents,) labels, or (n_documents, n_labels) indicators of 0 and 1
        The right and the predicted labels, both of one kind.
    probabilities : (n_documents, n_labels) or None
        Of every label, in the order of `labels`.
    labels : list or None
        All labels there are, in order; those of truth and prediction by default, sorted. With indicators, their names.
    n_bins : int
        Of the calibration error.

    F1 is 0 for a label that is neither right nor predicted anywhere. Macro F1 is the mean over labels, micro F1 that of
    all decisions together, which for one label per document is the accuracy.
    """
    n = len(predicted)
    if n == 0:
        raise ParameterError("truth", "there are no documents to score")
    truth = check_labels(truth, n)
    guess = np.asarray(predicted)
    if type_of_target(truth) == "multilabel-indicator" and truth.ndim == 2 and guess.ndim == 2:
        return _several(truth, guess, probabilities, labels, n_bins)
    truth, guess = truth.ravel(), guess.ravel()
    if truth.shape != guess.shape:
        raise ParameterError("predicted", f"has {guess.size} labels, but there are {truth.size} right ones")
    names = np.unique(np.concatenate((truth, guess))) if labels is None else np.asarray(labels)
    for what, given in (("truth", truth), ("predicted", guess)):
        if not (known := np.isin(given, names)).all():
            raise ParameterError(what, f"has {given[~known][0]!r}, which is not among the labels")
    precision, recall, f1, support = precision_recall_fscore_support(truth, guess, labels=names, zero_division=0)
    at, said = (truth[:, None] == names).argmax(1), (guess[:, None] == names).argmax(1)
    confusion = np.zeros((len(names), len(names)), np.int64)
    np.add.at(confusion, (at, said), 1)  # scikit-learn's own warns where there is one label
    probability_scores: dict[str, float] = {}
    if probabilities is not None:
        p = _checked(probabilities, (n, len(names)))
        probability_scores = {
            "log_loss": float(-np.log(np.maximum(p[np.arange(n), at] / p.sum(1), SURE)).mean()),
            "calibration_error": calibration_error(p.max(1), p.argmax(1) == at, n_bins),
        }
    return ClassificationScores(
        names.tolist(), False, float(accuracy_score(truth, guess)),
        float(f1_score(truth, guess, labels=names, average="micro", zero_division=0)), float(np.mean(f1)),
        precision, recall, f1, support.astype(np.int64), confusion,
        **probability_scores,
    )  # fmt: skip


def _several(
    truth: NDArray[Any], guess: NDArray[Any], probabilities: Any, labels: Any, n_bins: int
) -> ClassificationScores:
    if truth.shape != guess.shape:
        raise ParameterError("predicted", f"has shape {guess.shape}, but the right labels have {truth.shape}")
    names = list(range(truth.shape[1])) if labels is None else np.asarray(labels).tolist()
    if len(names) != truth.shape[1]:
        raise ParameterError("labels", f"has {len(names)} names, but there are {truth.shape[1]} columns")
    precision, recall, f1, support = precision_recall_fscore_support(truth, guess, average=None, zero_division=0)
    probability_scores: dict[str, float] = {}
    if probabilities is not None:
        p = _checked(probabilities, truth.shape)
        right = np.where(truth > 0, p, 1.0 - p)
        probability_scores = {
            "log_loss": float(-np.log(np.maximum(right, SURE)).mean()),
            "calibration_error": calibration_error(p.ravel(), truth.ravel() > 0, n_bins),
        }
    return ClassificationScores(
        names, True, float((truth == guess).all(1).mean()),
        float(f1_score(truth, guess, average="micro", zero_division=0)), float(np.mean(f1)),
        precision, recall, f1, support.astype(np.int64), multilabel_confusion_matrix(truth, guess),
        **probability_scores,
    )  # fmt: skip


def calibration_error(confidence: Any, right: Any, n_bins: int = N_BINS) -> float:
    """Expected calibration error: Σ_b n_b/n · |share that is right − mean confidence| over bins of confidence.

    Of one label per document: the confidence of the likeliest label, and whether it is right. Of several: every
    probability of a label, and whether the document has it. Bins are of equal width (Naeini, Cooper & Hauskrecht 2015;
    Guo et al. 2017).
    """
    bins = reliability(confidence, right, n_bins)
    return float((bins.count * np.abs(bins.share - bins.confidence)).sum() / bins.count.sum())


@dataclass(frozen=True)
class Reliability:
    """Of the bins that hold something: mean confidence, share that is right, and how many."""

    confidence: NDArray[np.float64]
    share: NDArray[np.float64]
    count: NDArray[np.int64]


def reliability(confidence: Any, right: Any, n_bins: int = N_BINS) -> Reliability:
    """What a reliability diagram shows: predictions in bins of equal width of confidence."""
    check_whole("n_bins", n_bins)
    p, hit = np.asarray(confidence, np.float64).ravel(), np.asarray(right, bool).ravel()
    if p.shape != hit.shape or p.size == 0:
        raise ParameterError("confidence", f"has {p.size} numbers for {hit.size} outcomes; at least one is needed")
    if not ((p >= 0) & (p <= 1 + 1e-9)).all():
        raise ParameterError("confidence", "must be between 0 and 1")
    at = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(at, minlength=n_bins)
    full = count > 0
    mean = np.bincount(at, p, n_bins)[full] / count[full]
    share = np.bincount(at, hit, n_bins)[full] / count[full]
    return Reliability(mean, share, count[full])


def _checked(probabilities: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    p = np.asarray(probabilities, np.float64)
    if p.shape != shape:
        raise ParameterError("probabilities", f"has shape {p.shape}, but must have {shape}: documents and labels")
    if not ((p >= 0) & (p <= 1 + 1e-9)).all():
        row = int(np.flatnonzero(~((p >= 0) & (p <= 1 + 1e-9)).all(1))[0])
        raise ParameterError("probabilities", f"row {row} has a number that is not between 0 and 1")
    return p

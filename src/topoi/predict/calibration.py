"""From scores to probabilities, and from probabilities to labels, fitted on documents that the weights have not seen.

| labels | log odds | parameters |
|---|---|---|
| one of two, or any number of them | a_l f_l + b_l of each label (Platt 1999) | a and b of each, near those of all |
| one of many | a f_l + b_l, softmax over the labels (temperature scaling: Guo et al. 2017) | a, and b of each |

The parameters maximise the likelihood of the labels, with a prior that keeps those of rare labels near the common ones.
Where any number of labels may be right, a label is predicted if its probability is above a threshold, the same for all
labels, which is the best form of rule for micro-F1; it is the one with the highest micro-F1 on the same documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax

from topoi._disk.store import ModelError
from topoi._machine.arrays import Floats

Scores = NDArray[np.float64]

#: Slope of log odds in scores, in margins, before anything is known.
USUAL_SLOPE = 2.0
#: Prior precisions: of the log of a slope and of an intercept around those of all labels.
NEAR_SLOPE, NEAR_INTERCEPT = 10.0, 1.0


@dataclass(frozen=True)
class Calibration:
    """Log odds are slope · score + intercept, for each label; those above `threshold` are predicted."""

    slope: Scores
    intercept: Scores
    threshold: float = 0.0

    def log_odds(self, scores: Scores) -> Scores:
        """Log odds (documents, labels)."""
        return scores * self.slope + self.intercept

    def check_fits(self, n_labels: int) -> None:
        """Raise unless there are finite numbers for so many labels: they may come from a file."""
        arrays = (self.slope, self.intercept)
        if not all(array.shape == (n_labels,) and np.isfinite(array).all() for array in arrays):
            raise ModelError(f"calibration must have {n_labels} finite slopes and intercepts")
        if not np.isfinite(self.threshold):
            raise ModelError("the threshold of the log odds must be finite")


def usual_calibration(n_labels: int) -> Calibration:
    """What is used where there are too few documents to set some aside."""
    return Calibration(np.full(n_labels, USUAL_SLOPE), np.zeros(n_labels))


def to_probabilities(log_odds: Scores, exclusive: bool) -> Scores:
    """Probabilities from log odds; `exclusive`: one of many is right."""
    found: Scores = np.exp(log_softmax(log_odds, axis=1)) if exclusive else expit(log_odds)
    return found


def calibrate_one_of_many(scores: Scores, right: NDArray[np.int64], weight: Floats) -> tuple[Calibration, float]:
    """A slope and an intercept for each label, and the mean log loss; `right` is the number of the right label."""
    n, n_labels = scores.shape
    rows = np.arange(n)

    def loss(parameters: Scores) -> tuple[float, Scores]:
        slope, intercept = np.exp(parameters[0]), parameters[1:]
        log_p = log_softmax(slope * scores + intercept, axis=1)
        wrong = np.exp(log_p)
        wrong[rows, right] -= 1.0
        wrong *= weight[:, None]
        away = parameters[0] - np.log(USUAL_SLOPE)
        value = -(weight * log_p[rows, right]).sum() + 0.5 * (away**2 + NEAR_INTERCEPT * (intercept**2).sum())
        gradient = np.concatenate(([slope * (wrong * scores).sum() + away], wrong.sum(0) + NEAR_INTERCEPT * intercept))
        return value, gradient

    begin = np.zeros(n_labels + 1)
    begin[0] = np.log(USUAL_SLOPE)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[(-4.0, 4.0), *([(-20.0, 20.0)] * n_labels)]).x
    calibration = Calibration(np.full(n_labels, np.exp(found[0])), found[1:])
    log_p = log_softmax(calibration.log_odds(scores), axis=1)[rows, right]
    return calibration, float(-(weight * log_p).sum() / max(weight.sum(), 1e-300))


def calibrate_each(scores: Scores, targets: Floats, weight: Floats) -> tuple[Calibration, float]:
    """A slope and an intercept for each label, and the mean log loss; targets are −1 and +1, or NaN where not known."""
    known = ~np.isnan(targets)
    sign, weight = np.where(known, targets, 1.0), np.where(known, weight, 0.0)

    def loss(parameters: Scores, f: Scores, s: Scores, w: Scores, centre: Scores, near: Scores) -> tuple[float, Scores]:
        slope = np.exp(parameters[0])
        margin = s * (slope * f + parameters[1])
        wrong = -w * s * expit(-margin)
        away = parameters - centre
        value = -(w * log_expit(margin)).sum() + 0.5 * (near * away**2).sum()
        return value, np.array([slope * (wrong * f).sum(), wrong.sum()]) + near * away

    bounds = [(-4.0, 4.0), (-20.0, 20.0)]
    usual = np.array([np.log(USUAL_SLOPE), 0.0])
    everything = (scores.ravel(), sign.ravel(), weight.ravel())
    of_all = minimize(loss, usual, (*everything, usual, np.ones(2)), "L-BFGS-B", True, bounds=bounds).x
    near = np.array([NEAR_SLOPE, NEAR_INTERCEPT])
    each = np.empty((scores.shape[1], 2))
    for label in range(len(each)):
        own = (scores[:, label], sign[:, label], weight[:, label])
        each[label] = minimize(loss, of_all, (*own, of_all, near), "L-BFGS-B", True, bounds=bounds).x
    calibration = Calibration(np.exp(each[:, 0]), each[:, 1])
    log_p = log_expit(sign * calibration.log_odds(scores))
    return calibration, float(-(weight * log_p).sum() / max(weight.sum(), 1e-300))


def best_threshold(log_odds: Scores, has: NDArray[np.bool_], at_least_one: bool) -> float:
    """The log odds above which labels are predicted, so that micro-F1 is the highest; `has` (documents, labels)."""
    best = log_odds >= log_odds.max(1, keepdims=True) if at_least_one else np.zeros(has.shape, bool)
    candidates = np.linspace(-3.0, 1.0, 81)
    always, rest = best, ~best
    # Micro-F1 = 2·hits/(predicted + there are): counted for all candidates from sorted log odds.
    of_hits, of_all = np.sort(log_odds[rest & has]), np.sort(log_odds[rest])
    hits = (always & has).sum() + len(of_hits) - np.searchsorted(of_hits, candidates, side="right")
    predicted = always.sum() + len(of_all) - np.searchsorted(of_all, candidates, side="right")
    f1 = 2.0 * hits / np.maximum(predicted + has.sum(), 1)
    return float(candidates[f1.argmax()])

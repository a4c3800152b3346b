"""Classes shared out to models: from the targets of a document to binary problems, and from scores back to classes.

| strategy | models | documents of a model | score of a class |
|---|---|---|---|
| multitask | one, a task per class | all | its task's |
| ovr | one per class (or label) | all | its model's |
| ovo | one per pair of classes | those of the two classes, and those without a label | its votes; sums break ties |
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.estimators.labels import Labels

STRATEGIES = ("multitask", "ovr", "ovo")


@dataclass(frozen=True)
class Problem:
    """What one model learns: `targets` −1, +1 and NaN (rows, tasks) of the documents `rows` (None: all).

    `labels` are those of a model of its own; for one model of all classes, those of all.
    """

    rows: NDArray[np.int64] | None
    targets: NDArray[Any]
    weight: NDArray[Any]
    labels: Labels


def check_strategy(strategy: object) -> None:
    """Raise unless `strategy` is one."""
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        choices = ", ".join(f'"{name}"' for name in STRATEGIES)
        raise ParameterError("strategy", f"must be one of {choices}, not {strategy!r}")


def split(strategy: str, labels: Labels, targets: NDArray[Any], weight: NDArray[Any]) -> list[Problem]:
    """The problems that a strategy makes of the targets (documents, tasks) of all classes.

    Two classes are one problem whatever the strategy.
    """
    if strategy == "ovo" and labels.several:
        raise ParameterError(
            "strategy", '"ovo" compares classes of which one is right; an indicator matrix needs "ovr" or "multitask"'
        )
    if strategy == "multitask" or labels.binary:
        return [Problem(None, targets, weight, labels)]
    if strategy == "ovr":
        rest = Labels(np.array([0, 1]), False)
        return [Problem(None, _column(targets, k), _column(weight, k), rest) for k in range(targets.shape[1])]
    problems = []
    unlabelled = np.isnan(targets[:, 0])
    for i, j in combinations(range(targets.shape[1]), 2):
        rows = np.flatnonzero((targets[:, i] > 0) | (targets[:, j] > 0) | unlabelled)
        pair = Labels(labels.classes[[i, j]], False)
        problems.append(Problem(rows, _column(targets, j)[rows], _column(weight, j)[rows], pair))
    return problems


def _column(values: NDArray[Any], k: int) -> NDArray[Any]:
    return np.ascontiguousarray(values[:, k : k + 1])


def vote(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Scores (…, n_classes) from those of all pairs (…, pairs): votes, and sums of scores that only break ties.

    Pairs are (0, 1), (0, 2), …; a positive score is a vote for the second. A sum is squeezed into ±1/3, as in
    scikit-learn's `OneVsOneClassifier`, so that it never outweighs a vote.
    """
    votes = np.zeros((*scores.shape[:-1], n_classes))
    sums = np.zeros_like(votes)
    for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
        for_second = scores[..., pair] > 0
        votes[..., j] += for_second
        votes[..., i] += ~for_second
        sums[..., j] += scores[..., pair]
        sums[..., i] -= scores[..., pair]
    squeezed: NDArray[np.float64] = sums / (3.0 * (np.abs(sums) + 1.0))
    return votes + squeezed


def couple(p_second: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Probabilities (documents, n_classes) that agree best with those of pairs (documents, pairs), rows sum to 1.

    Wu, Lin & Weng (2004), second method: p minimises Σ_i Σ_j≠i (r_ji p_i − r_ij p_j)² with Σ p = 1, where r_ij is the
    probability of i among the two. One linear system per document, whose solution is never negative.
    """
    r = np.zeros((len(p_second), n_classes, n_classes))
    for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
        second = np.clip(p_second[:, pair], 1e-9, 1.0 - 1e-9)  # a certain pair would leave classes undecided
        r[:, j, i] = second
        r[:, i, j] = 1.0 - second
    system = np.zeros((len(r), n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r**2).sum(1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    right = np.zeros((n_classes + 1, 1))
    right[n_classes] = 1.0
    p = np.maximum(np.linalg.solve(system, np.broadcast_to(right, (len(r), *right.shape)))[:, :n_classes, 0], 0.0)
    coupled: NDArray[np.float64] = p / p.sum(1, keepdims=True)
    return coupled

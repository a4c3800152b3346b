"""What a model predicts, in names for people: classes, several labels, or numbers; and the weights of topics for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.report.topics import models_of, pairs

MOST_WEIGHTS = 200_000  # on a page


@dataclass(frozen=True)
class Target:
    """`kind` is "none", "classes", "several" (labels) or "numbers"; `names` are those of the labels or outputs."""

    kind: str
    names: list[str]
    values: list[Any]  # the labels themselves
    votes: bool = False  # a model for every pair of classes

    @property
    def binary(self) -> bool:
        """Whether one task tells two classes apart."""
        return self.kind == "classes" and len(self.names) == 2

    @property
    def tasks(self) -> list[str]:
        """What a positive weight speaks for, one per row of the weights."""
        if self.binary:
            return [self.names[1]]
        if self.votes:
            return [f"{self.names[j]}, not {self.names[i]}" for i, j in pairs(len(self.names))]
        return self.names


def target_of(estimator: Any, label_names: Sequence[Any] | None) -> Target:
    """What the estimator predicts."""
    weights = getattr(estimator, "topic_weights_", None)
    if weights is None:
        return Target("none", [], [])
    if not hasattr(estimator, "classes_"):
        count = len(weights)
        names = ["target"] if count == 1 else [f"output {j}" for j in range(count)]
        return Target("numbers", _names(label_names, names), list(range(count)))
    labels = estimator._labels
    names = _names(label_names, [str(label) for label in labels.classes.tolist()])
    kind = "several" if labels.several else "classes"
    return Target(kind, names, labels.classes.tolist(), bool(estimator._votes))


def _names(given: Sequence[Any] | None, own: list[str]) -> list[str]:
    if given is None:
        return own
    names = [str(name) for name in given]
    if len(names) != len(own):
        raise ParameterError("label_names", f"has {len(names)} names, but the model has {len(own)}: {', '.join(own)}")
    return names


def weights(estimator: Any, target: Target) -> dict[str, Any]:
    """Weights of the topics and their spread, a row per task; of several models, each row is of its own topics."""
    if target.kind == "none":
        return {"rows": [], "n_left_out": 0}
    mean = np.asarray(estimator.topic_weights_, np.float64)
    spread = np.asarray(estimator.topic_weights_std_, np.float64)
    sizes = [model.n_topics for model in models_of(estimator)]
    own = [slice(0, mean.shape[1])] * len(mean)
    if len(sizes) > 1:
        last = np.cumsum(sizes).tolist()
        own = [slice(end - size, end) for end, size in zip(last, sizes, strict=True)]
    kept = _strongest(mean, max(MOST_WEIGHTS // max(sizes), 1))
    names = target.tasks
    rows = [
        {
            "name": names[row],
            "first": own[row].start,
            "mean": mean[row, own[row]].tolist(),
            "std": spread[row, own[row]].tolist(),
        }
        for row in kept
    ]
    return {"rows": rows, "n_left_out": len(mean) - len(kept)}


def _strongest(mean: NDArray[np.float64], n: int) -> list[int]:
    """The tasks with the largest weights, in their own order: all, unless there are more than n."""
    order = np.argsort(-np.abs(mean).max(1), kind="stable")[:n]
    return sorted(order.tolist())

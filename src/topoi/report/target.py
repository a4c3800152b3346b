"""What a model predicts, in names for people: classes, several labels, or numbers; and its models, with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topoi.chain.model import TopicModel
from topoi.errors import ParameterError


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


def models_of(estimator: Any) -> list[TopicModel]:
    """The models of an estimator: one, or one for each class or pair of classes."""
    return [model for model, _ in estimator._parts()]


def model_names(estimator: Any, labels: list[str]) -> list[str]:
    """What each of several models tells apart; no names where there is one."""
    models = models_of(estimator)
    if len(models) == 1:
        return []
    if len(models) == len(labels) and estimator._fitted_strategy == "ovr":
        return [f"{label} or not" for label in labels]
    return [f"{labels[i]} or {labels[j]}" for i, j in pairs(len(labels))]


def pairs(n: int) -> list[tuple[int, int]]:
    """Pairs of classes, in the order of the models of "ovo"."""
    return [(i, j) for i in range(n) for j in range(i + 1, n)]

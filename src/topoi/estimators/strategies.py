"""Strategies: how labels are shared out to models, and how the scores of the models become scores of labels again.

| strategy | models | documents of a model | score of a label |
|---|---|---|---|
| multitask | one, a task per label | all | its task's |
| ovr | one per label | all | its model's |
| ovo | one per pair of classes | those of the two classes, and those without a label | its votes; sums break ties |

Two classes are one model with one task, whatever the strategy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.estimators.labels import Labels
from topoi.estimators.problem import SupervisedProblem, model_seed
from topoi.estimators.unpredicted import predicted

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Strategy:
    """One model of all labels, which share its topics (multi-task learning)."""

    name: ClassVar[str] = "multitask"
    labels: Labels

    @property
    def balances(self) -> bool:
        """Whether documents that have a label are weighed against those that have not."""
        return not self.labels.binary

    def of_models(self) -> list[Labels]:
        """The labels that each model tells apart."""
        return [self.labels]

    def share_out(self, problem: SupervisedProblem) -> list[SupervisedProblem]:
        """The problem of each model, from that of all labels."""
        return [problem]

    def decide(self, scores: Scores) -> Scores:
        """Scores of the labels from those of the models side by side, (…, tasks); of two classes, of the second."""
        return scores

    def probabilities(self, p: Scores) -> Scores:
        """Probabilities (documents, labels) from those that the models give their tasks, (documents, tasks)."""
        return self.labels.normalised(p)

    def explained(self) -> list[Iterable[Any]]:
        """The labels whose scores each model explains."""
        return [self.labels.classes[1:] if self.labels.binary else self.labels.classes]

    def predicted(self, models: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[np.bool_]:
        """Which labels are predicted for some document, from topic shares and weights of every model."""
        return predicted(models, self.labels)


@dataclass(frozen=True)
class OneVsRest(Strategy):
    """A model for every label: whether a document has it."""

    name = "ovr"

    def of_models(self) -> list[Labels]:
        """No and yes."""
        return [Labels(np.array([0, 1]), False) for _ in self.labels.classes]

    def share_out(self, problem: SupervisedProblem) -> list[SupervisedProblem]:
        """All documents, one task each."""
        return _numbered([problem.task(k) for k in range(len(self.labels.classes))])

    def explained(self) -> list[Iterable[Any]]:
        """Its own label."""
        return [[label] for label in self.labels.classes]


@dataclass(frozen=True)
class OneVsOne(Strategy):
    """A model for every pair of classes, of which it predicts the second or not."""

    name = "ovo"

    def __post_init__(self) -> None:
        if self.labels.several:
            raise ParameterError(
                "strategy",
                '"ovo" compares classes of which one is right; an indicator matrix needs "ovr" or "multitask"',
            )

    @property
    def balances(self) -> bool:
        """Two classes have no rest."""
        return False

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.labels.classes)), 2))

    def of_models(self) -> list[Labels]:
        """The two classes of the pair."""
        return [Labels(self.labels.classes[[i, j]], False) for i, j in self._pairs]

    def share_out(self, problem: SupervisedProblem) -> list[SupervisedProblem]:
        """The documents of the two classes and those without a label; the task is that of the second class."""
        has, unlabelled = problem.targets[:] > 0, np.isnan(problem.targets[:, 0])
        rows = [np.flatnonzero(has[:, i] | has[:, j] | unlabelled) for i, j in self._pairs]
        return _numbered([problem.take(own).task(j) for own, (_, j) in zip(rows, self._pairs, strict=True)])

    def decide(self, scores: Scores) -> Scores:
        """Votes of the pairs."""
        return vote(scores, len(self.labels.classes))

    def probabilities(self, p: Scores) -> Scores:
        """Those that agree best with the pairs'."""
        return couple(p, len(self.labels.classes))

    def explained(self) -> list[Iterable[Any]]:
        """None: votes have no reasons."""
        raise ParameterError(
            "strategy", 'explain: a score of "ovo" is made of votes of pairs; use estimators_[i].explain for one pair'
        )

    def predicted(self, models: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[np.bool_]:
        """By one of its pairs at least."""
        seen = np.zeros(len(self.labels.classes), bool)
        for pair, labels, model in zip(self._pairs, self.of_models(), models, strict=True):
            seen[list(pair)] |= predicted([model], labels)
        return seen


STRATEGIES = {strategy.name: strategy for strategy in (Strategy, OneVsRest, OneVsOne)}


def check_strategy(strategy: object) -> None:
    """Raise unless `strategy` is one."""
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        choices = ", ".join(f'"{name}"' for name in STRATEGIES)
        raise ParameterError("strategy", f"must be one of {choices}, not {strategy!r}")


def strategy_for(name: str, labels: Labels) -> Strategy:
    """The strategy of this name for these labels."""
    return Strategy(labels) if labels.binary else STRATEGIES[name](labels)


def _numbered(problems: list[SupervisedProblem]) -> list[SupervisedProblem]:
    """The problems of one fit, each with a seed of its own."""
    return [replace(problem, seed=model_seed(problem.seed, number)) for number, problem in enumerate(problems)]


def vote(scores: Scores, n_classes: int) -> Scores:
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
    squeezed: Scores = sums / (3.0 * (np.abs(sums) + 1.0))
    return votes + squeezed


def couple(p_second: Scores, n_classes: int) -> Scores:
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
    coupled: Scores = p / p.sum(1, keepdims=True)
    return coupled

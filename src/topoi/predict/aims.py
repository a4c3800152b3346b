"""What a refit aims at: labels, of which one or any number is right, or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.predict.calibration import Calibration, best_threshold, calibrate_each, calibrate_one_of_many
from topoi.predict.refit import Aim

Scores = NDArray[np.float64]

#: Labels that settings are chosen on, at most, where any number of them may be right: as many as go at once.
MOST_TELLING = 16


@dataclass(frozen=True)
class LabelAim(Aim):
    """Targets −1 and +1: `exclusive` if one of many labels is right, `several` if any number may be.

    One task may also be that of two classes, of which it says whether the second is right.
    """

    one_sided = True

    exclusive: bool
    several: bool

    def loss(self, scores: Scores) -> float:
        """Log loss of calibrated probabilities."""
        return self._calibrated(scores)[1]

    def calibration(self, scores: Scores) -> Calibration:
        """How the scores of documents that were not learned from become probabilities, and which are predicted."""
        found = self._calibrated(scores)[0]
        if not self.several:
            return found
        known = self._known
        has = self.targets[known] > 0
        return replace(found, threshold=best_threshold(found.log_odds(scores)[known], has, self.at_least_one))

    def telling(self) -> NDArray[np.int64]:
        """All tasks; or, of many that do not compete, the frequent ones."""
        if self.exclusive or self.targets.shape[1] <= MOST_TELLING:
            return super().telling()
        return np.sort(np.argsort(-(self.targets > 0).sum(0), kind="stable")[:MOST_TELLING])

    @property
    def _known(self) -> NDArray[Any]:
        """Which documents have labels that are known."""
        return np.asarray(~np.isnan(self.targets[:, 0]))  # all tasks of a document, or none

    @property
    def at_least_one(self) -> bool:
        """Whether every document has a label, so that a new one is given one too."""
        return bool(self.several and (self.targets[self._known] > 0).any(1).all())

    def _calibrated(self, scores: Scores) -> tuple[Calibration, float]:
        if self.exclusive:
            right = self.targets.argmax(1)
            return calibrate_one_of_many(scores, right, self.weight[np.arange(len(right)), right])
        return calibrate_each(scores, self.targets, self.weight)


@dataclass(frozen=True)
class NumberAim(Aim):
    """Standardised numbers."""

    one_sided = False

    def loss(self, scores: Scores) -> float:
        """Mean squared error."""
        return float(np.nanmean((self.targets - scores) ** 2))

"""What a refit aims at: labels, of which one or any number is right, or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from topoi.predict.calibration import Calibration, best_threshold, calibrate_each, calibrate_one_of_many

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class LabelAim:
    """Targets −1 and +1 (documents, tasks), which count by `weight`; `exclusive` if one of many labels is right.

    One task may also be that of two classes, of which it says whether the second is right.
    """

    targets: Scores
    weight: Scores
    exclusive: bool
    several: bool
    one_sided: bool = True

    def loss(self, scores: Scores) -> float:
        """Log loss of calibrated probabilities."""
        return self._calibrated(scores)[1]

    def calibration(self, scores: Scores) -> Calibration:
        """How the scores of documents that were not learned from become probabilities, and which are predicted."""
        found = self._calibrated(scores)[0]
        if not self.several:
            return found
        known = ~np.isnan(self.targets).any(1)
        has = self.targets[known] > 0
        return replace(found, threshold=best_threshold(found.log_odds(scores)[known], has, self.at_least_one))

    @property
    def at_least_one(self) -> bool:
        """Whether every document has a label, so that a new one is given one too."""
        known = ~np.isnan(self.targets).any(1)
        return bool(self.several and known.any() and (self.targets[known] > 0).any(1).all())

    def _calibrated(self, scores: Scores) -> tuple[Calibration, float]:
        if self.exclusive:
            right = self.targets.argmax(1)
            return calibrate_one_of_many(scores, right, self.weight[np.arange(len(right)), right])
        return calibrate_each(scores, self.targets, self.weight)


@dataclass(frozen=True)
class NumberAim:
    """Standardised numbers (documents, outputs)."""

    targets: Scores
    weight: Scores
    one_sided: bool = False

    def loss(self, scores: Scores) -> float:
        """Mean squared error."""
        return float(np.nanmean((self.targets - scores) ** 2))

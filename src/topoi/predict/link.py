"""From the linear score of a head to the likelihood of a loss that has parameters of its own.

The expected count, or the probability of so many stars, is no linear score. So the head is fitted to numbers that stand
for the targets (`Response.as_numbers`: logarithms of counts, the places of labels in their order), and what makes
targets of its scores is fitted afterwards: a slope, and the parameters of the loss, those of the highest likelihood for
documents that neither topics nor weights have seen. How far predictions are off is thus part of the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoi._disk.store import ModelError
from topoi.chain.responses import Response


@dataclass(frozen=True)
class Link:
    """The score of the loss is `slope` (tasks,) times that of the head; `own` (tasks, …) are the loss's parameters."""

    slope: NDArray[np.float64]
    own: NDArray[np.float64]

    def sample(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores (1, documents, tasks) of the loss and its parameters (1, tasks, …), as those of a single sample."""
        return (self.slope * scores)[None], self.own[None]

    def check_fits(self, response: Response, n_tasks: int) -> None:
        """Raise unless it, which may come from a file, is a link for the loss."""
        expected = response.first_own(n_tasks)
        if expected is None or self.own.shape != expected.shape or self.slope.shape != (n_tasks,):
            raise ModelError("the link of the head has not the shape that the loss needs")
        if not (np.isfinite(self.own).all() and np.isfinite(self.slope).all()):
            raise ModelError("the link of the head must be finite")


def fit_link(response: Response, targets: NDArray[np.float64], scores: NDArray[np.float64]) -> Link:
    """The link of the highest likelihood for targets (documents, tasks; NaN: not known) whose scores are known."""
    found = []
    for target, score in zip(targets.T, scores.T, strict=True):
        known = ~np.isnan(target)
        found.append(response.fit_link(target[known].astype(np.float64), score[known]))
    return Link(np.array([slope for slope, _ in found]), np.array([own for _, own in found]))

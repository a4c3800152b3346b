"""Whether more sweeps would help, in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.estimators.fitted import check_fitted

#: Sweeps that a gain of the log joint is told over.
SPAN = 10
#: Share of itself that the log joint gains in so many sweeps: from here on it rises, and below that it is level.
RISES, LEVEL = 1e-3, 2e-4
#: R-hat from which on chains differ.
DIFFER = 1.1


def gain_at_the_end(trace: NDArray[np.float64]) -> float:
    """Share of itself that the log joint (sweep, value) gains in `SPAN` sweeps, over the last third; nan if unknown."""
    late = trace[-max(len(trace) // 3 + 1, 2) :]
    if len(late) < 2 or late[0, 0] == late[-1, 0] or late[-1, 1] == 0:
        return math.nan
    slope = np.polyfit(late[:, 0] - late[0, 0], late[:, 1], 1)[0]
    return float(SPAN * slope / abs(late[-1, 1]))


def convergence_in_words(estimator: Any) -> str:
    """Whether more sweeps would help, and whether the chains agree, in a sentence or two.

    A log joint that gains a thousandth of itself or more in ten sweeps at the end has not arrived; one that gains less
    than a fifth of that has. With several chains or models, the one that is farthest from having arrived counts.

    Examples
    --------
    >>> from topoi import LDA
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
    >>> convergence_in_words(LDA(2, n_sweeps=5, random_state=0).fit(X))
    'There were too few sweeps to tell whether more would help.'
    """
    fitted = check_fitted(estimator)
    gains = [gain_at_the_end(trace) for one in fitted.estimators_ for trace in one.traces_]
    return " ".join([_of_sweeps(gains, int(fitted.n_sweeps_)), *_of_chains(float(fitted.rhat_))])


def _of_sweeps(gains: list[float], n_sweeps: int) -> str:
    known = [gain for gain in gains if not math.isnan(gain)]
    if not known:
        return "There were too few sweeps to tell whether more would help."
    gain = max(known)
    if gain >= RISES:
        return (
            f"More sweeps would help: at the end the log joint still gained {gain:.1%} in {SPAN} sweeps. "
            f"Try {2 * n_sweeps:,} sweeps."
        )
    if gain >= LEVEL:
        return (
            f"More sweeps may help a little: at the end the log joint gained {gain:.2%} in {SPAN} sweeps, "
            "so that topics hardly change any more."
        )
    return "More sweeps would change little: the log joint has levelled off."


def _of_chains(rhat: float) -> list[str]:
    if math.isnan(rhat):
        return []
    if rhat < DIFFER:
        return [f"The chains agree (R-hat {rhat:.2f})."]
    return [f"The chains differ (R-hat {rhat:.2f}), for want of sweeps or since there is more than one good answer: "
            "trust topics that all of them have found."]  # fmt: skip

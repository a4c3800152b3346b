"""Effects of covariates on scores, with intervals of the posterior of the chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from topoi.errors import ParameterError
from topoi.predict.scores import Chain


class Effect(NamedTuple):
    """What a covariate adds to the score of a label or an output: the posterior mean, and bounds of an interval."""

    label: Any
    covariate: str
    mean: float
    low: float
    high: float


def effects(
    models: list[tuple[list[Chain], float]], back: Callable[[Any], Any], names: list[str], labels: list[Any],
    level: float,
) -> list[Effect]:  # fmt: skip
    """The effect of every covariate on every label, from the chains of models with the units of their scores.

    `back` makes weights of the covariates from those of the columns that the chains have learned with.

    Samples are few, so the bounds are those of a Student distribution with their mean and standard deviation.
    """
    if not 0 < level < 1:
        raise ParameterError("level", f"must be a number between 0 and 1, not {level!r}")
    draws = [
        back(np.concatenate([chain.beside["columns"] for chain in chains]).astype(float)) / unit
        for chains, unit in models
    ]
    n = min(map(len, draws))
    together = np.concatenate([part[:n] for part in draws], axis=1)  # (samples, tasks, covariates)
    mean = together.mean(0)
    spread = together.std(0, ddof=1) if n > 1 else np.full(mean.shape, np.inf)
    width = float(student.ppf(0.5 + level / 2, max(n - 1, 1))) * spread
    shown = labels if len(labels) == len(mean) else labels[1:] if len(labels) == 2 else list(range(len(mean)))
    return [
        Effect(
            label,
            name,
            float(mean[task, j]),
            float(mean[task, j] - width[task, j]),
            float(mean[task, j] + width[task, j]),
        )
        for task, label in enumerate(shown)
        for j, name in enumerate(names)
    ]

"""Effects of covariates on labels or outputs, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.errors import ParameterError
from topoi.report.subject import Subject

LEVEL = 0.9  # of the intervals
MOST_COVARIATES = 100  # columns that are shown of a label, the strongest
MOST_EFFECTS = 100_000  # on a page


def data(subject: Subject) -> dict[str, Any] | None:
    """Of every label or output the strongest effects: number of the covariate, mean, and bounds; None without any."""
    if not getattr(subject.estimator, "covariates_", {}):
        return None
    try:
        found = subject.estimator.effects(level=LEVEL)
    except ParameterError:  # of too many columns there are none
        return None
    tasks = subject.target.answers
    n_columns = len(found) // len(tasks)
    n_shown = min(n_columns, MOST_COVARIATES)
    shown = tasks[: max(MOST_EFFECTS // max(n_shown, 1), 1)]
    rows = []
    for task, name in enumerate(shown):
        own = found[task * n_columns : (task + 1) * n_columns]
        order = np.argsort([-abs(effect.mean) for effect in own], kind="stable")[:n_shown].tolist()
        effects = [[j, own[j].mean, own[j].low, own[j].high] for j in order]
        rows.append({"name": name, "effects": effects})
    return {
        "names": [effect.covariate for effect in found[:n_columns]],
        "level": LEVEL,
        "unit": subject.estimator.estimators_[0].response_.effect_unit,
        "rows": rows,
        "n_labels": len(tasks),
    }

"""The weights of the topics for the labels or outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.report.subject import Subject

MOST_WEIGHTS = 200_000  # on a page


def data(subject: Subject) -> dict[str, Any] | None:
    """Weights of the topics and their spread, a row per task; of several models, each row is of its own topics."""
    if subject.target.kind is None:
        return None
    mean = np.asarray(subject.estimator.topic_weights_, np.float64)
    spread = np.asarray(subject.estimator.topic_weights_std_, np.float64)
    sizes = [model.n_topics for model in subject.models]
    own = [slice(0, mean.shape[1])] * len(mean)
    if len(sizes) > 1:
        last = np.cumsum(sizes).tolist()
        own = [slice(end - size, end) for end, size in zip(last, sizes, strict=True)]
    kept = _strongest(mean, max(MOST_WEIGHTS // max(sizes), 1))
    names = subject.target.tasks
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

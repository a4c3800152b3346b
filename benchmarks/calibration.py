"""How far probabilities can be trusted: scores made into probabilities, reliability bins and their diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression

from topoi.evaluate.classification import reliability

Array = NDArray[Any]
Bins = dict[str, list[float]]
LEAST_SHOWN = 5  # a bin with fewer predictions is not drawn


def platt(scores: Array, Y: Array, new: Array) -> Array:
    """Log odds of new scores by a sigmoid for each task (Platt 1999), from unseen scores and their targets."""
    out = np.empty(new.shape)
    for j in range(scores.shape[1]):
        has = Y[:, j] > 0
        if has.all() or not has.any():
            out[:, j] = logit((has.sum() + 1) / (len(has) + 2))
            continue
        found = LogisticRegression(C=1e6).fit(scores[:, [j]], has)
        out[:, j] = new[:, j] * found.coef_[0, 0] + found.intercept_[0]
    return out


def probabilities(log_odds: Array, kind: str, joint: bool) -> Array:
    """Of every label (documents, labels); `joint` says that the log odds are those of a softmax."""
    if kind == "several":
        return expit(log_odds)
    if kind == "two":
        return np.column_stack((expit(-log_odds), expit(log_odds)))
    if joint:
        return softmax(log_odds, axis=1)
    each = expit(log_odds) + 1e-12
    return each / each.sum(1, keepdims=True)


def bins(truth: Array, p: Array, classes: Array) -> Bins:
    """Reliability of the likeliest label, or of all labels where several may be right."""
    if truth.ndim == 2:
        found = reliability(p.ravel(), truth.ravel() > 0)
    else:
        found = reliability(np.minimum(p.max(1), 1.0), classes[p.argmax(1)] == truth)
    return {"confidence": found.confidence.tolist(), "share": found.share.tolist(), "count": found.count.tolist()}


def pooled(seeds: Sequence[Bins], n_bins: int = 15) -> tuple[Array, Array]:
    """Confidence and share of the bins of several seeds together."""
    confidence, share, count = (
        np.concatenate([one[name] for one in seeds]) for name in ("confidence", "share", "count")
    )
    at = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    n = np.bincount(at, count, n_bins)
    full = n >= LEAST_SHOWN * len(seeds)
    return tuple(np.bincount(at, count * values, n_bins)[full] / n[full] for values in (confidence, share))


def draw(axis: Any, lines: dict[str, Sequence[Bins]], looks: dict[str, dict[str, Any]], title: str) -> None:
    """A reliability diagram: the nearer to the diagonal, the better."""
    axis.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1)
    for name, seeds in lines.items():
        axis.plot(*pooled(seeds), label=name, **looks[name])
    axis.set(title=title, xlim=(0, 1), ylim=(0, 1), xlabel="probability", ylabel="share that is right")

"""Predictions against the truth: calibration and confusion."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.pipelines import open_pipeline
from topoi.evaluate.classification import ClassificationScores, calibration_error, reliability
from topoi.evaluate.measures import score_predictions
from topoi.evaluate.regression import RegressionScores
from topoi.plot._figure import COLOURS, GREY, PALE, SMALL, bare, check_axes, name_width, new_axes, short

FEW_LABELS = 20  # up to so many, counts are written into the cells


def calibration(
    estimator: Any, X: Any, y: Any, *, n_bins: int = 10, level: float = 0.9, output: int = 0, ax: Any = None
) -> Any:
    """Whether to believe what an estimator says of its own predictions; returns the Axes.

    A classifier: a reliability diagram, the share of predictions that are right over how sure they were, in `n_bins`
    bins; the area of a dot is proportional to the predictions in its bin. A regressor: targets over predictions, with
    the intervals of `level`; those that miss are orange. Of several outputs the one numbered `output` is shown.
    """
    estimator, X = open_pipeline(estimator, X)
    kind = check_fitted(estimator).target_.kind
    if kind == "numbers":
        return _intervals(estimator, X, y, level, output, ax)
    if kind is None:
        raise ParameterError("estimator", f"{type(estimator).__name__} predicts nothing that could be right or wrong")
    corpus = estimator.as_corpus(X)
    truth = estimator.as_truth(y, corpus.n_documents)
    p = estimator.predict_proba(corpus)
    if kind == "several":
        confidence, right, what = p.ravel(), truth.ravel() > 0, "probability of a label"
    else:
        confidence, right = p.max(1), estimator.classes_[p.argmax(1)] == truth
        what = "probability of the likeliest label"
    bins = reliability(confidence, right, n_bins)
    ax = new_axes(4.4, 4.2) if ax is None else check_axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", zorder=1)
    ax.vlines(bins.confidence, bins.confidence, bins.share, color=COLOURS[1], linewidth=1.6, zorder=2)
    ax.scatter(
        bins.confidence, bins.share, s=12 + 240 * bins.count / bins.count.max(), color=COLOURS[0], alpha=0.9,
        linewidth=0.8, edgecolor="white", zorder=3,
    )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, 1.03), aspect="equal")
    bare(ax)
    ax.set_xlabel(what, fontsize=SMALL + 1)
    ax.set_ylabel("share that is right", fontsize=SMALL + 1)
    error = calibration_error(confidence, right, n_bins)
    ax.set_title(f"calibration error {error:.3f}, {right.size:,} predictions", fontsize=SMALL + 1, loc="left")
    return ax


def _intervals(estimator: Any, X: Any, y: Any, level: float, output: int, ax: Any) -> Any:
    corpus = estimator.as_corpus(X)
    truth = estimator.as_truth(y, corpus.n_documents).reshape(corpus.n_documents, -1)
    if len(truth) == 0:
        raise ParameterError("X", "has no documents to predict")
    check_whole("output", output, 0)
    if output >= truth.shape[1]:
        raise ParameterError("output", f"is {output}, but there are {truth.shape[1]} outputs")
    scores = score_predictions(estimator, corpus, y, level=level)
    assert isinstance(scores, RegressionScores)
    assert scores.coverage is not None
    mean = estimator.predict(corpus).reshape(truth.shape)[:, output]
    bounds = estimator.predict_interval(corpus, level).reshape(*truth.shape, 2)[:, output]
    known = ~np.isnan(truth[:, output])
    mean, bounds, target = mean[known], bounds[known], truth[known, output]
    missed = (target < bounds[:, 0]) | (target > bounds[:, 1])
    ax = new_axes(5.0, 4.4) if ax is None else check_axes(ax)
    low, high = min(mean.min(), target.min()), max(mean.max(), target.max())
    ax.plot([low, high], [low, high], color=GREY, linewidth=1, linestyle="--", zorder=3)
    ax.vlines(mean, *bounds.T, color=PALE, linewidth=min(1.2, 240 / len(mean)), zorder=1)
    size = float(np.clip(4000 / len(mean), 6, 30))
    for group, colour, name in ((~missed, COLOURS[0], "inside"), (missed, COLOURS[1], "outside")):
        ax.scatter(mean[group], target[group], s=size, color=colour, alpha=0.8, linewidth=0, zorder=2, label=name)
    bare(ax)
    ax.set_xlabel("prediction", fontsize=SMALL + 1)
    ax.set_ylabel("target", fontsize=SMALL + 1)
    share, r2 = scores.coverage[output], scores.r2[output]
    ax.set_title(f"{share:.0%} of targets in their {level:.0%} interval, R² {r2:.2f}", fontsize=SMALL + 1, loc="left")
    ax.legend(fontsize=SMALL, frameon=False, loc="upper left")
    return ax


def confusion(estimator: Any, X: Any, y: Any, *, label_names: Any = None, ax: Any = None) -> Any:
    """Heat map of true labels (rows) by predicted labels (columns); returns the Axes.

    Colours are shares of a row, so that rare labels are seen; the numbers, up to 20 labels, are documents.
    """
    estimator, X = open_pipeline(estimator, X)
    if check_fitted(estimator).target_.kind not in ("one", "several"):
        raise ParameterError("estimator", f"must be a MedLDAClassifier, not {type(estimator).__name__}")
    scores = score_predictions(estimator, X, y)
    assert isinstance(scores, ClassificationScores)
    if scores.several:
        raise ParameterError("y", "a document has several labels, so none is mistaken for another; use calibration")
    if label_names is not None and len(label_names) != len(scores.labels):
        raise ParameterError("label_names", f"has {len(label_names)} names, but there are {len(scores.labels)} labels")
    names = [short(name) for name in (scores.labels if label_names is None else label_names)]
    n = len(names)
    if ax is None:
        cell = 0.34 if n <= FEW_LABELS else 0.17
        side = n * cell + name_width(names)
        ax = new_axes(max(side + 1.6, 3.6), max(side + 0.9, 3.0))
    check_axes(ax)
    counts = scores.confusion
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    if n <= FEW_LABELS:
        for row, column in np.argwhere(counts > 0):
            colour = "white" if share[row, column] > 0.55 else "black"
            ax.text(column, row, f"{counts[row, column]}", ha="center", va="center", fontsize=SMALL - 1, color=colour)
    ax.set_xticks(np.arange(n), names, rotation=90, fontsize=SMALL)
    ax.set_yticks(np.arange(n), names, fontsize=SMALL)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_color(PALE)
    ax.set_xlabel("predicted label", fontsize=SMALL + 1)
    ax.set_ylabel("true label", fontsize=SMALL + 1)
    ax.set_title(f"accuracy {scores.accuracy:.1%}", fontsize=SMALL + 1, loc="left")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.5, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label("share of the row", fontsize=SMALL)
    return ax

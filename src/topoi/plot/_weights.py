"""Which topics speak for which label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.names import topic_labels
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.pipelines import open_pipeline
from topoi.evaluate.topics import models_of, top_columns
from topoi.plot._figure import GREY, SMALL, WIDEST, check_axes, name_width, new_axes, short

FADED = 0.22  # how strong a cell is drawn that may well be 0
MANY = 40  # above so many topics their words are left out


def weights(estimator: Any, *, n_words: int = 3, sort: bool = True, label_names: Any = None, ax: Any = None) -> Any:
    """Heat map of the weights η of topics (columns) for labels or outputs (rows); returns the Axes.

    Cells are pale, with a dot, where the weight is less than two posterior standard deviations from 0. Blank cells, of
    a classifier with a model for each class, have no weight at all.

    Parameters
    ----------
    n_words : int
        Top words under each topic, up to 40 topics; 0 for none.
    sort : bool
        Order topics by the label that they speak for most, else by number.
    label_names : list of str or None
        Names of the rows, in the order of `classes_`, for an indicator matrix or a regressor's outputs.
    """
    estimator, _ = open_pipeline(estimator)
    if check_fitted(estimator).target_.kind is None:
        raise ParameterError("estimator", f"{type(estimator).__name__} has no weights; it must be a MedLDA estimator")
    mean, spread = estimator.topic_weights_, estimator.topic_weights_std_
    rows = [short(name) for name in task_names(estimator, label_names)]
    own = _own_cells(estimator, mean.shape)
    order = topic_order(np.where(own, mean, -np.inf)) if sort else np.arange(mean.shape[1])
    mean, spread, own = mean[:, order], spread[:, order], own[:, order]
    columns = name_topics(estimator, order, n_words)
    n_rows, n_columns = mean.shape
    if ax is None:
        cell = min(0.30 if n_columns <= MANY else 0.18, WIDEST / n_columns)
        tall = max(n_rows * max(min(cell, 0.24), 0.15), 1.4) + name_width(columns) + 0.5
        ax = new_axes(max(n_columns * cell + name_width(rows) + 1.2, 4.0), tall)
    check_axes(ax)
    largest = float(np.abs(mean).max()) or 1.0
    sure = np.abs(mean) >= 2 * spread
    image = ax.imshow(
        np.ma.masked_array(mean, ~own), cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto",
        alpha=np.where(own, np.where(sure, 1.0, FADED), 0.0), interpolation="nearest",
    )  # fmt: skip
    ax.set_yticks(np.arange(n_rows), rows, fontsize=SMALL)
    # Where numbers would run into each other only some of them are written.
    step = max(1, int(np.ceil(n_columns * 0.16 / (ax.figure.get_figwidth() * 0.8))))
    ax.set_xticks(np.arange(0, n_columns, step), columns[::step], fontsize=SMALL, rotation=90)
    ax.set_xticks(np.arange(-0.5, n_columns), minor=True)
    ax.set_yticks(np.arange(-0.5, n_rows), minor=True)
    ax.grid(which="minor", color="white", linewidth=0.6)
    ax.tick_params(which="both", length=0)
    unsure = np.argwhere(own & ~sure)
    ax.plot(unsure[:, 1], unsure[:, 0], ".", color=GREY, markersize=3, gid="unsure")
    ax.set_xlabel("topic", fontsize=SMALL + 1)
    for spine in ax.spines.values():
        spine.set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=float(np.clip(10 / n_rows, 0.25, 0.9)), pad=0.015, aspect=12)
    bar.solids.set_alpha(1.0)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label("weight\n(dot: within 2 sd of 0)", fontsize=SMALL)
    return ax


def topic_order(mean: NDArray[np.float64]) -> NDArray[np.int64]:
    """Topics by the row that they speak for most, the strongest first within a row."""
    best = mean.argmax(0) if len(mean) > 1 else np.zeros(mean.shape[1], np.int64)
    order: NDArray[np.int64] = np.lexsort((-mean.max(0), best)).astype(np.int64)
    return order


def task_names(estimator: Any, label_names: Any = None) -> list[str]:
    """A name for every row of `topic_weights_`: the label, the second of two, the pair, or the number of the output."""
    target = check_fitted(estimator).target_.named(label_names)
    pairs = [(0, len(target.names) - 1)] if target.binary or target.ordered else target.pairs
    return [f"{target.names[j]} against {target.names[i]}" for i, j in pairs] or target.names


def name_topics(estimator: Any, order: Sequence[int] | NDArray[np.int64], n_words: int, alone: str = "{}") -> list[str]:
    """What topics are called in a picture: their words, and their names or numbers.

    `alone` says how a number is written where it has no words beside it.
    """
    models = models_of(estimator)
    wordless = n_words < 1 or len(order) > MANY or models[0].vocabulary is None
    labels = [short(label, 18) for label in topic_labels(models, alone if wordless else "{}")]
    if wordless:
        return [labels[k] for k in order]
    model, tops = models[0], top_columns(estimator, n_words)
    return [f"{' '.join(short(model.word(w), 14) for w in tops[k])}  {labels[k]}" for k in order]


def _own_cells(estimator: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which topics a row's model has: all, unless every row has a model of its own."""
    models = estimator.topic_models_
    if len(models) == 1:
        return np.ones(shape, bool)
    of_topic = np.repeat(np.arange(len(models)), [model.n_topics for model in models])
    own: NDArray[np.bool_] = np.arange(shape[0])[:, None] == of_topic
    return own

"""The top words of every topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.factors.base import beta_of, probabilities
from topoi.chain.names import topic_labels
from topoi.errors import ParameterError
from topoi.estimators.pipelines import open_pipeline
from topoi.evaluate.topics import models_of, top_columns, topic_shares
from topoi.plot._figure import COLOURS, GREY, SMALL, PlotError, check_axes, grid_shape, name_width, new_figure, short

# Inches. They are laid out by hand: matplotlib takes seconds to find out how 100 panels fit.
LINE = 0.165  # of a bar with its word
BAR = 1.1  # of the longest bar
GAP = 0.3  # between a bar and the next panel's words
TITLE = 0.36  # of a title, with what is between it and the panel above


def topics(
    estimator: Any, *, n_words: int = 10, which: Sequence[int] | None = None, ax: Any = None
) -> NDArray[np.object_]:
    """Bars of the probabilities φ of the top words, a panel for each topic; returns the panels' Axes, in order.

    Parameters
    ----------
    n_words : int
        Words of a topic.
    which : list of topics or None
        Their numbers; by default all that are not hidden. A panel's title has the topic's share of the training tokens.
    ax : Axes or None
        One of `subplots` (not of `add_axes`), whose place the panels then take.

    All panels have one scale, so that a flat topic looks flat.
    """
    estimator, _ = open_pipeline(estimator)
    tops, shares = top_columns(estimator, n_words), topic_shares(estimator)
    hidden = set(getattr(estimator, "hidden_topics_", getattr(estimator, "hidden", [])))
    every = [k for k in range(len(tops)) if k not in hidden]
    chosen = every if which is None else [check_topic(k, len(tops), "which") for k in which]
    if not chosen:
        raise ParameterError("which", "names no topic")
    names = {k: [short(_name(estimator, w), 18) for w in tops[k]] for k in chosen}
    room = name_width([word for words in names.values() for word in words], SMALL)
    panel_size = (BAR + GAP + room, LINE * n_words + TITLE)
    rows, columns = grid_shape(len(chosen), panel_size, None if ax is None else check_axes(ax))
    grid = _grid(rows, columns, room, LINE * n_words, ax)
    figure = grid.figure
    phi, labels = _probabilities(estimator, tops), topic_labels(models_of(estimator))
    largest = max((phi[k].max(initial=0.0) for k in chosen), default=0.0) or 1.0
    panels = []
    for place, k in enumerate(chosen):
        panel = figure.add_subplot(grid[place // columns, place % columns])
        panel.barh(np.arange(len(phi[k])), phi[k], height=0.72, color=COLOURS[0])
        panel.set_yticks(np.arange(len(phi[k])), names[k], fontsize=SMALL)
        panel.set_ylim(n_words - 0.4, -0.6)  # the most probable on top
        panel.set_xlim(0, largest * 1.02)
        panel.set_title(f"{short(labels[k], 18)}  ·  {shares[k]:.1%}", fontsize=SMALL + 1, loc="left")
        panel.tick_params(axis="y", length=0)
        # One scale for all: numbers under the last panel of a column are enough.
        panel.tick_params(axis="x", labelsize=SMALL - 1, colors=GREY, labelbottom=place + columns >= len(chosen))
        panel.locator_params(axis="x", nbins=3)
        for side in ("top", "right", "left"):
            panel.spines[side].set_visible(False)
        panel.spines["bottom"].set_color(GREY)
        panels.append(panel)
    return np.array(panels, dtype=object)


def _grid(rows: int, columns: int, room: float, height: float, ax: Any) -> Any:
    """Places for panels that are `height` high, with `room` for words on their left."""
    spaces = {"wspace": (room + GAP) / BAR, "hspace": TITLE / height}
    if ax is None:
        wide, tall = columns * (BAR + GAP + room), rows * (height + TITLE) + GAP
        return new_figure(wide, tall, by_hand=True).add_gridspec(
            rows, columns, left=(room + GAP / 3) / wide, right=1 - GAP * 2 / 3 / wide, bottom=GAP / tall,
            top=1 - TITLE / tall, **spaces,
        )  # fmt: skip
    place = check_axes(ax).get_subplotspec()
    if place is None:
        raise PlotError("ax must be one of `subplots`, so that its place can be cut into panels")
    figure = ax.figure
    ax.remove()
    grid = place.subgridspec(rows, columns, **({} if figure.get_layout_engine() else spaces))
    grid.figure = figure
    return grid


def _probabilities(estimator: Any, tops: list[list[int]]) -> list[NDArray[np.float64]]:
    out, k = [], 0
    for model in models_of(estimator):
        scale = model.scale
        for own in range(model.n_topics):
            words = np.array(tops[k], np.int64)
            counts = model.counts[words][:, [own]].toarray()[:, 0] / model.n_samples
            out.append(probabilities(counts, beta_of(model.beta, words), scale[own]))
            k += 1
    return out


def _name(estimator: Any, w: int) -> str:
    return models_of(estimator)[0].word(w)


def check_topic(k: Any, n_topics: int, parameter: str) -> int:
    """The number of a topic, if it is one."""
    if not isinstance(k, int | np.integer) or not 0 <= k < n_topics:
        raise ParameterError(parameter, f"has the topic {k!r}, but topics are numbered 0 to {n_topics - 1}")
    return int(k)

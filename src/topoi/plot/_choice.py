"""Measures over the number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.plot._figure import COLOURS, GREY, SMALL, PlotError, bare, check_axes, new_figure

WIDTH, HEIGHT = 2.9, 2.5  # of a panel, in inches
ROOM = 0.12  # of the width, for the number below a point


class Measured(Protocol):
    """What `topoi.choose` returns."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each number of topics."""

    @property
    def best(self) -> int | None:
        """The number that is recommended."""

    @property
    def left_out(self) -> tuple[int, ...]:
        """Numbers that are not recommended, whatever else."""

    @property
    def criterion(self) -> str:
        """The column that decides."""


class Panel(NamedTuple):
    """A column of the table, and what it is called."""

    column: str
    title: str


PANELS = (
    Panel("score", "Score of predictions"),
    Panel("log_likelihood", "Held-out log-likelihood"),
    Panel("coherence", "Coherence (NPMI)"),
    Panel("stability", "Stability"),
)


def choice(chosen: Measured, *, ax: Any = None) -> NDArray[np.object_]:
    """What `topoi.choose` has measured over the number of topics; returns the Axes of the panels, in order.

    Bars are one standard error over the folds either way. In the panel that decides, the band is one standard error
    around the best. The dashed line is the number recommended; numbers that were left out are hollow. In the last panel
    the grey line is the overlap of topics with their neighbours in the same model, above which stability must be. `ax`
    must be one of `subplots`, whose place the panels then take.
    """
    rows = chosen.table
    if not rows:
        raise ParameterError("chosen", "has no rows: nothing was measured")
    panels = [panel for panel in PANELS if panel.column in rows[0]]
    figure, places = _places(len(panels), ax)
    numbers = [row["n_topics"] for row in rows]
    drawn = []
    for panel, place in zip(panels, places, strict=True):
        own = figure.add_subplot(place)
        values, errors = _column(rows, panel.column), _column(rows, f"{panel.column}_se")
        sound = np.where(np.isin(numbers, chosen.left_out), np.nan, values)
        if panel.column == chosen.criterion and np.isfinite(sound).any():
            top = int(np.nanargmax(sound))
            error = np.nan_to_num(errors[top])
            own.axhspan(values[top] - error, values[top] + error, color=COLOURS[0], alpha=0.12, linewidth=0)
        own.errorbar(numbers, values, np.nan_to_num(errors), color=COLOURS[0], marker="o", markersize=4, capsize=2)
        own.plot(
            numbers, np.where(np.isnan(sound), values, np.nan), "o", color=COLOURS[0], markersize=4, zorder=3,
            markerfacecolor="white",
        )  # fmt: skip
        if panel.column == "stability":
            own.plot(numbers, _column(rows, "nearest"), color=GREY, linewidth=1, label="neighbours")
            own.set_ylim(0, 1)
            own.legend(fontsize=SMALL, frameon=False)
        if chosen.best is not None:
            own.axvline(chosen.best, color=COLOURS[1], linestyle="--", linewidth=1)
        own.set_xscale("log")
        own.set_xticks(numbers, _labels(numbers, chosen.best))
        own.minorticks_off()
        own.set_xlabel("topics", fontsize=SMALL)
        own.set_title(panel.title, fontsize=SMALL + 1, loc="left")
        bare(own)
        drawn.append(own)
    return np.array(drawn, dtype=object)


def _column(rows: Sequence[dict[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([row.get(name, np.nan) for row in rows], np.float64)


def _labels(numbers: Sequence[int], best: int | None) -> list[str]:
    """The numbers as text, without those that would run into one before, or into the one recommended."""
    at = np.log(numbers)
    room = (at[-1] - at[0]) * ROOM
    labels, last = [], -np.inf
    for place, number in zip(at.tolist(), numbers, strict=True):
        free = place - last >= room and (best is None or abs(place - np.log(best)) >= room)
        shown = number == best or free
        last = place if shown else last
        labels.append(str(number) if shown else "")
    return labels


def _places(n: int, ax: Any) -> tuple[Any, list[Any]]:
    """A figure, and places for n panels side by side in it."""
    if ax is None:
        figure = new_figure(n * WIDTH, HEIGHT)
        return figure, list(figure.add_gridspec(1, n))
    place = check_axes(ax).get_subplotspec()
    if place is None:
        raise PlotError("ax must be one of `subplots`, so that its place can be cut into panels")
    figure = ax.figure
    ax.remove()
    return figure, list(place.subgridspec(1, n, wspace=0.3))

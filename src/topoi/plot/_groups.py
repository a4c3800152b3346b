"""Topics over time and by group: lines with bands, and a matrix of differences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.estimators.pipelines import open_pipeline
from topoi.evaluate.share_table import TopicsBy
from topoi.evaluate.topics_by import topics_by
from topoi.plot._figure import (
    COLOURS,
    GREY,
    PALE,
    SMALL,
    bare,
    check_axes,
    grid_shape,
    name_width,
    new_axes,
    new_figure,
    short,
    style,
)  # fmt: skip
from topoi.plot._topics import check_topic
from topoi.plot._weights import name_topics

PANEL = (2.6, 1.55)  # inches of a panel with its title
ORDERS = ("varying", "largest")
MOST_GROUPS = 30  # in a matrix
REACH = 3.0  # doublings: the ends of the colours


def over_time(
    estimator: Any, groups: Any, documents: Any = None, *, topics: Sequence[int] | None = None, n_topics: int = 12,
    order: str = "varying", n_words: int = 3, ax: Any = None, **options: Any,
) -> NDArray[np.object_]:  # fmt: skip
    """Shares of topics over dates or numbers, as lines with bands of their intervals; returns the panels' Axes.

    A panel for each topic, with the share in all documents as a grey line. All panels begin at 0; their heights differ.
    A line is broken where a period has no documents.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        The model.
    groups : TopicsBy or column
        What `topoi.topics_by` gave, or a column of dates or numbers as it takes.
    documents : Corpus, counts or None
        As in `topics_by`.
    topics : sequence of int or None
        Which topics to show; None takes `n_topics` of them.
    n_topics : int, default 12
        How many topics.
    order : "varying" or "largest", default "varying"
        Whether those are shown whose shares vary most, or the largest ones.
    n_words : int, default 3
        Top words that name a topic; 0 for none.
    ax : Axes or None
        With it, all lines are drawn there, six topics unless `topics` are given.
    **options
        Others of `topics_by`, as ``period="month"``.
    """
    estimator, documents = open_pipeline(estimator, documents)
    found = _table(estimator, groups, documents, options)
    if found.kind == "categories":
        raise ParameterError("groups", f"{found.by!r} has categories, which have no order in time; see plot.by_group")
    chosen = _chosen(found, topics, n_topics if ax is None else min(n_topics, len(COLOURS)), order)
    names = name_topics(estimator, chosen, n_words)
    if ax is not None:
        return _together(found, chosen, names, check_axes(ax))
    rows, columns = grid_shape(len(chosen), PANEL)
    figure = new_figure(columns * PANEL[0] + 0.3, rows * PANEL[1] + 0.5)
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for place, panel in enumerate(panels.flat):
        if place >= len(chosen):
            panel.remove()
            continue
        k = chosen[place]
        panel.axhline(found.overall[k], color=PALE, linewidth=1.0, zorder=0)
        _line(panel, found, k, COLOURS[0], None)
        panel.set_title(short(names[place], 34), fontsize=SMALL, loc="left")
        _finish(panel, found, [k])
        panel.tick_params(labelbottom=place + columns >= len(chosen))
    figure.supxlabel(_axis_name(found), fontsize=SMALL + 1)
    figure.supylabel(f"share (band: {found.level:.0%})", fontsize=SMALL + 1)
    return np.array(list(panels.flat[: len(chosen)]), dtype=object)


def by_group(
    estimator: Any, groups: Any, documents: Any = None, *, topics: Sequence[int] | None = None, n_topics: int = 25,
    order: str = "varying", n_words: int = 3, ax: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """Shares of topics in groups as a matrix, in colours that show differences; returns the Axes.

    The number in a cell is the share in percent. Its colour says how many times more (orange) or less (purple) that is
    than in all documents; it is pale where the interval of the share has the share of all documents in it.

    Parameters
    ----------
    estimator, groups, documents, topics, order, n_words
        As of `over_time`; any column will do.
    n_topics : int, default 25
        How many topics. Of more than 30 groups, those with most documents are shown.
    ax : Axes or None
        Where to draw.
    **options
        Others of `topics_by`.
    """
    estimator, documents = open_pipeline(estimator, documents)
    found = _table(estimator, groups, documents, options)
    chosen = _chosen(found, topics, n_topics, order)
    names = [short(name, 40) for name in name_topics(estimator, chosen, n_words)]
    shown = np.sort(np.argsort(-found.n_documents, kind="stable")[:MOST_GROUPS])
    columns = [f"{short(found.groups[g], 20)} ({found.n_documents[g]:,})" for g in shown]
    if ax is None:
        height = 0.24 * len(chosen) + name_width(columns) + 0.7
        ax = new_axes(0.42 * len(shown) + name_width(names) + 1.4, height)
    check_axes(ax)
    part = np.ix_(shown, np.array(chosen))
    share, low, high, overall = found.share[part].T, found.low[part].T, found.high[part].T, found.overall[chosen]
    tiny = 1e-6
    ratio = np.log2((share + tiny) / (overall[:, None] + tiny))
    sure = (low > overall[:, None]) | (high < overall[:, None])
    image = ax.imshow(
        np.where(sure, ratio, 0.25 * np.clip(ratio, -REACH, REACH)), cmap="PuOr_r", vmin=-REACH, vmax=REACH,
        aspect="auto",
    )  # fmt: skip
    for i, j in np.ndindex(share.shape):
        dark = sure[i, j] and (ratio[i, j] > 0.72 * REACH or ratio[i, j] < -0.45 * REACH)
        colour = "white" if dark else "black" if sure[i, j] else GREY
        ax.text(j, i, _percent(float(share[i, j])), ha="center", va="center", fontsize=SMALL - 2, color=colour)
    ax.set_yticks(np.arange(len(chosen)), names, fontsize=SMALL)
    ax.set_xticks(np.arange(len(shown)), columns, fontsize=SMALL, rotation=90)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    left_out = "" if len(shown) == len(found.groups) else f", the {len(shown)} largest of {len(found.groups)} groups"
    ax.set_xlabel(f"{short(found.by)} (documents){left_out}", fontsize=SMALL + 1)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.01, ticks=[-3, -2, -1, 0, 1, 2, 3])
    bar.ax.set_yticklabels(["⅛", "¼", "½", "1", "2", "4", "8"], fontsize=SMALL)
    bar.set_label("times the share in all documents", fontsize=SMALL)
    bar.outline.set_visible(False)
    return ax


def _table(estimator: Any, groups: Any, documents: Any, options: dict[str, Any]) -> TopicsBy:
    if not isinstance(groups, TopicsBy):
        return topics_by(estimator, groups, documents, **options)
    if documents is not None or options:
        name = "documents" if documents is not None else next(iter(options))
        raise ParameterError(name, "has been used by topics_by already, whose answer is given; leave it out")
    return groups


def _chosen(found: TopicsBy, topics: Sequence[int] | None, n_topics: int, order: str) -> list[int]:
    """Those asked for, or the first in an order."""
    if order not in ORDERS:
        raise ParameterError("order", f"must be 'varying' or 'largest', not {order!r}")
    if topics is not None:
        return [check_topic(k, len(found.topics), "topics") for k in topics]
    return found.most_varying(n_topics) if order == "varying" else found.largest(n_topics)


def _positions(found: TopicsBy) -> tuple[NDArray[Any], NDArray[np.int64], list[int]]:
    """Places on the axis of the groups that have one, which groups these are, and where a gap begins."""
    there = np.array([g for g, position in enumerate(found.positions) if position is not None])
    places = [found.positions[g] for g in there]
    x = np.array(places, "datetime64[D]" if isinstance(places[0], date) else float)
    gaps = np.flatnonzero(np.diff(np.array(found.runs)[there]) > 1) + 1
    return x, there, gaps.tolist()


def _line(ax: Any, found: TopicsBy, k: int, colour: str, label: str | None) -> None:
    x, there, gaps = _positions(found)
    for number, part in enumerate(np.split(np.arange(len(there)), gaps)):
        share, low, high = (array[there[part], k] for array in (found.share, found.low, found.high))
        ax.fill_between(x[part], low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(x[part], share, color=colour, linewidth=1.4, label=label if number == 0 else None)
        if len(part) == 1:  # a line of one point, and its band, are not seen
            ax.errorbar(x[part], share, yerr=[share - low, high - share], fmt="o", color=colour, markersize=2.5,
                        linewidth=1.0)  # fmt: skip


def _together(found: TopicsBy, chosen: list[int], names: list[str], ax: Any) -> NDArray[np.object_]:
    for number, (k, name) in enumerate(zip(chosen, names, strict=True)):
        _line(ax, found, k, style(number)[0], name)
    _finish(ax, found, chosen)
    ax.set_xlabel(_axis_name(found), fontsize=SMALL + 1)
    ax.set_ylabel(f"share (band: {found.level:.0%})", fontsize=SMALL + 1)
    ax.legend(fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return np.array([ax], dtype=object)


def _finish(ax: Any, found: TopicsBy, topics: list[int]) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    bare(ax)
    # The wide band of a period with hardly any documents may be cut off, so that the others can be seen.
    many = found.n_documents >= np.median(found.n_documents) / 4
    highest = max(found.share[:, topics].max(), found.high[many][:, topics].max())
    ax.set_ylim(0.0, 1.05 * highest)
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    if found.kind == "dates":
        from matplotlib import dates

        timely: Any = dates  # untyped
        locator = timely.AutoDateLocator(minticks=2, maxticks=5)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(timely.ConciseDateFormatter(locator))
    else:
        whole = all(position is None or float(position) % 1 == 0 for position in found.positions)  # type: ignore[arg-type]
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=whole))


def _axis_name(found: TopicsBy) -> str:
    return short(found.by) if found.period is None else f"{short(found.by)}, by {found.period}"


def _percent(share: float) -> str:
    value = 100 * share
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"

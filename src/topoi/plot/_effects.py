"""How topics vary with a covariate: dots with intervals for categories, lines with bands for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topoi.chain.names import FOR_PEOPLE
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.marginal import TopicEffect
from topoi.estimators.pipelines import open_pipeline
from topoi.plot._figure import COLOURS, GREY, SMALL, bare, check_axes, name_width, new_axes, short, style
from topoi.plot._weights import name_topics

GRID = 25  # values of a number that a line goes through
MOST_LINES = len(COLOURS)
MOST_ROWS = 20


def effects(
    estimator: Any, covariate: str | None = None, *, topics: Sequence[int] | None = None, level: float = 0.9,
    n_words: int = 3, rows: Sequence[TopicEffect] | None = None, ax: Any = None,
) -> Any:  # fmt: skip
    """The change of the shares of topics with a covariate, with intervals; returns the Axes.

    Of a category there is a dot for each of its values, of a number a line over its values.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        With covariates of prevalence, unless `rows` are given.
    covariate : str or None
        Its name; None is the first.
    topics : sequence of int or None
        Which topics to show; None takes those that vary most, six lines or twenty rows at most.
    level : float, default 0.9
        Probability that the intervals have.
    n_words : int
        Top words that name a topic; 0 for none.
    rows : sequence of TopicEffect or None
        Effects to show in place of the estimator's own, as `topoi.evaluate.topic_effects` gives them.
    """
    estimator, _ = open_pipeline(estimator)
    check_fitted(estimator)
    found = list(estimator.topic_effects(level, GRID) if rows is None else rows)
    names = list(dict.fromkeys(row.covariate for row in found))
    if not names:
        raise ParameterError("rows", "has no effects")
    if covariate is None:
        covariate = names[0]
    if covariate not in names:
        raise ParameterError("covariate", f"is {covariate!r}; effects are known of {', '.join(names)}")
    by_topic: dict[int, list[TopicEffect]] = {}
    for row in found:
        if row.covariate == covariate:
            by_topic.setdefault(row.topic, []).append(row)
    lines = not isinstance(next(iter(by_topic.values()))[0].value, str)
    chosen = _chosen(by_topic, topics, MOST_LINES if lines else MOST_ROWS)
    labels = name_topics(estimator, chosen, n_words, alone=FOR_PEOPLE)
    return (_lines if lines else _dots)([by_topic[k] for k in chosen], labels, covariate, level, ax)


def _chosen(by_topic: dict[int, list[TopicEffect]], topics: Sequence[int] | None, most: int) -> list[int]:
    """The topics to show: those asked for, or those that vary most, in the order of their effects."""
    if topics is not None:
        for k in topics:
            if k not in by_topic:
                raise ParameterError("topics", f"has {k!r}; there are topics 0 to {len(by_topic) - 1}")
        return list(topics)
    varies = {k: max(row.mean for row in own) - min([row.mean for row in own] + [0.0] * (len(own) == 1))
              for k, own in by_topic.items()}  # fmt: skip
    varies |= {k: abs(own[0].mean) for k, own in by_topic.items() if len(own) == 1}
    return sorted(sorted(by_topic, key=lambda k: (-varies[k], k))[:most], key=lambda k: -by_topic[k][-1].mean)


def _lines(shown: list[list[TopicEffect]], labels: list[str], covariate: str, level: float, ax: Any) -> Any:
    ax = check_axes(new_axes(6.4 + name_width(labels), 3.6) if ax is None else ax)
    for number, (own, label) in enumerate(zip(shown, labels, strict=True)):
        colour, _ = style(number)
        x, mean, low, high = (np.array([getattr(row, name) for row in own], float) for name in
                              ("value", "mean", "low", "high"))  # fmt: skip
        ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(x, mean, color=colour, linewidth=1.6, label=label)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel(covariate, fontsize=SMALL + 1)
    ax.set_ylabel(f"change of the share\n(band: {level:.0%})", fontsize=SMALL + 1)
    ax.legend(fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    bare(ax)
    return ax


def _dots(shown: list[list[TopicEffect]], labels: list[str], covariate: str, level: float, ax: Any) -> Any:
    values = list(dict.fromkeys(str(row.value) for own in shown for row in own))
    tall = max(len(shown) * max(0.24, 0.1 * len(values)), 1.4) + 0.8
    ax = check_axes(new_axes(5.4 + name_width(labels) + name_width(values), tall) if ax is None else ax)
    gap = 0.7 / max(len(values), 1)
    for number, value in enumerate(values):
        colour, marker = style(number)
        own = [(place, row) for place, rows in enumerate(shown) for row in rows if str(row.value) == value]
        y = np.array([place for place, _ in own]) + (number - (len(values) - 1) / 2) * gap
        mean, low, high = (np.array([getattr(row, name) for _, row in own]) for name in ("mean", "low", "high"))
        ax.errorbar(
            mean, y, xerr=np.array([mean - low, high - mean]), fmt=marker, color=colour, markersize=3.5, linewidth=1.2,
            label=short(value),
        )  # fmt: skip
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), labels, fontsize=SMALL)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlabel(f"change of the share with {short(covariate)} (line: {level:.0%})", fontsize=SMALL + 1)
    ax.legend(fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    bare(ax)
    return ax

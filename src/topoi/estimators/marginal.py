"""How the expected share of a topic changes with a covariate, averaged over documents, with posterior intervals.

With α_d = exp(x_d·λ) document d is expected to have the share α_dk / Σ_j α_dj of topic k. The effect of a category is
the mean share of the topic if all documents had it, minus the mean share as the documents are; that of a number, if it
were one standard deviation higher; that of a spline, if all documents had a certain value, for a row of values. All
else that is known of the documents stays as it is, in interactions too (average marginal effects). Every kept draw of λ
gives an effect: their mean is the estimate, and an interval is that of the next draw if draws are normal,
mean ± t · sd · √(1 + 1/draws), which for few draws is wider than their quantiles and has the right coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from topoi.chain.model import TopicModel, check_whole
from topoi.chain.priors.prevalence import alpha_by_row
from topoi.errors import ParameterError
from topoi.estimators.terms import Terms, Variable

Array = NDArray[np.float64]
#: Values at which the effect of a spline is told.
GRID = 11


class TopicEffect(NamedTuple):
    """The change of the expected share of a topic with a covariate: an estimate, and bounds of an interval.

    `value` is that of a category or of a spline, or "+1 sd" for a number.
    """

    topic: int
    covariate: str
    value: str | float
    mean: float
    low: float
    high: float


class Change(NamedTuple):
    """Covariates as documents have them, changed: one value for all, or so much more of it."""

    covariate: str
    value: str | float
    apply: Callable[[Array], Array]


def check_level(level: float) -> None:
    """Raise unless it is a probability."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level", f"must be a number between 0 and 1, not {level!r}")


def changes(terms: Terms, grid: int | None) -> Iterator[Change]:
    """What is changed, one after the other; with a `grid`, of so many values of every number."""
    if grid is not None:
        check_whole("grid", grid, 2)
    done = set()
    for number, one in enumerate(terms.variables):
        # The same column may stand in a formula twice, as in `year + s(year)`: it changes as a whole.
        same = [other for other, variable in enumerate(terms.variables) if variable.name == one.name]
        if one.name in done or (one.kind == "number" and any(terms.variables[j].kind == "spline" for j in same)):
            continue
        done.add(one.name)
        if one.kind == "category":
            for category in one.categories.tolist():
                yield Change(one.name, category, _setting(same, terms, category))
        elif one.kind == "spline" or grid is not None:
            values = terms.kept[:, number]
            for value in np.linspace(values.min(), values.max(), grid or GRID).tolist():
                yield Change(one.name, value, _setting(same, terms, value))
        else:
            yield Change(one.name, "+1 sd", _adding(same, one.scale))


def _setting(same: list[int], terms: Terms, value: str | float) -> Callable[[Array], Array]:
    def apply(values: Array) -> Array:
        changed = values.copy()
        for number in same:
            changed[:, number] = _as_read(terms.variables[number], value)
        return changed

    return apply


def _as_read(variable: Variable, value: str | float) -> float:
    """A value as `Variable.read` has it; a number is also the category that it is written as."""
    if variable.kind != "category":
        return float(value)
    found = np.flatnonzero(variable.categories == str(value))
    return float(found[0]) if len(found) else -1.0


def _adding(same: list[int], step: float) -> Callable[[Array], Array]:
    def apply(values: Array) -> Array:
        changed = values.copy()
        changed[:, same] += step
        return changed

    return apply


def mean_shares_of(terms: Terms, values: Array, draws: Array) -> Array:
    """Expected shares (draws, K), averaged over documents with these values, for draws of λ."""
    rows = terms.table(values)
    shares = np.empty(draws.shape[:2])
    for number, weights in enumerate(draws):
        alpha = alpha_by_row(rows, weights)
        shares[number] = (alpha / alpha.sum(1, keepdims=True)).mean(0)
    return shares


def effect_rows(found: list[tuple[Change, Array]], level: float, first_topic: int = 0) -> list[TopicEffect]:
    """Effects, one after the other, from draws (draws, K) of every change; topics are counted from `first_topic`."""
    n_topics = found[0][1].shape[1] if found else 0
    return [
        TopicEffect(first_topic + k, change.covariate, change.value, *interval(draws[:, k], level))
        for k in range(n_topics)
        for change, draws in found
    ]


def interval(draws: Array, level: float) -> tuple[float, float, float]:
    """Mean of draws, and the bounds of an interval; of a single draw nothing is known but itself."""
    mean, n = float(draws.mean()), len(draws)
    if n < 2:
        return mean, -np.inf, np.inf
    width = float(student.ppf(0.5 + level / 2, n - 1) * draws.std(ddof=1) * np.sqrt(1 + 1 / n))
    return mean, mean - width, mean + width


def marginal_effects(
    terms: Terms, model: TopicModel, level: float = 0.9, grid: int | None = None, first_topic: int = 0
) -> list[TopicEffect]:
    """Effects of the covariates of a model on its topics, from the draws of λ that its samples hold."""
    check_level(level)
    draws = model.draws["weights"]
    now = mean_shares_of(terms, terms.kept, draws)
    found = [(change, mean_shares_of(terms, change.apply(terms.kept), draws) - now) for change in changes(terms, grid)]
    return effect_rows(found, level, first_topic)

"""Cumulative probit likelihood of ordered labels: stars, grades, degrees of agreement.

    ψ(y | f) = Φ(√c (t_{y+1} − f)) − Φ(√c (t_y − f)),     y = 0 … J − 1,    −∞ = t_0 < t_1 < … < t_J = ∞
    u ~ N(f, 1/c) between t_y and t_{y+1},    ω = c,    κ = c u               (Albert & Chib 1993)

A document has a utility u, its score with noise of precision c, and the label says between which cut-points that is.
One task serves all labels; a higher score speaks for later ones. Labels must be in order: they are sorted, as numbers
or texts are. `cost` is a precision, as that of the squared loss, not a power of the likelihood: so weights of classes
are refused.

The cut-points are part of the chain. All J − 1 are free, a priori normal with standard deviation CUT_SPREAD and in
order. The shares of topics sum to 1, so a shift of all weights can be undone by the cut-points; the prior of the
weights settles it. They are drawn by slice sampling, one after the other, with the utilities integrated out: given
these a cut-point could only move between the two closest of them (Cowles 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from topoi._disk.store import ModelError
from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.rng import OWN, RESPONSE, new_stream, seed_stream
from topoi._machine.truncated_normal import truncated_normal
from topoi.chain.responses.base import Own, Scores, check_rows
from topoi.chain.responses.kinds import LabelResponse
from topoi.chain.responses.settings import setting
from topoi.chain.responses.slice import slice_step
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.corpus import Corpus

CUT_SPREAD = 10.0
MOST_LEVELS = 1_000
LARGEST_SCORE = 30.0  # in standard deviations of the noise, where a link is fitted: probabilities are 0 or 1 there
IMPOSSIBLE = -1e300  # the logarithm of a probability that is 0 to all digits
_FAR = 25.0  # where erfc would soon underflow, and a series is exact
_HALF_LOG_2PI = 0.9189385332046727
_SQRT_HALF = 0.7071067811865476


@kernel
def log_tail(x: float) -> float:
    """log Φ(−x) for x ≥ 0."""
    if x < _FAR:
        return math.log(0.5 * math.erfc(_SQRT_HALF * x))
    if math.isinf(x):
        return -math.inf
    r: float = 1.0 / (x * x)
    return -0.5 * x * x - _HALF_LOG_2PI - math.log(x) + math.log1p(-r * (1.0 - r * (3.0 - 15.0 * r)))


@kernel
def log_between(low: float, high: float) -> float:
    """log(Φ(high) − Φ(low)), at least IMPOSSIBLE."""
    if low < 0.0 < high:
        p = 0.5 * (math.erf(_SQRT_HALF * high) - math.erf(_SQRT_HALF * low))
        return math.log(p) if p > 0.0 else IMPOSSIBLE
    near, far = (low, high) if low >= 0.0 else (-high, -low)
    at_near = log_tail(near)
    rest = -math.expm1(log_tail(far) - at_near)
    return max(at_near + math.log(rest), IMPOSSIBLE) if rest > 0.0 else IMPOSSIBLE


def logs_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """`log_between` of arrays."""
    upper = low > 0  # there the other tail has more digits
    low, high = np.where(upper, -high, low), np.where(upper, -low, high)
    at_high = log_ndtr(high)
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = at_high + np.log(-np.expm1(log_ndtr(low) - at_high))
    return np.maximum(found, IMPOSSIBLE)


@kernel
def edge(cuts: Floats, level: Int) -> float:
    """t_level: the lower end of a level, and the upper end of the one before it."""
    if level <= 0:
        return -math.inf
    return np.float64(cuts[level - 1]) if level <= cuts.shape[0] else math.inf


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, own: Floats, kappa: Floats, omega: Floats, seed: Int,
    sweep: Int, first: Int, last: Int, origin: Int,
) -> None:  # fmt: skip
    """Fill κ and ω of documents first … last − 1."""
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        seed_stream(stream, seed, RESPONSE, sweep, origin + d)
        for task in range(y.shape[1]):
            c = cost * np.float64(weight[d, task])
            if np.isnan(y[d, task]) or c == 0.0:
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
            else:
                level = np.int64(y[d, task])
                root, score = math.sqrt(c), np.float64(f[d, task])
                low, high = root * (edge(own[task], level) - score), root * (edge(own[task], level + 1) - score)
                omega[d, task] = c
                kappa[d, task] = c * score + root * truncated_normal(stream, low, high)


@kernel
def log_likelihood(
    y: Floats, f: Floats, weight: Floats, cost: float, low: float, cut: float, high: float, level: Int
) -> float:
    """Σ log ψ over the documents of a level and of the next, whose cut-points are low < cut < high."""
    total = 0.0
    for d in range(y.shape[0]):
        c = cost * np.float64(weight[d])
        if c > 0.0 and (y[d] == level or y[d] == level + 1):  # never where it is NaN
            root, score = math.sqrt(c), np.float64(f[d])
            if y[d] == level:
                total += log_between(root * (low - score), root * (cut - score))
            else:
                total += log_between(root * (cut - score), root * (high - score))
    return total


@dataclass(frozen=True)
class Ordinal(LabelResponse):
    """Cumulative probit; `cost` is the precision of the utilities, `levels` how many labels there are."""

    name = "ordinal"
    loss_formula = "Φ(√c (t_{y+1} − f)) − Φ(√c (t_y − f))"
    examples = (0.0, 1.0, 2.0)
    probabilistic = True
    linked = True
    family = "linear"
    effect_unit = "places in the order of the labels"
    joint = True
    ordered = True

    cost: float = setting(4.0)
    levels: float = 3.0  # from the targets

    @classmethod
    def check_use(cls, strategy: str, several: bool, class_weight: Any, positive_weight: Any) -> None:
        """One model, one label for each document, and no weights."""
        super().check_use(strategy, several, class_weight, positive_weight)
        if class_weight is not None:
            raise ParameterError(
                "class_weight", f'must be None for loss="{cls.name}": its cost is a precision, not a power of ψ'
            )

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        assert own is not None
        draw_rows(y, f, weight, self.cost, own, kappa, omega, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any, own: Own = None) -> Any:
        """log ψ(y | f), at the first cut-points if none are given."""
        cuts = (self._first_cuts() if own is None else own)[0]
        ends = np.concatenate(([-np.inf], cuts, [np.inf]))
        level = np.asarray(y, int)
        low, high = (np.sqrt(self.cost) * (ends[level + j] - f) for j in (0, 1))
        return np.vectorize(log_between)(low, high)[()]

    @classmethod
    def suited(cls, corpus: Corpus, targets: Floats) -> dict[str, float]:
        """There are as many levels as the targets have."""
        return {"levels": max(float(np.nanmax(targets)) + 1.0, 2.0)}

    def check_limits(self, largest_weight: float) -> None:
        """Raise if a setting is too large, or if there are too many labels to be in order."""
        super().check_limits(largest_weight)
        if self.levels > MOST_LEVELS:
            raise ParameterError("y", f'has {self.levels:g} labels; loss="{self.name}" takes {MOST_LEVELS} at most')

    def _first_cuts(self) -> NDArray[np.float64]:
        if not (2 <= self.levels <= MOST_LEVELS and self.levels == int(self.levels)):  # it may come from a file
            raise ModelError(f"levels must be a whole number from 2 to {MOST_LEVELS}, not {self.levels:g}")
        found: NDArray[np.float64] = ndtri(np.arange(1, int(self.levels)) / self.levels)[None, :]
        return found

    def first_own(self, n_tasks: int) -> Own:
        """Cut-points that make all labels equally likely at a score of 0, if the precision is 1."""
        return np.tile(self._first_cuts(), (n_tasks, 1))

    def draw_own(
        self, own: NDArray[np.float64], y: NDArray[Any], f: NDArray[Any], weight: NDArray[Any], seed: int, sweep: int,
        first_task: int,
    ) -> None:  # fmt: skip
        """Draw one cut-point after the other."""
        for task, cuts in enumerate(own):
            stream = new_stream(seed, OWN, sweep, first_task + task)
            target, score, scale = (np.ascontiguousarray(values[:, task]) for values in (y, f, weight))
            in_level = [np.count_nonzero(target == level) for level in range(len(cuts) + 1)]
            for level in range(len(cuts)):
                low, high = edge(cuts, level), edge(cuts, level + 2)

                def log_density(cut: float, given: tuple[Any, ...] = (target, score, scale, low, high, level)) -> float:
                    y, f, weight, low, high, level = given
                    found = log_likelihood(y, f, weight, self.cost, low, cut, high, level)
                    return found - 0.5 * (cut / CUT_SPREAD) ** 2

                # As wide as the conditional is, roughly; all of the prior where few documents have these labels.
                known = self.cost * (in_level[level] + in_level[level + 1])
                width = 4.0 / math.sqrt(known + 1.0 / CUT_SPREAD**2)
                cuts[level] = slice_step(stream, float(cuts[level]), log_density, width, low, high)

    def check_targets(self, y: Floats) -> None:
        """Raise unless targets are numbers of levels."""
        known = np.where(np.isnan(y), 0.0, y)
        wrong = (known < 0) | (known >= self.levels) | (known != np.floor(known))
        check_rows(wrong, f"must be the number of a label, 0 … {self.levels - 1:g}")

    def link(self, f: Scores, own: Own = None) -> Scores:
        """The probability of every label (…, documents, labels); of two labels, of the second alone."""
        own = self._first_cuts() if own is None else own
        cuts = np.sqrt(self.cost) * (own[..., 0, :][..., None, :] - f)
        if cuts.shape[-1] == 1:
            return np.asarray(ndtr(-cuts))
        end = np.full((*cuts.shape[:-1], 1), np.inf)
        low, high = np.concatenate((-end, cuts), axis=-1), np.concatenate((cuts, end), axis=-1)
        # In the upper tail Φ is 1 to all digits: there the other tail has them.
        return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))

    def chosen(self, samples: Scores, own: Own = None) -> NDArray[np.int64]:
        """The label of the highest probability."""
        p = self.link(samples, own).mean(0)
        chosen: NDArray[np.int64] = (p[:, 0] > 0.5).astype(np.int64) if p.shape[1] == 1 else p.argmax(1)
        return chosen

    def regressed(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The places of the labels in their order."""
        return y

    def as_numbers(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The places of the labels in their order."""
        return y

    def fit_link(self, y: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """An ordered probit regression on f.

        One more document of each label, with an average score, keeps labels possible that no document has.
        """
        n_labels = int(self.levels)
        level = np.concatenate((y.astype(int), np.arange(n_labels)))
        score = np.concatenate((f, np.full(n_labels, f.mean())))

        def cuts_of(x: NDArray[np.float64]) -> NDArray[np.float64]:
            found: NDArray[np.float64] = x[1] + np.concatenate(([0.0], np.exp(x[2:]).cumsum()))
            return found

        def loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            """Minus the log likelihood over slope, first cut-point and logarithms of the gaps; and its gradient."""
            ends = np.concatenate(([-np.inf], cuts_of(x), [np.inf]))
            low, high = ends[level] - x[0] * score, ends[level + 1] - x[0] * score
            log_p = logs_between(low, high)
            at_low, at_high = (np.exp(-0.5 * end**2 - _HALF_LOG_2PI - log_p) for end in (low, high))
            of_cuts = np.bincount(level, at_high, n_labels)[:-1] - np.bincount(level, at_low, n_labels)[1:]
            after = of_cuts[::-1].cumsum()[::-1]  # a gap moves all cut-points after it
            of_slope = -(score * (at_high - at_low)).sum()
            return -float(log_p.sum()), -np.concatenate(([of_slope, after[0]], after[1:] * np.exp(x[2:])))

        cuts = ndtri(np.bincount(level, minlength=n_labels).cumsum()[:-1] / len(level))
        first = np.concatenate(([1.0, cuts[0]], np.log(np.diff(cuts))))
        limits = [(-LARGEST_SCORE, LARGEST_SCORE)] * 2 + [(-LARGEST_SCORE, math.log(LARGEST_SCORE))] * (n_labels - 2)
        found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=limits)
        root = math.sqrt(self.cost)  # the noise of a score is 1/√c
        return float(found.x[0]) / root, cuts_of(found.x) / root

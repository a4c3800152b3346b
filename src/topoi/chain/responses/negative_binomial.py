"""Negative binomial likelihood of counts: citations, votes, visits. The score is the logarithm of the expected count.

    ψ(y | f) = [Γ(y + r)/Γ(r) · σ(t)^y σ(−t)^r]^c,     t = f + b − log r,    y = 0, 1, 2, …
    ω ~ PólyaGamma(c (y + r), t),    κ = c (y − r)/2 − ω (b − log r)          (Polson, Scott & Windle 2013)

A target has mean μ = e^(f + b) and variance μ + μ²/r. Two parameters of each output are part of the chain: the level b,
the logarithm of the count that a score of 0 stands for, and the dispersion r; the smaller r, the more counts vary. The
published form has the score t itself, so that the mean r e^t moves with r. Here r leaves it alone, which mixes better,
and weights of topics are logarithms of ratios: 0.7 is twice the count. κ follows by completing the square, since
σ(t)^y σ(−t)^r = e^(y t)/(1 + e^t)^(y + r) is a Gaussian in t given ω, and t is f plus a number.

b ~ N(0, LEVEL_SPREAD²) and r ~ Exponential(DISPERSION_RATE), within limits, are both drawn by slice sampling with ω
integrated out. (With t for the score, r has a conjugate step: Zhou & Carin 2015. It needs a whole c.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betainc, gammaln

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.polya_gamma import polya_gamma
from topoi._machine.rng import OWN, RESPONSE, new_stream, seed_stream
from topoi.chain.responses.base import Own, Scores, check_rows
from topoi.chain.responses.kinds import NumberResponse
from topoi.chain.responses.settings import STRONGEST, setting
from topoi.chain.responses.slice import slice_step

LEVEL_SPREAD = 10.0  # a priori: counts from e^−20 to e^20, which says nothing about those that there are
DISPERSION_RATE = 0.01  # a priori r is 100 on average: nearly Poisson, unless the targets say otherwise
LOWEST_R, HIGHEST_R = 1e-4, 1e6
LARGEST_COUNT = 1e9
LARGEST_LOG = 100.0  # of an expected count: no target is near it, and squares stay finite


@kernel
def softplus(x: float) -> float:
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


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
            target = np.float64(y[d, task])
            c = cost * np.float64(weight[d, task])
            if np.isnan(target) or c == 0.0:
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
            else:
                r = own[task, 0]
                offset = own[task, 1] - math.log(r)
                c = min(c, STRONGEST / (target + r))  # a wall already: see settings.py
                w = polya_gamma(stream, c * (target + r), np.float64(f[d, task]) + offset)
                omega[d, task] = w
                kappa[d, task] = 0.5 * c * (target - r) - w * offset


@kernel
def log_likelihood(y: Floats, f: Floats, weight: Floats, cost: float, r: float, level: float) -> float:
    """Σ log ψ over the documents of one output (documents,)."""
    total = 0.0
    log_r, lgamma_r = math.log(r), math.lgamma(r)
    for d in range(y.shape[0]):
        target = np.float64(y[d])
        c = cost * np.float64(weight[d])
        if not np.isnan(target) and c > 0.0:
            t = np.float64(f[d]) + level - log_r
            total += c * (math.lgamma(target + r) - lgamma_r - target * softplus(-t) - r * softplus(t))
    return total


@dataclass(frozen=True)
class NegativeBinomial(NumberResponse):
    """Negative binomial likelihood; `cost` is a power of it, and 1 is the likelihood itself."""

    name = "counts"
    loss_formula = "[Γ(y + r)/Γ(r) · σ(t)^y σ(−t)^r]^c, t = f + b − log r"
    examples = (0.0, 1.0, 3.0, 40.0)
    predictive = True
    linked = True
    family = "log_ratio"
    effect_unit = "logarithms of ratios of counts"
    score_unit = "logarithm of the expected count over the usual one"

    cost: float = setting(1.0)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        assert own is not None
        draw_rows(y, f, weight, self.cost, own, kappa, omega, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any, own: Own = None) -> Any:
        """log ψ(y | f), at the first parameters if none are given."""
        r, level = np.array([1.0, 0.0]) if own is None else own[..., 0, :]
        t = f + level - np.log(r)
        constant = gammaln(np.add(y, r)) - gammaln(r)
        return self.cost * (constant - y * np.logaddexp(0.0, -t) - r * np.logaddexp(0.0, t))

    def first_own(self, n_tasks: int) -> NDArray[np.float64]:
        """The dispersion r and the level b of each output."""
        return np.tile([1.0, 0.0], (n_tasks, 1))

    def draw_own(
        self, own: NDArray[np.float64], y: NDArray[Any], f: NDArray[Any], weight: NDArray[Any], seed: int, sweep: int,
        first_task: int,
    ) -> None:  # fmt: skip
        """Draw the level, then the dispersion."""
        for task in range(len(own)):
            stream = new_stream(seed, OWN, sweep, first_task + task)
            target, score, scale = (np.ascontiguousarray(values[:, task]) for values in (y, f, weight))
            width = 4.0 / math.sqrt(1.0 + np.count_nonzero(~np.isnan(target)))
            r, level = own[task].tolist()

            def of_level(b: float, given: tuple[Any, ...] = (target, score, scale, r)) -> float:
                y, f, weight, r = given
                return log_likelihood(y, f, weight, self.cost, r, b) - 0.5 * (b / LEVEL_SPREAD) ** 2

            level = slice_step(stream, level, of_level, width)

            def of_log_r(log_r: float, given: tuple[Any, ...] = (target, score, scale, level)) -> float:
                y, f, weight, level = given
                r = math.exp(log_r)
                return log_likelihood(y, f, weight, self.cost, r, level) - DISPERSION_RATE * r + log_r

            limits = math.log(LOWEST_R), math.log(HIGHEST_R)
            own[task] = math.exp(slice_step(stream, math.log(r), of_log_r, width, *limits)), level

    def check_targets(self, y: Floats) -> None:
        """Raise unless targets are whole numbers from 0 on."""
        known = np.where(np.isnan(y), 0.0, y)
        check_rows((known < 0) | (known != np.floor(known)), "must be a count, one of 0, 1, 2, …")
        check_rows(known > LARGEST_COUNT, f"is above {LARGEST_COUNT:g}, the largest count")

    def units(self, y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Counts stay as they are."""
        return np.zeros(y.shape[1]), np.ones(y.shape[1])

    def link(self, f: Scores, own: Own = None) -> Scores:
        """The expected count e^(f + b)."""
        own = self.first_own(f.shape[-1]) if own is None else own
        expected: Scores = np.exp(np.minimum(f + own[..., None, :, 1], LARGEST_LOG))
        return expected

    def variance(self, f: Scores, own: Own = None) -> Scores:
        """μ + μ²/r."""
        own = self.first_own(f.shape[-1]) if own is None else own
        mean = self.link(f, own)
        return np.asarray(mean + mean**2 / own[..., None, :, 0])

    def quantiles(self, samples: Scores, own: Own, p: float) -> Scores:
        """The smallest count that targets exceed with probability 1 − p at most, over the samples: by bisection."""
        assert own is not None
        r, mean = own[:, None, :, 0], self.link(samples, own)
        q = r / (r + mean)

        def below(count: Scores) -> Scores:
            """The probability of at most so many."""
            found: Scores = betainc(r, count + 1.0, q).mean(0)
            return found

        low, high = np.full(samples.shape[1:], -1.0), np.ones(samples.shape[1:])
        while (short := (below(high) < p) & (high < LARGEST_COUNT)).any():
            low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = below(middle) >= p
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def as_numbers(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithms, of one more than the count."""
        return np.asarray(np.log1p(y))

    def fit_link(self, y: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """A negative binomial regression on f, with the priors of the chain for level and logarithm of r."""
        weight = np.ones_like(y)

        def loss(x: NDArray[np.float64]) -> float:
            slope, level, log_r = x.tolist()
            r = math.exp(log_r)
            found = log_likelihood(y, slope * f, weight, 1.0, r, level)
            return float(0.5 * (level / LEVEL_SPREAD) ** 2 + DISPERSION_RATE * r - log_r - found)

        first = np.array([1.0, math.log(y.mean() + 0.5), 0.0])
        limits = [(None, None), (-LARGEST_LOG, LARGEST_LOG), (math.log(LOWEST_R), math.log(HIGHEST_R))]
        slope, level, log_r = minimize(loss, first, method="L-BFGS-B", bounds=limits).x.tolist()
        return slope, np.array([math.exp(log_r), level])

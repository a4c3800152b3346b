"""The law of PG(b, c) with SciPy alone: Laplace transform, moments, density and distribution function.

Expand cosh(√·)^−b in powers of e^(−2√·): PG(b, c) is a mixture, with weights of alternating sign, of the times at which
a Brownian motion with drift |c| first reaches n + b/2, n = 0, 1, 2, … (Polson, Scott and Windle 2013). The terms cancel
for large shapes, so the sum is for b ≤ 20 only.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, poch


def laplace(t, shape, tilt):
    """E exp(−t ω) for ω ~ PG(shape, tilt)."""

    def log_cosh(x):
        return x + math.log1p(math.exp(-2.0 * x)) - math.log(2.0)

    return math.exp(shape * (log_cosh(abs(tilt) / 2.0) - log_cosh(math.sqrt((tilt**2 / 2.0 + t) / 2.0))))


def moments(shape, tilt):
    """Mean and variance by formula."""
    z = abs(tilt)
    if z == 0.0:
        return shape / 4.0, shape / 24.0
    sech_squared = 1.0 / math.cosh(z / 2.0) ** 2
    return shape / (2.0 * z) * math.tanh(z / 2.0), shape / (4.0 * z**3) * (math.sinh(z) - z) * sech_squared


def _mixture(x, shape, tilt, law):
    """Sum of `law(x, level, drift)` over the levels to reach, weighted."""
    assert shape <= 20.0, "the terms cancel for large shapes"
    x, drift = np.asarray(x, float), abs(tilt)
    n = np.arange(max(20, math.ceil(10.0 * math.sqrt(x.max()))))  # further levels are more than 10 deviations away
    weights = (1.0 + math.exp(-drift)) ** shape * (-1.0) ** n * np.exp(-n * drift) * poch(n + 1.0, shape - 1.0)
    return law(x[..., None], n + shape / 2.0, drift) @ weights / math.gamma(shape)


def pdf(x, shape, tilt):
    """Density of PG(shape, tilt), shape ≤ 20."""

    def passage(x, level, drift):
        return level / np.sqrt(2.0 * np.pi * x**3) * np.exp(-((level - drift * x) ** 2) / (2.0 * x))

    return _mixture(x, shape, tilt, passage)


def cdf(x, shape, tilt):
    """Distribution function of PG(shape, tilt), shape ≤ 20."""

    def passed(x, level, drift):
        root = np.sqrt(x)
        late = 2.0 * level * drift + log_ndtr(-(level + drift * x) / root)
        return np.exp(log_ndtr((drift * x - level) / root)) + np.exp(late)

    return _mixture(x, shape, tilt, passed)

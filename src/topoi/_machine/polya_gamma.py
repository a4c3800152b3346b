"""Exact draws from the Pólya–Gamma distribution PG(b, z) for every real shape b > 0 and every real tilt z.

PG(b, z) is a quarter of J(h, v) with h = b, v = |z|/2, where J(h, v) has the Laplace transform
(cosh v / cosh √(v² + 2s))^h (Polson, Scott, Windle 2013). J adds over h. Two samplers share the work:

**Hitting times** (few or no pieces needed). The density of J(h, v) is the alternating series of Windle, Polson and
Scott (2014, arXiv:1405.0506), f = a₀ − a₁ + a₂ …, whose first term a₀ is (1 + e^(−2v))^h times the inverse Gaussian
density of mean h/v and shape h². *f ≤ a₀ everywhere, for every real h:* by Jacobi's theta identity the Lévy density of
J, Σ_k e^(−(k−½)²π²x/2)/x, is at most that of the hitting times of Brownian motion, 1/√(2πx³), and what is missing has
total mass log 2; so a hitting time of level h is J plus an independent compound Poisson sum, empty with probability
2^(−h), whence 2^(−h)·f ≤ hitting density. So one inverse Gaussian proposal and the partial sums of the series give an
exact draw, accepted with probability (1 + e^(−2v))^(−h). We split h so that this stays above 1/e.

**Saddlepoint** (many pieces would be needed). The saddlepoint density SP is log-concave for h ≥ 2, so three tangents of
log SP are an envelope, accepted about 0.88 of the time. SP alone would be an approximation (as in other packages): but
e^(−1/12h) ≤ f/SP ≤ 1 (its ends are the gamma tail, Stirling's error, and the inverse Gaussian tail, where SP is
exact; the tests check both bounds), so only a candidate within that narrow band needs f, and gets it by quadrature of
the inversion integral, which converges geometrically. The cost does not grow with h.
"""

from __future__ import annotations

import cmath
import math

from topoi._machine.arrays import Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import inverse_gaussian, uniform

_POLE = 2.4674011002723395  # π²/4: the Laplace transform of J ends at w = −π²/4, w = v² continued below 0
_LOG_2 = 0.6931471805599453
# Proposals beyond a bound that J passes with probability below e^(−_FAR) are turned down unseen: 1e-26 is far below
# what 52-bit uniforms can show, and the series would need many terms there.
_FAR = 60.0
# From this many pieces on the saddlepoint sampler is the quicker one (measured). That is h > 7 at least.
_MANY_PIECES = 6.0


@kernel
def polya_gamma(stream: Stream, shape: float, tilt: float) -> float:
    """A draw from PG(shape, tilt), for any real shape > 0 and any finite tilt."""
    v = 0.5 * abs(tilt)
    # The cost of n pieces is n·(1 + e^(−2v))^(h/n), least where the log of the power is 1.
    pieces = math.floor(shape * math.log1p(math.exp(-2.0 * v)) + 0.5)
    if pieces >= _MANY_PIECES:
        return 0.25 * _by_saddlepoint(stream, shape, v)
    n = max(1, int(pieces))
    total = 0.0
    for _ in range(n):
        total += _by_hitting_time(stream, shape / n, v)
    return 0.25 * total


@kernel
def _by_hitting_time(stream: Stream, h: float, v: float) -> float:
    """A draw from J(h, v): inverse Gaussian proposal, alternating series."""
    mean = h / v if v > 1e-300 else math.inf
    # Chernoff's bound with E e^((1 + v²/2)·J) = (cosh v / cos √2)^h ≤ e^(h·(v + 1.858)).
    far = (_FAR + h * (v + 1.858)) / (1.0 + 0.5 * v * v)
    while True:
        x = inverse_gaussian(stream, mean, h * h)
        if x < far and _below_series(uniform(stream), x, h):
            return x


@kernel
def _below_series(u: float, x: float, h: float) -> bool:
    """Whether u < f(x)/a₀(x) = Σ (−1)ⁿ·C(n + h − 1, n)·(2n + h)/h·e^(−2n(n + h)/x); the tilt has cancelled."""
    total = 1.0
    coefficient = 1.0
    last = 1.0
    n = 0.0
    while True:
        n += 1.0
        coefficient *= (n + h - 1.0) / n
        term = coefficient * (2.0 * n + h) / h * math.exp(-2.0 * n * (n + h) / x)
        before = total
        total += term if n % 2.0 == 0.0 else -term
        # The ratio of successive terms falls with n for every h > 0: once below 1, the limit is between two sums.
        if term < last:
            if u < min(before, total):
                return True
            if u >= max(before, total) or term < 1e-18:
                return False
        last = term


@kernel
def _mean(w: float) -> float:
    """Mean of J(1, √w): tanh √w / √w, continued to −π²/4 < w < 0."""
    if w > 1e-3:
        v = math.sqrt(w)
        return math.tanh(v) / v
    if w < -1e-3:
        v = math.sqrt(-w)
        return math.tan(v) / v
    # 1 − w/3 + 2w²/15 − 17w³/315 + 62w⁴/2835
    tail = 0.13333333333333333 - w * (0.05396825396825397 - w * 0.021869488536155202)
    return 1.0 - w * (0.3333333333333333 - w * tail)


@kernel
def _variance(w: float, mean: float) -> float:
    """Variance of J(1, √w), given its mean: (mean − 1 + w·mean²)/w."""
    if abs(w) > 1e-3:
        return (mean - 1.0 + w * mean * mean) / w
    return 0.6666666666666666 - w * (0.5333333333333333 - w * (0.3238095238095238 - w * 0.17495590828924162))


@kernel
def _variance_slope(w: float, mean: float, variance: float) -> float:
    """Derivative by w of the variance of J(1, √w)."""
    if abs(w) > 1e-3:
        return (mean * mean - (0.5 + w * mean) * variance - variance) / w
    return -0.5333333333333333 + w * (0.6476190476190476 - w * (0.5248677248677249 - w * 0.3545294212))


@kernel
def _log_cosh(w: float) -> float:
    """log cosh √w, continued to w > −π²/4."""
    if w >= 0.0:
        v = math.sqrt(w)
        return v - _LOG_2 + math.log1p(math.exp(-2.0 * v))
    return math.log(math.cos(math.sqrt(-w)))


@kernel
def _tilt_for_mean(mean: float) -> float:
    """The w for which J(1, √w) has this mean: the saddlepoint."""
    # Newton's method on g = 1/mean = √w·coth √w, concave in w. Its start: g² − w = w/sinh²√w is 1 at g = 1, with
    # slope −1, π²/4 at the pole g = 0, and vanishes for large g; a Gaussian in g meets all of these.
    g = 1.0 / mean
    w = g * g - math.exp((1.0 - g) * (1.0 - 0.0968347 * (1.0 - g)))
    for _ in range(8):
        t = _mean(w)
        step = (t * g - 1.0) * t / (0.5 * _variance(w, t))  # (g − 1/t) / (d(1/t)/dw), with dt/dw = −variance/2
        w = max(w + step, 0.5 * (w - _POLE))  # never past the pole
        # log SP is stationary in w: an error of 1e-6 here, squared by the last step, is none there.
        if abs(step) <= 1e-6 * (1.0 + abs(w)) and abs(step) <= 1e-4 * (w + _POLE):
            break
    return w


@kernel
def _log_saddlepoint(x: float, h: float, w: float, w_0: float) -> float:
    """Log saddlepoint density of J(h, √w_0) at x = h·mean(w), but for the constant ½·log 2πh."""
    variance = _variance(w, _mean(w))
    return h * (_log_cosh(w_0) - _log_cosh(w)) + 0.5 * x * (w - w_0) - 0.5 * math.log(variance)


@kernel
def _log_saddlepoint_slope(h: float, w: float, w_0: float) -> float:
    """Derivative by x of `_log_saddlepoint`."""
    mean = _mean(w)
    variance = _variance(w, mean)
    return 0.5 * (w - w_0) + _variance_slope(w, mean, variance) / (h * variance * variance)


@kernel
def _log_correction(x: float, h: float, w: float) -> float:
    """log f(x)/SP(x), exact: inversion of the characteristic function of J(h, √w) at its own mean x = h·mean(w)."""
    # The trapezoidal sum with step δ is the exact density summed over x + k·2π/δ. J is sub-gamma with variance h·var
    # and scale 1/(π²/8 + w/2), so beyond `period` the copies weigh below e^(−40).
    variance = h * _variance(w, _mean(w))
    period = math.sqrt(80.0 * variance) + 80.0 / (_POLE + w)
    step = 6.283185307179586 / period
    log_0 = _log_cosh(w)
    total = 0.5
    omega = 0.0
    while True:
        omega += step
        q = cmath.sqrt(complex(w, -2.0 * omega))  # Re q > 0, so each logarithm below is on its principal branch
        log_ratio = h * (log_0 + _LOG_2 - q - cmath.log(1.0 + cmath.exp(-2.0 * q)))
        if log_ratio.real < -42.0:  # the modulus falls with ω
            return math.log(total * step / math.pi * math.sqrt(2.0 * math.pi * variance))
        total += math.exp(log_ratio.real) * math.cos(log_ratio.imag - omega * x)


@kernel
def _by_saddlepoint(stream: Stream, h: float, v: float) -> float:
    """A draw from J(h, v), h ≥ 2: three tangents of log SP as envelope, f itself where SP cannot decide."""
    w_0 = v * v
    mean = _mean(w_0)
    mid = h * mean
    # Touching points at the mean and √2 standard deviations off: best for a normal density (acceptance 0.886).
    reach = math.sqrt(2.0 * h * _variance(w_0, mean))
    left, right = mid - reach, mid + reach
    if left < 0.25 * mid:
        left = 0.25 * mid
    w_left, w_right = _tilt_for_mean(left / h), _tilt_for_mean(right / h)
    top = _log_saddlepoint(mid, h, w_0, w_0)
    slope = _log_saddlepoint_slope(h, w_0, w_0)
    top_left = _log_saddlepoint(left, h, w_left, w_0) - top
    top_right = _log_saddlepoint(right, h, w_right, w_0) - top
    slope_left = _log_saddlepoint_slope(h, w_left, w_0)
    slope_right = _log_saddlepoint_slope(h, w_right, w_0)
    # Where the tangents meet, the height there, and the mass of the three parts (relative to e^top).
    meet_left = (top_left - slope_left * left + slope * mid) / (slope - slope_left)
    meet_right = (top_right - slope_right * right + slope * mid) / (slope - slope_right)
    height_left = math.exp(slope * (meet_left - mid))
    height_right = math.exp(slope * (meet_right - mid))
    width = meet_right - meet_left
    mass_left = height_left / slope_left  # reaches below 0, where candidates are turned down
    mass_right = -height_right / slope_right
    rise = height_right / height_left - 1.0
    flat = abs(rise) < 1e-8
    mass_mid = height_left * width * (1.0 + 0.5 * rise) if flat else (height_right - height_left) / slope
    band = -1.0 / (12.0 * h)
    while True:
        part = uniform(stream) * (mass_left + mass_mid + mass_right)
        u = uniform(stream)
        if part < mass_left:
            x = meet_left + math.log(u) / slope_left
            if x <= 0.0:
                continue
            log_envelope = top_left + slope_left * (x - left)
        elif part < mass_left + mass_mid:
            x = meet_left + (width * u if flat else math.log1p(u * rise) / slope)
            log_envelope = slope * (x - mid)
        else:
            x = meet_right + math.log(u) / slope_right
            log_envelope = top_right + slope_right * (x - right)
        w = _tilt_for_mean(x / h)
        excess = math.log(uniform(stream)) + log_envelope + top - _log_saddlepoint(x, h, w, w_0)
        if excess <= band or (excess <= 0.0 and excess <= _log_correction(x, h, w)):
            return x

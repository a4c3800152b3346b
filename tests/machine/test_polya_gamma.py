"""Pólya–Gamma draws against their distribution function, Laplace transform and moments; the facts the sampler rests on.

The distribution function is computed in two ways (a series for small shapes, an inverted characteristic function for
large ones) that agree with each other, with the Laplace transform, and with the package `polyagamma` where it installs.

False alarms: as in test_rng.py. At most TESTS p-values are judged, each at FAMILY / TESTS, so that all of them together
fail by chance with probability at most 1e-4; the seed is fixed and was not chosen.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from support.polya_gamma_law import cdf, laplace, moments, pdf
from topoi._machine import polya_gamma as pg
from topoi._machine.jit import kernel
from topoi._machine.rng import new_stream

FAMILY = 1e-4
TESTS = 250
ALPHA = FAMILY / TESTS
PURPOSE = 1_000_002  # not a purpose of the library
N = 30_000
SHAPES = [0.1, 0.5, 1.0, 1.6, 3.0, 10.3, 102.4, 204.8]
TILTS = [0.0, 0.5, 4.0, 30.0, -4.0]
judged: list[float] = []


def accept(p_value):
    """Whether a p-value does not speak against the draw, at the level of this file."""
    judged.append(float(p_value))
    return p_value > ALPHA


@kernel
def fill(stream, shape, tilt, out):
    for i in range(out.size):
        out[i] = pg.polya_gamma(stream, shape, tilt)


@kernel
def fill_by_saddlepoint(stream, shape, tilt, out):
    for i in range(out.size):
        out[i] = 0.25 * pg._by_saddlepoint(stream, shape, 0.5 * abs(tilt))


@kernel
def fill_by_hitting_time(stream, shape, tilt, pieces, out):
    for i in range(out.size):
        out[i] = 0.0
        for _ in range(pieces):
            out[i] += 0.25 * pg._by_hitting_time(stream, shape / pieces, 0.5 * abs(tilt))


@kernel
def log_corrections(h, ws, out):
    for i in range(ws.size):
        out[i] = pg._log_correction(h * pg._mean(ws[i]), h, ws[i])


def sample(shape, tilt, n=N, block=0):
    out = np.empty(n)
    fill(new_stream(7, PURPOSE, 0, block), float(shape), float(tilt), out)
    return out


def cosine_cdf(x, shape, tilt):
    """The cdf by Fourier-cosine inversion of the characteristic function (Fang and Oosterlee 2008)."""
    mean, variance = moments(shape, tilt)
    low, high = max(0.0, mean - 12.0 * math.sqrt(variance)), mean + 16.0 * math.sqrt(variance)
    omega = np.arange(1, 600) * math.pi / (high - low)
    v = abs(tilt) / 2.0
    root = np.sqrt(v * v - 0.5j * omega)  # PG = J/4: s = −iω/4, v² + 2s
    log_cosh = root + np.log1p(np.exp(-2.0 * root)) - math.log(2.0)
    log_cosh_v = v + math.log1p(math.exp(-2.0 * v)) - math.log(2.0)
    weights = np.real(np.exp(shape * (log_cosh_v - log_cosh) - 1j * omega * low))
    assert abs(weights[-1]) < 1e-12  # converged
    y = np.asarray(x) - low
    parts = np.sin(np.multiply.outer(y, omega)) @ (weights / omega)
    return (y + 2.0 * parts) / (high - low)


def reference_cdf(shape, tilt):
    """An independent cdf that can be trusted at these parameters."""
    # The series' terms cancel for large shapes; the cosines need a characteristic function that falls off, so a large
    # shape.
    if shape <= 10.0:
        return lambda x: cdf(x, shape, tilt)
    mean, variance = moments(shape, tilt)
    grid = mean + math.sqrt(variance) * np.linspace(-11.0, 15.0, 4001)
    grid = grid[grid > 0.0]
    values = cosine_cdf(grid, shape, tilt)
    return lambda x: np.interp(x, grid, values)


def around_the_mean(shape, tilt):
    mean, variance = moments(shape, tilt)
    x = mean + math.sqrt(variance) * np.array([-2.0, -1.0, -0.5, 0.0, 1.0, 3.0])
    return x[x > 0.0]


def test_the_two_references_agree_where_both_hold():
    for shape, tilt in [(10.3, 0.0), (10.3, 4.0), (20.0, 0.5)]:
        x = around_the_mean(shape, tilt)
        np.testing.assert_allclose(cosine_cdf(x, shape, tilt), cdf(x, shape, tilt), atol=1e-8)


@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape <= 10.0])
def test_the_density_has_the_laplace_transform_and_the_distribution_function(shape, tilt):
    mean, variance = moments(shape, tilt)
    middle, top = math.log(mean), math.log(mean + 60.0 * math.sqrt(variance))

    def expectation(of, low, high):
        """E of(ω) for ω = e^y between two ends."""
        return integrate.quad(
            lambda y: of(math.exp(y)) * pdf(math.exp(y), shape, tilt) * math.exp(y), low, high, epsabs=1e-12, limit=200
        )[0]

    for t in (0.0, 0.3 / mean, 3.0 / mean):
        found = sum(expectation(lambda x, t=t: math.exp(-t * x), *ends) for ends in [(-80.0, middle), (middle, top)])
        np.testing.assert_allclose(found, laplace(t, shape, tilt), rtol=1e-7)
    np.testing.assert_allclose(expectation(lambda x: 1.0, -80.0, middle), cdf(mean, shape, tilt), rtol=1e-7)


def test_the_reference_agrees_with_the_package_polyagamma():
    package = pytest.importorskip(
        "polyagamma", reason="the package polyagamma has no wheel for this Python or platform"
    )
    for shape in [shape for shape in SHAPES if shape <= 10.0]:
        for tilt in TILTS:
            x = around_the_mean(shape, tilt)
            np.testing.assert_allclose(cdf(x, shape, tilt), package.polyagamma_cdf(x, shape, tilt), atol=1e-10)
            np.testing.assert_allclose(pdf(x, shape, tilt), package.polyagamma_pdf(x, shape, tilt), rtol=1e-8)


def laplace_p_value(x, t, shape, tilt):
    """Of the mean of exp(−t x), which is bounded, so near normal: a check that rests on no series and no inversion."""
    expected = laplace(t, shape, tilt)
    spread = math.sqrt((laplace(2.0 * t, shape, tilt) - expected**2) / x.size)
    return 2.0 * stats.norm.sf(abs(np.exp(-t * x).mean() - expected) / spread)


@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_distribution_and_moments(shape, tilt):
    x = sample(shape, tilt)
    assert np.isfinite(x).all()
    assert (x > 0.0).all()
    assert accept(stats.kstest(x, reference_cdf(shape, tilt)).pvalue)
    mean, variance = moments(shape, tilt)
    assert accept(2.0 * stats.norm.sf(abs(x.mean() - mean) / math.sqrt(variance / N)))
    for t in (0.5 / mean, 3.0 / mean):
        assert accept(laplace_p_value(x, t, shape, tilt))
    # The variance by the central limit theorem, with the exact fourth moment: PG is a sum of gammas of common shape
    # b and scales s_k, so κ₄ = 6·b·Σ s_k⁴ and Var((x − m)²) = κ₄ + 2κ₂². Skewed summands make a normal p-value too
    # small for small shapes, hence only from shape 1 on.
    if shape >= 1.0:
        k = np.arange(1, 2001)
        scales = 1.0 / (2.0 * math.pi**2 * ((k - 0.5) ** 2 + tilt**2 / (4.0 * math.pi**2)))
        spread = math.sqrt((6.0 * shape * (scales**4).sum() + 2.0 * variance**2) / N)
        assert accept(2.0 * stats.norm.sf(abs(((x - mean) ** 2).mean() - variance) / spread))


@pytest.mark.parametrize(("shape", "tilt"), [(3.0, 0.0), (5.0, 1.0), (9.0, 0.0), (9.0, 3.0)])
def test_both_samplers_are_right_where_either_could_serve(shape, tilt):
    x, y = np.empty(N // 3), np.empty(N // 3)
    fill_by_saddlepoint(new_stream(7, PURPOSE, 1, 0), shape, tilt, x)
    fill_by_hitting_time(new_stream(7, PURPOSE, 1, 1), shape, tilt, 4, y)
    for values in (x, y):
        assert accept(stats.kstest(values, lambda t: cdf(t, shape, tilt)).pvalue)


def test_shapes_add():
    x = sample(0.7, 1.0, block=2) + sample(9.6, 1.0, block=3)
    assert accept(stats.kstest(x, reference_cdf(10.3, 1.0)).pvalue)


@pytest.mark.parametrize(
    ("shape", "tilt"), [(1e-3, 0.0), (1e-3, 1e3), (1.0, 1e6), (1e5, 0.0), (1e5, 1e3), (50.0, 1e-12)]
)
def test_extreme_parameters(shape, tilt):
    x = sample(shape, tilt, n=2000)
    assert np.isfinite(x).all()
    assert (x > 0.0).all()
    if shape >= 1.0:
        mean = shape / (2.0 * tilt) * math.tanh(tilt / 2.0) if tilt > 1e-6 else shape / 4.0
        variance = shape / (2.0 * tilt**3) if tilt > 100.0 else shape / 24.0
        assert accept(2.0 * stats.norm.sf(abs(x.mean() - mean) / math.sqrt(variance / x.size)))


@pytest.mark.parametrize("h", [5.5, 8.0, 30.0, 204.8])
def test_bounds_on_the_saddlepoint_density(h):
    # e^(−1/12h) ≤ f/SP ≤ 1 for all x: the sampler decides without f outside this band.
    w = np.concatenate([-(math.pi**2) / 4.0 + np.logspace(-3, 0.39, 80), np.logspace(-4, 4, 80)])
    out = np.empty(w.size)
    log_corrections(h, w, out)
    assert out.max() < 1e-11
    assert out.min() > -1.0 / (12.0 * h) - 1e-9


@pytest.mark.parametrize("h", [2.0, 8.0, 204.8])
def test_saddlepoint_density_is_log_concave(h):
    y = np.logspace(-2, 2, 1000)
    w = np.array([pg._tilt_for_mean(t) for t in y])
    np.testing.assert_allclose([pg._mean(t) for t in w], y, rtol=1e-9)
    slope = np.array([pg._log_saddlepoint_slope(h, t, 1.0) for t in w])
    assert (np.diff(slope) < 0.0).all()
    # The slope is the derivative of the log density (trapezoidal rule between neighbours).
    log_density = np.array([pg._log_saddlepoint(h * t, h, s, 1.0) for t, s in zip(y, w, strict=True)])
    area = 0.5 * (slope[1:] + slope[:-1]) * np.diff(h * y)
    np.testing.assert_allclose(area, np.diff(log_density), rtol=1e-3, atol=1e-3 * np.abs(area).max())


def test_first_term_of_the_series_bounds_the_density():
    # f ≤ a₀ for every h and x, hence f/a₀ ≤ 1 and ≥ 0: u just outside [0, 1] must be decided at once.
    for h in (0.05, 0.5, 1.0, 1.44, 2.0):
        for x in np.logspace(-2, 1.7, 40):
            assert not pg._below_series(1.0 + 1e-12, x, h)
            assert pg._below_series(-1e-12, x, h)


def test_slightly_wrong_draws_are_rejected():
    # Power: a scale 2 % off; a shape rounded to an integer; the gamma series cut after 5 terms. (A cut
    # after 20 terms, 1 % of the mean, is beyond what N draws can show at this level.)
    assert stats.kstest(1.02 * sample(10.3, 0.5), reference_cdf(10.3, 0.5)).pvalue < ALPHA
    assert stats.kstest(sample(2.0, 0.5), reference_cdf(1.6, 0.5)).pvalue < ALPHA
    k = np.arange(1, 6)
    cut = np.random.default_rng(7).gamma(1.6, size=(N, 5)) @ (1.0 / (2.0 * math.pi**2 * (k - 0.5) ** 2))
    assert stats.kstest(cut, reference_cdf(1.6, 0.0)).pvalue < ALPHA
    assert laplace_p_value(cut, 1.0, 1.6, 0.0) < ALPHA
    assert laplace_p_value(1.02 * sample(10.3, 0.5), 0.4, 10.3, 0.5) < ALPHA
    assert laplace_p_value(sample(2.0, 0.5), 2.0, 1.6, 0.5) < ALPHA


def test_number_of_tests():
    assert len(judged) <= TESTS, f"raise TESTS: {len(judged)} p-values were judged"

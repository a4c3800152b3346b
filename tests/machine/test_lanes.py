"""Loops in vectors of sixteen lanes: the same bits as their plain twins, whatever the number of rows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from topoi._machine import lanes
from topoi._machine.simd import LANES, aligned_zeros


@pytest.fixture(scope="module")
def plain():
    """The module without the compiler."""
    spec = importlib.util.spec_from_file_location("plain_lanes", Path(lanes.__file__))
    module = importlib.util.module_from_spec(spec)
    was, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        numba.config.DISABLE_JIT = was
        del sys.modules[spec.name]
    return module


def rows(rng, n, width, dtype=np.float32):
    out = aligned_zeros((n, width), dtype)
    out[:] = rng.normal(0, 2, (n, width))
    return out


@pytest.mark.parametrize("name", ["add_weighted", "add_weighted_squares"])
@pytest.mark.parametrize(("weights", "dtype"), [("f4", np.float32), ("f4", np.float64), ("f8", np.float64)])
@pytest.mark.parametrize("n_tasks", [0, 1, 3, 4, 5, 20, 150])
@pytest.mark.parametrize("width", [16, 32, 112])
def test_weighted_rows(name, n_tasks, width, weights, dtype, plain):
    rng = np.random.default_rng(n_tasks)
    eta, weight, start = (
        rows(rng, n_tasks, width, weights),
        rng.normal(size=n_tasks).astype(dtype),
        rows(rng, 1, width, dtype)[0],
    )
    found, twin = start.copy(), start.copy()
    getattr(lanes, name)(eta, weight, found)
    getattr(plain, name)(eta, weight, twin)
    np.testing.assert_array_equal(found, twin)
    power = 2 if name.endswith("squares") else 1
    expected = start + weight.astype(float) @ eta.astype(float) ** power
    # Squares of float32 weights are rounded to float32, whatever they are added to.
    exact = dtype is np.float64 and (weights == "f8" or power == 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 if exact else 1e-3)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 60])
def test_gather_and_spread(n, plain):
    rng = np.random.default_rng(n)
    doc = np.sort(rng.permutation(70)[:n]).astype(np.int32)
    share = rng.random(n).astype(np.float32)
    omega, kappa, f = rows(rng, 70, LANES) ** 2, rows(rng, 70, LANES), rows(rng, 70, LANES, np.float64)
    old, change = rng.normal(size=LANES), rng.normal(size=LANES)
    lo, hi = min(2, n), n
    sums = [(np.full(LANES, 1.5), np.zeros(LANES)) for _ in range(2)]
    for module, (precision, b) in zip((lanes, plain), sums, strict=True):
        module.gather(lo, hi, doc, share, omega, kappa, f, old, precision, b)
    np.testing.assert_array_equal(sums[0], sums[1])
    d, x = doc[lo:hi], share[lo:hi, None].astype(float)
    np.testing.assert_allclose(sums[0][0], 1.5 + (omega[d] * x**2).sum(0), rtol=1e-12)
    expected = (x * (kappa[d] - omega[d].astype(float) * (f[d] - old * x))).sum(0)
    np.testing.assert_allclose(sums[0][1], expected, rtol=1e-9, atol=1e-9)

    for origin in (0, int(d.min(initial=70))):
        scores = [f[origin:].copy(), f[origin:].copy()]
        for module, score in zip((lanes, plain), scores, strict=True):
            module.spread(lo, hi, doc, share, score, change, origin)
        np.testing.assert_array_equal(scores[0], scores[1])
        expected = f[origin:].copy()
        expected[d - origin] += x * change
        np.testing.assert_allclose(scores[0], expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [16, 32, 112])
def test_weights_of_topics(width, dtype, plain):
    rng = np.random.default_rng(width)
    table, (n_d, alpha, scale) = abs(rows(rng, 5, width, dtype)), abs(rows(rng, 3, width, dtype))
    found, twin = np.zeros(width, dtype), np.zeros(width, dtype)
    total = lanes.weigh_topics(n_d, 3, found, alpha, table, 0.3, scale)
    assert total == plain.weigh_topics(n_d, 3, twin, alpha, table, 0.3, scale)
    np.testing.assert_array_equal(found, twin)
    np.testing.assert_allclose(found, (n_d + alpha) * (table[3] + dtype(0.3)) * scale, rtol=1e-6)
    np.testing.assert_allclose(total, found.sum(), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blend(dtype, plain):
    rng = np.random.default_rng(3)
    start, weight = rows(rng, 2, 48, dtype)
    found, twin = start.copy(), start.copy()
    lanes.blend(found, dtype(0.7), 1.3, weight)
    plain.blend(twin, dtype(0.7), 1.3, weight)
    np.testing.assert_array_equal(found, twin)
    np.testing.assert_allclose(found, 0.7 * start + 1.3 * weight, rtol=0, atol=1e-5)

"""Normal draws between bounds: their distribution, wide and narrow, near and far."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import special, stats

from support.copies import interpreted
from topoi._machine.rng import new_stream
from topoi._machine.truncated_normal import truncated_normal

INF = math.inf
BOUNDS = [
    (-INF, INF), (-INF, 0.0), (0.0, INF), (-1.0, INF), (-0.1, 0.2), (-2.0, 3.0), (-1.2, 1.3), (0.0, 0.3), (0.5, 0.6),
    (0.5, 4.0), (2.0, INF), (2.0, 2.1), (8.0, INF), (8.0, 8.05), (8.0, 8.3), (-3.0, -2.0), (-INF, -6.0), (-40.0, -39.9),
    (-1e-3, 2.6), (-2.6, 1e-3), (1e-3, 9.0),
]  # fmt: skip
N = 4000


def upper_share(x, low, high):
    """The probability of more than x, given the bounds, from the tails: exact where Φ is 1 to all digits."""
    log_low, log_high, log_x = (special.log_ndtr(-b) for b in (low, high, x))
    return (np.exp(log_x - log_low) - np.exp(log_high - log_low)) / -np.expm1(log_high - log_low)


def check(draw, low, high, n=N):
    """Kolmogorov–Smirnov, level 1e-4 over all bounds."""
    stream = new_stream(5, 1, 0, BOUNDS.index((low, high)))
    draws = np.array([draw(stream, low, high) for _ in range(n)])
    assert (draws >= low).all()
    assert (draws <= high).all()
    if high <= 0:  # the mirror image has its digits in the tail
        draws, low, high = -draws, -high, -low
    assert stats.kstest(upper_share(draws, low, high), "uniform").pvalue > 1e-4 / len(BOUNDS)


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_distribution(low, high):
    check(truncated_normal, low, high)


def plain(edits=None):
    """The function without the compiler, with `edits` of its source."""
    name, found = "topoi._machine.truncated_normal", []

    def names():
        yield name
        found.append(sys.modules[name].truncated_normal)
        yield "topoi.chain.samplers"

    interpreted({name: edits} if edits else None, names())
    return found[0]


MUTANTS = {
    "uniform everywhere": ("uniform(stream) < math.exp(-0.5 * x * x)", "True"),
    "uniform in the tail": ("uniform(stream) < math.exp(-0.5 * (x - low) * (x + low))", "True"),
    "exponential in the tail": (
        "x < high and uniform(stream) < math.exp(-0.5 * (x - rate) * (x - rate))", "x < high"),
    "centre of the proposal": ("math.exp(-0.5 * (x - rate) * (x - rate))", "math.exp(-0.5 * (x - low) * (x - low))"),
    "not mirrored": ("-_in_the_tail(stream, -high, -low)", "-_in_the_tail(stream, -high, -low + 1.0)"),
}  # fmt: skip


def test_without_the_compiler():
    draw = plain()
    for bounds in BOUNDS:
        check(draw, *bounds, n=300)


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    draw = plain([MUTANTS[mutant]])

    def check_all():
        for bounds in BOUNDS:
            check(draw, *bounds)

    with pytest.raises(AssertionError):
        check_all()


@pytest.mark.parametrize("far", [1e3, 1e6, 1e12])
def test_far_out(far):
    """There the excess over the bound is exponential with that rate."""
    stream = new_stream(6, 1, 0, 0)
    draws = np.array([truncated_normal(stream, far, INF) for _ in range(500)])
    assert (draws >= far).all()
    if far < 1e5:
        assert stats.kstest((draws - far) * far, "expon").pvalue > 1e-4
    assert truncated_normal(stream, far, far * (1 + 1e-15)) == pytest.approx(far)
    assert truncated_normal(stream, -far, -far) == -far

"""Draws over all topics at once: exact on every path, compiled as interpreted, and mutants of them."""

from __future__ import annotations

import numpy as np
import pytest

from support.copies import interpreted
from support.oracle import Oracle, paths
from topoi._machine import simd
from topoi._machine.simd import LANES, aligned_zeros, draw_topic, draw_two, new_sums, pad, padded


def plain_simd(edits=None):
    """Interpreted copy of the module, with edits."""
    samplers = interpreted({"topoi._machine.simd": edits} if edits else None)
    return samplers.collapsed.draw_topic.__wrapped__.__globals__


def problem(n_topics, seed, dtype=np.float64, empty=0.2):
    """Arguments of a draw: counts, prior, a table of three words, offset and scale; some weights are 0."""
    rng = np.random.default_rng(seed)
    n_d, alpha, scale = (padded(rng.gamma(0.5, 2.0, n_topics), dtype) for _ in range(3))
    table = aligned_zeros((3, pad(n_topics)), dtype)
    table[:, :n_topics] = rng.gamma(0.5, 2.0, (3, n_topics))
    scale[:n_topics][rng.random(n_topics) < empty] = 0
    return n_d, alpha, table, 0.01, scale


def weights_of(n_d, alpha, table, offset, scale, w):
    p = (n_d + alpha).astype(float) * (table[w] + offset) * scale
    return p / p.sum()


def check_draw(module, n_topics):
    """The probability of every topic, from all paths of the interpreted draw."""
    for seed in range(3):
        n_d, alpha, table, offset, scale = problem(n_topics, seed)
        sums = module["new_sums"](alpha)

        def run(oracle, sums=sums, n_d=n_d, alpha=alpha, table=table, offset=offset, scale=scale):
            assert isinstance(oracle, Oracle)
            return module["draw_topic"](n_d, 1, sums, oracle.uniform(), alpha, table, offset, scale)

        found = np.zeros(len(alpha))
        for probability, k in paths(run):
            assert 0 <= k < n_topics
            found[k] += probability
        np.testing.assert_allclose(found, weights_of(n_d, alpha, table, offset, scale, 1), rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def plain():
    return plain_simd()


@pytest.mark.parametrize("n_topics", [1, 2, 16, 17, 40, 100])
def test_every_topic_has_its_probability(n_topics, plain):
    check_draw(plain, n_topics)


MUTANTS = {
    "lanes before not taken off": ("u = u - float(lanes[lane - 1])", ""),
    "lanes before taken off without this one's": ("float(lanes[lane - 1])", "float(lanes[lane])"),
    "place counted from the start of the sums": ("p[LANES + lane :: LANES]", "p[lane::LANES]"),
    "not summed within the lane": ("p[k : k + LANES] += p[k - LANES : k]", ""),
    "not all lanes summed": (
        "for shift in (1, 2, 4, 8): lanes[shift:] = ...", "for shift in (1, 2, 4): lanes[shift:] = ..."),
    "prior halved": ("p[LANES:] = (n_d + alpha) * ... * scale", "p[LANES:] = (n_d + 0.5 * alpha) * ... * scale"),
    "offset forgotten": ("(table[w] + p.dtype.type(offset))", "table[w]"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    module = plain_simd([MUTANTS[mutant]])
    with pytest.raises((AssertionError, IndexError)):
        check_draw(module, 40)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_topics", [1, 15, 16, 33, 100, 1000])
def test_compiled_is_interpreted(n_topics, dtype, plain):
    """The same topic and the same sums, bit by bit; near the ends of the unit interval too."""
    rng = np.random.default_rng(n_topics)
    args = problem(n_topics, 5, dtype)
    n_d, alpha, table, offset, scale = args
    other, alpha_b = problem(n_topics, 6, dtype)[:2]
    sums = [new_sums(alpha) for _ in range(4)]
    for u in [2.0**-53, 1 - 2.0**-53, *rng.random(60)]:
        v = 1 - u
        ours = draw_topic(n_d, 0, sums[0], u, alpha, table, offset, scale)
        assert ours == plain["draw_topic"](n_d, 0, sums[1], u, alpha, table, offset, scale)
        assert sums[0].tobytes() == sums[1].tobytes()
        assert weights_of(*args[:3], offset, scale, 0)[ours] > 0
        for given, own in ((alpha_b, alpha_b), (alpha, alpha), (None, alpha)):
            both = draw_two(n_d, other, 0, 2, sums[2], sums[3], u, v, alpha, given, table, offset, scale)
            assert both == (ours, draw_topic(other, 2, sums[1], v, own, table, offset, scale))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_weight_at_all(dtype):
    n_d, alpha, table, _, _ = problem(20, 1, dtype)
    nothing = np.zeros_like(alpha)
    assert draw_topic(n_d, 0, new_sums(alpha), 0.3, alpha, table, 0.01, nothing) == -1


@pytest.mark.parametrize("only", [0, 15, 16, 19])
def test_one_weight_is_found_whatever_is_drawn(only):
    """Sums are rounded: a draw that passes the last weight must step back to it, never to a padded topic."""
    n_d, alpha, table, _, _ = problem(20, 1, np.float32)
    scale = np.zeros_like(alpha)
    scale[only] = 1e-30
    for u in (2.0**-53, 0.5, 1 - 2.0**-53):
        assert draw_topic(n_d, 0, new_sums(alpha), u, alpha, table, 0.01, scale) == only
    sums = new_sums(alpha)
    sums[LANES + only :: LANES] = 1.0
    assert simd.sound(sums, len(alpha) + only % LANES) == only
    assert simd.sound(sums, len(alpha) + LANES - 1) == only


def test_infinite_weights_stay_among_the_topics():
    n_d, alpha, table, _, scale = problem(20, 1, np.float32, empty=0)
    alpha[:20] = 3e38
    for u in (0.1, 0.9):
        assert -1 <= draw_topic(n_d, 0, new_sums(alpha), u, alpha, table, 0.01, scale) < 20


def test_aligned_zeros():
    for shape, dtype in (((3, 16), np.float32), ((5,), np.float64), ((0, 16), np.float32)):
        made = aligned_zeros(shape, dtype)
        assert made.shape == shape
        assert made.dtype == dtype
        assert made.flags.c_contiguous
        assert made.size == 0 or made.ctypes.data % 64 == 0
        assert not made.any()

"""Streams and scalar draws against their distributions.

False alarms. Seeds are fixed and were not chosen. All statistical tests of this file together are to fail by chance
with probability at most FAMILY = 1e-4 (Bonferroni): each p-value is compared with ALPHA = FAMILY / TESTS, where TESTS
bounds their number (`test_number_of_tests` counts them).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import special, stats

from topoi._machine import rng
from topoi._machine.jit import kernel

FAMILY = 1e-4
TESTS = 200
ALPHA = FAMILY / TESTS
PURPOSE = 1_000_001  # not a purpose of the library
N = 20_000
judged: list[float] = []


def accept(p_value):
    """Whether a p-value does not speak against the draw, at the level of this file."""
    judged.append(float(p_value))
    return p_value > ALPHA


def stream(block=0, seed=7, purpose=PURPOSE, sweep=0):
    return rng.new_stream(seed, purpose, sweep, block)


def filler(draw, n_parameters):
    """A kernel that fills an array with `draw` (one compilation per draw)."""
    if n_parameters == 0:

        @kernel
        def fill(s, out):
            for i in range(out.size):
                out[i] = draw(s)
    elif n_parameters == 1:

        @kernel
        def fill(s, a, out):
            for i in range(out.size):
                out[i] = draw(s, a)
    else:

        @kernel
        def fill(s, a, b, out):
            for i in range(out.size):
                out[i] = draw(s, a, b)

    return fill


FILL = {
    name: filler(getattr(rng, name), n)
    for name, n in {
        "bits": 0, "uniform": 0, "integer": 1, "normal": 0, "exponential": 0, "gamma": 1, "log_gamma": 1,
        "poisson": 1, "zero_truncated_poisson": 1, "geometric_skip": 1, "inverse_gaussian": 2,
    }.items()
}  # fmt: skip


def sample(name, *parameters, n=N, block=0, dtype=np.float64):
    out = np.empty(n, dtype)
    FILL[name](stream(block), *parameters, out)
    return out


def discrete_p_value(x, distribution):
    """Chi-square of counts against a scipy distribution, in about 40 cells of equal probability or single values."""
    edges = np.unique(distribution.ppf(np.linspace(0.0, 1.0, 41)[1:-1]))
    cdf = np.concatenate([[0.0], distribution.cdf(edges), [1.0]])
    expected = np.diff(cdf) * x.size
    observed = np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1).astype(float)
    big = expected >= 10.0  # pool the rest
    observed = np.append(observed[big], observed[~big].sum())
    expected = np.append(expected[big], expected[~big].sum())
    if expected[-1] < 10.0:
        observed = np.append(observed[:-2], observed[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    if expected.size < 2:
        return 1.0
    return stats.chisquare(observed, expected * x.size / expected.sum()).pvalue


# ---- streams -------------------------------------------------------------------------------------------------------

KEYS = [
    (7, 2, 3, 4),
    (8, 2, 3, 4),
    (7, 3, 3, 4),
    (7, 2, 4, 4),
    (7, 2, 3, 5),
    (2, 7, 3, 4),
    (7, 2, 4, 3),
    (0, 0, 0, 0),
]


def words(key, n=N):
    out = np.empty(n, np.uint64)
    FILL["bits"](rng.new_stream(*key), out)
    return out


def test_same_key_same_bytes_and_first_words_are_pinned():
    assert words((7, 2, 3, 4)).tobytes() == words((7, 2, 3, 4)).tobytes()
    # A change here changes every fit ever made: it needs a note in the changelog.
    assert [hex(w) for w in words((7, 2, 3, 4), 2)] == ["0x803b5f176df20480", "0x71fced0f1baf4db0"]


def test_a_stream_does_not_depend_on_how_it_is_cut():
    whole, parts, s = words((7, 2, 3, 4), 100), np.empty(100, np.uint64), rng.new_stream(7, 2, 3, 4)
    FILL["bits"](s, parts[:37])
    FILL["bits"](s, parts[37:])
    assert (whole == parts).all()


def test_keys_that_differ_give_unrelated_streams():
    output = [words(key) for key in KEYS]
    assert len(set(np.concatenate(output).tolist())) == len(KEYS) * N
    for i, a in enumerate(output):
        for b in output[:i]:
            flips = np.bitwise_count(a ^ b).astype(float)  # Binomial(64, ½) if unrelated
            z = (flips.mean() - 32.0) / (4.0 / math.sqrt(N))
            assert accept(2.0 * stats.norm.sf(abs(z)))


def test_neighbouring_blocks_and_sweeps_avalanche():
    # First words of 4096 neighbours: each bit fair, neighbours half different, and uniform as a sample.
    for key in (lambda i: (7, 2, 3, i), lambda i: (7, 2, i, 0), lambda i: (i, 2, 0, 0)):
        first = np.array([words(key(i), 1)[0] for i in range(4096)])
        ones = np.array([(first >> np.uint64(b) & np.uint64(1)).sum() for b in range(64)], float)
        assert accept(stats.chi2.sf((((ones - 2048.0) / 32.0) ** 2).sum(), 64))
        flips = np.bitwise_count(first[1:] ^ first[:-1]).sum()
        assert accept(2.0 * stats.norm.sf(abs(flips - 32.0 * 4095) / (4.0 * math.sqrt(4095))))
        assert accept(stats.kstest(first / 2.0**64, "uniform").pvalue)


def test_bits_are_balanced_and_serially_uncorrelated():
    x = words((7, 2, 3, 4), 1_000_000)
    planes = [((x >> np.uint64(b)) & np.uint64(1)).astype(np.int8) for b in range(64)]
    ones = np.array([p.sum(dtype=float) for p in planes])
    assert accept(stats.chi2.sf((((ones - 5e5) / 500.0) ** 2).sum(), 64))
    same = np.array([(p[1:] == p[:-1]).sum(dtype=float) for p in planes])
    assert accept(stats.chi2.sf((((same - 499_999.5) / math.sqrt(999_999 / 4)) ** 2).sum(), 64))


def test_bytes_and_pairs_are_equidistributed():
    x = words((7, 2, 3, 4), 500_000)
    for shift in (0, 28, 56):
        counts = np.bincount(((x >> np.uint64(shift)) & np.uint64(255)).astype(int), minlength=256)
        assert accept(stats.chisquare(counts).pvalue)
    top = (x >> np.uint64(58)).astype(int)
    assert accept(stats.chisquare(np.bincount(top[1::2] * 64 + top[::2], minlength=4096)).pvalue)


def test_uniform():
    u = sample("uniform", n=500_000)
    assert u.min() > 0.0
    assert u.max() < 1.0
    assert accept(stats.kstest(u, "uniform").pvalue)
    assert np.isfinite(np.log(u)).all()
    # The extreme words stay inside the open interval, and ½ is never hit (a cell's midpoint is not on the edge).
    for word in (0, 2**64 - 1, 2**63, 2**63 - 1):
        value = (float(word >> 12) + 0.5) * 2.0**-52
        assert 0.0 < value < 1.0
        assert value != 0.5


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 3_000_000_000])
def test_integer_is_uniform(n):
    x = sample("integer", n, n=200_000, dtype=np.int64)
    assert x.min() >= 0
    assert x.max() < n
    cells = min(n, 1000)
    edges = [-(-n * i // cells) for i in range(cells + 1)]  # cell i holds the integers from ⌈n·i/cells⌉ on
    observed = np.histogram(x, np.array(edges) - 0.5)[0]
    assert accept(stats.chisquare(observed, np.diff(edges) * (x.size / n)).pvalue)


def test_integer_at_its_ends():
    assert (sample("integer", 1, n=1000, dtype=np.int64) == 0).all()
    # n = 2³¹ divides 2³²: no rejection, so the draw is exactly the top 31 of the 64 bits.
    top = sample("bits", n=1000, dtype=np.uint64) >> np.uint64(33)
    assert (sample("integer", 2**31, n=1000, dtype=np.int64) == top).all()


# ---- draws ---------------------------------------------------------------------------------------------------------


def test_normal():
    x = sample("normal", n=500_000)
    assert accept(stats.kstest(x, "norm").pvalue)
    assert accept(stats.kstest(x**2, stats.chi2(1).cdf).pvalue)
    far = np.abs(x) > 3.0  # the tail on its own: KS hardly sees it
    assert accept(stats.binomtest(int(far.sum()), x.size, 2.0 * stats.norm.sf(3.0)).pvalue)
    assert accept(stats.kstest(np.abs(x[far]), lambda t: 1.0 - stats.norm.sf(t) / stats.norm.sf(3.0)).pvalue)
    assert accept(stats.pearsonr(x[1:], x[:-1]).pvalue)


def test_exponential():
    assert accept(stats.kstest(sample("exponential", n=200_000), "expon").pvalue)


@pytest.mark.parametrize("shape", [1e-3, 0.01, 0.1, 0.5, 0.999, 1.0, 1.5, 3.0, 20.0, 1e3, 1e6])
def test_gamma(shape):
    x = sample("gamma", shape, n=50_000)
    if shape >= 0.1:
        assert accept(stats.kstest(x, stats.gamma(shape).cdf).pvalue)
        assert (x > 0.0).all()
    y = sample("log_gamma", shape, n=50_000, block=1)
    assert np.isfinite(y).all()

    def cdf(t):  # for tiny values P(shape, x) = x^shape / Γ(shape + 1), to a relative error of x
        tiny = np.exp(shape * np.minimum(t, -40.0) - special.gammaln(shape + 1.0))
        return np.where(t < -40.0, tiny, stats.gamma(shape).cdf(np.exp(np.maximum(t, -40.0))))

    assert accept(stats.kstest(y, cdf).pvalue)


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.5, 1.0, 5.0, 9.99, 10.0, 12.5, 40.0, 1e3, 1e6])
def test_poisson(rate):
    x = sample("poisson", rate, n=100_000, dtype=np.int64)
    assert accept(discrete_p_value(x, stats.poisson(rate)))
    if rate >= 0.1:  # enough events for a normal mean
        assert accept(2.0 * stats.norm.sf(abs(x.mean() - rate) / math.sqrt(rate / x.size)))


def test_poisson_at_its_ends():
    assert (sample("poisson", 0.0, n=1000) == 0).all()
    x = sample("poisson", 1e15, n=N)
    assert accept(stats.kstest((x - 1e15) / math.sqrt(1e15), "norm").pvalue)


class ZeroTruncated:
    def __init__(self, rate):
        self.rate = rate

    def cdf(self, k):
        k = np.asarray(k, float)
        # Sums of the terms themselves: (cdf − e^-r)/(1 − e^-r) cancels for small rates.
        terms = np.exp(stats.poisson.logpmf(np.arange(1, 400), self.rate)) / -math.expm1(-self.rate)
        return np.concatenate([[0.0], np.cumsum(terms)])[np.minimum(k, 399).astype(int)]

    def ppf(self, q):
        return np.searchsorted(self.cdf(np.arange(400)), q)


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.5, 3.0, 9.99, 10.0, 50.0])
def test_zero_truncated_poisson(rate):
    x = sample("zero_truncated_poisson", rate, n=100_000, dtype=np.int64)
    assert x.min() >= 1
    assert accept(discrete_p_value(x, ZeroTruncated(rate)))


def test_zero_truncated_poisson_at_its_ends():
    assert (sample("zero_truncated_poisson", 0.0, n=1000) == 1).all()
    assert (sample("zero_truncated_poisson", 1e-300, n=1000) == 1).all()


@pytest.mark.parametrize("p", [0.999, 0.9, 0.5, 0.1, 1e-3, 1e-8])
def test_geometric_skip(p):
    x = sample("geometric_skip", math.log1p(-p), n=100_000, dtype=np.int64)
    assert accept(discrete_p_value(x, stats.geom(p, loc=-1)))


def test_geometric_skip_at_its_ends():
    assert (sample("geometric_skip", -math.inf, n=1000, dtype=np.int64) == 0).all()
    assert (sample("geometric_skip", -0.0, n=1000, dtype=np.int64) == 2**63 - 1).all()
    assert (sample("geometric_skip", -1e-300, n=1000, dtype=np.int64) == 2**63 - 1).all()
    x = sample("geometric_skip", -1e-18, n=100_000, dtype=np.int64)  # mean 1e18: some overflow, none wraps
    assert (x >= 0).all()
    assert accept(stats.binomtest(int((x == 2**63 - 1).sum()), x.size, math.exp(-9.2)).pvalue)


@pytest.mark.parametrize("shape", [1e-4, 1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("mean", [1e-8, 1e-3, 1.0, 1e3, 1e8, 1e17, math.inf])
def test_inverse_gaussian(mean, shape):
    x = sample("inverse_gaussian", mean, shape)
    assert np.isfinite(x).all()
    assert (x > 0.0).all()
    # The cdf is Φ(ρ(x/m − 1)) + e^(2s/m)·Φ(−ρ(x/m + 1)), ρ = √(s/x); with erfcx nothing overflows or cancels. The
    # difference x/m − 1 loses digits only where s/m ≫ 1 (about √(s/m)·1e-16), too few to matter to a KS test.
    rho, ratio = np.sqrt(shape / x), x / mean
    a, b = rho * (ratio - 1.0), rho * (ratio + 1.0)
    cdf = stats.norm.cdf(a) + 0.5 * np.exp(-0.5 * a * a) * special.erfcx(b / math.sqrt(2.0))
    assert accept(stats.kstest(cdf, "uniform").pvalue)


def test_inverse_gaussian_reciprocal_and_square():
    # Two facts that need no cdf: s(x − m)²/(m²x) is χ²₁, and the part below the mean has the known probability.
    mean, shape = 3.0, 0.7
    x = sample("inverse_gaussian", mean, shape, n=200_000)
    assert accept(stats.kstest(shape * (x - mean) ** 2 / (mean**2 * x), stats.chi2(1).cdf).pvalue)
    below = 0.5 + 0.5 * special.erfcx(math.sqrt(2.0 * shape / mean))
    assert accept(stats.binomtest(int((x < mean).sum()), x.size, below).pvalue)


# ---- the tests themselves ------------------------------------------------------------------------------------------


def test_slightly_wrong_draws_are_rejected():
    # Power: each of these is the kind of error that a slip in the code would make.
    wrong = {
        "normal, 2 % too wide": stats.kstest(1.02 * sample("normal", n=500_000), "norm").pvalue,
        "gamma, shape 2 % off": stats.kstest(sample("gamma", 3.0, n=50_000), stats.gamma(3.06).cdf).pvalue,
        "Poisson, rate 2 % off": discrete_p_value(
            sample("poisson", 40.0, n=100_000, dtype=np.int64), stats.poisson(40.8)
        ),
        "Poisson for truncated": discrete_p_value(
            np.maximum(sample("poisson", 0.5, n=100_000, dtype=np.int64), 1), ZeroTruncated(0.5)
        ),
        "geometric from 1": discrete_p_value(
            1 + sample("geometric_skip", math.log1p(-0.1), n=100_000, dtype=np.int64), stats.geom(0.1, loc=-1)
        ),
        "inverse Gaussian, larger root forgotten": stats.kstest(
            np.minimum(y := sample("inverse_gaussian", 1.0, 1.0), 1.0 / y), stats.invgauss(1.0).cdf
        ).pvalue,
    }
    assert {name: p for name, p in wrong.items() if p > ALPHA} == {}


SCRIPT = """
import json, math
from topoi._machine import rng as r
from topoi._machine.polya_gamma import polya_gamma
calls = [
    (r.uniform,), (r.integer, 10), (r.integer, 2**31), (r.normal,), (r.exponential,),
    (r.gamma, 0.01), (r.gamma, 0.5), (r.gamma, 30.0), (r.log_gamma, 1e-3), (r.log_gamma, 2.0),
    (r.poisson, 0.0), (r.poisson, 3.0), (r.poisson, 12.0), (r.poisson, 1e6),
    (r.zero_truncated_poisson, 0.0), (r.zero_truncated_poisson, 0.01), (r.zero_truncated_poisson, 20.0),
    (r.geometric_skip, -1e-3), (r.geometric_skip, -math.inf), (r.geometric_skip, 0.0),
    (r.inverse_gaussian, 1e-8, 1.0), (r.inverse_gaussian, 1.0, 1.0), (r.inverse_gaussian, 1e17, 1.0),
    (r.inverse_gaussian, math.inf, 2.0),
    (polya_gamma, 0.1, 0.0), (polya_gamma, 1.6, 4.0), (polya_gamma, 3.0, -0.5), (polya_gamma, 12.0, 0.0),
    (polya_gamma, 204.8, 0.5),
]
out = []
for i, (draw, *parameters) in enumerate(calls):
    s = r.new_stream(11, 1000003, 0, i)
    out.append([float(draw(s, *parameters)) for _ in range(60)])
print(json.dumps(out))
"""


def run_draws(disable_jit):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable_jit}
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_compiled_and_interpreted_draws_agree():
    for compiled, interpreted in zip(run_draws("0"), run_draws("1"), strict=True):
        np.testing.assert_allclose(interpreted, compiled, rtol=1e-15, atol=0.0)


def test_branches():
    """A branch is a stream of its own: a function of stream and number alone, uniform, and unlike its neighbours."""
    stream = rng.new_stream(9, PURPOSE, 2, 3)
    first = rng.branch(stream, 5)
    rng.uniform(stream)  # what the parent has used does not matter
    np.testing.assert_array_equal(rng.branch(stream, 5), first)
    with np.errstate(over="ignore"):  # as copies of the package without the compiler run
        np.testing.assert_array_equal(rng.branch.py_func(stream, 5), first)
    keys = {
        tuple(rng.branch(rng.new_stream(9, PURPOSE, sweep), number)) for sweep in range(20) for number in range(500)
    }
    assert len(keys) == 20 * 500
    draws = np.array([[rng.uniform(s), rng.uniform(s)] for s in (rng.branch(stream, number) for number in range(N))])
    assert accept(stats.kstest(draws[:, 0], "uniform").pvalue)
    for a, b in ((draws[:, 0], draws[:, 1]), (draws[1:, 0], draws[:-1, 0])):
        assert accept(stats.pearsonr(a, b).pvalue)


def test_number_of_tests():
    assert len(judged) <= TESTS, f"raise TESTS: {len(judged)} p-values were judged"

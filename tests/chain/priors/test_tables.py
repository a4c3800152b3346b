"""Table counts against Antoniak's distribution, and what is drawn given them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from topoi._machine.rng import TOPIC_PRIOR, binomial, log_beta, new_stream
from topoi.chain.counts.spectra import Spectrum
from topoi.chain.priors.tables import draw_concentration, draw_table_counts, draw_tables

N_DRAWS = 20_000


def stirling(n):
    """Unsigned Stirling numbers of the first kind s(n, 0 … n)."""
    row = np.array([1.0])
    for m in range(n):
        row = np.append(0, row) + m * np.append(row, 0)
    return row


def antoniak(n, alpha):
    """The probabilities of 0 … n tables."""
    return stirling(n) * alpha ** np.arange(n + 1) * np.exp(gammaln(alpha) - gammaln(alpha + n))


def p_value(drawn, expected):
    """Of draws 0, 1, 2, …, given their probabilities; cells with few draws are taken together."""
    found = np.bincount(drawn, minlength=len(expected))[: len(expected)]
    assert found.sum() == len(drawn)
    wanted = expected * len(drawn)
    few = wanted < 10
    found, wanted = np.append(found[~few], found[few].sum()), np.append(wanted[~few], wanted[few].sum())
    there = wanted > 1e-9
    assert found[~there].sum() == 0
    if there.sum() == 1:  # nothing is left to chance
        return 1.0
    return stats.chisquare(found[there], wanted[there] * found[there].sum() / wanted[there].sum()).pvalue


@pytest.mark.parametrize(("n", "alpha"), [(1, 0.3), (2, 0.7), (6, 0.05), (9, 2.5), (14, 40.0)])
def test_tables_of_a_document(n, alpha):
    assert abs(antoniak(n, alpha).sum() - 1) < 1e-12
    stream = new_stream(3, TOPIC_PRIOR)
    drawn = np.array([draw_tables(stream, n, alpha) for _ in range(N_DRAWS)])
    assert p_value(drawn, antoniak(n, alpha)) > 1e-4


def test_no_tokens_no_tables():
    assert draw_tables(new_stream(0, TOPIC_PRIOR), 0, 0.5) == 0


def test_tables_of_all_documents():
    """From the histogram: the convolution of what documents have alone, topic by topic."""
    alpha = np.array([0.4, 1.7, 0.2])
    sizes = {0: [1, 3, 3, 5], 2: [2, 2, 2, 4, 7]}
    rows = [(k, n, counts.count(n)) for k, counts in sizes.items() for n in sorted(set(counts))]
    spectrum = Spectrum(*(np.array(column) for column in zip(*rows[::-1], strict=True)))  # in no order
    stream = new_stream(5, TOPIC_PRIOR)
    drawn = np.array([draw_table_counts(spectrum, alpha, stream) for _ in range(N_DRAWS)])
    assert (drawn[:, 1] == 0).all()
    for k, counts in sizes.items():
        expected = np.array([1.0])
        for n in counts:
            expected = np.convolve(expected, antoniak(n, alpha[k]))
        assert p_value(drawn[:, k], expected) > 1e-4
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]) < 4 / np.sqrt(N_DRAWS)


@pytest.mark.parametrize(("n", "p"), [(0, 0.5), (5, 0.0), (5, 1.0), (20, 0.3), (33, 0.9), (1000, 0.02), (1001, 0.6)])
def test_binomial(n, p):
    stream = new_stream(7, TOPIC_PRIOR)
    drawn = np.array([binomial(stream, n, p) for _ in range(N_DRAWS)])
    assert p_value(drawn, stats.binom.pmf(np.arange(n + 1), n, p)) > 1e-4


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (0.3, 0.2), (1.0, 1e-4)])
def test_log_beta(a, b):
    stream = new_stream(9, TOPIC_PRIOR)
    logs = np.array([log_beta(stream, a, b) for _ in range(N_DRAWS // 4)])
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.logaddexp(*logs.T), 0, atol=1e-12)
    small = logs[:, 1] if b < a else logs[:, 0]  # the one that may be too small for a float
    law = stats.beta(b, a) if b < a else stats.beta(a, b)
    seen = small > -600
    u = law.cdf(np.exp(small[seen]))
    expected = law.cdf(np.exp(-600.0))
    assert abs((~seen).mean() - expected) < 4 / np.sqrt(len(seen))
    assert stats.kstest(u, stats.uniform(expected, 1 - expected).cdf).pvalue > 1e-4


def test_concentration_leaves_its_posterior():
    """Of Σα given the tables, on a grid: a ~ Gamma(shape, rate), p(l | a) ∝ a^l Π_d Γ(a)/Γ(a + N_d)."""
    lengths, n_tables, shape, rate = np.array([5, 0, 12, 30, 1]), 9, 2.0, 0.5
    grid = np.linspace(1e-3, 40, 40_000)
    log_p = (shape - 1 + n_tables) * np.log(grid) - rate * grid
    log_p += sum(gammaln(grid) - gammaln(grid + n) for n in lengths if n)
    cdf = np.exp(log_p - log_p.max()).cumsum()
    cdf /= cdf[-1]
    rng, stream = np.random.default_rng(1), new_stream(11, TOPIC_PRIOR)
    begun = np.interp(rng.random(6000), cdf, grid)
    moved = np.array([draw_concentration(a, n_tables, lengths, shape, rate, stream) for a in begun])
    assert stats.kstest(np.interp(moved, grid, cdf), "uniform").pvalue > 1e-3
    assert np.corrcoef(begun, moved)[0, 1] < 0.9  # and it moves

"""The softmax: its variables belong to all scores of a document together, and so they are right for topics too."""

from __future__ import annotations

import dataclasses
import itertools
from math import lgamma

import numpy as np
import pytest
from scipy import special, stats

from support.tilted_checks import COMPILED, NEVER, draw, interpreted_core
from topoi._machine.polya_gamma import polya_gamma
from topoi._machine.rng import new_stream

MODULE = "topoi.chain.responses.softmax"
SCORES = np.array([[-1.6, 0.3, 0.9], [0.4, 0.1, -2.0], [2.5, -0.7, 1.1], [-4.0, -3.0, -6.0]])


def one_hot(n, label, n_labels=3):
    return np.tile(np.where(np.arange(n_labels) == label, 1.0, -1.0), (n, 1))


def check_joint(core, n=3000, costs=(1.0, 0.4, 3.0), weights=(1.0, 0.5)):
    """Bennett's identity, as in `check_bridge`, for rows of scores: nothing but `log_loss` needs to be known."""
    cells = list(itertools.product(costs, weights, range(3), itertools.pairwise(SCORES)))
    limit = stats.norm.isf(NEVER / (2 * 4 * len(cells)))
    for number, (cost, weight, label, (a, b)) in enumerate(cells):
        response = core.responses.RESPONSES["softmax"](cost=cost)
        scaled = dataclasses.replace(response, cost=cost * weight)
        y = one_hot(n, label)
        loss = scaled.log_loss(y[0], b) - scaled.log_loss(y[0], a)
        parts = []
        for f, sign, seed in ((a, 1.0, 33), (b, -1.0, 34)):
            kappa, omega = draw(response, y, f, weight, seed=seed, sweep=number)
            log_w = (kappa * (b - a) - 0.5 * omega * (b * b - a * a)).sum(1) - loss
            share = special.expit(sign * log_w)
            size = 1 / (1 + omega)
            parts.append(np.stack([share, *(share[:, None] * size).T]))
        difference = parts[0].mean(1) - parts[1].mean(1)
        error = np.sqrt((parts[0].var(1) + parts[1].var(1)) / n) + 2 / n
        assert (np.abs(difference) < limit * error).all(), (cost, weight, label, a, b, difference / error)


def check_laws(core, n=3000):
    """n is negative binomial with λ integrated out, and ω is Pólya–Gamma with mean b/(2f) tanh(f/2) given n."""
    cells = list(itertools.product((1.0, 0.4, 3.0), range(3), range(len(SCORES))))
    limit = stats.norm.isf(NEVER / (2 * 3 * 3 * len(cells)))
    for number, (cost, label, row) in enumerate(cells):
        f = SCORES[row]
        kappa, omega = draw(core.responses.RESPONSES["softmax"](cost=cost), one_hot(n, label), f, seed=35, sweep=number)
        own = cost * (np.arange(3) == label)
        counts = own - 2 * kappa
        np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
        assert (counts.round() >= 0).all()
        assert ((omega > 0) == (own + counts.round() > 0)).all()
        total = special.expit(f).sum()
        for j in range(3):
            law = stats.nbinom(cost, total / (total + special.expit(-f[j])))
            zero = (counts[:, j].round() == 0).mean()
            assert abs(zero - law.pmf(0)) < limit * np.sqrt(law.pmf(0) * (1 - law.pmf(0)) / n) + 2 / n
            p = law.cdf(np.median(law.rvs(999, random_state=1)))
            below = (counts[:, j].round() <= law.ppf(p)).mean()
            assert abs(below - law.cdf(law.ppf(p))) < limit * np.sqrt(0.25 / n) + 2 / n
            half = f[j] / 2
            shape = own[j] + counts[:, j]
            mean = shape / (2 * f[j]) * np.tanh(half)
            variance = shape / (4 * f[j] ** 3) * (np.sinh(f[j]) - f[j]) / np.cosh(half) ** 2
            assert abs((omega[:, j] - mean).sum()) < limit * np.sqrt(variance.sum()) + 1e-9


def test_joint():
    check_joint(COMPILED)


def test_laws():
    check_laws(COMPILED)


MUTANTS = {
    "shape of λ is 1": ("log_gamma(stream, c)", "log_gamma(stream, 1.0)", check_joint),
    "rate of λ forgotten": ("log_gamma(stream, c) - best - math.log(total)", "log_gamma(stream, c)", check_joint),
    "n of the score, not of its opposite": ("log_sigma(-score)", "log_sigma(score)", check_joint),
    "label forgotten": ("c if y[d, task] > 0 else 0.0", "c", check_joint),
    "κ without n": ("0.5 * (own - n)", "0.5 * own", check_joint),
    "ω without n": ("polya_gamma(stream, own + n, score)", "polya_gamma(stream, own + 0.5 * n, score)", check_laws),
    "weight forgotten": ("cost * np.float64(weight[d, 0])", "cost * np.float64(weight[d, 0] > 0)", check_joint),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    old, new, check = MUTANTS[mutant]
    core = interpreted_core({MODULE: [(old, new)]})
    with pytest.raises((AssertionError, ValueError, OverflowError)):
        check(core, n=400)


# ---- Topics, by enumeration ----------------------------------------------------------------------------------------
# One document of four tokens and three topics. A sweep draws the auxiliary variables given the topics, then the topics
# of the whole document given these: its transition matrix is E[p(z′ | variables)], of which every row is a mean over
# draws. Only the counts of the topics matter, so there are 15 states.

N, K, LABEL = 4, 3, 0
ALPHA = np.array([0.4, 0.8, 0.5])
ETA = np.array([[3.0, -2.0, 0.5], [-1.0, 2.5, -3.0], [0.5, -1.5, 3.0]])  # (labels, topics)
STATES = [n for n in itertools.product(range(N + 1), repeat=K) if sum(n) == N]
F = np.array(STATES) / N @ ETA.T
LOG_PRIOR = np.array(
    [sum(lgamma(a + n) - lgamma(a) - lgamma(n + 1) for a, n in zip(ALPHA, state, strict=True)) for state in STATES]
)
DRAWS = 4000


def normalised(log_p):
    p = np.exp(log_p - log_p.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def sweep_matrix(variables):
    """The transition matrix and the variance of its cells, from draws of κ and ω (draws, labels) in every state."""
    rows, variances = [], []
    for number in range(len(STATES)):
        kappa, omega = variables(number)
        p = normalised(LOG_PRIOR + kappa @ F.T - 0.5 * omega @ (F.T**2))
        rows.append(p.mean(0))
        variances.append(p.var(0) / len(p))
    return np.array(rows), np.array(variances)


def ours(number):
    """Those of the loss at the scores of a state."""
    response = COMPILED.responses.RESPONSES["softmax"](cost=1.0)
    return draw(response, one_hot(DRAWS, LABEL), F[number], seed=36, sweep=number)


def label_by_label(number):
    """Those of Polson, Scott & Windle for each label given the scores of the others, all at once."""
    f = F[number]
    stream = new_stream(37, 6, number)
    others = np.array([special.logsumexp(np.delete(f, j)) for j in range(K)])
    omega = np.array([[polya_gamma(stream, 1.0, f[j] - others[j]) for j in range(K)] for _ in range(DRAWS)])
    return (np.arange(K) == LABEL) - 0.5 + omega * others, omega


def off(posterior, matrix, variances):
    """By how many standard errors a sweep changes the probability of each state."""
    return (posterior @ matrix - posterior) / np.sqrt(posterior**2 @ variances)


def test_topics_keep_their_posterior():
    """Level 1e-4 for all 15 states."""
    posterior = normalised(LOG_PRIOR + special.log_expit(F[:, LABEL]) - special.logsumexp(special.log_expit(F), axis=1))
    matrix, variances = sweep_matrix(ours)
    assert np.abs(off(posterior, matrix, variances)).max() < stats.norm.isf(NEVER / 2 / len(STATES))
    wrong = normalised(LOG_PRIOR + special.log_softmax(F, axis=1)[:, LABEL])
    assert np.abs(off(wrong, matrix, variances)).max() > 20, "the test can tell the softmax from the logistic softmax"


def test_label_by_label_would_change_it():
    """The recipe that is right for weights of one label is wrong for topics: far beyond the error of the draws."""
    posterior = normalised(LOG_PRIOR + special.log_softmax(F, axis=1)[:, LABEL])
    matrix, variances = sweep_matrix(label_by_label)
    assert np.abs(off(posterior, matrix, variances)).max() > 20
    stationary = np.linalg.matrix_power(matrix, 200)[0]
    assert 0.5 * np.abs(stationary - posterior).sum() > 0.05

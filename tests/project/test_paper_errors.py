"""Formulas that the papers print wrongly (docs/paper_errors.md): what the code has follows, the printed does not."""

from __future__ import annotations

import numpy as np
import pytest

from topoi.chain.samplers._tilted import difference

C, MARGIN, EPSILON, N = 1.7, 3.0, 0.2, 6  # N tokens of the document, so γ = 1/N
ETA = np.array([-1.1, 0.3, 2.0])
OTHERS = 0.8  # η summed over the other tokens of the document
F = (ETA + OTHERS) / N  # the score for every topic of the token


def without_level(log_p):
    return log_p - log_p[0]


def test_topics_of_gibbs_medlda_12():
    """−(λ + cζ)²/(2λ) with ζ = ℓ − y f: its part in f is c y (cℓ + λ) f/λ − c² f²/(2λ); printed without the c."""
    lam, y, gamma = 0.9, -1, 1 / N
    true = -((lam + C * (MARGIN - y * F)) ** 2) / (2 * lam)
    mean = OTHERS / (N - 1)  # the paper's Λ
    square = C**2 * (gamma**2 * ETA**2 + 2 * gamma * (1 - gamma) * ETA * mean) / (2 * lam)
    linear = gamma * y * (C * MARGIN + lam) * ETA / lam
    np.testing.assert_allclose(without_level(C * linear - square), without_level(true), atol=1e-12)
    assert not np.allclose(without_level(linear - square), without_level(true), atol=0.01)


def test_topics_of_gibbs_medlda_17():
    """The dual mixture gives c²ψ and ρ = 1/λ + 1/ω in both places; printed are cψ, and ζ in the first."""
    lam, omega, y = 0.9, 2.1, 0.4
    true = -((lam + C * (y - F - EPSILON)) ** 2) / (2 * lam) - (omega - C * (y - F + EPSILON)) ** 2 / (2 * omega)
    psi, rho = (y - EPSILON) / lam + (y + EPSILON) / omega, 1 / lam + 1 / omega
    np.testing.assert_allclose(without_level(C**2 * (psi * F - rho * F**2 / 2)), without_level(true), atol=1e-12)
    assert not np.allclose(without_level(C * psi * F - C**2 * rho * F**2 / 2), without_level(true), atol=0.01)


def metropolis(q, p, q_of_ratio):
    """Transition matrix of proposals from q that are answered as if they came from `q_of_ratio`."""
    matrix = q[None, :] * np.minimum(1, p[None, :] * q_of_ratio[:, None] / (p[:, None] * q_of_ratio[None, :]))
    np.fill_diagonal(matrix, 0)
    return matrix + np.diag(1 - matrix.sum(1))


P = np.array([0.2, 0.5, 0.3])


def test_word_proposal_20_needs_the_prior_of_the_word():
    """β_s, β_t, as printed, are the priors of other words: with a prior that differs by word the posterior is lost."""
    counts, beta, w = np.array([0.0, 2.0, 1.0]), np.array([0.05, 0.5, 1.5]), 0
    q, printed = counts + beta[w], counts + beta
    q, printed = q / q.sum(), printed / printed.sum()
    np.testing.assert_allclose(P @ metropolis(q, P, q), P, atol=1e-15)
    assert np.abs(P @ metropolis(q, P, printed) - P).max() > 0.01


def test_exp_proposal_is_corrected_as_frozen():
    """With the tilt of the moment in the place of the frozen one the posterior is lost."""
    frozen, now = np.exp(np.array([0.1, 0.9, -0.4])), np.exp(np.array([0.3, 0.2, 0.1]))
    q = frozen / frozen.sum()
    np.testing.assert_allclose(P @ metropolis(q, P, frozen), P, atol=1e-15)
    assert np.abs(P @ metropolis(q, P, now) - P).max() > 0.01


def test_coin_of_the_document_proposal():
    """q(k) ∝ ñ_k + α_k takes the tokens' part with probability ñ/(ñ + Σα); the printed ñ/Σα is no probability."""
    n_k, alpha = np.array([3.0, 0.0, 2.0]), np.array([0.1, 0.2, 0.1])
    coin = n_k.sum() / (n_k.sum() + alpha.sum())
    mixture = coin * n_k / n_k.sum() + (1 - coin) * alpha / alpha.sum()
    np.testing.assert_allclose(mixture, (n_k + alpha) / (n_k + alpha).sum())
    assert n_k.sum() / alpha.sum() > 1


@pytest.mark.parametrize(("counts", "least"), [([1], 0.3), ([1, 1], 0.7)])
def test_topics_of_a_word_in_the_urn(counts, least):
    """E[K_v of φ] is Σ 1 − e^−(n + β) over all topics, not K_v of the counts: topics of rare words are lost."""
    beta, empty = 0.01, 17
    rates = np.array([*counts, *[0] * empty]) + beta
    drawn = np.random.default_rng(1).poisson(rates, (200_000, len(rates))) > 0
    expected = (1 - np.exp(-rates)).sum()
    assert drawn.sum(1).mean() == pytest.approx(expected, abs=0.01)
    assert len(counts) - (1 - np.exp(-rates[: len(counts)])).sum() > least  # of the topics that the word has
    nowhere = (~drawn.any(1)).mean()  # no topic at all has the word: its tokens keep their topics
    assert nowhere == pytest.approx(np.exp(-rates.sum()), abs=0.005)
    assert nowhere > 0.04


def test_bookkeeping_of_several_tasks():
    """LightMedLDA §4.1: pairs of topics give the difference of tilts, but every document needs pairs of its own."""
    rng = np.random.default_rng(8)
    n_tasks, n_topics, n_documents = 4, 6, 10
    eta = rng.normal(size=(n_topics, n_tasks))
    tables = []
    for _ in range(n_documents):
        a, b = rng.normal(size=n_tasks), rng.gamma(2.0, size=n_tasks)
        counts = rng.integers(0, 5, n_topics)  # of the other tokens
        m = counts @ eta
        pairs = (eta * b) @ eta.T
        linear, h = eta @ a - 0.5 * np.diag(pairs), pairs @ counts
        with_token = counts[:, None] + np.eye(n_topics)  # a column for each topic that the token may have
        scores = with_token.T @ eta
        g = scores @ a - 0.5 * (scores**2) @ b  # what is constant in the topic falls out of differences
        s, t = 2, 4
        m_with = m + eta[s]  # the samplers' scores still have the token
        assert difference(eta, a, b, m_with, s, t) == pytest.approx(g[t] - g[s])
        assert (linear - h)[t] - (linear - h)[s] == pytest.approx(g[t] - g[s])
        counts[3] += 1  # some other token moves there
        np.testing.assert_allclose(h + pairs[3], pairs @ counts)
        tables.append(pairs[np.triu_indices(n_topics)])
    assert np.linalg.matrix_rank(np.array(tables)) == n_tasks

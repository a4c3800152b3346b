"""A vocabulary and a β so small that an empty topic's φ is below what a float can hold."""

from __future__ import annotations

import numpy as np
from scipy import stats

from support.exact import chi_square, simulate
from support.naive import Tiny
from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain.factors import dirichlet
from topoi.chain.factors.dirichlet import DirichletFactor, dirichlet_column
from topoi.chain.priors import fixed_priors
from topoi.chain.state import State


def test_partial_is_exact_when_topics_are_empty():
    tiny = Tiny([[0, 1], [0, 1]], alpha=[2.0, 2.0], beta=0.01, n_words=2)
    posterior = tiny.posterior()
    start = np.random.default_rng(31).choice(len(posterior), 8000, p=posterior)
    found = simulate(tiny, "partial", 8000, seed=32, start=start, sweeps=4)
    assert chi_square(found, posterior) > 1e-4


def empty_topic(beta: float, n_words: int, sweeps: int) -> np.ndarray:
    """φ (sweeps, V) of a topic that no token has, drawn sweep by sweep."""
    corpus = Corpus.from_counts(np.ones((1, n_words), np.int64))
    state = State(corpus, fixed_priors(np.ones(2), beta), np.zeros(n_words, np.uint16), seed=33)
    factor = DirichletFactor(state, Pool(1))
    drawn = np.empty((sweeps, n_words))
    for state.sweep in range(sweeps):
        factor.begin()
        drawn[state.sweep] = factor.to_dense()[:, 1]
    return drawn


def test_an_empty_topic_is_a_draw_of_the_prior_whether_or_not_it_is_drawn_once_more(monkeypatch):
    """Its gamma draws sum to less than 1 about two times of three; over all, the shares must be those of the prior."""
    beta, n_words, sweeps = 0.1, 8, 6000
    again = []

    def counted(table, k, *others):
        again.append(k)
        dirichlet_column(table, k, *others)

    monkeypatch.setattr(dirichlet, "dirichlet_column", counted)
    drawn = empty_topic(beta, n_words, sweeps)
    assert set(again) == {1}
    assert 0.5 < len(again) / sweeps < 0.8  # Gamma(0.8) is below 1 with probability 0.70
    np.testing.assert_allclose(drawn.sum(1), 1, rtol=1e-5)
    edges = np.array([0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1])
    expected = np.diff(stats.beta(beta, (n_words - 1) * beta).cdf(edges))
    for word in (0, n_words - 1):
        found = np.histogram(np.minimum(drawn[:, word], 1), edges)[0]
        assert stats.chisquare(found, expected * sweeps).pvalue > 1e-4


def test_an_empty_topic_with_a_large_vocabulary_is_not_drawn_twice(monkeypatch):
    """Σγ ~ Gamma(Vβ) is then never small, and logarithms of all words would be work for nothing."""

    def never(*_):
        raise AssertionError("drawn once more")

    monkeypatch.setattr(dirichlet, "dirichlet_column", never)
    drawn = empty_topic(0.1, 1000, 20)
    assert (drawn > 0).any(1).all()
    np.testing.assert_allclose(drawn.sum(1), 1, rtol=1e-5)

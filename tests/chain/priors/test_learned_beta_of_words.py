"""A β for the words of each frequency, learned: against brute force, against the truth, and never downhill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import digamma

from support.corpora import random_counts
from topoi import LDA, Corpus
from topoi._machine.pool import Pool
from topoi.chain.counts.spectra import word_spectrum
from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import FixedAlpha, Priors, learned_beta
from topoi.chain.priors.learned_beta_of_words import LearnedBetaOfWords, climb, kinds_by_frequency
from topoi.chain.priors.minka import RATE, SHAPE
from topoi.chain.state import State, new_state, topic_counts

V = 30
X = random_counts(40, V, 12, seed=6)
CORPUS = Corpus.from_counts(X)


def state_with(words):
    return new_state(CORPUS, Priors(FixedAlpha(np.array([0.1, 0.4, 0.2])), words), 1)


def test_kinds_are_numbers_of_digits():
    assert kinds_by_frequency(np.array([1, 2, 3, 4, 7, 8, 1000, 0])).tolist() == [1, 2, 2, 3, 3, 4, 5, 0]
    assert kinds_by_frequency(np.array([900, 1000])).tolist() == [0, 0]


def test_a_step_is_minkas():
    prior = LearnedBetaOfWords.from_value("learn_words", 3, CORPUS)
    prior = replace(prior, beta=np.linspace(0.02, 0.5, 9)[prior.kind_of])
    state = state_with(prior)
    n_wk, n_k = topic_counts(state)
    b, kind_of = prior.beta[:, None], prior.kind_of
    assert len(np.unique(kind_of)) > 1
    rise = (b * (digamma(n_wk + b) - digamma(b))).sum(1)
    below = (digamma(n_k + b.sum()) - digamma(b.sum())).sum()
    steps = [(rise[kind_of == c].sum() + SHAPE - 1) / ((kind_of == c).sum() * below + RATE) for c in kind_of]
    found = climb(np.linspace(0.02, 0.5, 9), *word_spectrum(state, Pool(1)), np.bincount(kind_of, minlength=9), 1)
    np.testing.assert_allclose(found[kind_of], steps, rtol=1e-12)


def test_with_one_kind_it_is_that_of_one_beta():
    state = state_with(LearnedBetaOfWords(np.full(V, 0.2), np.zeros(V, np.int64)))
    found = climb(np.array([0.2]), *word_spectrum(state, Pool(1)), np.array([V]), 20)
    assert found == pytest.approx(learned_beta.climb(0.2, *word_spectrum(state, Pool(1)), V), rel=1e-12)


def test_it_never_steps_down():
    """The log joint and the log density of β, which each step climbs together."""
    state, before = state_with(LearnedBetaOfWords.from_value("learn_words", 3, CORPUS)), -np.inf
    for _ in range(10):
        spectrum, n_k = word_spectrum(state, Pool(1))
        state.priors = replace(state.priors, words=state.priors.words.update(state, spectrum, n_k))
        value = log_joint(state) + state.priors.words.log_density()
        assert value >= before - 1e-9
        before = value
    assert len(np.unique(state.priors.words.beta)) > 1


def test_the_beta_of_the_model_is_found():
    """Frequent words that are in all topics alike, and rare ones that are not; topics as they were drawn."""
    rng = np.random.default_rng(5)
    true = np.repeat([2.0, 0.05], [40, 360])
    phi = rng.dirichlet(true, 8)
    z = rng.integers(0, 8, 60_000).astype(np.uint16)
    place = phi.cumsum(1)
    words = np.array([min(np.searchsorted(place[k], u), 399) for k, u in zip(z, rng.random(len(z)), strict=True)])
    order = np.argsort(words, kind="stable")
    corpus = Corpus(words[order].astype(np.int32), np.array([0, len(z)]), 400)
    prior = LearnedBetaOfWords(np.full(400, 0.1), np.repeat([1, 0], [40, 360]))
    state = State(corpus, Priors(FixedAlpha(np.ones(8)), prior), z[order], 0)
    for _ in range(20):
        prior = prior.update(state, *word_spectrum(state, Pool(1)))
    # The spread of each is some √(2 / number of entries): 2.9 % of 2,880, and 8 % of 320, where B counts as well.
    assert prior.beta[-1] == pytest.approx(0.05, rel=0.15)
    assert prior.beta[0] == pytest.approx(2.0, rel=0.3)


def test_an_update_changes_the_kinds_alone():
    model = LDA(3, topic_word_prior="learn_words", n_sweeps=40, random_state=0).fit(X)
    kind_of = kinds_by_frequency(CORPUS.word_counts)
    beta = model.topic_word_prior_
    assert beta.shape == (V,)
    assert len({(int(kind), value) for kind, value in zip(kind_of, beta.tolist(), strict=True)}) == len(
        set(kind_of.tolist())
    )
    assert (beta != 0.01).all()

"""A β for each word, as given: against brute force, and against one β where all words have the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

from support.corpora import random_counts
from topoi import LDA, Corpus, MedLDAClassifier
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import fingerprint
from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import fixed_priors
from topoi.chain.priors.fixed_beta_of_words import FixedBetaOfWords
from topoi.chain.state import new_state, topic_counts

V = 30
X = random_counts(40, V, 12, seed=6)
CORPUS = Corpus.from_counts(X)
ALPHA = np.array([0.1, 0.4, 0.2])
BETA = np.array([0.3, 0.02, 0.7, 0.02])[np.arange(V) % 4]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: 40))


@pytest.mark.parametrize("base", [None, np.random.default_rng(3).integers(0, 3, (V, 3)) * 20])
def test_log_joint_is_that_of_the_formula(base, small_blocks):
    state = new_state(CORPUS, fixed_priors(ALPHA, BETA, base), 1)
    one = new_state(CORPUS, fixed_priors(ALPHA, 0.1, base), 1)
    of_topics = log_joint(one) - of_words(one, np.full(V, 0.1), base)
    assert log_joint(state) == pytest.approx(of_topics + of_words(state, BETA, base), rel=1e-12)


def of_words(state, beta, base):
    """log p(words | topics), by every entry."""
    prior = beta[:, None] + (np.zeros((V, 3)) if base is None else base)
    n_wk = topic_counts(state)[0]
    rises = (gammaln(n_wk + prior) - gammaln(prior)).sum()
    return rises - (gammaln((n_wk + prior).sum(0)) - gammaln(prior.sum(0))).sum()


@pytest.mark.parametrize(
    ("beta", "kind_of", "message"),
    [
        ([0.1, 0.0], [0, 1], "beta must be positive numbers"),
        ([0.1, np.nan], [0, 1], "beta must be positive numbers"),
        ([0.1, 0.2], [0, 2], "kind_of must be numbers of kinds, one per word, from 0 to 1"),
        ([0.1, 0.2], [0, -1], "kind_of must be numbers of kinds"),
        ([0.1, 0.2], [0], "kind_of must be numbers of kinds"),
        ([0.1, 0.2], [1, 1], "words of a kind must have the same beta"),
    ],
)
def test_what_cannot_be(beta, kind_of, message):
    with pytest.raises(ModelError, match=message):
        FixedBetaOfWords(np.array(beta), np.array(kind_of)).check()


SAME = 0.03 * np.ones(V)


@pytest.mark.parametrize(
    "more",
    [
        {"n_topics": 4, "sampler": "partial", "infer_method": "gibbs"},
        {"n_topics": 4, "sampler": "delayed", "seeds": {"one": [2, 5, 7]}},
        {"n_topics": "auto"},
    ],
    ids=["gibbs", "seeds", "auto"],
)
def test_the_same_for_all_words_is_one_beta(more):
    """Topics, answers and the log joint; where topics are joined as well."""
    models = [LDA(topic_word_prior=beta, n_sweeps=60, random_state=0, **more).fit(X) for beta in (0.03, SAME)]
    for one, other in (models, models[::-1]):
        np.testing.assert_array_equal(one.model_.counts.toarray(), other.model_.counts.toarray())
        np.testing.assert_allclose(one.transform(X), other.transform(X), rtol=0, atol=1e-5)
        np.testing.assert_allclose(one.components_, other.components_, rtol=1e-12)
        np.testing.assert_allclose(one.log_joint_, other.log_joint_, rtol=1e-10)
        assert one.perplexity(X) == pytest.approx(other.perplexity(X), rel=1e-9)


@pytest.mark.parametrize("sampler", ["auto", "polya_urn", "light_med"])
def test_the_same_for_all_words_is_one_beta_with_labels(sampler):
    y = np.arange(len(X)) % 2
    models = [
        MedLDAClassifier(3, topic_word_prior=beta, sampler=sampler, n_sweeps=8, random_state=0).fit(X, y)
        for beta in (0.03, SAME)
    ]
    np.testing.assert_array_equal(models[0].model_.counts.toarray(), models[1].model_.counts.toarray())
    np.testing.assert_allclose(models[0].decision_function(X), models[1].decision_function(X), rtol=0, atol=1e-4)


def test_topics_of_the_model_have_the_beta_of_their_words():
    model = LDA(3, topic_word_prior=BETA, n_sweeps=20, random_state=0).fit(X)
    n_wk = model.model_.counts.toarray() / model.model_.n_samples
    np.testing.assert_allclose(model.components_, ((n_wk + BETA[:, None]) / (n_wk.sum(0) + BETA.sum())).T, rtol=1e-12)
    np.testing.assert_array_equal(model.topic_word_prior_, BETA)
    some = np.array([3, 1])
    np.testing.assert_allclose(model.model_.word_probabilities(some), model.components_[:, some].T, rtol=1e-12)


def test_a_word_that_topics_expect_is_in_all_of_them():
    """What a large β says of a word is seen in new documents: its tokens tell less of their topics."""
    expected = np.where(np.arange(V) == 0, 1e4, 0.01)
    for method in ("gibbs", "mean_field"):
        model = LDA(3, topic_word_prior=expected, n_sweeps=60, random_state=0, infer_method=method, infer_sweeps=200)
        shares = model.fit(X).transform(np.eye(V, dtype=int)[[0, 1]] * 20)
        assert shares[0].max() < shares[1].max()


def test_another_beta_of_a_word_is_another_fit():
    """A checkpoint of one is not taken for one of the other, though 2,000 numbers are not shown in full."""
    corpus = Corpus.from_counts(np.ones((2, 2000), int))
    beta = np.full(2000, 0.1)
    beta[1000:] = 0.2
    other = np.where(np.arange(2000) == 1500, 0.3, beta)
    prints = {fingerprint(new_state(corpus, fixed_priors(ALPHA, value), 1), None, None) for value in (beta, other, 0.1)}
    assert len(prints) == 3

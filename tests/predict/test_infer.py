"""Topics of new documents: against enumeration, and the same answer in any company."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln

from support.corpora import random_counts
from topoi import Corpus, ParameterError, TopicModel
from topoi._machine.pool import Pool
from topoi.chain.counts.theta import add_shares
from topoi.chain.priors import fixed_priors
from topoi.chain.state import document_counts, new_state
from topoi.predict.fold_in import infer


def make_model(n_words=300, n_topics=6, seed=0, n_samples=3, alpha=None):
    rng = np.random.default_rng(seed)
    last = rng.poisson(rng.gamma(0.2, 5.0, (n_words, n_topics)))
    counts = n_samples * last + rng.poisson(0.5, last.shape)
    alpha = rng.gamma(1.0, 0.3, n_topics) + 0.05 if alpha is None else np.asarray(alpha, float)
    return TopicModel(sparse.csr_array(counts), sparse.csr_array(last), n_samples, fixed_priors(alpha, 0.05))


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture(scope="module")
def counts():
    return random_counts(400, 300, 60, seed=2)


def exact_shares(model, words):
    """E[θ | words, φ, α], and p(z | words) alone, summed over all topics of all tokens."""
    phi, alpha = model.topic_word(), model.alpha
    log_p, shares = [], []
    for z in itertools.product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(z, minlength=len(alpha))
        log_p.append((gammaln(n + alpha) - gammaln(alpha)).sum() + np.log(phi[list(z), words]).sum())
        shares.append((n + alpha) / (n.sum() + alpha.sum()))
    p = np.exp(np.array(log_p) - max(log_p))
    return p @ np.array(shares) / p.sum()


@pytest.mark.parametrize("words", [[0], [1, 1], [0, 3], [0, 2, 2], [1, 2, 3], [0, 1, 2, 3]], ids=str)
def test_enumeration(words):
    """The average of 40 independent chains is within its Monte Carlo error of the exact mean."""
    model = make_model(4, 3, seed=1, alpha=[0.7, 0.2, 0.4])
    corpus = Corpus.from_counts(np.bincount(words, minlength=4)[None])
    chains = np.array([infer(model, corpus, 4000, seed)[0] for seed in range(40)])
    assert len(np.unique(chains, axis=0)) > 30  # a share is a whole number of tokens over 2000: two may agree
    error = chains.std(0, ddof=1) / np.sqrt(40)
    assert error.max() < 0.002  # else the next line could not fail
    exact = exact_shares(model, words)
    # Student's t with 39 degrees: beyond 4.5 once in 16,000; there are 18 comparisons.
    assert (np.abs(chains.mean(0) - exact) < 4.5 * error).all(), (chains.mean(0), exact, error)
    # The test has power: shares that count each token by its word alone are far off.
    phi = model.topic_word()[:, words] * model.alpha[:, None]
    alone = (phi / phi.sum(0)).sum(1) + model.alpha
    if len(words) > 1:
        assert np.abs(alone / alone.sum() - exact).max() > 10 * error.max()


@pytest.mark.parametrize("n_sweeps", [1, 2, 3, 20])
def test_few_sweeps(n_sweeps, model, counts):
    """With few tokens the share is a whole number of tokens over the kept sweeps, the second half of all."""
    theta = infer(model, Corpus.from_counts(counts), n_sweeps)
    assert np.abs(theta.sum(1) - 1).max() < 1e-9
    kept = n_sweeps - n_sweeps // 2
    n_dk = (theta * (counts.sum(1, keepdims=True) + model.alpha.sum()) - model.alpha) * kept
    np.testing.assert_allclose(n_dk, n_dk.round(), atol=1e-6)
    assert n_dk.min() > -1e-6
    np.testing.assert_allclose(n_dk.sum(1), kept * counts.sum(1), atol=1e-6)


def test_same_answer_in_any_company(model, counts):
    theta = infer(model, Corpus.from_counts(counts), 5, seed=9)
    order = np.random.default_rng(0).permutation(len(counts))
    assert infer(model, Corpus.from_counts(counts[order]), 5, seed=9).tobytes() == theta[order].tobytes()
    for d in [0, 1, 17, 399]:
        alone = infer(model, Corpus.from_counts(counts[d : d + 1], allow_empty=True), 5, seed=9)
        assert alone[0].tobytes() == theta[d].tobytes()
    twice = infer(model, Corpus.from_counts(np.vstack([counts[5:6], counts[5:6]])), 5, seed=9)
    assert twice[0].tobytes() == twice[1].tobytes() == theta[5].tobytes()


def test_seed(model, counts):
    corpus = Corpus.from_counts(counts)
    theta = infer(model, corpus, 5, seed=1)
    assert infer(model, corpus, 5, seed=1).tobytes() == theta.tobytes()
    full = counts.sum(1) > 0
    assert (infer(model, corpus, 5, seed=2) != theta)[full].any(1).mean() > 0.9


@pytest.mark.parametrize("n_topics", [1, 6, 40])
def test_same_bytes_for_any_number_of_threads(n_topics, counts):
    model = make_model(n_topics=n_topics)
    corpus = Corpus.from_counts(counts)
    assert len(corpus.block_ptr) > 4
    results = []
    for n_jobs in (1, 2, 4):
        with Pool(n_jobs) as pool:
            results.append(infer(model, corpus, 4, pool=pool).tobytes())
    assert results[0] == results[1] == results[2]


def test_empty_documents_get_the_mean_of_the_prior(model):
    X = np.zeros((3, 300), int)
    X[1, 4] = 2
    mean = model.alpha / model.alpha.sum()
    theta = infer(model, Corpus.from_counts(X))
    np.testing.assert_allclose(theta[[0, 2]], [mean, mean], rtol=1e-14)
    nothing = infer(model, Corpus.from_counts(X[:1], allow_empty=True))
    np.testing.assert_allclose(nothing, [mean], rtol=1e-14)
    assert infer(model, Corpus.from_counts(X[:0], allow_empty=True)).shape == (0, 6)


def test_finds_the_topics_of_long_documents(model):
    """Documents of one topic each are told to be so."""
    rng = np.random.default_rng(3)
    X = np.array([rng.multinomial(500, phi) for phi in model.topic_word()])
    theta = infer(model, Corpus.from_counts(X))
    assert np.diag(theta).min() > 0.8


@pytest.mark.parametrize("n_sweeps", [0, -1, 2.5, True, None])
def test_bad_number_of_sweeps(n_sweeps, model):
    with pytest.raises(ParameterError, match=r"^infer_sweeps: "):
        infer(model, Corpus.from_counts(np.ones((1, 300), int)), n_sweeps)


def test_wrong_vocabulary(model):
    with pytest.raises(ValueError, match=r"5 words.*300"):
        infer(model, Corpus.from_counts(np.ones((1, 5), int)))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_shares_of_a_state(n_jobs, counts):
    """θ = (n_dk + α_k)/(n_d + Σα), added to what is there."""
    corpus = Corpus.from_counts(counts)
    alpha = np.linspace(0.1, 0.9, 5)
    state = new_state(corpus, fixed_priors(alpha, 0.1), 0)
    expected = (document_counts(state) + alpha) / (counts.sum(1, keepdims=True) + alpha.sum())
    shares = np.ones((len(counts), 5), np.float32)
    with Pool(n_jobs) as pool:
        add_shares(state, shares, pool)
    np.testing.assert_allclose(shares - 1, expected, atol=1e-5)

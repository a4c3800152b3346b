"""Expected topics of new documents: the fixed point that they should be, and how far it is from the posterior."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from support.corpora import random_counts
from topoi import LDA, MedLDAClassifier
from topoi._machine.pool import Pool
from topoi.chain.model import TopicModel
from topoi.chain.priors import fixed_priors
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.predict.fold_in import infer
from topoi.predict.mean_field import expected_counts, settle_documents


def model_of(n_topics=5, n_words=12, seed=3):
    rng = np.random.default_rng(seed)
    counts = sparse.csr_array(rng.poisson(rng.gamma(0.3, 10.0, (n_words, n_topics))))
    return TopicModel(counts, counts, 1, fixed_priors(np.linspace(0.1, 0.6, n_topics), 0.05), None)


def phi_of(model):
    return (model.counts.toarray() + model.beta) / (model.counts.sum(0) + model.beta * model.n_words)


def naive(model, words, n_sweeps):
    """The same by dictionaries of arrays: words of a document in rising order, each with all its tokens at once."""
    phi = phi_of(model)
    kinds, times = np.unique(words, return_counts=True)
    gamma = phi[kinds] / phi[kinds].sum(1, keepdims=True)
    for _ in range(n_sweeps):
        for j, w in enumerate(kinds):
            others = times @ gamma - gamma[j]  # all tokens but one of this word
            gamma[j] = (others + model.alpha) * phi[w]
            gamma[j] /= gamma[j].sum()
    return times @ gamma


DOCUMENTS = [[0, 3, 3, 7], [], [5], [0, 1, 1, 1, 4, 9, 11], [2] * 30]


def corpus_of(documents=DOCUMENTS, n_words=12):
    ptr = np.cumsum([0] + [len(words) for words in documents])
    return Corpus(np.array(list(itertools.chain(*documents)), np.int32), ptr.astype(np.int64), n_words)


@pytest.mark.parametrize("n_sweeps", [1, 2])
@pytest.mark.parametrize("n_topics", [1, 5, 20])
def test_naive_twin(n_topics, n_sweeps):
    """Before the rule that stops it early can matter."""
    model = model_of(n_topics)
    found = expected_counts(model, corpus_of(), n_sweeps, Pool(1))
    for words, counts in zip(DOCUMENTS, found, strict=True):
        expected = naive(model, np.array(words, int), n_sweeps) if words else np.zeros(n_topics)
        np.testing.assert_allclose(counts, expected, rtol=2e-5, atol=2e-5)  # float32


def test_it_settles_at_the_fixed_point():
    model = model_of()
    found = expected_counts(model, corpus_of(), 1000, Pool(1))
    for words, counts in zip(DOCUMENTS, found, strict=True):
        if words:
            expected = naive(model, np.array(words), 3000)
            assert np.abs(counts - expected).sum() < 0.02 * len(words)
            assert counts.sum() == pytest.approx(len(words), rel=1e-5)


def exact_counts(model, words):
    """E n_k given the words, by enumeration."""
    phi, alpha = phi_of(model), model.alpha
    total, mass = np.zeros(len(alpha)), 0.0
    for z in itertools.product(range(len(alpha)), repeat=len(words)):
        n, p = np.zeros(len(alpha)), 1.0
        for w, k in zip(words, z, strict=True):
            p *= (n[k] + alpha[k]) * phi[w, k]
            n[k] += 1
        total += p * n
        mass += p
    return total / mass


@pytest.mark.parametrize("words", [[5], [0, 3, 3, 7], [0, 1, 1, 4, 11]])
def test_near_the_posterior(words):
    """One token: exact. More: within a tenth of the tokens here (nothing guarantees it; draws have no such error)."""
    model = model_of(3)
    found = expected_counts(model, corpus_of([words]), 200, Pool(1))[0]
    error = np.abs(found - exact_counts(model, words)).sum() / 2
    assert error < (1e-5 if len(words) == 1 else 0.1 * len(words))


def test_batch_and_threads_do_not_matter():
    counts = random_counts(60, 40, 30, seed=8)
    model = LDA(6, n_sweeps=5, random_state=0).fit(counts).model_
    corpus = Corpus.from_counts(counts)
    together = expected_counts(model, corpus, 10, Pool(1))
    with Pool(4) as pool:
        assert expected_counts(model, corpus, 10, pool).tobytes() == together.tobytes()
    for d in (0, 7, 59):
        alone = expected_counts(model, corpus.take([d]), 10, Pool(1))
        assert alone[0].tobytes() == together[d].tobytes()


def test_shares_sum_to_one_and_an_empty_document_gets_the_prior():
    model = model_of()
    theta = infer(model, corpus_of(), 3, method="mean_field")
    np.testing.assert_allclose(theta.sum(1), 1, rtol=1e-12)
    np.testing.assert_allclose(theta[1], model.alpha / model.alpha.sum(), rtol=1e-12)


def test_no_noise():
    """Whatever the seed; draws differ."""
    model, corpus = model_of(), corpus_of()
    assert (infer(model, corpus, 3, 1, method="mean_field") == infer(model, corpus, 3, 2, method="mean_field")).all()
    assert (infer(model, corpus, 3, 1) != infer(model, corpus, 3, 2)).any()


def test_compiled_is_interpreted():
    model, corpus = model_of(20), corpus_of()
    found = expected_counts(model, corpus, 5, Pool(1))
    bag = sparse.csr_array(corpus.to_counts().astype(np.float32))
    table = np.zeros((12, 32), np.float32)
    table[:, :20] = (model.word_rows(np.arange(12), np.float32) + np.float32(model.beta)) * model.scale.astype(
        np.float32
    )
    prior = model.priors.topics.alpha_of(corpus).for_kernels(5, np.float32, 32)
    counts = np.zeros((5, 20))
    settle_documents.py_func(
        bag.indptr.astype(np.int64), bag.indices.astype(np.int32), bag.data, 0, 5, prior, table, 5, np.float32(1e-3),
        counts,
    )  # fmt: skip
    np.testing.assert_allclose(found, counts, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", [LDA, MedLDAClassifier])
def test_unknown_method(estimator):
    counts = random_counts(20, 10, 8, seed=1)
    with pytest.raises(ParameterError, match=r"infer_method.*gibbs, mean_field.*'magic'"):
        estimator(3, n_sweeps=2, infer_method="magic").fit(counts, np.arange(20) % 2)


def test_lda_takes_either():
    counts = random_counts(30, 20, 15, seed=2)
    theta = LDA(4, n_sweeps=10, infer_method="mean_field", random_state=0).fit(counts).transform(counts)
    np.testing.assert_allclose(theta.sum(1), 1, rtol=1e-12)

"""Held-out likelihood: left to right against enumeration, by every path of its own source, and by averages."""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, logsumexp

from support.copies import interpreted
from support.corpora import random_counts
from support.oracle import paths
from topoi import LDA, Corpus, MedLDAClassifier, ParameterError, TopicModel
from topoi._machine.pool import Pool
from topoi._machine.rng import LEFT_TO_RIGHT, new_stream
from topoi._machine.simd import padded
from topoi.chain import diagnostics
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.priors import fixed_priors
from topoi.evaluate import HeldOut, document_completion, left_to_right, log_likelihoods
from topoi.evaluate._particles import log_documents, read_document

PHI = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
ALPHA = np.array([0.7, 0.2])


def exact(words, phi, alpha):
    """log p(words | φ, α), summed over all topics of all tokens."""
    terms = []
    for z in itertools.product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(z, minlength=len(alpha))
        prior = (gammaln(n + alpha) - gammaln(alpha)).sum() + gammaln(alpha.sum()) - gammaln(n.sum() + alpha.sum())
        terms.append(prior + np.log(phi[list(z), words]).sum())
    return logsumexp(terms)


def tables(phi, alpha):
    rows = np.zeros((phi.shape[1], 16))
    rows[:, : len(alpha)] = phi.T
    return padded(alpha, np.float64), float(alpha.sum()), rows, padded(np.ones(len(alpha)), np.float64)


def plain_particles(edits=()):
    found = {}

    def names():
        for name in ("topoi.chain.samplers", "topoi.evaluate._particles"):
            yield name
            found[name] = sys.modules[name]

    interpreted({"topoi.evaluate._particles": list(edits)} if edits else None, names())
    return SimpleNamespace(**vars(found["topoi.evaluate._particles"]))


@pytest.fixture(scope="module")
def plain():
    return plain_particles()


def mean_over_paths(code, words, n_particles, n_moves):
    """The estimate of p(words), averaged over everything that the random numbers can do."""
    arrays = tables(PHI, ALPHA)
    outcomes = list(
        paths(lambda oracle: np.exp(code.read_document(np.array(words), n_particles, n_moves, oracle, *arrays)))
    )
    assert sum(p for p, _ in outcomes) == pytest.approx(1, abs=1e-12)
    return sum(p * value for p, value in outcomes), np.ptp([value for _, value in outcomes])


@pytest.mark.parametrize(
    ("words", "n_particles", "n_moves"),
    [([0], 1, -1), ([0, 2], 1, -1), ([0, 2, 2], 1, -1), ([2, 0, 1], 1, 0), ([0, 2, 2, 1], 1, 1), ([0, 2, 2], 1, 1),
     ([0, 2], 2, -1), ([0, 2, 2], 2, 0), ([0, 2], 3, 0)],
    ids=str,
)  # fmt: skip
def test_unbiased_over_every_path(words, n_particles, n_moves, plain):
    """The estimate's expectation is the exact probability: no sampling, no tolerance but rounding."""
    mean, spread = mean_over_paths(plain, words, n_particles, n_moves)
    assert mean == pytest.approx(np.exp(exact(words, PHI, ALPHA)), rel=1e-11)
    assert (spread > 1e-6) == (len(words) > 1)  # a random number mattered


def test_unbiased_with_particles_drawn_anew():
    """The same where particles are drawn anew after every token."""
    code = plain_particles([("FEW = 0.5", "FEW = 1.0")])
    for words, n_particles in (([0, 2], 2), ([0, 2, 2], 2), ([2, 0, 0], 2)):
        mean, _ = mean_over_paths(code, words, n_particles, 0)
        assert mean == pytest.approx(np.exp(exact(words, PHI, ALPHA)), rel=1e-11)


@pytest.mark.parametrize(
    ("few", "old", "new"),
    [
        # The product of averages over particles that never see each other, as published in 2009.
        (0.0, "weight[r] *= total / (n + alpha_sum)", "weight[r] = total / (n + alpha_sum)"),
        (0.5, "total / (n + alpha_sum)", "total / (n + 1 + alpha_sum)"),
        (0.5, "n_d[z[i]] -= 1.0", ""),
        (1.0, "below + weight[r] <= copy + u", "below + 1.0 <= copy + u"),
        (1.0, "weight[copy] = 1.0", ""),
    ],
)
def test_the_paths_find_bugs(few, old, new):
    code = plain_particles([(old, new), ("FEW = 0.5", f"FEW = {few}")])
    errors = []
    for words, n_particles, n_moves in (([0, 2, 2], 1, -1), ([0, 2, 2], 2, 0)):
        try:
            mean, _ = mean_over_paths(code, words, n_particles, n_moves)
        except AssertionError:  # a count below 0 gives no number at all
            mean = np.nan
        errors.append(mean / np.exp(exact(words, PHI, ALPHA)) - 1)
    assert not np.abs(errors).max() < 1e-3


# ---- The compiled code -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_moves", [-1, 2])
def test_mean_of_many_runs(n_moves):
    """Words of three topics, too many tokens for every path. Beyond 4.5 standard errors once in 150,000."""
    rng = np.random.default_rng(1)
    phi, alpha, words = rng.dirichlet(np.full(5, 0.4), 3), np.array([0.3, 0.5, 0.1]), np.array([0, 1, 1, 3, 4, 4, 2])
    arrays = tables(phi, alpha)
    truth = exact(words, phi, alpha)
    ratio = [
        np.exp(read_document(words, 4, n_moves, new_stream(run, LEFT_TO_RIGHT), *arrays) - truth) for run in range(4000)
    ]
    error = np.std(ratio, ddof=1) / np.sqrt(len(ratio))
    assert 1e-4 < error < 0.02
    assert abs(np.mean(ratio) - 1) < 4.5 * error


def test_more_particles_less_noise():
    rng = np.random.default_rng(2)
    phi, alpha = rng.dirichlet(np.full(30, 0.1), 4), DocumentAlpha(np.full((1, 4), 0.1))
    corpus = Corpus.from_counts(rng.multinomial(40, phi.mean(0))[None])
    few, many = (
        np.array(
            [log_documents(lambda words: phi[:, words].T, alpha, corpus, n, -1, seed, Pool(1))[0] for seed in range(60)]
        )
        for n in (2, 64)
    )
    assert many.std() < 0.6 * few.std()
    assert many.mean() > few.mean()  # the logarithm of an unbiased estimate is too low, by less if there is less noise


def fitted(n_topics=4, seed=0, n_words=300):
    rng = np.random.default_rng(seed)
    counts = sparse.csr_array(rng.poisson(rng.gamma(0.2, 5.0, (n_words, n_topics))))
    return TopicModel(counts, counts, 1, fixed_priors(np.full(n_topics, 0.2), 0.05))


@pytest.mark.parametrize("n_moves", [None, 3])
def test_same_bytes_for_any_number_of_threads_and_in_any_company(n_moves):
    model, X = fitted(), random_counts(60, 300, 25, seed=2)
    results = [log_likelihoods(model, X, n_particles=3, n_moves=n_moves, n_jobs=n_jobs) for n_jobs in (1, 2, 4)]
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
    alone = log_likelihoods(model, X[7:8], n_particles=3, n_moves=n_moves)
    assert alone[0] == results[0][7]
    other = log_likelihoods(model, X, n_particles=3, n_moves=n_moves, seed=1)
    assert (other != results[0])[X.sum(1) > 1].all()


def test_compiled_is_interpreted(plain):
    words = np.array([0, 0, 1, 2, 2, 2, 1, 0])
    for n_moves in (-1, 2):
        found = [
            code.read_document(words, 3, n_moves, new_stream(5, LEFT_TO_RIGHT), *tables(PHI, ALPHA))
            for code in (SimpleNamespace(read_document=read_document), plain)
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_one_topic_is_exact():
    """With K = 1 there is nothing to integrate out: Σ n_w log φ_w, by both measures."""
    model, X = fitted(1), random_counts(12, 300, 25, seed=4)
    log_phi = np.log(model.topic_word()[0])
    np.testing.assert_allclose(log_likelihoods(model, X, n_particles=1), X @ log_phi, rtol=1e-12)
    found = left_to_right(model, X)
    assert found.log_likelihood == pytest.approx((X @ log_phi).sum() / X.sum())
    assert found.perplexity == pytest.approx(np.exp(-found.log_likelihood))
    assert found.as_dict() == {"log_likelihood": found.log_likelihood, "perplexity": found.perplexity,
                               "n_scored": X.sum()}  # fmt: skip


def test_a_better_model_is_told():
    rng = np.random.default_rng(7)
    theta, phi = rng.dirichlet(np.full(4, 0.1), 150), rng.dirichlet(np.full(300, 0.05), 4)
    X = np.array([rng.multinomial(40, p) for p in theta @ phi])
    good, one = (LDA(k, n_sweeps=40, random_state=0).fit(X[:100]) for k in (4, 1))
    for measure in (left_to_right, document_completion):
        assert measure(good, X[100:]).log_likelihood > measure(one, X[100:]).log_likelihood + 0.1


def test_empty_documents():
    model = fitted()
    X = np.zeros((3, 300), int)
    assert (log_likelihoods(model, X) == 0).all()
    for found in (left_to_right(model, X), document_completion(model, X), left_to_right(model, X[:0])):
        assert np.isnan(found.log_likelihood)
        assert np.isnan(found.perplexity)
        assert found.n_scored == 0
    X[1, 4] = 2
    assert left_to_right(model, X).n_scored == 2
    assert document_completion(model, X).n_scored == 1


def test_completion_is_that_of_diagnostics():
    model, X = fitted(), random_counts(60, 300, 25, seed=2)
    twin = diagnostics.completion(model.topic_word(), model.alpha, X, seed=3)
    found = document_completion(model, X, seed=3, n_jobs=2)
    assert found == HeldOut(-np.log(twin.perplexity), twin.perplexity, twin.n_scored)
    assert document_completion(model, X, seed=4) != found


class Labelled:
    """Documents of one label each, whose words the other label has too, and a model of them."""

    def __init__(self):
        rng = np.random.default_rng(9)
        self.labels = [["a"] if i % 2 else ["b"] for i in range(80)]
        self.phi = np.array([[4, 3, 2, 1], [1, 2, 3, 4]]) / 10
        self.X = np.array([rng.multinomial(6, self.phi[int(own == ["a"])]) for own in self.labels])
        self.model = LDA(2, n_sweeps=20, random_state=0).fit(self.X, topic_labels=self.labels)


def test_what_is_known_of_documents_is_used():
    """With labels of one topic each there is nothing to integrate out; without, there is."""
    data = Labelled()
    phi = data.model.components_[[data.model.topic_labels_.index(own[0]) for own in data.labels]]
    found = log_likelihoods(data.model, data.X, n_particles=3, topic_labels=data.labels)
    np.testing.assert_allclose(found, (data.X * np.log(phi)).sum(1), rtol=1e-12)
    per_token = found.sum() / data.X.sum()
    assert left_to_right(data.model, data.X, topic_labels=data.labels).log_likelihood == pytest.approx(per_token)
    completed = document_completion(data.model, data.X, topic_labels=data.labels)
    assert completed.log_likelihood == pytest.approx(per_token, abs=0.05)
    labelled = data.model.with_topic_labels(data.X, data.labels)
    assert document_completion(data.model, labelled) == document_completion(data.model.model_, labelled) == completed
    for measure in (document_completion, left_to_right):
        assert measure(data.model, data.X).log_likelihood < measure(data.model, labelled).log_likelihood
    for name in ("covariates", "topic_labels"):
        with pytest.raises(ParameterError, match=f"{name}: are those of an estimator; a TopicModel does not know them"):
            document_completion(data.model.model_, data.X, **{name: data.labels})
    with pytest.raises(ParameterError, match="covariates: are given, but fit had none that topics depend on"):
        left_to_right(data.model, data.X, covariates={"x": np.zeros(80)})


def test_bad_input(train):
    model, X = fitted(), np.ones((2, 300), int)
    with pytest.raises(ValueError, match=r"5 words.*300"):
        left_to_right(model, np.ones((2, 5), int))
    for name, value in (("n_particles", 0), ("n_moves", -1), ("seed", -1), ("n_particles", 2.5)):
        with pytest.raises(ParameterError, match=f"^{name}: "):
            left_to_right(model, X, **{name: value})
    with pytest.raises(ParameterError, match=r"LDA.*not str"):
        left_to_right("model", X)
    with pytest.raises(ValueError, match="not fitted"):
        left_to_right(LDA(), X)
    several = MedLDAClassifier(2, strategy="ovr", n_sweeps=2, random_state=0).fit(train.X, train.many)
    with pytest.raises(ParameterError, match=r"5 topic models.*estimators_"):
        document_completion(several, train.X)
    assert left_to_right(several.estimators_[0], train.X[:3]).n_scored == train.X[:3].sum()

"""Learning α and β: against brute force, against the truth, and never downhill; and what users may give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import digamma

from topoi._machine.pool import Pool
from topoi.chain.counts.spectra import SMALL, document_spectrum, word_spectrum
from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import (
    FixedAlpha,
    FixedBeta,
    fixed_priors,
    learned_alpha,
    learned_beta,
    resolve_priors,
)
from topoi.chain.priors.learned_alpha import LearnedAlpha
from topoi.chain.priors.learned_beta import LearnedBeta
from topoi.chain.priors.minka import FLOOR, RATE, SHAPE
from topoi.chain.state import State, document_counts, new_state, topic_counts
from topoi.corpus import Corpus
from topoi.errors import ParameterError

ALPHA = np.array([0.05, 0.1, 0.3, 0.6, 1.5])
BETA = 0.05


def make_state(tokens, topics, n_words, alpha, beta):
    """A state from the words and topics of each document, in any order."""
    tokens = [np.asarray(t, np.int32) for t in tokens]
    orders = [np.argsort(t, kind="stable") for t in tokens]
    doc_ptr = np.concatenate(([0], np.cumsum([len(t) for t in tokens]))).astype(np.int64)
    words = np.concatenate([t[o] for t, o in zip(tokens, orders, strict=True)])
    z = np.concatenate([np.asarray(t)[o] for t, o in zip(topics, orders, strict=True)]).astype(np.uint16)
    return State(Corpus(words, doc_ptr, n_words), fixed_priors(alpha, beta), z, 0)


def learn_alpha(state, pool=None, n_steps=20):
    spectrum = document_spectrum(state, pool or Pool(1))
    return learned_alpha.climb(state.alpha, spectrum, state.corpus.doc_lengths, n_steps)


def learn_beta(state, pool=None, n_steps=20):
    return learned_beta.climb(state.beta, *word_spectrum(state, pool or Pool(1)), state.corpus.n_words, n_steps)


@pytest.fixture(scope="module")
def drawn():
    """2000 documents from the model itself, their true topics, and priors far from the truth."""
    rng = np.random.default_rng(1)
    n_words = 400
    phi = rng.dirichlet(np.full(n_words, BETA), len(ALPHA))
    tokens, topics = [], []
    for d in range(2000):
        n = 0 if d % 50 == 0 else 20 + d % 100
        z = rng.choice(len(ALPHA), n, p=rng.dirichlet(ALPHA))
        place = np.cumsum(phi, 1)
        tokens.append(np.minimum([np.searchsorted(place[k], rng.random()) for k in z], n_words - 1))
        topics.append(z)
    return make_state(tokens, topics, n_words, np.full(len(ALPHA), 1.0), 0.5)


def with_priors(state, alpha=None, beta=None):
    alpha = state.alpha if alpha is None else alpha
    beta = state.beta if beta is None else beta
    return State(state.corpus, fixed_priors(alpha, beta), state.z, 0)


def penalty(x):
    return np.sum((SHAPE - 1) * np.log(x) - RATE * np.asarray(x))


def test_the_density_is_that_of_gammas():
    values = np.array([0.1, 0.7, 3.0])
    density = stats.gamma(SHAPE, scale=1 / RATE).logpdf
    assert LearnedAlpha(values).log_density() == pytest.approx(density(values).sum())
    assert LearnedBeta(0.3).log_density() == pytest.approx(density(0.3))
    assert FixedAlpha(values).log_density() == FixedBeta(0.3).log_density() == 0.0


def as_histogram(spectrum):
    row, size, times = spectrum
    return {(int(r), int(s)): int(t) for r, s, t in zip(row, size, times, strict=True)}


def histogram(counts, rows):
    found = {}
    for row, n in zip(np.broadcast_to(rows, counts.shape).ravel(), counts.ravel(), strict=True):
        if n > 0:
            found[int(row), int(n)] = found.get((int(row), int(n)), 0) + 1
    return found


def test_histograms_are_those_of_all_counts(drawn):
    assert document_counts(drawn).max() > SMALL
    assert as_histogram(document_spectrum(drawn, Pool(1))) == histogram(document_counts(drawn), np.arange(5))
    n_wk, n_k = topic_counts(drawn)
    assert n_wk.max() > SMALL
    spectrum, total = word_spectrum(drawn, Pool(1))
    assert as_histogram(spectrum) == histogram(n_wk, 0)
    assert total.tolist() == n_k.tolist()


def test_histograms_count_the_base(drawn):
    base = np.random.default_rng(2).poisson(20.0, (400, 5))
    base[7, 3] = 1e6
    state = new_state(drawn.corpus, fixed_priors(drawn.alpha, drawn.beta, base), 0)
    n_wk = topic_counts(state)[0] + base
    spectrum, total = word_spectrum(state, Pool(1))
    assert as_histogram(spectrum) == histogram(n_wk, 0)
    assert total.tolist() == n_wk.sum(0).tolist()


def test_a_step_is_minkas(drawn):
    n_dk = document_counts(drawn)
    a = drawn.alpha
    above = a * (digamma(n_dk + a) - digamma(a)).sum(0) + SHAPE - 1
    below = (digamma(n_dk.sum(1) + a.sum()) - digamma(a.sum())).sum() + RATE
    np.testing.assert_allclose(learn_alpha(drawn, n_steps=1), above / below, rtol=1e-10)
    n_wk, n_k = topic_counts(drawn)
    b, n_words = drawn.beta, len(n_wk)
    above = b * (digamma(n_wk + b) - digamma(b)).sum() + SHAPE - 1
    below = n_words * (digamma(n_k + n_words * b) - digamma(n_words * b)).sum() + RATE
    assert learn_beta(drawn, n_steps=1) == pytest.approx(above / below, rel=1e-10)


def test_alpha_of_the_model_is_found(drawn):
    learned = learn_alpha(drawn, n_steps=500)
    # The spread of the estimate is about α/√(documents that have the topic), 5 % at α = 0.05.
    np.testing.assert_allclose(learned, ALPHA, rtol=0.2)
    np.testing.assert_allclose(learned.mean(), ALPHA.mean(), rtol=0.1)
    np.testing.assert_array_equal(drawn.alpha, 1.0)  # the state is left alone


def test_alpha_is_the_maximum(drawn):
    def loss(log_alpha):
        alpha = np.exp(log_alpha)
        return -log_joint(with_priors(drawn, alpha=alpha)) - penalty(alpha)

    best = np.exp(minimize(loss, np.log(ALPHA), method="BFGS").x)
    np.testing.assert_allclose(learn_alpha(drawn, n_steps=500), best, rtol=1e-3)


def test_beta_of_the_model_is_found(drawn):
    learned = learn_beta(drawn, n_steps=500)
    assert learned == pytest.approx(BETA, rel=0.15)

    def loss(value):
        return -log_joint(with_priors(drawn, beta=value)) - penalty(value)

    assert loss(learned) < min(loss(learned * 0.99), loss(learned * 1.01))


@pytest.mark.parametrize("start", [1e-4, 0.1, 50.0])
def test_no_step_of_alpha_goes_down(drawn, start):
    state = with_priors(drawn, alpha=np.full(5, start))
    before = -np.inf
    for _ in range(15):
        now = log_joint(state) + penalty(state.alpha)
        assert now >= before - 1e-7
        before = now
        state = with_priors(state, alpha=learn_alpha(state, n_steps=1))


@pytest.mark.parametrize("start", [1e-4, 0.1, 50.0])
def test_no_step_of_beta_goes_down(drawn, start):
    state = with_priors(drawn, beta=start)
    before = -np.inf
    for _ in range(15):
        now = log_joint(state) + penalty(state.beta)
        assert now >= before - 1e-7
        before = now
        state = with_priors(state, beta=learn_beta(state, n_steps=1))


def test_steps_add_up(drawn):
    one = with_priors(drawn)
    for _ in range(5):
        one = with_priors(one, alpha=learn_alpha(one, n_steps=1), beta=learn_beta(one, n_steps=1))
    np.testing.assert_array_equal(learn_alpha(drawn, n_steps=5), one.alpha)
    assert learn_beta(drawn, n_steps=5) == one.beta


def test_any_number_of_threads_gives_the_same(drawn):
    assert len(drawn.corpus.block_ptr) > 10
    want = learn_alpha(drawn).tobytes(), learn_beta(drawn)
    for n_jobs in (1, 2, 4):
        with Pool(n_jobs) as pool:
            assert (learn_alpha(drawn, pool).tobytes(), learn_beta(drawn, pool)) == want


def test_topics_without_tokens_keep_a_little():
    rng = np.random.default_rng(3)
    tokens = [rng.integers(0, 9, 30) for _ in range(100)]
    state = make_state(tokens, [rng.integers(0, 2, 30) for _ in tokens], 9, np.full(4, 0.1), 0.1)
    alpha = learn_alpha(state, n_steps=300)
    assert (alpha[:2] > 0.3).all()
    assert (alpha[2:] < 0.1).all()
    assert (alpha[2:] >= FLOOR).all()


def test_a_million_tokens_in_a_document():
    rng = np.random.default_rng(4)
    tokens = [rng.integers(0, 5, n) for n in (1_000_000, 0, 1)]
    topics = [rng.integers(0, 3, len(t)) for t in tokens]
    state = make_state(tokens, topics, 5, np.full(3, 0.1), 0.1)
    spectrum = document_spectrum(state, Pool(1))
    assert as_histogram(spectrum) == histogram(document_counts(state), np.arange(3))
    assert np.isfinite(learn_alpha(state, n_steps=50)).all()
    assert 0 < learn_beta(state, n_steps=50) < 1e6


def test_no_tokens_at_all():
    corpus = Corpus.from_counts(np.zeros((3, 4), int), allow_empty=True)
    state = new_state(corpus, fixed_priors(np.full(2, 0.1), 0.1), 0)
    assert learn_alpha(state).tolist() == [1.0, 1.0]  # nothing but the prior: its mode
    assert learn_beta(state) == 1.0


# ---- What users may give -----------------------------------------------------------------------------------

CORPUS = Corpus.from_counts([[1]])


def resolve_alpha(value, n_topics):
    return resolve_priors(value, None, n_topics, CORPUS).topics


def resolve_beta(value):
    return resolve_priors(None, value, 1, CORPUS).words


@pytest.mark.parametrize(
    ("value", "n_topics", "want"),
    [
        (None, 3, [0.1] * 3),
        (None, 500, [0.1] * 500),
        (None, 1000, [0.05] * 1000),
        ("learn", 2, [0.1] * 2),
        (0.5, 3, [0.5] * 3),
        (2, 2, [2.0] * 2),
        (np.float32(0.5), 2, [0.5] * 2),
        (np.array(0.5), 2, [0.5] * 2),
        (np.int64(1), 1, [1.0]),
        (Fraction(1, 4), 1, [0.25]),
        ([0.1, 1, 2.5], 3, [0.1, 1.0, 2.5]),
        (np.array([1, 2]), 2, [1.0, 2.0]),
        ((0.3,), 1, [0.3]),
    ],
)
def test_resolve_alpha(value, n_topics, want):
    prior = resolve_alpha(value, n_topics)
    assert prior.alpha.dtype == np.float64
    assert prior.alpha.tolist() == want
    assert type(prior) is (LearnedAlpha if isinstance(value, str) else FixedAlpha)


def test_resolve_alpha_copies():
    given = np.array([0.1, 0.2])
    resolve_alpha(given, 2).alpha[0] = 5.0
    assert given[0] == 0.1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "is 0; must be a positive number"),
        (-0.1, "is -0.1; must be a positive number"),
        (float("nan"), "is nan"),
        (float("inf"), "is inf"),
        (1e-20, "must be from 1e-10 to 1e"),
        (1e20, "must be from 1e-10 to 1e"),
        (True, "is True, a bool"),
        ("auto", 'is \'auto\', a str; must be a positive number, one per topic, None, "learn" or "hdp"'),
        ({"a": 1}, "a dict"),
        (1j, "a complex"),
        ([0.1, 0.1], r"has shape \(2,\); 3 topics need 3 numbers"),
        ([[0.1, 0.1, 0.1]], r"has shape \(1, 3\)"),
        ([0.1, 0.2, 0.0], "entry 2 is 0.0"),
        ([0.1, -1, 0.0], "entry 1 is -1"),
        ([0.1, 0.2, np.nan], "entry 2 is nan"),
        ([0.1, "a", 0.2], "entry 1 is 'a', a str"),
        ([0.1, [1, 2], 0.2], r"entry 1 is \[1, 2\], a list"),
        ([True, 0.1, 0.2], "entry 0 is True"),
    ],
)
def test_resolve_alpha_says_what_is_wrong(value, message):
    with pytest.raises(ParameterError, match=message) as caught:
        resolve_alpha(value, 3)
    assert caught.value.parameter == "doc_topic_prior"


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (None, (0.01, FixedBeta)),
        ("learn", (0.01, LearnedBeta)),
        (0.5, (0.5, FixedBeta)),
        (np.float32(2), (2.0, FixedBeta)),
    ],
)
def test_resolve_beta(value, want):
    prior = resolve_beta(value)
    assert (prior.beta, type(prior)) == want


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.0, "is 0.0; must be a positive number, None, one per word"),
        (-1, "is -1"),
        (np.nan, "is nan"),
        ("auto", "is 'auto'"),
        (False, "is False"),
        ([0.1, 0.2, 0.3], r"has shape \(3,\); \d+ words need one number, or \d+ numbers"),
        (1e-11, "must be from"),
    ],
)
def test_resolve_beta_says_what_is_wrong(value, message):
    with pytest.raises(ParameterError, match=message) as caught:
        resolve_beta(value)
    assert caught.value.parameter == "topic_word_prior"

"""α by covariates: tables, the draw of the weights, and that both together leave the posterior unchanged."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse, stats

from support.compiler import printed
from support.geweke import choose, z_scores
from topoi import Corpus, ParameterError
from topoi._disk.store import ModelError
from topoi._machine.pool import Pool
from topoi._machine.rng import new_stream
from topoi.chain.engines.local import Local
from topoi.chain.priors import DocumentAlpha, FixedBeta, Priors, resolve_priors
from topoi.chain.priors.distinct import distinct
from topoi.chain.priors.poisson_weights import (
    NOWHERE,
    DesignRows,
    Gaussian,
    climb_to_mode,
    draw_weights,
    log_density_at,
    slope_at,
)
from topoi.chain.priors.positive import LARGEST, SMALLEST
from topoi.chain.priors.prevalence import RATE, SHAPE, WIDE, Prevalence, joined
from topoi.chain.priors.seating import draw_seating
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state

LENGTHS = np.array([4, 0, 1, 3, 6, 2])
#: A constant, two categories and a number.
TABLE = np.array([[1, 1, 0, 0.5], [1, 0, 1, -1], [1, 0, 1, 0.2], [1, 1, 0, 0.5], [1, 0, 1, 1.2], [1, 1, 0, -0.8]])
N_TOPICS, N_WORDS, BASE, BETA = 3, 4, 0.6, 0.3
DOCUMENT = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
DOC_PTR = np.concatenate(([0], np.cumsum(LENGTHS))).astype(np.int64)
#: Geweke's z-scores beyond this are a fault: with some 40 functions, at the level 0.001.
LIMIT = 4.2


def corpus_of(words):
    return Corpus(np.asarray(words, np.int32), DOC_PTR, N_WORDS).with_about(prevalence=TABLE)


def first_prior():
    return resolve_priors(BASE, BETA, N_TOPICS, corpus_of(np.zeros(LENGTHS.sum()))).topics


def prior_draw(rng, first):
    """λ and σ² from their own prior; a draw outside of the range is drawn anew."""
    while True:
        variance = np.concatenate(([WIDE**2], stats.invgamma.rvs(SHAPE, scale=RATE, size=3, random_state=rng)))
        mean = np.array([math.log(BASE), 0, 0, 0])
        weights = mean + np.sqrt(variance) * rng.normal(size=(N_TOPICS, 4))
        scores = TABLE @ weights.T
        if scores.min() > math.log(SMALLEST) and scores.max() < math.log(LARGEST):
            return replace(first, weights=weights, variance=variance).settled()


def alpha_of(prior):
    return np.exp(TABLE @ prior.weights.T)


def draw_topics(rng, prior):
    gammas = rng.gamma(alpha_of(prior) + 1e-300)
    shares = (gammas + 1e-290) / (gammas + 1e-290).sum(1, keepdims=True)
    return choose(rng, shares[DOCUMENT])


def functions_of(prior):
    """Of weights and scales, all of them of a moderate size: thirty."""
    weights, scale = prior.weights, np.log(prior.variance[1:])
    soft = np.tanh(weights / 2)
    return np.concatenate([
        soft.ravel(), (weights**2 < 1).ravel(), scale, [scale.prod(), soft[0, 1] * soft[0, 2], soft[:, 3].prod()],
    ])  # fmt: skip


def test_the_step_leaves_the_posterior_unchanged():
    """Weights and scales from their prior, topics from theirs: an update must leave all as they were drawn."""
    rng, first = np.random.default_rng(71), first_prior()
    before, after = [], []
    for number in range(6000):
        prior = prior_draw(rng, first)
        before.append(functions_of(prior))
        z = draw_topics(rng, prior).astype(np.uint16)
        state = State(corpus_of(np.zeros(len(z))), Priors(prior, FixedBeta(BETA)), z, number, 4)
        Local(state, Pool(1)).update_priors()
        after.append(functions_of(state.priors.topics))
    before, after = np.array(before), np.array(after)
    assert before.shape[1] >= 20
    change = after - before  # the same draws: what has nothing to do with the step cancels
    error = change.std(0, ddof=1) / math.sqrt(len(change))
    assert np.abs(change.mean(0) / error).max() < LIMIT


def functions_of_both(state):
    """Of the words and topics beside the weights."""
    z, words, prior = state.z.astype(int), state.corpus.words, state.priors.topics
    n_dk, n_wk = np.zeros((len(LENGTHS), N_TOPICS)), np.zeros((N_WORDS, N_TOPICS))
    np.add.at(n_dk, (DOCUMENT, z), 1)
    np.add.at(n_wk, (words, z), 1)
    n_k = n_wk.sum(0)
    return np.concatenate([
        functions_of(prior), n_k, n_k**2, n_dk[4], n_wk[1] ** 2, n_dk[4] * np.tanh(prior.weights[:, 3]),
        n_dk[0] * np.tanh(prior.weights[:, 1]), [(n_dk**2).sum(), (n_wk**2).sum(), (n_dk > 0).sum(), n_wk.max()],
    ])  # fmt: skip


def draw_words(rng, z):
    return choose(rng, rng.dirichlet(np.full(N_WORDS, BETA), N_TOPICS)[z])


@pytest.mark.slow
def test_geweke():
    """Prior draws of weights, topics and words, and a chain that draws each given the others.

    That topics are drawn right where documents have an α of their own is shown for every sampler in test_geweke.py and
    test_tilted.py: one sampler is enough here.
    """
    rng, first = np.random.default_rng(72), first_prior()

    def state_of(words, z, prior, number):
        order = np.lexsort((words, DOCUMENT))
        priors = Priors(prior, FixedBeta(BETA))
        return State(corpus_of(words[order]), priors, z[order].astype(np.uint16), 5, number)

    drawn = []
    for _ in range(8000):
        prior = prior_draw(rng, first)
        z = draw_topics(rng, prior)
        drawn.append(functions_of_both(state_of(draw_words(rng, z), z, prior, 0)))
    prior = prior_draw(rng, first)
    z, chain = draw_topics(rng, prior), []
    for number in range(1, 24001):
        state = state_of(draw_words(rng, z), z, prior, 4 * number)
        engine = Local(state, Pool(1))
        engine.sweep(SAMPLERS["partial"], {})
        state.sweep = 4 * number
        engine.update_priors()
        prior, z = state.priors.topics, state.z.astype(np.int64)
        chain.append(functions_of_both(state))
    scores = z_scores(np.array(drawn), np.array(chain))
    assert len(scores) >= 50
    assert np.abs(scores).max() < LIMIT


# ---- Tables ------------------------------------------------------------------------------------------------


def antoniak(n, alpha):
    """Probabilities of 0 … n tables of n tokens: Stirling numbers, one token after the other."""
    p = np.array([1.0])
    for j in range(n):
        new = alpha / (alpha + j)
        p = np.concatenate((p, [0.0])) * (1 - new) + np.concatenate(([0.0], p)) * new
    return p


@pytest.mark.parametrize(("n", "alpha"), [(1, 0.3), (2, 0.3), (7, 0.8), (12, 2.5)])
def test_tables_are_antoniaks(n, alpha):
    """By a test of fit at the level 0.001."""
    n_documents = 4000
    corpus = Corpus(np.zeros(n * n_documents, np.int32), np.arange(n_documents + 1) * n, 1)
    z = np.zeros(corpus.n_tokens, np.uint16)
    state = State(corpus, Priors(first_prior(), FixedBeta(BETA)), z, 8, 3)
    rows = DocumentAlpha(np.array([[alpha, 0.4]] * n_documents), np.arange(n_documents))
    tables = draw_seating(state, rows, Pool(1)).tables.toarray()
    assert (tables[:, 1] == 0).all()
    found, expected = np.bincount(tables[:, 0], minlength=n + 1), n_documents * antoniak(n, alpha)
    keep = expected > 5
    rest = found[~keep].sum(), expected[~keep].sum()
    found, expected = np.append(found[keep], rest[0]), np.append(expected[keep], rest[1])
    keep = expected > 1e-9
    assert found[~keep].sum() == 0
    if keep.sum() > 1:
        assert stats.chisquare(found[keep], expected[keep] * found.sum() / expected[keep].sum()).pvalue > 0.001


@pytest.mark.parametrize(("alpha", "n"), [(0.3, 1), (2.0, 30), (0.02, 5), (50.0, 2)])
def test_exposures(alpha, n):
    """q ~ Beta(A, N), by a test of fit at the level 0.001; empty documents have none."""
    n_documents = 2000
    corpus = Corpus(np.zeros(n * n_documents, np.int32), np.append(np.arange(n_documents + 1) * n, n * n_documents), 1)
    state = State(corpus, Priors(first_prior(), FixedBeta(BETA)), np.zeros(corpus.n_tokens, np.uint16), 8, 3)
    exposure = draw_seating(state, DocumentAlpha(np.array([[alpha / 4, alpha * 3 / 4]])), Pool(1)).exposure
    assert exposure[-1] == 0
    assert stats.kstest(np.exp(-exposure[:-1]), stats.beta(alpha, n).cdf).pvalue > 0.001


@pytest.mark.parametrize("alpha", [SMALLEST, LARGEST])
def test_extreme_alpha(alpha):
    corpus = Corpus(np.zeros(9, np.int32), np.array([0, 4, 9]), 1)
    state = State(corpus, Priors(first_prior(), FixedBeta(BETA)), np.arange(9).astype(np.uint16) % 2, 8, 3)
    found = draw_seating(state, DocumentAlpha(np.full((1, 2), alpha)), Pool(1))
    assert np.isfinite(found.exposure).all()
    assert (found.exposure > 0).all()
    assert found.tables.sum() == (4 if alpha == SMALLEST else 9)


# ---- Weights -----------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
DESIGN = sparse.csr_array(np.column_stack((np.ones(12), RNG.integers(0, 2, 12), RNG.normal(size=12))))
PRIOR = Gaussian(np.array([-1.0, 0.0, 0.0]), np.array([0.25, 2.0, 1.0]))


def rows_of(design=DESIGN, exposure=None):
    exposure = np.linspace(0.5, 3.0, design.shape[0]) if exposure is None else exposure
    parts = (design.indptr.astype(np.int64), design.indices.astype(np.int64), design.data.astype(np.float64))
    return DesignRows(*parts, exposure)


def test_log_density_and_its_derivatives():
    rows, seen, at = rows_of(), np.array([7.0, 3.0, -1.5]), np.array([-0.4, 0.3, -0.7])

    def naive(weights):
        scores = DESIGN @ weights
        away = weights - PRIOR.mean
        return seen @ weights - rows.exposure @ np.exp(scores) - 0.5 * (PRIOR.precision * away**2).sum()

    slope, curvature = np.zeros(3), np.zeros((3, 3))
    assert slope_at(rows, seen, PRIOR, at, slope, curvature) == pytest.approx(naive(at))
    assert log_density_at(rows, seen, PRIOR, at) == pytest.approx(naive(at))
    step = 1e-5 * np.eye(3)
    np.testing.assert_allclose(slope, [(naive(at + s) - naive(at - s)) / 2e-5 for s in step], rtol=1e-6)
    full = np.diag(PRIOR.precision) + (DESIGN.T * (rows.exposure * np.exp(DESIGN @ at))) @ DESIGN.toarray()
    np.testing.assert_allclose(np.tril(curvature), np.tril(full), rtol=1e-10)
    beyond = np.array([30.0, 0.0, 0.0])
    assert log_density_at(rows, seen, PRIOR, beyond) == slope_at(rows, seen, PRIOR, beyond, slope, curvature) == NOWHERE


def test_the_mode_is_found():
    rows, seen = rows_of(), np.array([40.0, 30.0, -11.5])
    mode, factor, slope, curvature = np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.zeros((3, 3))
    climb_to_mode(rows, seen, PRIOR, mode, factor)
    slope_at(rows, seen, PRIOR, mode, slope, curvature)
    full = curvature + np.tril(curvature, -1).T
    assert slope @ np.linalg.solve(full, slope) < 1e-3
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, full, rtol=0.1)


def functions_at(weights, counts):
    """Counts times weights see how the posterior turns; squares see its width."""
    away = (weights - PRIOR.mean) * np.sqrt(PRIOR.precision)
    products = [away[0] * away[1], away[1] * away[2], np.tanh(away).prod()]
    return np.concatenate(
        [away, away**2, products, np.tanh(weights) * np.log1p(counts.sum()), away**2 * (counts[:3] > counts[3])]
    )


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_draw_of_weights_leaves_its_posterior_unchanged(size):
    """Weights from their prior, counts given them: a step must leave all as they were drawn; few counts and many."""
    rng, rows = np.random.default_rng(73), rows_of(exposure=size * np.linspace(0.5, 3.0, 12))
    changes = []
    for number in range(4000):
        weights = PRIOR.mean + rng.normal(size=3) / np.sqrt(PRIOR.precision)
        counts = rng.poisson(rows.exposure * np.exp(DESIGN @ weights))
        new = weights.copy()
        draw_weights(rows, DESIGN.T @ counts.astype(float), PRIOR, new, new_stream(number, 99))
        assert (new != weights).all()

        changes.append(functions_at(new, counts) - functions_at(weights, counts))
    changes = np.array(changes)
    error = changes.std(0, ddof=1) / math.sqrt(len(changes))
    assert np.abs(changes.mean(0) / error).max() < LIMIT


def test_weights_far_out_come_back():
    """From a place a hundred standard deviations away, in a few steps; a Metropolis step would stay there."""
    rows, seen = rows_of(exposure=np.full(12, 1e4)), DESIGN.T @ np.full(12, 1e4)
    weights = np.array([-3.0, 2.0, -1.0])
    for number in range(10):
        draw_weights(rows, seen, PRIOR, weights, new_stream(number, 99))
    np.testing.assert_allclose(weights, 0.0, atol=0.1)


def test_weights_stay_in_the_range_of_kernels():
    """Counts that would have α beyond 1e10: the draws end where there is no density."""
    rows, seen = rows_of(exposure=np.full(12, 1e-9)), DESIGN.T @ np.full(12, 1e7)
    weights = np.array([-1.0, 0.0, 0.0])
    for number in range(50):
        draw_weights(rows, seen, PRIOR, weights, new_stream(number, 99))
        assert LARGEST >= np.exp(DESIGN @ weights).max() > 0
    assert np.exp(DESIGN @ weights).max() > 1e8
    outside = np.array([40.0, 0.0, 0.0])
    assert draw_weights(rows, seen, PRIOR, outside, new_stream(1, 99)) == 0
    assert outside.tolist() == [40.0, 0.0, 0.0]


# ---- The prior ---------------------------------------------------------------------------------------------


def larger(n_documents=300, n_topics=4, seed=2):
    """A state with several blocks, and documents with the same rows in several of them."""
    rng = np.random.default_rng(seed)
    table = np.column_stack(
        (np.ones(n_documents), rng.integers(0, 2, (n_documents, 2)), rng.integers(0, 5, n_documents))
    )
    lengths = rng.integers(0, 60, n_documents)
    doc_ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    words = np.concatenate([np.sort(rng.integers(0, 20, n)) for n in lengths]).astype(np.int32)
    corpus = Corpus(words, doc_ptr, 20).with_about(prevalence=table)
    state = new_state(corpus, resolve_priors(None, None, n_topics, corpus), 11)
    state.sweep = 4
    return state


def test_distinct_rows():
    table = np.array([[1, 0, 2.5], [1, 1, 0], [1, 0, 2.5], [1, 0, 2.4], [1, 1, -0.0]])
    found = distinct(sparse.csr_array(table))
    assert found.row_of.tolist() == [0, 1, 0, 2, 1]
    np.testing.assert_array_equal(found.rows.toarray()[found.row_of], table)


def test_alpha_of_documents():
    state = larger()
    Local(state, Pool(1)).update_priors()
    prior, corpus = state.priors.topics, state.corpus
    x = corpus.about["prevalence"].toarray()
    np.testing.assert_allclose(prior.alpha_of(corpus).by_document(), np.exp(x @ prior.weights.T), rtol=1e-12)
    np.testing.assert_allclose(prior.alpha, np.exp(x.mean(0) @ prior.weights.T), rtol=1e-12)
    part = corpus.take(np.arange(7, 50))
    np.testing.assert_array_equal(prior.alpha_of(part).by_document(), prior.alpha_of(corpus).by_document()[7:50])
    unknown = Corpus(corpus.words, corpus.doc_ptr, 20)
    np.testing.assert_array_equal(prior.alpha_of(unknown).by_document(), prior.alpha[None])


def test_alpha_stays_in_the_range_of_kernels():
    prior = replace(first_prior(), weights=np.array([[100.0, 0, 0, 0], [-100, 0, 0, 0], [0, 0, 0, 0]])).settled()
    assert prior.alpha.tolist() == [LARGEST, SMALLEST, 1.0]


@pytest.mark.parametrize("cuts", [(0, 3, 6), (0, 1, 2, 3, 4, 5, 6)])
def test_what_is_observed_does_not_depend_on_cuts(cuts):
    """To the bit: parts of whole blocks, each with its own streams."""
    state = larger()
    prior, corpus, ptr = state.priors.topics, state.corpus, state.corpus.block_ptr
    assert len(ptr) - 1 >= 2
    n_blocks = len(ptr) - 1
    cuts = sorted({min(cut * max(n_blocks // 6, 1), n_blocks) for cut in cuts} | {n_blocks})
    parts = []
    for first, last in pairwise(cuts):
        a, b = int(ptr[first]), int(ptr[last])
        part = corpus.take(np.arange(a, b))
        part.first_document, part.first_block = a, first
        part.__dict__["block_ptr"] = ptr[first : last + 1] - a
        z = state.z[corpus.doc_ptr[a] : corpus.doc_ptr[b]]
        parts.append(prior.observe(State(part, state.priors, z, state.seed, state.sweep), Pool(1)))
    whole = prior.observe(state, Pool(1))
    for one, other in zip(joined(parts), joined([whole]), strict=True):
        one, other = (a.toarray() if sparse.issparse(a) else a for a in (one, other))
        np.testing.assert_array_equal(one, other)
    assert prior.update(state, parts).weights.tobytes() == prior.update(state, [whole]).weights.tobytes()


def test_any_number_of_threads_gives_the_same():
    found = set()
    for n_jobs in (1, 2, 4):
        state = larger(3000)
        assert len(state.corpus.block_ptr) > 10
        with Pool(n_jobs) as pool:
            Local(state, pool).update_priors()
        found.add(state.priors.topics.weights.tobytes())
    assert len(found) == 1


PROGRAM = """
import hashlib
from chain.priors.test_prevalence import Local, Pool, larger
state = larger(40)
for sweep in (4, 8):
    state.sweep = sweep
    Local(state, Pool(1)).update_priors()
print(hashlib.blake2b(b"".join(array.tobytes() for array in state.priors.arrays().values())).hexdigest())
"""


def test_compiled_or_not_gives_the_same():
    """To the bit."""
    compiled, interpreted = printed(PROGRAM)
    assert compiled
    assert compiled == interpreted


def test_topics_that_follow_a_column():
    """Weights of documents whose topics were drawn with known ones are found."""
    rng, n_documents = np.random.default_rng(9), 3000
    table = np.column_stack((np.ones(n_documents), rng.integers(0, 2, n_documents), rng.normal(size=n_documents)))
    true = np.array([[-1.0, 1.2, 0.0], [-1.5, 0.0, 0.8], [-0.5, 0.0, 0.0]])
    alpha = np.exp(table @ true.T)
    shares = np.array([rng.dirichlet(row) for row in alpha])
    z = choose(rng, np.repeat(shares, 30, 0)).astype(np.uint16)
    corpus = Corpus(np.zeros(len(z), np.int32), np.arange(n_documents + 1) * 30, 1).with_about(prevalence=table)
    state = State(corpus, resolve_priors(None, None, 3, corpus), z, 1)
    engine, kept = Local(state, Pool(1)), []
    for sweep in range(1, 61):
        state.sweep = 4 * sweep
        engine.update_priors()
        kept.append(state.priors.topics.weights)
    mean, spread = np.mean(kept[20:], 0), np.std(kept[20:], 0)
    assert (np.abs(mean - true) < 4 * spread + 0.05).all()
    assert spread.max() < 0.1


def test_what_asks_for_it():
    corpus = corpus_of(np.zeros(LENGTHS.sum()))
    for value, base in ((None, 0.1), (0.5, 0.5)):
        prior = resolve_priors(value, None, 3, corpus).topics
        assert type(prior) is Prevalence
        np.testing.assert_allclose(prior.alpha, base)
    for value in ("learn", [0.1, 0.2, 0.3]):
        with pytest.raises(ParameterError, match="covariates of prevalence determine α"):
            resolve_priors(value, None, 3, corpus)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.zeros((3, 3))},
        {"weights": np.full((3, 4), np.nan)},
        {"weights": np.ones((3, 4))},
        {"variance": np.zeros(4)},
        {"average": np.array([0.5, 0, 0, 0])},
        {"drawn": 0.5},
        {"base": 0.0},
        {"alpha": np.array([0.1, 0.1, np.inf])},
    ],
)
def test_fields_that_cannot_be(change):
    first_prior().check()
    with pytest.raises(ModelError):
        replace(first_prior(), **change).check()


@pytest.mark.parametrize(
    "draws", [{"other": np.zeros((2, 3, 4))}, {"weights": np.zeros((2, 3, 3))}, {"weights": np.full((1, 3, 4), np.inf)}]
)
def test_draws_that_cannot_be(draws):
    first_prior().check_draws({"weights": np.zeros((2, 3, 4))})
    with pytest.raises(ModelError):
        first_prior().check_draws(draws)


def test_a_prior_that_is_held_is_not_drawn():
    held = first_prior().held()
    assert not any(held.due(sweep) for sweep in range(1, 30))
    assert first_prior().due(Prevalence.every)


def test_log_density():
    prior = prior_draw(np.random.default_rng(1), first_prior())
    expected = stats.norm([math.log(BASE), 0, 0, 0], np.sqrt(prior.variance)).logpdf(prior.weights).sum()
    expected += stats.invgamma(SHAPE, scale=RATE).logpdf(prior.variance[1:]).sum()
    assert prior.log_density() == pytest.approx(expected)

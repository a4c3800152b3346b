"""Expected counts of words: several minibatches against the twin, pseudo-counts that stay, and what it is good for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.corpora import random_counts
from support.naive_expected import expected_phi
from topoi import LDA, Corpus
from topoi._machine.pool import Pool
from topoi.chain.diagnostics import completion
from topoi.chain.factors import expected
from topoi.chain.factors.expected import ExpectedFactor, batches_of
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state, topic_counts

ALPHA = np.linspace(0.1, 0.5, 5)
#: Documents of several lengths, some of them empty.
X = np.concatenate([random_counts(30, 20, 12, seed=4), np.zeros((2, 20), int), random_counts(9, 20, 40, seed=5)])


@pytest.fixture
def small_batches(monkeypatch):
    """So that a few documents make several minibatches."""
    monkeypatch.setattr(expected, "BATCH", 6)


def made(real=np.float64, base=None, sweep=0, **settings):
    corpus = Corpus.from_counts(X, allow_empty=True)
    state = new_state(corpus, fixed_priors(ALPHA, 0.1, base), 3)
    state.real, state.sweep, state.base_table = real, sweep, state.base_table.astype(real)
    factor = ExpectedFactor(state, Pool(1), **settings)
    factor.begin()
    return factor


def twin(factor, base=0.0):
    state = factor.state
    documents = [state.corpus.document(d).tolist() for d in range(len(state.corpus))]
    return expected_phi(
        documents, topic_counts(state)[0], ALPHA, state.beta, sweep=state.sweep, passes=factor.passes,
        n_batches=batches_of(state.corpus), base=base,
    )  # fmt: skip


@pytest.mark.parametrize(("sweep", "passes"), [(0, 1), (3, 1), (0, 2), (1, 3)])
def test_minibatches(sweep, passes, small_batches):
    factor = made(sweep=sweep, passes=passes)
    assert len(factor.rounds()) == 6 * passes
    np.testing.assert_allclose(factor.to_dense(), twin(factor), rtol=1e-11)
    np.testing.assert_allclose(made(np.float32, sweep=sweep, passes=passes).to_dense(), twin(factor), rtol=2e-4)


def test_pseudo_counts_do_not_decay(small_batches):
    base = np.random.default_rng(0).integers(0, 9, (20, 5))
    base[3:9] = 0
    factor = made(base=base, passes=2)
    np.testing.assert_allclose(factor.to_dense(), twin(factor, base), rtol=1e-11)
    assert (factor.table[:, :5] > base - 1e-9).all()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_tables_that_have_decayed_are_multiplied_out(real, small_batches, monkeypatch):
    before = made(real, passes=3).to_dense()
    monkeypatch.setattr(expected, "SMALL", 0.3)  # so that it comes every few minibatches
    factor = made(real, passes=3)
    assert sum(step.keep != 1 for step in factor.rounds()) > 3
    np.testing.assert_allclose(factor.to_dense(), before, rtol=1e-11 if real is np.float64 else 2e-4)


def test_minibatches_without_tokens(small_batches):
    """They have no say, and take no step."""
    counts = np.zeros((36, 20), int)
    counts[[0, 1, 7], 3] = 2
    state = new_state(Corpus.from_counts(counts, allow_empty=True), fixed_priors(ALPHA, 0.1), 3)
    assert [(step.number, step.n_batches, step.whole) for step in ExpectedFactor(state, Pool(1)).rounds()] == [
        (0, 6, 3.0), (1, 6, 1.5)]  # fmt: skip


def test_steps_follow_the_number_of_the_sweep(small_batches):
    steps = [[step.step for step in made(sweep=sweep).rounds()] for sweep in (0, 1, 2)]
    flat = list(itertools.chain(*steps))
    assert all(a > b for a, b in itertools.pairwise(flat))
    np.testing.assert_allclose(flat, [10 * (20 + t) ** -0.9 for t in range(1, len(flat) + 1)], rtol=1e-12)


@pytest.mark.parametrize(("n", "batches"), [(0, 1), (1, 1), (99, 1), (100, 2), (1200, 24), (10**6, 24)])
def test_number_of_minibatches(n, batches):
    assert batches_of(Corpus(np.zeros(0, np.int32), np.zeros(n + 1, np.int64), 3)) == batches


def test_two_sweeps_beat_those_of_delayed():
    """Documents of a synthetic LDA: held-out perplexity after two sweeps, of which a sampler needs many."""
    rng = np.random.default_rng(8)
    phi = rng.dirichlet(np.full(300, 0.05), 8)
    theta = rng.dirichlet(np.full(8, 0.2), 600)
    counts = np.array([rng.multinomial(60, share @ phi) for share in theta])
    test = Corpus.from_counts(counts[400:])
    found = {}
    for sampler, sweeps in (("expected", 2), ("delayed", 2), ("delayed", 40)):
        model = LDA(8, n_sweeps=sweeps, n_samples=1, sampler=sampler, random_state=0).fit(counts[:400])
        found[sampler, sweeps] = completion(model.model_.topic_word(), np.full(8, 0.2), test, pool=Pool(1)).perplexity
    best = completion(phi, np.full(8, 0.2), test, pool=Pool(1)).perplexity
    assert found["expected", 2] < 0.8 * found["delayed", 2], found
    assert found["expected", 2] < 1.1 * max(best, found["delayed", 40]), (found, best)

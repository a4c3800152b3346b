"""The design matrix of the weights, and both draws of the weights: right Gaussian, right scores, same bytes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse, stats

from support.tilted_checks import COMPILED, interpreted_core
from support.weight_checks import (
    check_coordinate,
    check_design,
    check_exact,
    check_gaussian,
    check_scores,
    dense_shares,
    gaussian_of,
    small_problem,
)
from topoi._machine import blas
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES, pad
from topoi.chain.counts.shares import Design, design_of
from topoi.chain.priors import fixed_priors
from topoi.chain.responses.weights import CHUNK, draw_coordinate, draw_exact, fill_scores
from topoi.chain.state import new_state

NU = 0.7


def moved(design, eta, kappa, omega, nu, n_gibbs, seed, sweep, pool):
    """Coordinate passes from the scores that the weights have."""
    f = np.zeros(kappa.shape)
    fill_scores(design, eta, f, pool)
    draw_coordinate(design, eta, f, kappa, omega, nu, n_gibbs, seed, sweep, pool)


DRAWS = {
    "exact": lambda design, eta, kappa, omega, nu, n_gibbs, *rest: draw_exact(design, eta, kappa, omega, nu, *rest),
    "coordinate": moved,
}


@pytest.fixture(scope="module")
def plain_core():
    return interpreted_core()


@pytest.mark.parametrize("n_topics", [1, 6, 40])
def test_design(n_topics, blocks_corpus):
    check_design(COMPILED, new_state(blocks_corpus, fixed_priors(np.full(n_topics, 0.1), 0.1), 3))


def test_design_of_tiny(plain_core):
    check_design(plain_core, small_problem()[0])
    check_design(plain_core, small_problem(empty_topic=True)[0])


@pytest.mark.parametrize("n_documents", [CHUNK, CHUNK + 1, 3 * CHUNK - 1])
def test_scores_of_more_documents_than_are_added_up_together(n_documents):
    rng = np.random.default_rng(1)  # not sparse.random_array: SciPy 1.15 has given its argument another name
    made = sparse.csc_array((rng.random((n_documents, 7)) * (rng.random((n_documents, 7)) < 0.3)).astype(np.float32))
    design = Design(made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data, n_documents)
    eta = np.random.default_rng(2).normal(size=(LANES + 3, pad(7))).astype(np.float32)
    check_scores(COMPILED, design, eta, np.zeros((n_documents, LANES + 3)))


def test_design_is_the_same_for_any_number_of_threads(blocks_corpus):
    state = new_state(blocks_corpus, fixed_priors(np.full(6, 0.1), 0.1), 3)
    found = set()
    for n_jobs in (1, 2, 4):
        with Pool(n_jobs) as pool:
            design = design_of(state, pool)
        found.add((design.start.tobytes(), design.doc.tobytes(), design.share.tobytes()))
    assert len(found) == 1


@pytest.mark.parametrize("empty_topic", [False, True])
def test_exact_draws_are_the_gaussian(empty_topic):
    check_exact(COMPILED, empty_topic=empty_topic)


@pytest.mark.parametrize("empty_topic", [False, True])
@pytest.mark.parametrize("n_gibbs", [1, 2, 5])
def test_coordinate_pass_is_its_conditionals(n_gibbs, empty_topic, plain_core):
    check_coordinate(COMPILED, n_gibbs, empty_topic=empty_topic)
    check_coordinate(plain_core, n_gibbs, empty_topic=empty_topic)


@pytest.mark.parametrize("n_gibbs", [1, 3])
def test_coordinate_pass_keeps_the_gaussian(n_gibbs):
    """From exact draws, a pass gives exact draws."""
    state, kappa, omega = small_problem()
    shares = dense_shares(state)
    rng = np.random.default_rng(61)
    k, n = state.n_topics, 3000
    gaussians = [gaussian_of(shares, kappa[:, task], omega[:, task], NU) for task in range(2)]
    starts = np.stack([rng.multivariate_normal(mean, np.linalg.inv(p), n) for mean, p in gaussians], axis=1)
    ends = np.zeros_like(starts)
    eta = np.zeros((2, pad(k)), np.float32)
    with Pool(1) as pool:
        design = design_of(state, pool)
        for sweep in range(n):
            eta[:, :k] = starts[sweep]
            moved(design, eta, kappa, omega, NU, n_gibbs, 62, sweep, pool)
            ends[sweep] = eta[:, :k]
    for task in range(2):
        check_gaussian(starts[:, task], *gaussians[task])
        check_gaussian(ends[:, task], *gaussians[task])
    assert (np.abs(ends - starts) > 1e-4).mean() > 0.99


def test_coordinate_chain_finds_the_gaussian():
    """A long chain from far away has the mean and the second moments, by batch means."""
    state, kappa, omega = small_problem()
    shares = dense_shares(state)
    k, n, burn_in, batches = state.n_topics, 6000, 100, 60
    eta = np.full((2, pad(k)), 20, np.float32)
    eta[:, k:] = 0
    draws = np.zeros((n, 2, k))
    with Pool(1) as pool:
        design = design_of(state, pool)
        for sweep in range(-burn_in, n):
            moved(design, eta, kappa, omega, NU, 2, 63, sweep + burn_in, pool)
            if sweep >= 0:
                draws[sweep] = eta[:, :k]
    for task in range(2):
        mean, precision = gaussian_of(shares, kappa[:, task], omega[:, task], NU)
        white = (draws[:, task] - mean) @ np.linalg.cholesky(precision)
        values = np.concatenate([white, (white[:, :, None] * white[:, None] - np.eye(k)).reshape(n, -1)], axis=1)
        means = values.reshape(batches, -1, values.shape[1]).mean(1)
        t = means.mean(0) / (means.std(0, ddof=1) / np.sqrt(batches))
        assert np.abs(t).max() < stats.t.isf(1e-4 / values.shape[1] / 2, batches - 1), t


@pytest.mark.parametrize("how", sorted(DRAWS))
def test_topic_without_documents_follows_the_prior(how):
    state, kappa, omega = small_problem(empty_topic=True)
    k, n = state.n_topics, 1000
    assert not (state.z == k - 1).any()
    eta = np.zeros((2, pad(k)), np.float32)
    draws = np.zeros((n, 2))
    with Pool(1) as pool:
        design = design_of(state, pool)
        for sweep in range(n):
            DRAWS[how](design, eta, kappa, omega, NU, 1, 64, sweep, pool)
            draws[sweep] = eta[:, k - 1]
    for task in range(2):
        assert stats.kstest(draws[:, task] * np.sqrt(NU), "norm").pvalue > 1e-4


@pytest.mark.parametrize("how", sorted(DRAWS))
def test_same_bytes_for_any_number_of_threads(how, blocks_corpus):
    state = new_state(blocks_corpus, fixed_priors(np.full(6, 0.1), 0.1), 3)
    rng = np.random.default_rng(65)
    shape = (blocks_corpus.n_documents, 7)
    kappa, omega = rng.normal(size=shape).astype(np.float32), rng.gamma(1, size=shape).astype(np.float32)
    found = set()
    for n_jobs in (1, 2, 4):
        eta = np.zeros((7, pad(6)), np.float32)
        with Pool(n_jobs) as pool:
            design = design_of(state, pool)
            for sweep in range(3):
                DRAWS[how](design, eta, kappa, omega, NU, 2, 66, sweep, pool)
        found.add(eta.tobytes())
    assert len(found) == 1


def test_blas_has_one_thread_until_the_last_leaves(monkeypatch):
    """The limit is the process's: two who save and restore it in turns would leave it at what the other had set."""
    told = []

    class Libraries:
        def limit(self, limits, user_api):
            told.append((limits, user_api))
            return self

        def restore_original_limits(self):
            told.append("restored")

    monkeypatch.setattr(blas, "_libraries", Libraries)
    for _ in range(2):
        first, second = blas.one_blas_thread(), blas.one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert told == [(1, "blas")]
        second.__exit__(None, None, None)
        assert told == [(1, "blas"), "restored"]
        told.clear()


def test_blas_is_looked_for_once(monkeypatch):
    """It takes milliseconds, for every draw of the weights; and again when an import may have brought another one."""
    looked = []
    monkeypatch.setattr(blas, "_found", None)
    true = blas.ThreadpoolController
    monkeypatch.setattr(blas, "ThreadpoolController", lambda: looked.append(1) or true())
    for _ in range(3):
        with blas.one_blas_thread():
            pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
            assert pools
            assert {pool["num_threads"] for pool in pools} == {1}
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_is_new", sys)
    with blas.one_blas_thread():
        assert len(looked) == 2

"""Checks of the weights: what draws them, and what it goes through, on any core (see tilted_checks.py)."""

from __future__ import annotations

import numpy as np
from scipy import stats

from support.tilted_checks import NEVER
from topoi._machine.pool import Pool
from topoi._machine.rng import WEIGHTS, new_stream, normal
from topoi._machine.simd import pad
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state
from topoi.corpus import Corpus


def small_problem(n_topics=4, n_documents=12, n_tasks=2, empty_topic=False, seed=41):
    """A state with random topics, its dense z̄, κ and ω; one task of one document has no label."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, n_documents)
    lengths[3] = 0
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    corpus = Corpus(np.zeros(ptr[-1], np.int32), ptr, 2)
    state = new_state(corpus, fixed_priors(np.full(n_topics, 0.5), 0.1), seed)
    state.z[:] = rng.integers(0, n_topics - empty_topic, corpus.n_tokens)
    kappa = rng.normal(0, 3, (n_documents, n_tasks)).astype(np.float32)
    omega = rng.gamma(1.0, 4.0, (n_documents, n_tasks)).astype(np.float32)
    kappa[5, 1] = omega[5, 1] = 0
    return state, kappa, omega


def dense_shares(state):
    """z̄ (D, K) the slow way; a document without words has none."""
    out = np.zeros((state.corpus.n_documents, state.n_topics))
    ptr = state.corpus.doc_ptr
    for d in range(len(out)):
        for i in range(ptr[d], ptr[d + 1]):
            out[d, state.z[i]] += 1 / (ptr[d + 1] - ptr[d])
    return out


def gaussian_of(shares, kappa, omega, nu):
    """Mean and precision of the weights of one task."""
    precision = nu * np.eye(shares.shape[1]) + shares.T @ (omega.astype(float)[:, None] * shares)
    return np.linalg.solve(precision, shares.T @ kappa.astype(float)), precision


def check_design(core, state):
    with Pool(1) as pool:
        design = core.design.design_of(state, pool)
    assert design.n_documents == state.corpus.n_documents
    for k in range(state.n_topics):
        assert (np.diff(design.doc[design.start[k] : design.start[k + 1]]) > 0).all(), "documents rise"
    assert (design.share > 0).all()
    np.testing.assert_allclose(design.matrix().toarray(), dense_shares(state), rtol=1e-6, atol=0)
    return design


def check_coordinate(core, n_gibbs, nu=0.7, empty_topic=False, n_tasks=2):
    """Every weight is its conditional's mean given the others, plus its stream's normal by its standard deviation."""
    state, kappa, omega = small_problem(empty_topic=empty_topic, n_tasks=n_tasks)
    shares = dense_shares(state)
    design = check_design(core, state)
    rng = np.random.default_rng(42)
    k_all = state.n_topics
    eta = np.zeros((n_tasks, pad(k_all)), np.float32)
    eta[:, :k_all] = rng.normal(0, 2, (n_tasks, k_all))
    f = np.full((state.corpus.n_documents, n_tasks), np.nan)
    expected = eta[:, :k_all].astype(float)
    check_scores(core, design, eta, f)
    with Pool(1) as pool:
        core.weights.draw_coordinate(design, eta, f, kappa, omega, nu, n_gibbs, 43, 44, pool)
    for task in range(n_tasks):
        stream = new_stream(43, WEIGHTS, 44, task)
        mean, precision = gaussian_of(shares, kappa[:, task], omega[:, task], nu)
        b = precision @ mean
        x = expected[task]
        for k in [*range(k_all)] * n_gibbs:
            others = precision[k] @ x - precision[k, k] * x[k]
            x[k] = (b[k] - others) / precision[k, k] + normal(stream) / np.sqrt(precision[k, k])
    # Weights and shares are rounded to float32 (6e-8); a pass hands the error on, but less than tenfold.
    np.testing.assert_allclose(eta[:, :k_all], expected, rtol=1e-5, atol=1e-5)
    assert (eta[:, k_all:] == 0).all()


def check_scores(core, design, eta, f):
    """Fills f with scores, and looks whether they are right."""
    expected = design.matrix() @ eta[:, : len(design.start) - 1].T.astype(float)
    f[:] = np.nan
    with Pool(1) as pool:
        core.weights.fill_scores(design, eta, f, pool)
    np.testing.assert_allclose(f, expected, rtol=1e-10, atol=1e-10)


def check_gaussian(draws, mean, precision):
    """Independent draws (n, K) follow N(mean, precision⁻¹): whitened they are standard normal and uncorrelated."""
    n, k = draws.shape
    white = (draws - mean) @ np.linalg.cholesky(precision)
    limit = stats.norm.isf(NEVER / 2 / (k + k * (k + 1) // 2 + k))
    assert np.abs(white.mean(0) * np.sqrt(n)).max() < limit
    second = white.T @ white / n - np.eye(k)  # variance 2/n on the diagonal, 1/n off it
    assert np.abs(second * np.sqrt(n / (1 + np.eye(k)))).max() < limit
    for column in white.T:
        assert stats.kstest(column, "norm").pvalue > NEVER / (2 * k)


def check_exact(core, n=2000, nu=0.7, empty_topic=False):
    state, kappa, omega = small_problem(empty_topic=empty_topic)
    shares = dense_shares(state)
    design = check_design(core, state)
    k = state.n_topics
    draws = np.zeros((n, 2, k))
    eta = np.zeros((2, pad(k)), np.float32)
    with Pool(1) as pool:
        for sweep in range(n):
            core.weights.draw_exact(design, eta, kappa, omega, nu, 45, sweep, pool)
            draws[sweep] = eta[:, :k]
    assert (eta[:, k:] == 0).all()
    for task in range(2):
        check_gaussian(draws[:, task], *gaussian_of(shares, kappa[:, task], omega[:, task], nu))
    assert abs(np.corrcoef(draws[:, 0, 0], draws[:, 1, 0])[0, 1]) * np.sqrt(n) < 4.5, "tasks have their own streams"

"""Scores in parts: columns beside the topics, and parameters of a loss, are drawn from the right posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from support.geweke import ALPHA, LENGTHS, draw_topics, draw_words, z_scores
from support.geweke import functions as word_functions
from support.geweke import state_of as geweke_state
from support.noisy import RATE, SHAPE, Noisy
from support.variants import slow_but
from support.weight_checks import check_gaussian, dense_shares, small_problem
from topoi._machine.pool import Pool
from topoi.chain.counts.shares import Design, design_of
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.samplers import SAMPLERS

NU, COLUMNS_NU = 0.7, 2.5


def design(x):
    """A design of dense columns (documents, J)."""
    found = sparse.csc_array(np.asarray(x, np.float32))
    found.sort_indices()
    return Design(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data, found.shape[0])


def some_columns(n_documents, n_columns=3, seed=81):
    """Some of the entries are 0; the first column and the topics say nearly the same."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_documents, n_columns)) * (rng.random((n_documents, n_columns)) < 0.7)
    x[:, 0] = 1.0
    return x


def fixed_problem(n_gibbs, columns=True):
    """Topics that stay, targets of the squared loss, some of them unknown: nothing but the weights moves."""
    state, _, _ = small_problem()
    n = state.corpus.n_documents
    rng = np.random.default_rng(82)
    y = rng.normal(0, 3, (n, 2))
    y[2, 0] = y[7, 1] = np.nan
    x = some_columns(n)
    s = new_supervision(
        RESPONSES["squared"](cost=1.3), y, state.n_topics, rng.gamma(2.0, 0.5, y.shape), NU, n_gibbs,
        columns=design(x) if columns else None, columns_nu=COLUMNS_NU,
    )  # fmt: skip
    state.supervision = s
    return state, s, x


def joint_gaussian(s, shares, x, task):
    """Mean and precision of (η, w) of a task, from the joined design."""
    known = ~np.isnan(s.y[:, task])
    omega = np.where(known, s.response.cost * s.weight[:, task], 0.0)
    both = np.hstack([shares, np.asarray(x, np.float32)])
    precision = np.diag([NU] * shares.shape[1] + [COLUMNS_NU] * x.shape[1]) + both.T @ (omega[:, None] * both)
    return np.linalg.solve(precision, both.T @ (omega * np.nan_to_num(s.y[:, task]))), precision


@pytest.mark.parametrize("n_gibbs", [0, 1, 3])
def test_joint_draws_keep_the_gaussian(n_gibbs):
    """From exact draws of (η, w), by Cholesky of the joined design, a sweep's draws are exact draws again."""
    state, s, x = fixed_problem(n_gibbs)
    shares, k, n = dense_shares(state), state.n_topics, 2500
    rng = np.random.default_rng(83)
    gaussians = [joint_gaussian(s, shares, x, task) for task in range(2)]
    starts = np.stack([rng.multivariate_normal(mean, np.linalg.inv(p), n) for mean, p in gaussians], axis=1)
    ends = np.zeros_like(starts)
    with Pool(1) as pool:
        z_bar = design_of(state, pool)
        for draw in range(n):
            s.eta[:, :k], s.columns.weights[:] = starts[draw, :, :k], starts[draw, :, k:]
            state.sweep = draw
            s.refresh(state, pool, z_bar)
            s.draw_weights(z_bar, 84, draw, pool)
            ends[draw, :, :k], ends[draw, :, k:] = s.eta[:, :k], s.columns.weights
    for task in range(2):
        check_gaussian(starts[:, task], *gaussians[task])
        check_gaussian(ends[:, task], *gaussians[task])
    assert (np.abs(ends - starts) > 1e-4).mean() > 0.99


def test_scores_and_what_each_part_sees():
    """f is the sum of both parts; topics see κ − ω g, where κ is what the loss draws at f."""
    state, s, x = fixed_problem(2)
    rng = np.random.default_rng(85)
    s.eta[:, : state.n_topics] = rng.normal(size=(2, state.n_topics))
    s.columns.weights[:] = rng.normal(size=s.columns.weights.shape)
    with Pool(1) as pool:
        s.refresh(state, pool)
        found = s.scores(design_of(state, pool), pool)
    g = np.asarray(x, np.float32) @ s.columns.weights.T.astype(float)
    f = dense_shares(state) @ s.eta[:, : state.n_topics].T.astype(float) + g
    np.testing.assert_allclose(s.columns.g, g, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, f, rtol=1e-6, atol=1e-6)
    omega = np.where(np.isnan(s.y), 0, s.response.cost * s.weight)
    np.testing.assert_allclose(s.omega, omega, rtol=1e-6)
    np.testing.assert_allclose(s.kappa, omega * np.nan_to_num(s.y) - omega * g, rtol=1e-4, atol=1e-5)
    assert not s.kappa[np.isnan(s.y)].any()


def test_a_column_that_says_nothing_follows_its_prior():
    state, s, x = fixed_problem(2)
    silent = np.column_stack([x, np.zeros(len(x))])
    s = new_supervision(s.response, s.y, state.n_topics, s.weight, NU, 2, columns=design(silent), columns_nu=COLUMNS_NU)
    state.supervision = s
    draws = []
    with Pool(1) as pool:
        for sweep in range(1000):
            state.sweep = sweep
            s.update(state, pool)
            draws.append(s.columns.weights[:, -1].copy())
    white = np.array(draws) * np.sqrt(COLUMNS_NU)
    assert np.abs(white.mean(0)).max() * np.sqrt(1000) < 4.5
    assert np.abs((white**2).mean(0) - 1).max() * np.sqrt(1000 / 2) < 4.5


@pytest.mark.parametrize("columns", [False, True])
def test_parameters_of_the_loss_see_the_new_scores(columns):
    """Those of the weights, topics and columns that the sweep ends with, from a stream of each task."""
    state, s, x = fixed_problem(2)
    given = {"columns": design(x), "columns_nu": COLUMNS_NU} if columns else {}
    s = state.supervision = new_supervision(Noisy(), s.y, state.n_topics, s.weight, NU, 2, **given)
    assert s.learned.keys() == {"eta", "own"} | ({"columns"} if columns else set())
    with Pool(1) as pool:
        s.refresh(state, pool)
        sampler = SAMPLERS["partial"](state, pool)
        for _ in range(3):
            sampler.sweep()
            expected = np.full_like(s.own, np.nan)
            f = s.scores(design_of(state, pool), pool)
            s.response.draw_own(expected, s.y, f, s.weight, state.seed, state.sweep, 0)
            assert s.own.tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_gibbs", [0, 2])
def test_topics_without_columns_are_those_before(n_gibbs):
    """Columns of zeros with weights of their own change no byte of the topics' part: its streams are its own."""
    found = []
    for columns in (False, True):
        state, s, _ = fixed_problem(n_gibbs, columns)
        if columns:
            s.columns.design = design(np.zeros((len(s.y), 3)))
        with Pool(1) as pool:
            s.refresh(state, pool)
            sampler = SAMPLERS["collapsed"](state, pool)
            for _ in range(3):
                sampler.sweep()
        found.append([array.tobytes() for array in (state.z, s.eta, s.kappa, s.omega)])
        assert s.beside.keys() == ({"columns"} if columns else set())
    assert found[0] == found[1]


# ---- Geweke's joint test -------------------------------------------------------------------------------------------

N_TASKS = 2
X = some_columns(len(LENGTHS), 2, seed=86)
KNOWN = np.ones((len(LENGTHS), N_TASKS), bool)
KNOWN[3, 0] = False
COST = {"squared": 2.0, "logistic": 1.0, "noisy": 1.0}  # at which the losses are likelihoods
N = 3000
# For some 60 functions in five chains: with batch means of 60 batches, a right program fails for less than 2 % of all
# choices of the seeds.
LIMIT = 4.5


def draw_targets(rng, loss, f, own):
    if loss == "logistic":
        return np.where(KNOWN, np.where(rng.random(f.shape) < 1 / (1 + np.exp(-f)), 1.0, -1.0), np.nan)
    precision = own[:, 0] if loss == "noisy" else COST["squared"]
    return np.where(KNOWN, rng.normal(f, 1 / np.sqrt(precision)), np.nan)


def draw_learned(rng, loss):
    """η, w and τ from their priors."""
    own = rng.gamma(SHAPE, 1 / RATE, (N_TASKS, 1)) if loss == "noisy" else np.ones((N_TASKS, 1))
    eta = rng.normal(0, 1 / np.sqrt(NU), (N_TASKS, len(ALPHA)))
    return eta, rng.normal(0, 1 / np.sqrt(COLUMNS_NU), (N_TASKS, X.shape[1])), own


def functions(state, eta, w, own, y):
    shares, y = dense_shares(state), np.where(KNOWN, y, 0.0)
    f, g = shares @ eta.T, X @ w.T
    return np.concatenate(
        [
            word_functions(state),
            eta.ravel(), (eta**2).ravel(), w.ravel(), (w**2).ravel(), own.ravel(), np.log(own).ravel(),
            (eta[:, :, None] * w[:, None]).sum((1, 2)), (f * g).sum(0), (y * g).sum(0), (y * f).sum(0), (y * y).sum(0),
            (own[:, 0] * (y * y).sum(0)), y.sum(0), np.tanh(y * (f + g)).sum(0), w[0] * np.bincount(state.z)[0],
        ]
    )  # fmt: skip


def successive(sampler, loss, n_gibbs, columns, seed, columns_nu=COLUMNS_NU):
    """Alternate: one sweep (topics, auxiliary variables, weights, parameters), then new words and targets for them."""
    rng = np.random.default_rng(seed)
    z, k = draw_topics(rng), len(ALPHA)
    response = Noisy() if loss == "noisy" else RESPONSES[loss](cost=COST[loss])
    given = {"columns": design(X), "columns_nu": columns_nu} if columns else {}
    s = new_supervision(response, np.where(KNOWN, 1.0, np.nan), k, nu=NU, n_gibbs=n_gibbs, part=4, **given)
    eta, w, own = draw_learned(rng, loss)
    s.eta[:, :k] = eta
    if columns:
        s.columns.weights[:] = w
    if s.own is not None:
        s.own[:] = own
    out = []
    with Pool(1) as pool:
        for sweep in range(N):
            state = geweke_state(draw_words(rng, z), z, seed, sweep)
            state.supervision = s
            w = s.columns.weights.astype(float) if columns else np.zeros((N_TASKS, X.shape[1]))
            own = np.ones((N_TASKS, 1)) if s.own is None else s.own
            f = dense_shares(state) @ s.eta[:, :k].T.astype(float) + X @ w.T
            s.y[:] = draw_targets(rng, loss, f, own)
            # The old auxiliary variables belong to the old targets. A step number that no sweep uses.
            state.sweep = 10**9 + sweep
            s.refresh(state, pool)
            state.sweep = sweep
            SAMPLERS[sampler](state, pool).sweep()
            w = s.columns.weights.astype(float) if columns else w
            out.append(functions(state, s.eta[:, :k].astype(float), w, own.copy(), s.y))
            z = state.z.astype(int)
    return np.array(out)


def prior_draws(loss, columns):
    rng = np.random.default_rng(87)
    out = []
    for _ in range(N):
        z = draw_topics(rng)
        state = geweke_state(draw_words(rng, z), z, 0, 0)
        eta, w, own = draw_learned(rng, loss)
        w = w if columns else np.zeros_like(w)
        f = dense_shares(state) @ eta.T + X @ w.T
        out.append(functions(state, eta, w, own, draw_targets(rng, loss, f, own)))
    return np.array(out)


CHAINS = [
    ("collapsed", "squared", 2, True),
    ("partial", "logistic", 1, True),
    ("partial", "squared", 0, True),
    ("collapsed", "noisy", 2, False),
    ("partial", "noisy", 2, True),
]


# Those of the plain run have columns, weights in turn, and a loss with parameters of its own.
@pytest.mark.parametrize(("sampler", "loss", "n_gibbs", "columns"), slow_but([CHAINS[0], CHAINS[-1]], CHAINS))
def test_geweke(sampler, loss, n_gibbs, columns):
    with np.errstate(invalid="ignore"):  # functions of parts that are not there
        scores = z_scores(prior_draws(loss, columns), successive(sampler, loss, n_gibbs, columns, seed=88))
    scores = scores[np.isfinite(scores)]
    assert len(scores) >= 55
    assert np.abs(scores).max() < LIMIT, np.round(scores, 1)


@pytest.mark.slow
def test_geweke_sees_a_wrong_prior_of_columns():
    chain = successive("partial", "squared", 2, True, seed=89, columns_nu=1.5 * COLUMNS_NU)
    with np.errstate(invalid="ignore"):
        assert np.nanmax(np.abs(z_scores(prior_draws("squared", True), chain))) > 5

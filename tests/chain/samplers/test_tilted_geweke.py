"""Geweke's joint test of topics, weights and targets together."""

from __future__ import annotations

import numpy as np
import pytest

from support.geweke import ALPHA, LENGTHS, draw_topics, draw_words, z_scores
from support.geweke import functions as word_functions
from support.geweke import state_of as geweke_state
from support.tilted_topics import N_TASKS
from support.variants import slow_but
from topoi._machine.pool import Pool
from topoi.chain.counts.shares import design_of
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.samplers import SAMPLERS

TILTING = [name for name in sorted(SAMPLERS) if SAMPLERS[name].tilts]
N_PRIOR = 3000
N_CHAIN = 3000
NU = 0.25
NOISE = {"squared": 2.0, "logistic": 1.0}  # costs at which the losses are likelihoods
KNOWN = np.ones((len(LENGTHS), N_TASKS), bool)
KNOWN[3] = False
KNOWN[0, 1] = False


def shares_of(state):
    z, ptr = state.z.astype(int), state.corpus.doc_ptr
    counts = [np.bincount(z[ptr[d] : ptr[d + 1]], minlength=len(ALPHA)) for d in range(len(LENGTHS))]
    return np.array(counts) / np.maximum(LENGTHS, 1)[:, None]


def draw_targets(rng, loss, f):
    if loss == "squared":
        y = rng.normal(f, 1 / np.sqrt(NOISE[loss]))
    else:
        y = np.where(rng.random(f.shape) < 1 / (1 + np.exp(-f)), 1.0, -1.0)
    return np.where(KNOWN, y, np.nan)


def functions(state, eta, y):
    """Those of words and topics, and thirty-odd of weights and targets with them."""
    shares = shares_of(state)
    f = shares @ eta.T
    y = np.where(KNOWN, y, 0.0)
    n_k = np.bincount(state.z, minlength=len(ALPHA))
    return np.concatenate(
        [
            word_functions(state),
            eta.ravel(),
            (eta**2).ravel(),
            [eta[0, 0] * eta[0, 1], eta[0, 1] * eta[0, 2], eta[0] @ eta[1], eta[1, 0] * eta[1, 2]],
            eta[0] * n_k,
            y[[0, 2, 4], 0],
            y[4] * eta[:, 1],
            y.sum(0),
            (y * f).sum(0),
            y[:, 0] @ shares,
            (f**2).sum(0),
            [(y**3).sum(), y[4, 0] * y[4, 1], y[0, 0] * y[4, 0], (y**2 * f**2).sum(), np.tanh(f * y).sum()],
        ]
    )


@pytest.fixture(scope="module")
def prior_draws():
    """By loss: draws from the model."""
    rng = np.random.default_rng(71)
    out = {loss: [] for loss in NOISE}
    for _ in range(N_PRIOR):
        z = draw_topics(rng)
        state = geweke_state(draw_words(rng, z), z, 0, 0)
        eta = rng.normal(0, 1 / np.sqrt(NU), (N_TASKS, len(ALPHA)))
        for loss, rows in out.items():
            rows.append(functions(state, eta, draw_targets(rng, loss, shares_of(state) @ eta.T)))
    return {loss: np.array(rows) for loss, rows in out.items()}


def successive(sampler, loss, part, n_gibbs, n, seed, nu=NU):
    """Alternate: one sweep (topics, auxiliary variables, weights), then new words and targets for them."""
    rng = np.random.default_rng(seed)
    z = draw_topics(rng)
    response = RESPONSES[loss](cost=NOISE[loss])
    s = new_supervision(response, np.where(KNOWN, 1.0, np.nan), len(ALPHA), nu=nu, n_gibbs=n_gibbs, part=part)
    k = len(ALPHA)
    s.eta[:, :k] = rng.normal(0, 1 / np.sqrt(NU), (N_TASKS, k))
    out = []
    with Pool(1) as pool:
        for sweep in range(n):
            state = geweke_state(draw_words(rng, z), z, seed, sweep)
            s.y[:] = draw_targets(rng, loss, shares_of(state) @ s.eta[:, :k].T.astype(float))
            # The old auxiliary variables belong to the old targets. A step number that no sweep uses.
            s.draw_auxiliary(state, design_of(state, pool), 10**9 + sweep, pool)
            state.supervision = s
            SAMPLERS[sampler](state, pool).sweep()
            out.append(functions(state, s.eta[:, :k].astype(float), s.y))
            z = state.z.astype(int)
    return np.array(out)


# For some 70 functions in eight chains: with batch means of 60 batches, a right program fails for less than 2 % of all
# choices of the seeds.
LIMIT = 4.5


CHAINS = [("squared", 1, 0), ("squared", 8, 2), ("logistic", 1, 2), ("logistic", 8, 1)]


@pytest.mark.parametrize(
    ("sampler", "loss", "part", "n_gibbs"),
    slow_but(
        [("partial", "squared", 8, 2)],
        [(name, *chain) for name in TILTING if SAMPLERS[name].exact for chain in CHAINS],
    ),
)
def test_geweke(sampler, loss, part, n_gibbs, prior_draws):
    scores = z_scores(prior_draws[loss], successive(sampler, loss, part, n_gibbs, N_CHAIN, seed=72))
    scores = scores[np.isfinite(scores)]
    assert len(scores) >= 60
    assert np.abs(scores).max() < LIMIT, np.round(scores, 1)


@pytest.mark.slow
def test_geweke_sees_a_wrong_prior(prior_draws):
    """Its power: a prior precision of the weights off by a half is noticed."""
    scores = z_scores(prior_draws["squared"], successive("partial", "squared", 8, 2, N_CHAIN, seed=73, nu=NU * 1.5))
    assert np.nanmax(np.abs(scores)) > 5

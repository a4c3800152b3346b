"""Geweke's joint test (2004): words and topics simulated from the model, and by alternating sampler and words.

If the sampler leaves p(topics | words) unchanged, both ways have the same distribution; a slip anywhere (kernel,
priors, counts, streams) moves some of the functions below.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.geweke import BETA, OWN_BETA, draw_topics, draw_words, functions, state_of, z_scores
from support.variants import slow_but
from topoi.chain.samplers import SAMPLERS

# Twice 6000: at 6000 a right `light_med` missed the limit by one function (z = −4.2), against model draws that were
# themselves 2.3 standard errors off there; two chains of 50,000 sweeps then agreed with the model (|z| < 2.6 for all).
N_PRIOR = 12000
N_CHAIN = 12000


@pytest.fixture(scope="module")
def prior_draws():
    return draws_of_the_model(21)


@pytest.fixture(scope="module")
def prior_draws_of_own_alpha():
    return draws_of_the_model(25, own=True)


def draws_of_the_model(seed, own=False, beta=BETA):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(N_PRIOR):
        z = draw_topics(rng, own)
        out.append(functions(state_of(draw_words(rng, z, beta=beta), z, 0, 0, own=own, beta=beta)))
    return np.array(out)


def successive(name, n, seed, spoil=lambda z: z, base=None, own=False, beta=BETA):
    """Alternate: one sweep of the sampler, then new words for its topics."""
    rng = np.random.default_rng(seed)
    z = draw_topics(rng, own)
    out = []
    for sweep in range(n):
        state = state_of(draw_words(rng, z, base, beta), z, seed, sweep, base, own, beta)
        SAMPLERS[name](state).sweep()
        out.append(functions(state))
        z = spoil(state.z.astype(int))
    return np.array(out)


@pytest.mark.parametrize("name", slow_but(["light"], [name for name in sorted(SAMPLERS) if SAMPLERS[name].exact]))
def test_geweke(name, prior_draws):
    scores = z_scores(prior_draws, successive(name, N_CHAIN, seed=22))
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)


#: Pseudo-counts (words, topics) as seeds have them: word 0 is one of two topics, topic 2 has none.
SEEDED = np.array([[2, 1, 0], [0, 3, 0], [0, 0, 0], [1, 0, 0]])


@pytest.fixture(scope="module")
def seeded_draws():
    rng = np.random.default_rng(31)
    out = []
    for _ in range(N_PRIOR):
        z = draw_topics(rng)
        out.append(functions(state_of(draw_words(rng, z, SEEDED), z, 0, 0, SEEDED)))
    return np.array(out)


@pytest.mark.parametrize("name", slow_but(["partial"], [name for name in sorted(SAMPLERS) if SAMPLERS[name].exact]))
def test_geweke_with_seeds(name, seeded_draws):
    scores = z_scores(seeded_draws, successive(name, N_CHAIN, seed=32, base=SEEDED))
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)


OWN_ALPHA = [name for name in sorted(SAMPLERS) if SAMPLERS[name].exact and SAMPLERS[name].alpha_per_document]


@pytest.mark.parametrize("name", slow_but(["partial"], OWN_ALPHA))
def test_geweke_where_documents_have_their_own_alpha(name, prior_draws_of_own_alpha):
    scores = z_scores(prior_draws_of_own_alpha, successive(name, N_CHAIN, seed=26, own=True))
    scores = scores[~np.isnan(scores)]
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)


@pytest.fixture(scope="module")
def prior_draws_of_own_beta():
    return draws_of_the_model(27, beta=OWN_BETA)


PER_WORD = [name for name in sorted(SAMPLERS) if SAMPLERS[name].exact and SAMPLERS[name].takes_beta_per_word()]


@pytest.mark.parametrize("name", slow_but(["partial"], PER_WORD))
def test_geweke_where_words_have_their_own_beta(name, prior_draws_of_own_beta):
    scores = z_scores(prior_draws_of_own_beta, successive(name, N_CHAIN, seed=28, beta=OWN_BETA))
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)


@pytest.mark.slow
def test_geweke_sees_a_small_bias(prior_draws):
    """Its power: one token in fifty put into topic 0 by mistake is noticed."""
    rng = np.random.default_rng(23)

    def spoil(z):
        z[rng.random(len(z)) < 0.02] = 0
        return z

    scores = z_scores(prior_draws, successive("collapsed", N_CHAIN, seed=24, spoil=spoil))
    assert np.abs(scores).max() > 5

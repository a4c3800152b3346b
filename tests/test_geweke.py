"""Geweke's joint test (2004): words and topics simulated from the model, and by alternating sampler and words.

If the sampler leaves p(topics | words) unchanged, both ways have the same distribution; a slip anywhere (kernel,
priors, counts, streams) moves some of the functions below.
"""

from __future__ import annotations

import numpy as np
import pytest
from variants import slow_but

from topoi.chain.diagnostics import log_joint
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State
from topoi.corpus import Corpus

LENGTHS = np.array([4, 0, 1, 3, 6])
ALPHA = np.array([0.4, 0.9, 0.25])
BETA = 0.3
N_WORDS = 4
# Twice 6000: at 6000 a right `light_med` missed the limit by one function (z = −4.2), against model draws that were
# themselves 2.3 standard errors off there; two chains of 50,000 sweeps then agreed with the model (|z| < 2.6 for all).
N_PRIOR = 12000
N_CHAIN = 12000
DOCUMENT = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
DOC_PTR = np.concatenate(([0], np.cumsum(LENGTHS))).astype(np.int64)


def choose(rng, p):
    """One draw from every row of p: the draws of `rng.choice(len(row), p=row)` for row after row."""
    cdf = p.cumsum(1)
    return (rng.random(len(p))[:, None] >= cdf / cdf[:, -1:]).sum(1)


def draw_topics(rng):
    return choose(rng, rng.dirichlet(ALPHA, len(LENGTHS))[DOCUMENT])


def draw_words(rng, z):
    """Words given topics, φ drawn from its prior and forgotten."""
    return choose(rng, rng.dirichlet(np.full(N_WORDS, BETA), len(ALPHA))[z])


def state_of(words, z, seed, sweep):
    """Words must rise within a document. The sort is stable and looks at words alone: sorting by topic as well would
    start every sweep from a special order of the topics, which is not how the posterior orders them."""
    order = np.lexsort((words, DOCUMENT))
    corpus = Corpus(words[order].astype(np.int32), DOC_PTR, N_WORDS)
    return State(corpus, ALPHA, BETA, z[order].astype(np.uint16), seed, sweep)


def functions(state):
    """Twenty-nine functions of (words, topics)."""
    z, words = state.z.astype(int), state.corpus.words
    n_dk = np.zeros((len(LENGTHS), len(ALPHA)))
    n_wk = np.zeros((N_WORDS, len(ALPHA)))
    np.add.at(n_dk, (DOCUMENT, z), 1)
    np.add.at(n_wk, (words, z), 1)
    n_k = n_wk.sum(0)
    return np.concatenate(
        [
            n_k,
            n_k**2,
            n_dk[0],
            n_dk[4] ** 2,
            n_wk[0],
            n_wk[1] ** 2,
            n_wk[2] * n_k,
            [(n_dk**2).sum(), (n_wk**2).sum(), (n_wk > 0).sum(), (n_dk > 0).sum(), n_wk.max()],
            [n_dk[2, 0], n_dk[3, 2] * n_k[2], log_joint(state)],
        ]
    )


@pytest.fixture(scope="module")
def prior_draws():
    rng = np.random.default_rng(21)
    out = []
    for _ in range(N_PRIOR):
        z = draw_topics(rng)
        out.append(functions(state_of(draw_words(rng, z), z, 0, 0)))
    return np.array(out)


def standard_error_of_chain(values, n_batches=60):
    """By batch means, which the dependence between draws does not mislead."""
    batches = values[: len(values) // n_batches * n_batches].reshape(n_batches, -1, values.shape[1]).mean(1)
    return batches.std(0, ddof=1) / np.sqrt(n_batches)


def z_scores(prior_draws, chain):
    prior_error = prior_draws.std(0, ddof=1) / np.sqrt(len(prior_draws))
    return (chain.mean(0) - prior_draws.mean(0)) / np.hypot(prior_error, standard_error_of_chain(chain))


def successive(name, n, seed, spoil=lambda z: z):
    """Alternate: one sweep of the sampler, then new words for its topics."""
    rng = np.random.default_rng(seed)
    z = draw_topics(rng)
    out = []
    for sweep in range(n):
        state = state_of(draw_words(rng, z), z, seed, sweep)
        SAMPLERS[name](state).sweep()
        out.append(functions(state))
        z = spoil(state.z.astype(int))
    return np.array(out)


@pytest.mark.parametrize("name", slow_but(["light"], [name for name in sorted(SAMPLERS) if SAMPLERS[name].exact]))
def test_geweke(name, prior_draws):
    scores = z_scores(prior_draws, successive(name, N_CHAIN, seed=22))
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

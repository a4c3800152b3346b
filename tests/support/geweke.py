"""The model of Geweke's joint test (2004): documents drawn from LDA, functions of them, and z-scores."""

from __future__ import annotations

import numpy as np

from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import fixed_priors
from topoi.chain.state import State
from topoi.corpus import Corpus

LENGTHS = np.array([4, 0, 1, 3, 6])
ALPHA = np.array([0.4, 0.9, 0.25])
BETA = 0.3
N_WORDS = 4
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
    return State(corpus, fixed_priors(ALPHA, BETA), z[order].astype(np.uint16), seed, sweep)


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


def standard_error_of_chain(values, n_batches=60):
    """By batch means, which the dependence between draws does not mislead."""
    batches = values[: len(values) // n_batches * n_batches].reshape(n_batches, -1, values.shape[1]).mean(1)
    return batches.std(0, ddof=1) / np.sqrt(n_batches)


def z_scores(prior_draws, chain):
    prior_error = prior_draws.std(0, ddof=1) / np.sqrt(len(prior_draws))
    return (chain.mean(0) - prior_draws.mean(0)) / np.hypot(prior_error, standard_error_of_chain(chain))

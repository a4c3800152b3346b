"""The model of Geweke's joint test (2004): documents drawn from LDA, functions of them, and z-scores."""

from __future__ import annotations

import numpy as np

from support.own_alpha import priors_of
from topoi.chain.diagnostics import log_joint
from topoi.chain.state import NO_BASE, State
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


#: α of every document, where each has its own; the fourth lacks a topic, the fifth all but two.
OWN_ALPHA = np.array([[0.4, 0.9, 0.25], [1.0, 1.0, 1.0], [0.2, 0.3, 0.9], [0.6, 0.0, 0.5], [0.0, 0.7, 0.3]])


def draw_topics(rng, own=False):
    if not own:
        return choose(rng, rng.dirichlet(ALPHA, len(LENGTHS))[DOCUMENT])
    theta = rng.gamma(np.maximum(OWN_ALPHA, 1e-9)) * (OWN_ALPHA > 0)
    return choose(rng, (theta / theta.sum(1, keepdims=True))[DOCUMENT])


#: β of every word, where each has its own.
OWN_BETA = np.array([0.3, 0.05, 1.2, 0.6])


def draw_words(rng, z, base=None, beta=BETA):
    """Words given topics, φ drawn from its prior, with pseudo-counts `base` (V, K), and forgotten."""
    if base is None:
        return choose(rng, rng.dirichlet(np.full(N_WORDS, beta), len(ALPHA))[z])
    return choose(rng, np.array([rng.dirichlet(beta + own) for own in base.T])[z])


def state_of(words, z, seed, sweep, base=None, own=False, beta=BETA):
    """Words must rise within a document. With seeds, tokens of a word are put into a random order: the posterior has no
    other, but after the sweep before they lie in the order of the words that they had then, which tells of their topics
    where topics have seeds. From a special order a sweep ends elsewhere: topic 2 of SEEDED had 2.46 tokens for 2.26."""
    ties = np.zeros(len(words)) if base is None else np.random.default_rng((seed, sweep)).random(len(words))
    order = np.lexsort((ties, words, DOCUMENT))
    corpus = Corpus(words[order].astype(np.int32), DOC_PTR, N_WORDS)
    table = NO_BASE if base is None else base.astype(np.float32)
    priors = priors_of(OWN_ALPHA if own else ALPHA, beta, base)
    return State(corpus, priors, z[order].astype(np.uint16), seed, sweep, table)


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
    with np.errstate(invalid="ignore"):  # what can have one value alone has no score
        return (chain.mean(0) - prior_draws.mean(0)) / np.hypot(prior_error, standard_error_of_chain(chain))

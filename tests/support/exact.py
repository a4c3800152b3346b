"""Transition matrices of the real samplers, by running their source on every path."""

from __future__ import annotations

import functools

import numpy as np
from scipy import stats

from support.naive import Tiny
from support.oracle import paths
from support.own_alpha import priors_of
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State
from topoi.corpus import Corpus

# Asymmetric α, repeated words, an empty document, a document of one word, a word that never occurs.
REPEATED = Tiny([[0, 0, 1], [], [1, 0]], alpha=[0.3, 0.7], beta=0.4, n_words=3)
THREE_TOPICS = Tiny([[0, 2], [1], [], [0, 0]], alpha=[0.2, 0.5, 1.1], beta=0.3, n_words=3)
# Proposals branch far more than Gibbs steps: fewer tokens.
PROPOSALS = Tiny([[0, 1], [0], [], [1]], alpha=[0.3, 0.7], beta=0.4, n_words=2)
STALE = Tiny([[0, 0], [0, 1], [], [1]], alpha=[0.3, 0.7], beta=0.4, n_words=3)
# THREE_TOPICS has 243 states: FEW, with 27, is met by the plain run.
FEW = Tiny([[0, 2], [], [0]], alpha=[0.2, 0.5, 1.1], beta=0.3, n_words=3)
CASES = {"repeated": REPEATED, "few": FEW}
# Documents with an α of their own: two that can have all topics, one that can have two of them.
OWN = Tiny(
    [[0, 2], [], [1], [0]],
    alpha=[[0.2, 0.5, 1.1], [0.3, 0.3, 0.3], [0.9, 0.3, 0.1], [0.4, 0.0, 0.7]],
    beta=0.3,
    n_words=3,
)
# Words with a β of their own, above 1/2 too, where a gamma draw has another method. That of the word which comes twice
# tells, since a word that comes once has the same in all topics. With proposals as well.
WORDS = Tiny([[0, 2], [], [2]], alpha=[0.2, 0.5, 1.1], beta=[0.3, 0.15, 1.2], n_words=3)
WORDS_PROPOSALS = Tiny([[0, 1], [0], [], [1]], alpha=[0.3, 0.7], beta=[0.9, 0.15], n_words=2)
# Words that are expected in some topics, as seeds have it; with proposals, on fewer tokens.
BASE = [[2, 0, 0], [0, 1, 0], [0, 0, 3]]
GUIDED = Tiny([[0, 2], [], [0]], alpha=[0.2, 0.5, 1.1], beta=0.3, n_words=3, base=BASE)
GUIDED_PROPOSALS = Tiny([[0, 1], [0], [], [1]], alpha=[0.3, 0.7], beta=0.4, n_words=2, base=[[2, 0], [0, 1]])


@functools.cache
def corpus_of(tiny):
    words = np.array([w for words in tiny.documents for w in words], np.int32)
    doc_ptr = np.cumsum([0] + [len(words) for words in tiny.documents])
    return Corpus(words, doc_ptr.astype(np.int64), tiny.n_words)


@functools.cache
def corpus_in_blocks(tiny):
    """The same corpus, every document a block."""
    corpus = Corpus(corpus_of(tiny).words, corpus_of(tiny).doc_ptr, tiny.n_words)
    vars(corpus)["block_ptr"] = np.arange(len(tiny.documents) + 1)
    return corpus


def state_class(kind):
    """The State of the copy of topoi that `kind` belongs to."""
    return kind.sweep.__globals__["State"]


def state_of(kind, tiny, z, seed=0, real=np.float64):
    priors = priors_of(tiny.alpha, tiny.beta, tiny.base)
    state = state_class(kind)(corpus_of(tiny), priors, np.array(z, np.uint16), seed, real=real)
    if tiny.base is not None:
        state.base_table = np.ascontiguousarray(tiny.base, state.real)
    return state


def block_matrix(tiny, first, last, make):
    """Transition matrix of the sampler's block of documents first … last − 1. make(z): a sampler after `begin`."""
    matrix = np.zeros((len(tiny.states),) * 2)
    for a, z in enumerate(tiny.states):
        sampler = make(z)

        def run(oracle, z=z, sampler=sampler):
            fresh = sampler if sampler.factor.fixed else make(z)
            fresh.state.z[:] = z
            fresh.block(first, last, oracle)
            return tuple(int(k) for k in fresh.state.z)

        for probability, result in paths(run):
            assert result in tiny.index, "a token has a topic that its document cannot have"
            matrix[a, tiny.index[result]] += probability
    return matrix


def collapsed_makers(kind, tiny, **options):
    """Make a sampler of class `kind` at topics z, ready for a block."""

    def make(z):
        sampler = kind(state_of(kind, tiny, z), **options)
        sampler.begin()
        return sampler

    return make


def fixed_sampler(kind, tiny, seed, **options):
    """A sampler with a word factor made at some topics, and a maker that goes on with this factor."""
    rng = np.random.default_rng(seed)
    z = tiny.states[rng.integers(len(tiny.states))]
    sampler = kind(state_of(kind, tiny, z, seed), **options)
    sampler.begin()
    return sampler, lambda z: sampler


def stationary(matrix):
    values, vectors = np.linalg.eig(matrix.T)
    v = np.real(vectors[:, np.argmax(np.real(values))])
    return v / v.sum()


def simulate(tiny, name, n, seed, start=None, sweeps=1, **options):
    """Index of the state after `sweeps` compiled sweeps, for n independent runs from `start` (an index each)."""
    out = np.zeros(n, int)
    corpus = corpus_of(tiny)
    for r in range(n):
        z = np.array(tiny.states[start[r]], np.uint16)
        state = State(corpus, priors_of(tiny.alpha, tiny.beta), z, seed, r * sweeps)
        sampler = SAMPLERS[name](state, **options)
        for _ in range(sweeps):
            sampler.sweep()
        out[r] = tiny.index[tuple(int(k) for k in z)]
    return out


def chi_square(found, probability):
    """p-value of the counts of found states; states expected less than five times are put together."""
    n = len(found)
    observed = np.bincount(found, minlength=len(probability))
    common = probability * n >= 5
    f_obs = np.append(observed[common], observed[~common].sum())
    f_exp = np.append(probability[common] * n, probability[~common].sum() * n)
    if f_exp[-1] < 1:
        f_obs, f_exp = f_obs[:-1], f_exp[:-1] * f_obs[:-1].sum() / f_exp[:-1].sum()
    return stats.chisquare(f_obs, f_exp).pvalue


def visit(name, z, seed, sweeps):
    """Share of the sweeps that a compiled chain spends in every state.

    Where blocks have counts of their own every document is a block: in a single one nothing would be approximate.
    """
    z = np.array(z, np.uint16)
    corpus = corpus_in_blocks(REPEATED) if SAMPLERS[name].live_in_block else corpus_of(REPEATED)
    state = State(corpus, fixed_priors(REPEATED.alpha.astype(float), REPEATED.beta), z, seed)
    sampler = SAMPLERS[name](state)
    visits = np.zeros(len(REPEATED.states))
    for _ in range(sweeps):
        sampler.sweep()
        visits[REPEATED.index[tuple(int(k) for k in z)]] += 1
    return visits / sweeps

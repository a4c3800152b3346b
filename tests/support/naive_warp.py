"""The passes of `warp` from their formulas, and the check that holds its source to them.

A pass is a random map of (topics z, proposed topics t). Its twin is a list of (probability, z, t).
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from support.exact import state_of
from support.naive import Tiny
from support.oracle import paths

TOLERANCE = 1e-12
# A whole sweep has many paths: corpora of one and two tokens, of the same document, of the same word, and of both; with
# `n_mh` and pseudo-counts. One token without those would forget in a round where it had been.
WHOLE = [
    (Tiny([[0, 0]], alpha=[0.3, 0.7], beta=0.4, n_words=2), 1, 0),
    (Tiny([[0, 1]], alpha=[0.3, 0.7], beta=0.4, n_words=2), 1, 0),
    (Tiny([[0], [], [0]], alpha=[0.3, 0.7], beta=0.4, n_words=2), 1, 0),
    (Tiny([[0, 1]], alpha=[0.3, 0.7], beta=[0.1, 0.9], n_words=2), 1, 0),
    (Tiny([[1]], alpha=[0.3, 0.7], beta=0.4, n_words=2), 2, np.array([[2, 0], [0, 1]])),
]


def put(x, i, k):
    return (*x[:i], int(k), *x[i + 1 :])


def of_document(tiny, z, i, base=0):
    """n_dk⁻ + α_k of the document of token i."""
    d, _ = tiny.tokens[i]
    return tiny.counts(z, skip=i)[0][d] + tiny.own[d]


def of_word(tiny, z, i, base=0):
    """n_wk⁻ + β of the word of token i, pseudo-counts included."""
    _, w = tiny.tokens[i]
    return (tiny.counts(z, skip=i)[1] + base)[w] + tiny.beta_of[w]


def propose(tiny, outcomes, tokens, weights, base=0):
    """Every token is proposed a topic, given the topics of all others."""
    for i in tokens:
        outcomes = [
            (p * q, z, put(t, i, k))
            for p, z, t in outcomes
            for k, q in enumerate(weights(tiny, z, i, base) / weights(tiny, z, i, base).sum())
        ]
    return outcomes


def answer(tiny, outcomes, tokens, weights, n_k, base=0):
    """Every token goes to its proposed topic or not, one after the other; n_k stays that of the start of the pass."""
    for i in tokens:
        after = []
        for p, z, t in outcomes:
            factor = weights(tiny, z, i, base) / (n_k - np.eye(tiny.n_topics)[z[i]] + tiny.beta_of.sum())
            yes = min(1.0, factor[t[i]] / factor[z[i]])
            after += [(p * yes, put(z, i, t[i]), t), (p * (1 - yes), z, t)]
        outcomes = after
    return outcomes


def pass_word(tiny, outcomes, w, n_k, base=0):
    tokens = [i for i, (_, v) in enumerate(tiny.tokens) if v == w]
    return propose(tiny, answer(tiny, outcomes, tokens, of_word, n_k, base), tokens, of_word, base)


def whole(tiny, z, n_mh, base):
    """A sweep: the probability of all topics after it."""
    everything = range(len(tiny.tokens))

    def n_k_of(now):
        return (tiny.counts(now)[1] + base).sum(0)

    outcomes = [(1.0, z, z)]
    for _ in range(n_mh):
        passed = []
        for p, now, t in propose(tiny, outcomes, everything, of_document):
            part = [(p, now, t)]
            for w in range(tiny.n_words):
                part = pass_word(tiny, part, w, n_k_of(now), base)
            passed += part
        outcomes = []
        for p, now, t in passed:
            outcomes += answer(tiny, [(p, now, t)], everything, of_document, n_k_of(now))
    return summed((p, now) for p, now, _ in outcomes)


def summed(outcomes):
    total = defaultdict(float)
    for p, *what in outcomes:
        total[tuple(what)] += p
    return total


def assert_same(found, twin):
    for what in {*found, *twin}:
        assert abs(found[what] - twin[what]) < TOLERANCE, (what, found[what], twin[what])


def followed(sampler, z, t, part, number):
    """Outcomes of a pass over one document or word from (z, t), by its source on every path."""

    def once(oracle):
        sampler.state.z[:], sampler.proposed[:] = z, t
        part(number, number + 1, oracle)
        return tuple(map(int, sampler.state.z)), tuple(map(int, sampler.proposed))

    return summed((p, *result) for p, result in paths(once))


def check_passes(kind, tiny):
    """Every pass, document by document and word by word, is its twin; with pseudo-counts and without."""
    rng = np.random.default_rng(4)
    pairs = list(itertools.product(tiny.states, tiny.states))
    for with_base in (False, True):
        state = state_of(kind, tiny, tiny.states[0])
        base = rng.integers(0, 3, (tiny.n_words, tiny.n_topics)) if with_base else 0
        if with_base:
            state.base_table = base.astype(np.float64)
        sampler = kind(state, n_mh=1)
        for number in rng.choice(len(pairs), 12, replace=False):
            z, t = pairs[number]
            n_k = tiny.counts(z)[2] + np.arange(tiny.n_topics) + 1.0  # as if others had moved: it is not counted anew
            sampler.n_k[:] = n_k
            for d in range(len(tiny.documents)):
                tokens = tiny.document_range(d)
                found = followed(sampler, z, t, sampler.ask, d)
                assert_same(found, summed(propose(tiny, [(1.0, z, t)], tokens, of_document)))
                found = followed(sampler, z, t, sampler.block, d)
                assert_same(found, summed(answer(tiny, [(1.0, z, t)], tokens, of_document, n_k)))
            for w in range(tiny.n_words):
                found = followed(sampler, z, t, sampler.word_block, w)
                assert_same(found, summed(pass_word(tiny, [(1.0, z, t)], w, n_k, base)))


def check_sweeps(kind):
    """Passes follow each other as they should, with counts made anew: whole sweeps of tiny corpora are their twins."""
    scopes = [kind.move.__globals__, kind.__mro__[1].move.__globals__]
    before = [scope["new_stream"] for scope in scopes]
    for tiny, n_mh, base in WHOLE:
        for z in tiny.states:
            state = state_of(kind, tiny, z)
            if np.any(base):
                state.base_table = base.astype(np.float64)

            def once(oracle, z=z, state=state, n_mh=n_mh):
                for scope in scopes:
                    scope["new_stream"] = lambda *_: oracle
                state.z[:] = z
                kind(state, n_mh=n_mh).sweep()
                return (tuple(map(int, state.z)),)

            try:
                found = summed((p, *result) for p, result in paths(once))
            finally:
                for scope, function in zip(scopes, before, strict=True):
                    scope["new_stream"] = function
            assert_same(found, whole(tiny, z, n_mh, base))

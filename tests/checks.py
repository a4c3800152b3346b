"""Checks that hold for a sampler or raise AssertionError: used on the real samplers and on mutants of them.

`kind` is a sampler class of an interpreted copy of topoi (see copies.py).
"""

from __future__ import annotations

import naive
import numpy as np
from exact import (
    CASES,
    PROPOSALS,
    collapsed_makers,
    document_matrix,
    fixed_sampler,
    state_of,
)
from scipy import stats

from topoi._rng import TOPICS, new_stream

TOLERANCE = 1e-12


def cases(kind):
    return CASES if kind.draw == "gibbs" else {"proposals": PROPOSALS}


def options(kind):
    """Ways in which a sampler can be built that change its draws."""
    if kind.draw == "mh":
        return [{"n_mh": 1}]
    if kind.factor in ("dirichlet", "delayed"):
        return [{"dense_up_to": 256}, {"dense_up_to": 0}]
    return [{}]


def check_transitions(kind, tiny, **option):
    """The sampler's own source, on every path: equal to the naive twin, and the posterior unchanged."""
    fixed = kind.factor != "collapsed"
    # Several φ for the z-step given φ: an urn may draw an empty row for one of them.
    for seed in range(3 if fixed else 1):
        if fixed:
            sampler, make = fixed_sampler(kind, tiny, seed, **option)
            phi = sampler.word_factor()
        else:
            make, phi = collapsed_makers(kind, tiny, **option), None
        sweep = np.eye(len(tiny.states))
        for d, words in enumerate(tiny.documents):
            if not (kind.exact or fixed) and len(words) != 1:
                continue  # published samplers have tables that outlive a token: one token at a time
            matrix = document_matrix(tiny, d, make)
            np.testing.assert_allclose(matrix.sum(1), 1, rtol=0, atol=TOLERANCE)
            twin = naive_matrix(kind, tiny, d, phi)
            np.testing.assert_allclose(matrix, twin, rtol=0, atol=TOLERANCE)
            sweep = sweep @ matrix
        if kind.exact or fixed:
            posterior = tiny.posterior(phi)
            assert np.abs(posterior @ sweep - posterior).max() < TOLERANCE


def naive_matrix(kind, tiny, d, phi):
    if kind.draw == "gibbs":
        return naive.gibbs_matrix(tiny, d, phi)
    if kind.name == "light":
        return naive.light_matrix(tiny, d)
    assert kind.name in ("alias", "light_published"), f"write a naive twin for {kind.name} in tests/naive.py"
    return naive.published_matrix(tiny, d, kind.name)


def check_counts(kind, tiny):
    """The counts that a sampler keeps are those that its topics have."""
    for option in options(kind):
        rng = np.random.default_rng(5)
        state = state_of(tiny, rng.integers(0, tiny.n_topics, len(tiny.tokens)))
        sampler = kind(state, **option)
        for sweep in range(6):
            sampler.begin()
            sampler.block(0, len(tiny.documents), new_stream(3, TOPICS, sweep))
            kept = sampler.kept_counts()
            if kept is not None:
                np.testing.assert_array_equal(kept, tiny.counts(tuple(state.z))[1])


def check_word_factor(kind, tiny, n=400):
    """φ given the topics follows its distribution: each entry's marginal, by Kolmogorov–Smirnov or χ²."""
    z = tiny.states[len(tiny.states) // 3]
    _, n_wk, n_k = tiny.counts(z)
    draws = []
    state = state_of(tiny, z)
    sampler = kind(state)
    for sweep in range(n):
        state.sweep = sweep
        sampler.begin()
        draws.append(sampler.word_factor())
    draws = np.array(draws)
    if kind.factor == "delayed":
        expected = (n_wk + tiny.beta) / (n_k + tiny.n_words * tiny.beta)
        np.testing.assert_allclose(draws, np.broadcast_to(expected, draws.shape), rtol=1e-12)
        return
    # 1e-4 for the whole family of entries: a right sampler fails once in ten thousand choices of the seed.
    level = 1e-4 / n_wk.size
    for w in range(tiny.n_words):
        for k in range(tiny.n_topics):
            a = n_wk[w, k] + tiny.beta
            b = n_k[k] + tiny.n_words * tiny.beta - a
            if kind.factor == "dirichlet":
                assert stats.kstest(draws[:, w, k], stats.beta(a, b).cdf).pvalue > level, (w, k)
            else:
                # The urn: c_wk = 0 exactly when φ_wk = 0; given any count in the topic, φ_wk is the share of c_wk.
                zeros = int((draws[:, w, k] == 0).sum())
                assert stats.binomtest(zeros, n, np.exp(-a)).pvalue > level / 2, (w, k)
                rng = np.random.default_rng(w * 100 + k)
                c, rest = rng.poisson(a, 20000), rng.poisson(b, 20000)
                share = c / np.maximum(c + rest, 1)
                assert stats.ks_2samp(draws[:, w, k], share).pvalue > level / 2, (w, k)


def check_all(kind):
    """Every check that runs without the compiler."""
    for tiny in cases(kind).values():
        check_counts(kind, tiny)
        for option in options(kind):
            check_transitions(kind, tiny, **option)
        if kind.factor != "collapsed":
            check_word_factor(kind, tiny)

"""Checks that hold for a sampler or raise AssertionError: used on the real samplers and on mutants of them.

`kind` is a sampler class of an interpreted copy of topoi (see copies.py).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from support import naive
from support.exact import (
    CASES,
    FEW,
    GUIDED,
    GUIDED_PROPOSALS,
    OWN,
    PROPOSALS,
    STALE,
    THREE_TOPICS,
    WORDS,
    WORDS_PROPOSALS,
    block_matrix,
    collapsed_makers,
    fixed_sampler,
    state_of,
)
from support.naive_expected import expected_phi, mean_field_matrix
from support.naive_warp import check_passes, check_sweeps
from support.oracle import paths
from topoi._machine.rng import TOPICS, new_stream

TOLERANCE = 1e-12


def cases(kind):
    if kind.draw in ("gibbs", "mean_field") or kind.name == "urn_mh":  # one proposal for a token, of few topics
        own = {"own": OWN} if kind.alpha_per_document else {}
        return CASES | own | ({"words": WORDS} if kind.takes_beta_per_word() else {})
    assert not kind.alpha_per_document, f"name a corpus with α of its own, small enough for {kind.name}"
    if kind.by_words:  # its passes over words are followed word by word
        return CASES | {"words": WORDS}
    own = {"words": WORDS_PROPOSALS} if kind.takes_beta_per_word() else {}
    return {"stale": STALE} if kind.name == "alias" else {"proposals": PROPOSALS} | own


def options(kind):
    """Ways in which a sampler can be built that change its draws."""
    if "composition" in kind.options:
        alone = [{"n_mh": 1, "composition": composition} for composition in kind.options["composition"]]
        return [*alone, {"n_mh": 2, "composition": "cycle"}] if kind.exact else alone
    if "n_mh" in kind.options:
        return [{"n_mh": 1}]
    if "dense_share" in kind.options:  # dense rows only for words that are in all topics; for all words
        if "dense_up_to" not in kind.options:
            return [{"dense_share": 1}, {"dense_share": 1000}]
        return [{"dense_up_to": 256}, {"dense_up_to": 0, "dense_share": 1}]
    if "dense_up_to" in kind.options:
        return [{"dense_up_to": 256}, {"dense_up_to": 0}]
    if "look_up" in kind.options:
        return [{"look_up": 4}, {"look_up": 0}]
    return [{}]


def check_transitions(kind, tiny, together=False, **option):
    """The sampler's own source, on every path: equal to the naive twin, and the posterior unchanged."""
    if kind.by_words:
        check_passes(kind, tiny)
        check_sweeps(kind)
        return
    if kind.name == "urn_mh":
        check_urn_mh(kind, tiny, together, **option)
        return
    fixed = kind.factor_class.fixed and not kind.live_in_block
    # Several φ for the z-step given φ: an urn may draw an empty row for one of them.
    for seed in range(3 if fixed else 1):
        if fixed:
            sampler, make = fixed_sampler(kind, tiny, seed, **option)
            phi = sampler.factor.to_dense()
        else:
            make, phi = collapsed_makers(kind, tiny, **option), None
        sweep = np.eye(len(tiny.states))
        for d, words in enumerate(tiny.documents):
            if kind.name == "light_published" and len(words) != 1:
                continue  # its two tokens have too many paths
            matrix = block_matrix(tiny, d, d + 1, make)
            np.testing.assert_allclose(matrix.sum(1), 1, rtol=0, atol=TOLERANCE)
            twin = naive_matrix(kind, tiny, d, phi, option)
            np.testing.assert_allclose(matrix, twin, rtol=0, atol=TOLERANCE)
            sweep = sweep @ matrix
        if together or tiny in (
            FEW,
            OWN,
            WORDS,
        ):  # all documents in one block: what one leaves behind must not reach the next
            np.testing.assert_allclose(block_matrix(tiny, 0, len(tiny.documents), make), sweep, rtol=0, atol=TOLERANCE)
        if kind.exact or kind.draw == "gibbs":  # where counts are a block's own, one block alone is exact
            posterior = tiny.posterior(phi)
            assert np.abs(posterior @ sweep - posterior).max() < TOLERANCE
    if kind.live_in_block and tiny is not THREE_TOPICS:  # a sweep of all its tokens has too many paths for ad_fast
        check_blocks(kind, tiny, **option)


def check_urn_mh(kind, tiny, together=False, **option):
    """Given counts that an urn has drawn: the transitions are the twin's, and topics given the counts unchanged."""
    rng = np.random.default_rng(17)
    for seed in range(4):
        origin = kind(state_of(kind, tiny, tiny.states[rng.integers(len(tiny.states))], seed), **option)
        origin.begin()
        urn = origin.urn
        drawn = np.zeros((tiny.n_words, tiny.n_topics), int)
        drawn[np.repeat(np.arange(tiny.n_words), urn.size), urn.topics] = urn.counts

        def make(z, urn=urn):
            sampler = kind(state_of(kind, tiny, z), **option)
            sampler.urn = urn
            return sampler

        sweep = np.eye(len(tiny.states))
        for d in range(len(tiny.documents)):
            matrix = block_matrix(tiny, d, d + 1, make)
            np.testing.assert_allclose(matrix.sum(1), 1, rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(matrix, naive.urn_mh_matrix(tiny, d, drawn), rtol=0, atol=TOLERANCE)
            sweep = sweep @ matrix
        if together or tiny in (FEW, OWN, WORDS):
            np.testing.assert_allclose(block_matrix(tiny, 0, len(tiny.documents), make), sweep, rtol=0, atol=TOLERANCE)
        rates = np.array([tiny.counts(z)[1] + tiny.prior for z in tiny.states])
        posterior = tiny.posterior() * stats.poisson.pmf(drawn, rates).prod((1, 2))
        posterior /= posterior.sum()
        assert np.abs(posterior @ sweep - posterior).max() < TOLERANCE


def check_blocks(kind, tiny, **option):
    """A sweep of blocks with counts of their own, each document a block, on every path: that of the naive twin."""
    make = collapsed_makers(kind, tiny, **option)
    matrix = np.zeros((len(tiny.states),) * 2)
    for a, z in enumerate(tiny.states):
        sampler = make(z)

        def run(oracle, z=z, sampler=sampler):
            sampler.state.z[:] = z
            for d in range(len(tiny.documents)):
                sampler.block(d, d + 1, oracle)
            return tuple(int(k) for k in sampler.state.z)

        for probability, result in paths(run):
            matrix[a, tiny.index[result]] += probability
    np.testing.assert_allclose(matrix, naive.blocks_matrix(tiny), rtol=0, atol=TOLERANCE)


def check_pseudo_counts(kind, **option):
    """With pseudo-counts of words the posterior is theirs too, and unchanged; Gibbs steps are those of the twin."""
    gibbs_like = kind.draw == "gibbs" or kind.name == "urn_mh"
    tiny = GUIDED if gibbs_like else GUIDED_PROPOSALS
    if gibbs_like:
        check_transitions(kind, tiny, **option)
        if kind.factor_class.fixed:
            check_word_factor(kind, tiny)
        return
    sweep, make = np.eye(len(tiny.states)), collapsed_makers(kind, tiny, **option)
    for d in range(len(tiny.documents)):
        sweep = sweep @ block_matrix(tiny, d, d + 1, make)
    posterior = tiny.posterior()
    assert np.abs(posterior @ sweep - posterior).max() < TOLERANCE


def naive_matrix(kind, tiny, d, phi, option):
    if kind.draw == "gibbs":
        return naive.gibbs_matrix(tiny, d, phi)
    if kind.draw == "mean_field":
        return mean_field_matrix(tiny, d, phi)
    if kind.name == "light":
        return naive.light_matrix(tiny, d)
    if kind.name == "light_med":
        return naive.light_med_matrix(tiny, d, **option)
    if kind.name == "light_med_published":
        return naive.published_matrix(tiny, d, kind.name, **option)
    assert kind.name in ("alias", "light_published"), f"write a naive twin for {kind.name} in tests/support/naive.py"
    return naive.published_matrix(tiny, d, kind.name)


def check_counts(kind, tiny):
    """The counts that a sampler keeps are those that its topics have."""
    for option in options(kind):
        rng = np.random.default_rng(5)
        state = state_of(kind, tiny, tiny.states[rng.integers(len(tiny.states))])
        sampler = kind(state, **option)
        for sweep in range(6):
            sampler.begin()
            sampler.block(0, len(tiny.documents), new_stream(3, TOPICS, sweep))
            if not sampler.factor.fixed:
                np.testing.assert_array_equal(sampler.factor.kept_counts(), tiny.counts(tuple(state.z))[1])


def check_word_factor(kind, tiny, n=2000):
    """φ given the topics follows its distribution: each entry's marginal, by Kolmogorov–Smirnov or χ²."""
    for z in (tiny.states[len(tiny.states) // 3], tiny.states[0]):  # the second leaves all topics but one empty
        check_word_factor_at(kind, tiny, z, n)


def check_expected_at(kind, tiny, z):
    """Nothing is drawn: φ is that of the twin, at whatever sweep."""
    for passes, sweep in ((1, 0), (1, 7), (3, 0), (2, 1)):
        state = state_of(kind, tiny, z)
        state.sweep = sweep
        sampler = kind(state, passes=passes)
        sampler.begin()
        twin = expected_phi(tiny.documents, tiny.counts(z)[1], tiny.own, tiny.beta, sweep=sweep, passes=passes)
        np.testing.assert_allclose(sampler.factor.to_dense(), twin, rtol=1e-12)


def check_word_factor_at(kind, tiny, z, n):
    if kind.factor_class.name == "expected":
        check_expected_at(kind, tiny, z)
        return
    _, n_wk, n_k = tiny.counts(z)
    draws = []
    state = state_of(kind, tiny, z)
    sampler = kind(state)
    for sweep in range(n):
        state.sweep = sweep
        sampler.begin()
        draws.append(sampler.factor.to_dense())
    draws = np.array(draws)
    factor = kind.factor_class
    assert factor.exact or factor.name in ("delayed", "urn"), f"write the law of the factor {factor.name} here"
    if factor.name == "delayed":
        expected = (n_wk + tiny.prior) / (n_k + tiny.prior.sum(0))
        np.testing.assert_allclose(draws, np.broadcast_to(expected, draws.shape), rtol=1e-12)
        return
    # 1e-4 for all entries together: a right sampler fails once in ten thousand choices of the seed.
    level = 1e-4 / n_wk.size
    for w in range(tiny.n_words):
        for k in range(tiny.n_topics):
            a = n_wk[w, k] + tiny.prior[w, k]
            b = n_k[k] + tiny.prior[:, k].sum() - a
            if factor.exact:  # then it is a draw from the posterior of φ given the topics: Dirichlet(n + β)
                assert stats.kstest(draws[:, w, k], stats.beta(a, b).cdf).pvalue > level, (w, k)
            else:
                # The urn: c_wk = 0 exactly when φ_wk = 0; given any count in the topic, φ_wk is the share of c_wk.
                zeros = int((draws[:, w, k] == 0).sum())
                assert stats.binomtest(zeros, n, np.exp(-a)).pvalue > level / 2, (w, k)
                rng = np.random.default_rng(w * 100 + k)
                c, rest = rng.poisson(a, 20000), rng.poisson(b, 20000)
                share = c / np.maximum(c + rest, 1)
                # Shares are discrete: rounded, lest 3 · (1/9) and 3/9 count as different values.
                assert stats.ks_2samp(draws[:, w, k].round(9), share.round(9)).pvalue > level / 2, (w, k)


def check_alias_tables(kind):
    """An alias table gives every entry its weight."""
    scopes = [base.__init__.__globals__ for base in kind.__mro__ if base is not object]
    tables = next(t for scope in scopes if (t := scope.get("new_tables") or scope.get("alpha_table")))
    make_alias = tables.__globals__["make_alias"]
    rng = np.random.default_rng(9)
    for n in range(1, 9):
        weight = rng.dirichlet(np.full(n, 0.3)) * 7.0
        keep, other = np.zeros(n), np.zeros(n, np.int32)
        make_alias(weight, weight.sum(), keep, other)
        found = keep.copy()
        np.add.at(found, other, 1 - keep)
        np.testing.assert_allclose(found / n, weight / weight.sum(), rtol=0, atol=TOLERANCE)


def check_all(kind):
    """Every check that runs without the compiler."""
    for tiny in cases(kind).values():
        check_counts(kind, tiny)
        for option in options(kind):
            check_transitions(kind, tiny, **option)
        if kind.factor_class.fixed:
            check_word_factor(kind, tiny)
    if "n_mh" in kind.options:
        check_alias_tables(kind)

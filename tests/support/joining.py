"""Checks of joining topics, each a function: for the tests of `merging.py`, and for those with bugs put into it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.counts.elsewhere import ANY, NOTHING, STEP, word_rows
from topoi.chain.diagnostics import log_joint
from topoi.chain.engines.local import Local
from topoi.chain.merging import find_joins, match, of_documents, of_words
from topoi.chain.priors import FixedBeta, Priors
from topoi.chain.priors.fixed_beta_of_words import FixedBetaOfWords
from topoi.chain.priors.hdp import HDP, reserve
from topoi.chain.state import State
from topoi.corpus import Corpus


def halves(n_topics=3, empty=0, pseudo_counts=None):
    """Topics with words of their own, each in two halves by chance: 0 and 1 are one topic, 2 and 3 another, …"""
    rng = np.random.default_rng(1)
    documents = np.repeat(np.arange(30), 40)
    true = documents % n_topics
    words = 5 * true + rng.integers(0, 5, len(true))
    order = np.lexsort((words, documents))
    corpus = Corpus(words[order].astype(np.int32), np.arange(0, 1201, 40), 5 * n_topics)
    z = (2 * true[order] + rng.integers(0, 2, len(true))).astype(np.uint16)
    prior = HDP.begin(2 * n_topics + empty, 100, 1, 9)
    base = np.zeros((0, 0), np.float32) if pseudo_counts is None else pseudo_counts.toarray().astype(np.float32)
    return State(corpus, Priors(prior, FixedBeta(0.1, pseudo_counts=pseudo_counts)), z, 0, 1, base)


def halves_of_a_topic_are_joined():
    state = halves()
    number = find_joins(Local(state, Pool(1)))
    assert number.tolist() == [0, 0, 1, 1, 2, 2]


def the_change_of_the_log_joint():
    """It is found topic by topic."""
    for words in (FixedBeta(0.1), FixedBetaOfWords.of(np.linspace(0.05, 0.2, 15))):
        state = halves()
        state.priors = replace(state.priors, words=words)
        engine = Local(state, Pool(1))

        def parts(state=state, engine=engine):
            return (of_documents(engine.spectrum(np.arange(state.n_topics)), state.alpha)
                    + of_words(engine.counts(), state.beta, state.beta_sum)).sum()  # fmt: skip

        before, joint = parts(), log_joint(state)
        engine.join(np.array([0, 0, 1, 1, 2, 2]))
        assert state.n_topics == 3
        assert log_joint(state) - joint == pytest.approx(parts() - before)
        assert log_joint(state) > joint


def different_topics_stay():
    state = halves()
    engine = Local(state, Pool(1))
    engine.join(np.array([0, 0, 1, 1, 2, 2]))
    assert find_joins(engine) is None


def topics_that_share_words_stay_apart():
    """Half of the words of each are the other's: joined they would be likelier than where the tokens happen to be, but
    not than all the places together that these could have."""
    rng = np.random.default_rng(3)
    theta = rng.dirichlet([0.5, 0.5], 60)
    documents = np.repeat(np.arange(60), 40)
    true = (rng.random(2400) > theta[documents, 0]).astype(np.uint16)
    words = 8 * true + rng.integers(0, 16, 2400)
    order = np.lexsort((words, documents))
    corpus = Corpus(words[order].astype(np.int32), np.arange(0, 2401, 40), 24)
    priors = Priors(HDP.begin(2, 100, 1, 9), FixedBeta(0.1))
    engine = Local(State(corpus, priors, true[order], 0, 1, np.zeros((0, 0), np.float32)), Pool(1))
    before = engine.log_joint()
    assert find_joins(engine) is None
    engine.join(np.array([0, 0]))
    assert engine.log_joint() > before


def empty_topics_beyond_the_reserve_go():
    state = halves(empty=30)
    number = find_joins(Local(state, Pool(1)))
    assert number.max() + 1 == 3 + reserve(3)
    assert len(np.unique(number[[0, 2, 4]])) == 3


def named_topics_are_neither_joined_nor_moved():
    """With pseudo-counts, as seeds have them: the first two topics are named, though they are alike or empty."""
    counts = np.zeros((15, 7), np.int64)
    counts[0, 0] = counts[0, 1] = counts[9, 6] = 1
    state = halves(empty=1, pseudo_counts=sparse.csr_array(counts))
    engine = Local(state, Pool(1))
    number = find_joins(engine)
    assert number.tolist() == [0, 1, 2, 2, 3, 3, 4]
    engine.join(number)
    assert state.priors.words.pseudo_counts.toarray()[[0, 0, 9], [0, 1, 4]].tolist() == [1, 1, 1]
    assert state.base_table.shape == (15, 5)
    assert state.base_table.sum() == 3


def pairs_are_the_most_alike():
    counts = sparse.csr_array(np.array([[9, 8, 0, 1], [1, 2, 5, 9], [0, 0, 5, 0]]))
    free = np.ones(4, np.bool_)
    assert match(counts, free).tolist() == [[0, 1], [2, 3]]
    free[1] = False
    assert [0, 1] not in match(counts, free).tolist()
    assert match(counts, np.zeros(4, np.bool_)).shape == (0, 2)


def the_most_alike_come_first():
    """Topic 1 is like both others, and more like the last."""
    counts = sparse.csr_array(np.array([[9, 5, 4], [1, 5, 6]]))
    assert match(counts, np.ones(3, np.bool_)).tolist() == [[1, 2]]


# ---- Leftovers -------------------------------------------------------------------------------------------------------


def with_leftovers(share=0.05, own=False):
    """Three topics with words of their own, in documents that mix two of them; topic 3 has tokens of all by chance.

    With `own`, topic 3 has in its place a word that no other topic has.
    """
    rng = np.random.default_rng(2)
    documents = np.repeat(np.arange(60), 40)
    true = (documents + rng.integers(0, 2, len(documents))) % 3
    words = 5 * true + rng.integers(0, 5, len(true))
    left = rng.random(len(true)) < share
    if own:
        words[left] = 15
    z = np.where(left, 3, true)
    order = np.lexsort((words, documents))
    corpus = Corpus(words[order].astype(np.int32), np.arange(0, 2401, 40), 16)
    priors = Priors(HDP.begin(4, 100, 1, 9), FixedBeta(0.1))
    return State(corpus, priors, z[order].astype(np.uint16), 0, 1, np.zeros((0, 0), np.float32))


#: β of every word, where each has its own.
OWN_BETA = np.linspace(0.05, 0.4, 16)


def naive_elsewhere(state, counts, rival):
    """Σ log max (n_dj + α_j) φ_wj and Σ −log q, token by token."""
    n_k, beta = counts.sum(0), np.broadcast_to(state.beta, (len(counts),))
    phi = (counts + beta[:, None]) / (n_k + beta.sum())
    found = np.zeros((2, state.n_topics))
    ptr = state.corpus.doc_ptr
    for d in range(state.corpus.n_documents):
        z = state.z[ptr[d] : ptr[d + 1]]
        n_d = np.bincount(z, minlength=state.n_topics)
        for w, k in zip(state.corpus.words[ptr[d] : ptr[d + 1]], z, strict=True):
            if rival[k] == NOTHING:
                continue
            places = (n_d + state.alpha) * phi[w]
            if rival[k] == ANY:
                has = (rival == NOTHING) & (counts[w] > 0)
                best = places[has if has.any() else rival == NOTHING].max()
            else:
                best = places[rival[k]]
            own = (n_d[k] - 1 + state.alpha[k]) * (counts[w, k] - 1 + beta[w])
            own /= n_k[k] - 1 + beta.sum()
            found[:, k] += np.log(best), -np.log(own / (own + best))
    return found


def how_tokens_would_do_elsewhere():
    """Against plain Python; also of a word that open topics do not have."""
    for own, words in ((False, FixedBeta(0.1)), (True, FixedBeta(0.1)), (True, FixedBetaOfWords.of(OWN_BETA))):
        for rivals in ([NOTHING, NOTHING, NOTHING, ANY], [1, 0, 3, 2], [3, NOTHING, ANY, 0]):
            state = with_leftovers(own=own)
            state.priors = replace(state.priors, words=words)
            engine, rival = Local(state, Pool(2)), np.array(rivals)
            counts = engine.counts()
            found = engine.elsewhere(word_rows(counts, state.beta, state.beta_sum), rival) * STEP
            np.testing.assert_allclose(found, naive_elsewhere(state, counts.toarray(), rival), atol=0.01)
            assert (found[:, rival == NOTHING] == 0).all()
            assert (found[1, rival != NOTHING] > 0).all()


def a_leftover_is_given_up():
    state = with_leftovers()
    number = find_joins(Local(state, Pool(1)))
    assert number[:3].tolist() == [0, 1, 2]
    assert number[3] < 3


def a_small_topic_of_its_own_stays():
    """As small, but with a word that only it has."""
    number = find_joins(Local(with_leftovers(own=True), Pool(1)))
    assert number is None


def a_named_leftover_stays():
    state = with_leftovers()
    counts = np.zeros((16, 4), np.int64)
    counts[0, 3] = 1
    given = Priors(state.priors.topics, FixedBeta(0.1, pseudo_counts=sparse.csr_array(counts)))
    named = State(state.corpus, given, state.z, 0, 1, counts.astype(np.float32))
    assert find_joins(Local(named, Pool(1))) is None


CHECKS = {
    check.__name__: check
    for check in (
        halves_of_a_topic_are_joined,
        the_change_of_the_log_joint,
        different_topics_stay,
        topics_that_share_words_stay_apart,
        empty_topics_beyond_the_reserve_go,
        named_topics_are_neither_joined_nor_moved,
        pairs_are_the_most_alike,
        the_most_alike_come_first,
        how_tokens_would_do_elsewhere,
        a_leftover_is_given_up,
        a_small_topic_of_its_own_stays,
        a_named_leftover_stays,
    )
}

"""Rows of counts in two kinds: dense, and short lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.corpora import random_counts
from topoi._machine.pool import Pool
from topoi.chain.counts.split import SplitRows, put_one, take_one
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samplers._split import add_up
from topoi.chain.state import new_state, topic_counts
from topoi.corpus import Corpus

CORPUS = Corpus.from_counts(random_counts(60, 40, 30, seed=3))
K = 21


def state(base=None):
    return new_state(CORPUS, fixed_priors(np.full(K, 0.1), 0.05, base), 7)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 8, 23])
def test_running_sums_of_a_list(n, real):
    rng = np.random.default_rng(n)
    topics = rng.permutation(40).astype(np.uint16)
    counts, c = rng.integers(1, 9, 40).astype(real), rng.random(40).astype(real)
    below = np.zeros(40, real)
    total = add_up(topics, counts, 5, n, c, below)
    expected = np.cumsum(c[topics[5 : 5 + n]].astype(float) * counts[5 : 5 + n])
    np.testing.assert_allclose(below[:n], expected, rtol=1e-6 if real is np.float32 else 1e-14)
    assert total == (below[n - 1] if n else 0)


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("share", [0, 1, 2, 8, 1000])
def test_rows_hold_the_counts(share, with_base):
    base = np.random.default_rng(1).integers(0, 3, (CORPUS.n_words, K)) * 1.0 if with_base else None
    made = state(base)
    rows = SplitRows.empty(made, share)
    for _ in range(2):  # filled again, nothing of before is left
        rows.fill(made, Pool(2))
        expected = topic_counts(made)[0] + (0 if base is None else base)
        np.testing.assert_array_equal(rows.to_dense(), expected)
        np.testing.assert_array_equal(rows.n_k[:K], expected.sum(0))
        np.testing.assert_array_equal(rows.size, (expected > 0).sum(1))
        np.testing.assert_array_equal(rows.dense >= 0, (rows.size > 0) & (rows.size * share >= K))
        for w in np.flatnonzero(rows.dense < 0):  # the order follows from the counts, not from that of the tokens
            listed = rows.topics[rows.start[w] : rows.start[w] + rows.size[w]]
            assert (np.diff(listed.astype(int)) < 0).all()
        made.z[:] = np.random.default_rng(2).integers(0, K, len(made.z))


@pytest.mark.parametrize("share", [0, 2, 8])
def test_rows_of_a_table_are_those_of_the_tokens(share):
    made = state()
    rows = SplitRows.empty(made, share)
    rows.fill(made, Pool(1))
    table = np.zeros((CORPUS.n_words, 32), np.float32)
    table[:, :K] = topic_counts(made)[0]
    other = SplitRows.of_table(made, table, share)
    for name in ("size", "n_k"):
        np.testing.assert_array_equal(getattr(other, name), getattr(rows, name))
    np.testing.assert_array_equal(other.dense >= 0, rows.dense >= 0)
    for w in range(CORPUS.n_words):
        if rows.dense[w] >= 0:
            np.testing.assert_array_equal(other.table[other.dense[w]], rows.table[rows.dense[w]])
        else:
            for name in ("topics", "counts"):
                lists = [getattr(r, name)[r.start[w] : r.start[w] + r.size[w]] for r in (rows, other)]
                np.testing.assert_array_equal(*lists)


def test_a_list_gains_and_loses_topics():
    rng = np.random.default_rng(0)
    topics, counts, kept = np.zeros(12, np.uint16), np.zeros(12, np.float32), np.zeros(9, int)
    n = 0
    for _ in range(2000):
        k = int(rng.integers(9))
        if kept[k] and rng.random() < 0.55:
            n = take_one(topics, counts, 2, n, k)
            kept[k] -= 1
        elif kept.sum() < 40:
            n = put_one(topics, counts, 2, n, k)
            kept[k] += 1
        found = np.zeros(9, int)
        found[topics[2 : 2 + n]] = counts[2 : 2 + n]
        np.testing.assert_array_equal(found, kept)
        assert n == np.count_nonzero(kept)


def test_the_number_of_bytes_is_bounded_by_tokens_not_by_topics():
    many = new_state(CORPUS, fixed_priors(np.full(20_000, 0.01), 0.05), 7)
    rows = SplitRows.empty(many)
    assert rows.table.size == 0
    assert len(rows.topics) == CORPUS.n_tokens


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-30, 1e-12])
@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["split", "delayed"])
def test_priors_that_vanish_beside_counts(name, real, alpha):
    """Documents of one token have no weight at all: they keep their topics, and nothing is read beyond the lists."""
    lone = np.vstack((random_counts(200, 40, 60, seed=1), np.eye(40, dtype=int)))
    made = replace(new_state(Corpus.from_counts(lone), fixed_priors(np.full(K, alpha), 1e-6), 3), real=real)
    before = made.z[-40:].copy()
    option = {"dense_share": 0} if name == "split" else {"dense_up_to": 0, "dense_share": 0}
    sampler = SAMPLERS[name](made, **option)
    for _ in range(5):
        sampler.sweep()
        assert made.z.max() < K
    if real(alpha) < np.finfo(real).smallest_normal:  # nothing is left of it over the tokens of a topic
        np.testing.assert_array_equal(made.z[-40:], before)
    sampler.begin()
    np.testing.assert_array_equal(sampler.factor.rows.to_dense(), topic_counts(made)[0])


@pytest.mark.parametrize("name", ["split", "delayed"])
def test_many_topics_end_to_end(name):
    """A topic that no token has can still be drawn, by the prior's bucket."""
    many = new_state(CORPUS, fixed_priors(np.full(600, 0.5), 0.05), 7)
    many.z[:] = 0
    sampler = SAMPLERS[name](many)
    sampler.sweep()
    assert len(np.unique(many.z)) > 50
    sampler.begin()
    np.testing.assert_array_equal(sampler.factor.rows.to_dense(), topic_counts(many)[0])

"""The words that a topic is shown by, beside their formula written out over all words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from topoi import LDA
from topoi.chain.counts import by_rows
from topoi.chain.model import TopicModel
from topoi.chain.priors import fixed_priors
from topoi.chain.telling import POOL
from topoi.errors import ParameterError

V, K = 60, 4


def model_of(counts, beta=0.01):
    table = sparse.csr_array(counts)
    return TopicModel(table, table, 1, fixed_priors(np.full(counts.shape[1], 0.1), beta))


def some_counts(seed):
    """Words of which many are in several topics, and no two as often in one."""
    rng = np.random.default_rng(seed)
    counts = np.stack([rng.permutation(V) * rng.integers(0, 9) + np.arange(V) for _ in range(K)], axis=1)
    return counts * rng.integers(0, 2, (V, K))


def by_formula(model, k, n):
    log_phi = np.log(model.topic_word())
    score = np.exp(log_phi[k]) * (log_phi[k] - log_phi.mean(0))
    probable = model.top_columns(V, "probability")[k]
    first, rest = probable[:POOL], probable[POOL:]
    return [*sorted(first, key=lambda w: -score[w]), *rest][:n]


@pytest.mark.parametrize("beta", [0.01, np.linspace(0.01, 2, V)], ids=["one beta", "a beta for each word"])
@pytest.mark.parametrize("n", [1, 7, POOL, POOL + 5])
def test_words_are_in_the_order_of_the_formula(n, beta):
    model = model_of(some_counts(n), beta)
    found = model.top_columns(n)
    assert found == [by_formula(model, k, n) for k in range(K)]
    assert found != model.top_columns(n, "probability")


def test_words_of_every_topic_come_last():
    counts = np.array([[50, 50, 50], [40, 0, 0], [0, 40, 0], [0, 0, 40]])
    assert model_of(counts).top_columns() == [[1, 0], [2, 0], [3, 0]]
    assert model_of(counts).top_columns(order="probability") == [[0, 1], [0, 2], [0, 3]]


def test_fewer_words_are_the_first_of_more():
    model = model_of(some_counts(0))
    more = model.top_columns(V)
    for n in (0, 3, POOL, POOL + 3):
        assert model.top_columns(n) == [columns[:n] for columns in more]
    assert [sorted(columns) for columns in more] == [sorted(columns) for columns in model.top_columns(V, "probability")]


def test_one_topic_has_its_most_probable_words():
    model = model_of(some_counts(1)[:, :1])
    assert model.top_columns(9) == model.top_columns(9, "probability")


def test_topics_without_tokens_have_no_words():
    counts = some_counts(2)
    counts[:, 1] = 0
    assert model_of(counts).top_columns(5)[1] == []
    assert model_of(np.zeros((V, K), np.int64)).top_columns(5) == [[], [], [], []]


def test_counts_may_be_read_in_parts(monkeypatch):
    whole = model_of(some_counts(3)).top_columns(8)
    monkeypatch.setattr(by_rows, "ENTRIES", 10)
    assert model_of(some_counts(3)).top_columns(8) == whole


def test_estimators_take_the_order():
    X = np.repeat([[4, 5, 0, 0], [4, 0, 5, 1]], 20, axis=0)
    lda = LDA(2, n_sweeps=20, random_state=0).fit(X)
    for order in ("telling", "probability"):
        words = lda.top_words(3, order=order)
        assert words == lda.model_.top_words(3, order)
        frame = lda.top_words(3, as_frame=True, order=order)
        assert [list(own["word"]) for _, own in frame.groupby("topic")] == words
    with pytest.raises(ParameterError, match="order: must be one of 'telling', 'probability', not 'frequency'"):
        lda.top_words(3, order="frequency")

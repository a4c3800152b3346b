"""Pseudo-counts of words, as `partial_fit` has them: the same bytes with topics in files as in memory."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse

from support.corpora import random_counts
from topoi import LDA, Corpus, ParameterError
from topoi.chain.engines.cluster import _counts
from topoi.chain.samplers import SAMPLERS

X = random_counts(60, 30, 20, seed=6)
FIXED = sorted(name for name, kind in SAMPLERS.items() if kind.spreads())


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that there are several of documents and of words."""
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: 100))
    monkeypatch.setattr("topoi.chain.factors.expected.BATCH", 5)


def said(model):
    arrays = [model.model_.counts.toarray(), model.model_.last_counts.toarray(), model.doc_topic_, model.log_joint_]
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("times", [1, 300])
@pytest.mark.parametrize("sampler", FIXED)
def test_every_sampler(sampler, times):
    """Also where a pair is there more often than the byte of an entry says."""
    found = []
    for engine in (None, "blocks"):
        model = LDA(4, n_sweeps=4, n_samples=2, infer_sweeps=10, sampler=sampler, random_state=0, engine=engine)
        model.fit(X[:40] * times)
        found.append([said(model), said(model.partial_fit(X[40:])), said(model.partial_fit(X[:9]))])
        np.testing.assert_array_equal(
            model.model_.last_counts.sum(1), times * X[:40].sum(0) + X[40:].sum(0) + X[:9].sum(0)
        )
        assert model.model_.priors.words.pseudo_counts is None  # they are among the counts: a file holds them once
    assert found[0] == found[1]


def test_a_few_documents_more():
    """The default sampler takes them with an engine as without; one that was named and cannot be used is refused."""
    model = LDA(4, n_sweeps=4, n_samples=2, infer_sweeps=4, sampler="partial", random_state=0).fit(X)
    alone = said(deepcopy(model).set_params(sampler="auto").partial_fit(X[:3]))
    assert said(deepcopy(model).set_params(engine="blocks", sampler="auto").partial_fit(X[:3])) == alone
    with pytest.raises(ParameterError, match="an engine needs one of"):
        model.set_params(engine="blocks", sampler="collapsed").partial_fit(X[:3])


def test_entries_of_a_sparse_table():
    counts = np.random.default_rng(0).integers(0, 3, (7, 5)) * 400
    table = np.zeros(counts.shape)
    _counts.add_entries(*_counts.sparse_entries(sparse.csr_array(counts)), table.reshape(-1))
    np.testing.assert_array_equal(table, counts)

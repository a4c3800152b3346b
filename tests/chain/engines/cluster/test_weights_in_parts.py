"""A task that draws weights reads topics in parts where they are many, and ends with the same bytes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from support.labelled import Documents
from topoi import MedLDAClassifier, MedLDARegressor
from topoi.chain.engines.cluster import _weights
from topoi.chain.engines.cluster._job import write_arrays

LABELLED = Documents(220, seed=3)
QUICK = {"n_topics": 6, "n_sweeps": 5, "n_samples": 2, "sampler": "partial", "random_state": 0, "refit": False}
ALL = _weights.AT_ONCE
COVARIATES = {"party": np.arange(220) % 3, "year": np.arange(220) % 17}
FITS = {
    "labels": lambda **more: MedLDAClassifier(**QUICK, **more).fit(LABELLED.X, LABELLED.several),
    "ordinal": lambda **more: MedLDAClassifier(loss="ordinal", **QUICK, **more).fit(LABELLED.X, LABELLED.many),
    "covariates": lambda **more: MedLDAClassifier(**QUICK, **more).fit(
        LABELLED.X, LABELLED.several, covariates=COVARIATES),
    "numbers": lambda **more: MedLDARegressor(**QUICK, **more).fit(LABELLED.X, LABELLED.numbers),
}  # fmt: skip


def bytes_of(model):
    arrays = (model.doc_topic_, model.topic_weights_, model.topic_weights_std_, model.model_.counts.toarray())
    return [np.asarray(array).tobytes() for array in arrays]


@pytest.mark.parametrize("at_once", [1, 300, ALL])
@pytest.mark.parametrize("name", FITS)
def test_the_same_bytes(name, at_once, monkeypatch):
    """`at_once`: every topic by itself, several together, all of them."""
    widths, read = set(), _weights.Stored._read

    def noted(self, first, last):
        design = read(self, first, last)
        if self.n_columns == 6:
            widths.add(last - first)
        assert last - first == 1 or len(design.doc) <= at_once
        return design

    monkeypatch.setattr(_weights.Stored, "_read", noted)
    monkeypatch.setattr(_weights, "AT_ONCE", at_once)
    assert bytes_of(FITS[name](engine="blocks")) == bytes_of(FITS[name]())
    if at_once == 300:  # which topics are read together is a matter of their sizes, and so of the chain
        assert widths & {2, 3, 4, 5}
        assert 6 not in widths
    else:
        assert widths == ({1} if at_once == 1 else {6})


@pytest.mark.parametrize("at_once", [1, 5, ALL])
def test_parts_are_the_columns_of_all_groups(at_once, monkeypatch, tmp_path):
    """Also those that no document of a group has, first or last, and groups whose documents have none."""
    monkeypatch.setattr(_weights, "AT_ONCE", at_once)
    x = np.random.default_rng(1).random((12, 7)).astype(np.float32)
    x[x < 0.4] = 0
    x[:4, [0, 6]] = x[4:8] = x[8:, 2] = x[:, 4] = 0
    layout = SimpleNamespace(documents=np.array([0, 4, 8, 12]))
    files = [tmp_path / str(group) for group in range(3)]
    for group, path in enumerate(files):
        own = sparse.csc_array(x[4 * group : 4 * group + 4])
        write_arrays(
            path, {"start": own.indptr.astype(np.int64), "doc": own.indices.astype(np.int32), "share": own.data}
        )
    stored = _weights.Stored(files, layout)
    found = np.full_like(x, np.nan)
    for own, part in stored.parts():
        assert part.n_documents == 12
        found[:, own] = part.matrix().toarray()
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(stored.whole().matrix().toarray(), x)


def test_exact_draws_need_all_topics(monkeypatch):
    """They are of sums over all pairs of topics."""
    monkeypatch.setattr(_weights, "AT_ONCE", 1)
    fits = [
        MedLDARegressor(loss="squared", n_gibbs=0, **QUICK, **more).fit(LABELLED.X, LABELLED.number)
        for more in ({}, {"engine": "blocks"})
    ]
    assert bytes_of(fits[0]) == bytes_of(fits[1])

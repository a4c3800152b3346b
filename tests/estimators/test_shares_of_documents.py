"""Fits that keep no topic shares of their documents."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from support.corpora import random_counts
from support.labelled import Documents
from topoi import LDA, Checkpoints, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi.estimators import shares_of_documents

X = random_counts(60, 50, 30, seed=4)
LABELLED = Documents(80, seed=3)
QUICK = {"n_topics": 4, "n_sweeps": 8, "n_samples": 2, "sampler": "partial", "random_state": 0}
NUMBERS = np.arange(60) / 10


def learned_bytes(model):
    return [array.tobytes() for array in (model.components_, model.log_joint_, model.transform(X))]


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_all_else_is_the_same(engine):
    kept = LDA(**QUICK, engine=engine).fit(X)
    lean = LDA(**QUICK, engine=engine, keep_doc_topic=False).fit(X)
    assert kept.doc_topic_.shape == (60, 4)
    assert "doc_topic_" not in vars(lean)
    assert learned_bytes(kept) == learned_bytes(lean)


def test_asking_for_them_says_why_they_are_missing():
    lean = LDA(**QUICK, keep_doc_topic=False).fit(X)
    with pytest.raises(AttributeError, match=r"was not kept: .*transform\(X\) gives"):
        _ = lean.doc_topic_
    with pytest.raises(AttributeError, match=r"^doc_topic_ is there only after fit"):
        _ = LDA().doc_topic_
    with pytest.raises(AttributeError, match=r"^doc_topic_ is there only after fit"):
        _ = MedLDAClassifier().doc_topic_


def test_many_are_not_kept_unless_asked_for(monkeypatch):
    monkeypatch.setattr(shares_of_documents, "MOST_SHARES", 60 * 4)
    assert hasattr(LDA(**QUICK).fit(X), "doc_topic_")
    monkeypatch.setattr(shares_of_documents, "MOST_SHARES", 60 * 4 - 1)
    assert not hasattr(LDA(**QUICK).fit(X), "doc_topic_")
    assert hasattr(LDA(**QUICK, keep_doc_topic=True).fit(X), "doc_topic_")


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
def test_classifiers(strategy, refit):
    given = {**QUICK, "strategy": strategy, "refit": refit}
    kept = MedLDAClassifier(**given).fit(LABELLED.X, LABELLED.many)
    lean = MedLDAClassifier(**given, keep_doc_topic=False).fit(LABELLED.X, LABELLED.many)
    np.testing.assert_array_equal(kept.decision_function(LABELLED.X), lean.decision_function(LABELLED.X))
    assert hasattr(kept, "doc_topic_")
    with pytest.raises(AttributeError, match="was not kept"):
        _ = lean.doc_topic_


def test_regressors():
    lean = MedLDARegressor(**QUICK, keep_doc_topic=False).fit(X, NUMBERS)
    kept = MedLDARegressor(**QUICK).fit(X, NUMBERS)
    np.testing.assert_array_equal(lean.predict(X), kept.predict(X))
    assert not hasattr(lean, "doc_topic_")


def test_saved_and_read(tmp_path):
    lean = LDA(**QUICK, keep_doc_topic=False).fit(X)
    lean.save(tmp_path / "lean.topoi")
    again = topoi.load(tmp_path / "lean.topoi")
    assert again.keep_doc_topic is False
    assert learned_bytes(again) == learned_bytes(lean)
    with pytest.raises(AttributeError, match="was not kept"):
        _ = again.doc_topic_


class Stop:
    """A callback that ends a fit after some sweeps."""

    def __init__(self, sweep):
        self.sweep = sweep

    def __call__(self, progress):
        return progress.sweep == self.sweep


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_resumed(tmp_path, engine):
    given = {**QUICK, "engine": engine, "keep_doc_topic": False}
    folder = Checkpoints(tmp_path / "run", every_sweeps=1)
    begun = LDA(**given, callbacks=[Stop(6)]).fit(X, checkpoint=folder)
    assert begun.n_sweeps_ == 6
    ended = LDA(**given).fit(X, checkpoint=folder)
    assert learned_bytes(ended) == learned_bytes(LDA(**QUICK).fit(X))
    with pytest.raises(ParameterError, match="other documents, labels or settings"):
        LDA(**{**given, "keep_doc_topic": True}).fit(X, checkpoint=folder)


def test_wrong_wish():
    with pytest.raises(ParameterError, match="keep_doc_topic: must be True, False or None, not 'no'"):
        LDA(**QUICK, keep_doc_topic="no").fit(X)

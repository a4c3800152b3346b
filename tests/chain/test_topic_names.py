"""Names of topics: kept in files, checked on the way in, and shown everywhere in the place of numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from support.corpora import random_counts
from topoi import LDA, Corpus, MedLDAClassifier, TopicModel, load
from topoi._disk.store import ModelError
from topoi.chain.names import AS_COLUMN, fault_of_names, name_topics, topic_labels

X = random_counts(40, 12, 20, seed=3)


@pytest.fixture
def lda():
    return LDA(4, n_sweeps=6, n_samples=2, n_chains=2, random_state=0).fit(Corpus.from_counts(X, list("abcdefghijkl")))


def test_the_first_topics_get_names(lda):
    model = lda.model_
    assert model.topic_names is None
    assert lda.topic_names_ == [model.topic_label(k) for k in range(4)] == [f"topic {k}" for k in range(4)]
    name_topics(model, [])
    assert model.topic_names is None
    name_topics(model, ["sport", "", "space"])
    assert model.topic_names == ["sport", "", "space", ""]
    assert lda.topic_names_ == [model.topic_label(k) for k in range(4)] == ["sport", "topic 1", "space", "topic 3"]
    assert lda.get_feature_names_out().tolist() == ["sport", "lda1", "space", "lda3"]


def test_files_have_them(lda, tmp_path):
    lda.model_.save(tmp_path / "without")
    name_topics(lda.model_, ["sport", "größe"])
    lda.model_.save(tmp_path / "with")
    assert b"topic_names" not in (tmp_path / "without").read_bytes()  # files stay as they were
    assert TopicModel.load(tmp_path / "without").topic_names is None
    assert TopicModel.load(tmp_path / "with").topic_names == ["sport", "größe", "", ""]
    assert TopicModel.load(tmp_path / "with", trusted=True).topic_names == ["sport", "größe", "", ""]
    lda.save(tmp_path / "estimator")
    assert load(tmp_path / "estimator").topic_names_ == ["sport", "größe", "topic 2", "topic 3"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a"], "there are 1 names of 4 topics"),
        (["a", "", "a", ""], "two topics have the name 'a'"),
        (["a", " b", "", ""], "' b' cannot be the name"),
        (["a", "b\x1b[31m", "", ""], "cannot be the name"),
        (["a", "b\n", "", ""], "cannot be the name"),
        (["a", 3, "", ""], "must be texts"),
        ("abcd", "must be texts"),
    ],
)
def test_names_that_cannot_be(names, told, lda, tmp_path):
    assert told in fault_of_names(names, 4)
    lda.model_.topic_names = names
    lda.model_.save(tmp_path / "model")
    with pytest.raises(ModelError):
        TopicModel.load(tmp_path / "model")
    with pytest.raises(ModelError, match=re.escape(told)):
        lda.model_.check()


def test_partial_fit_keeps_them(lda):
    name_topics(lda.model_, ["sport", "", "space"])
    lda.partial_fit(Corpus.from_counts(X[:10], list("abcdefghijkl")))
    assert lda.topic_names_ == ["sport", "topic 1", "space", "topic 3"]


def test_no_two_labels_are_the_same(lda):
    name_topics(lda.model_, ["sport", "", "space"])
    assert topic_labels([lda.model_], AS_COLUMN) == ["sport", "topic_1", "space", "topic_3"]
    assert topic_labels([lda.model_], AS_COLUMN, ["id", "space"]) == ["sport 0", "topic_1", "space 2", "topic_3"]
    assert topic_labels([lda.model_] * 2) == [
        *["sport 0", "topic 1", "space 2", "topic 3"],
        *["sport 4", "topic 5", "space 6", "topic 7"],
    ]
    lda.model_.topic_names = ["topic_1", "", "b", ""]  # which a column has that is another's
    assert topic_labels([lda.model_], AS_COLUMN) == ["topic_1 0", "topic_1", "b 2", "topic_3"]


def test_models_side_by_side():
    y = np.arange(40) % 3
    model = MedLDAClassifier(2, strategy="ovr", n_sweeps=4, refit=False, random_state=0).fit(X, y)
    assert model.topic_names_ == [f"topic {k}" for k in range(6)]
    for part in model.topic_models_:
        name_topics(part, ["sport"])
    assert model.topic_names_ == ["sport 0", "topic 1", "sport 2", "topic 3", "sport 4", "topic 5"]
    assert len(set(model.get_feature_names_out())) == 6

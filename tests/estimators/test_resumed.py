"""`resume`: sampling goes on from a fitted model, edited or not."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from support.labelled import Documents
from topoi import LDA, CorpusError, MedLDAClassifier, ParameterError
from topoi.chain.priors import fixed_priors
from topoi.chain.state import Start, new_state

TRAIN = Documents(120, 0)
EDITS = {
    "format": "topoi edits",
    "version": 1,
    "edits": [
        {"edit": "merge", "topics": [0, 3]},
        {"edit": "split", "topic": 2},
        {"edit": "name", "topic": 0, "name": "both"},
        {"edit": "hide", "topic": 1},
    ],
}


def fitted(**parameters):
    return LDA(5, n_sweeps=20, n_samples=4, random_state=0, **parameters).fit(TRAIN.X)


def as_bytes(model):
    """Everything that a fit gives."""
    counts = [matrix.toarray() for matrix in (model.model_.counts, model.model_.last_counts)]
    arrays = (model.components_, model.doc_topic_, model.doc_topic_prior_, model.log_joint_, *counts)
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("prior", [None, "learn", "hdp"])
def test_an_edited_model_goes_on_with_the_same_bytes_on_any_number_of_threads(prior):
    edited = fitted(doc_topic_prior=prior).apply(EDITS, X=TRAIN.X)
    before = as_bytes(edited)
    one = edited.set_params(n_jobs=1).resume(TRAIN.X, 11)
    two = edited.set_params(n_jobs=2).resume(TRAIN.X, 11)
    assert as_bytes(one) == as_bytes(two)
    assert as_bytes(edited) == before  # it stays
    assert one.topic_names_ == edited.topic_names_
    assert "both" in one.topic_names_
    assert one.hidden_topics_ == edited.hidden_topics_ == [1]
    assert one.n_topics_ == 5
    assert (one.n_sweeps_, one.burn_in_, one.stopped_) == (31, 25, "finished")
    assert one.model_.n_samples == 4
    assert one.log_joint_[:, 0].tolist() == [10, 20, 30, 31]
    assert one.model_.topic_counts.sum() == pytest.approx(TRAIN.X.sum())
    assert not np.array_equal(one.components_, edited.components_)


def test_topics_stay_what_they_are():
    """The chain goes on from the topics of the model: they can be recognised, and fit the words at least as well."""
    lda = LDA(5, n_sweeps=60, random_state=1).fit(TRAIN.X)
    more = lda.resume(TRAIN.X, 40)
    cosine = (lda.components_ * more.components_).sum(1) / np.sqrt(
        (lda.components_**2).sum(1) * (more.components_**2).sum(1)
    )
    assert (cosine > 0.9).all()
    last = abs(lda.log_joint_[-1, 1])
    assert more.log_joint_[-1, 1] > lda.log_joint_[-1, 1] - 0.02 * last
    again = more.resume(TRAIN.X, 1)
    assert (again.n_sweeps_, again.burn_in_) == (101, 100)


def test_merged_topics_stay_one():
    lda = fitted()
    joined = lda.apply({"format": "topoi edits", "version": 1, "edits": [{"edit": "merge", "topics": [0, 1]}]})
    more = joined.resume(TRAIN.X, 20)
    assert more.n_topics == more.n_topics_ == 4
    assert more.transform(TRAIN.X).shape == (120, 4)
    assert more.doc_topic_.shape == (120, 4)


def test_chains_seeds_covariates_and_labels(tmp_path):
    several = LDA(4, n_chains=2, n_sweeps=10, random_state=0).fit(TRAIN.X)
    more = several.resume(TRAIN.X, 4)
    assert (len(more.chains_), more.n_chains, more.get_params()["n_chains"]) == (1, 1, 1)
    names = [["a"] if d % 2 else ["b"] for d in range(120)]
    labelled = LDA(4, n_sweeps=10, random_state=0).fit(TRAIN.X, topic_labels=names)
    more = labelled.resume(TRAIN.X, 6, topic_labels=names)
    assert more.topic_names_[:2] == labelled.topic_names_[:2]
    a, b = more.topic_names_.index("a"), more.topic_names_.index("b")
    assert more.doc_topic_[1::2, b].max() == more.doc_topic_[::2, a].max() == 0
    assert more.doc_topic_[1::2, a].min() > 0
    side = {"side": ["x", "y"] * 60}
    depends = LDA(4, n_sweeps=10, random_state=0).fit(TRAIN.X, covariates=side)
    more = depends.resume(TRAIN.X, 6, covariates=side)
    assert len(more.effects()) == len(depends.effects())
    more.save(tmp_path / "model.topoi")
    assert as_bytes(topoi.load(tmp_path / "model.topoi")) == as_bytes(more)


def test_found_topics_stay_found():
    lda = LDA("auto", n_sweeps=40, random_state=0).fit(TRAIN.X)
    more = lda.resume(TRAIN.X, 10)
    assert more.n_topics_ == lda.n_topics_
    assert more.n_topics == "auto"
    assert more.n_topics_posterior_.high <= more.n_topics_
    assert len(more.n_topics_trace_) > len(lda.n_topics_trace_)


def test_errors():
    lda = fitted()
    with pytest.raises(CorpusError, match="but the model has learned from"):
        lda.resume(TRAIN.X[:60], 5)
    with pytest.raises(ParameterError, match="n_sweeps"):
        lda.resume(TRAIN.X, 0)
    with pytest.raises(ParameterError, match="engine"):
        fitted().set_params(engine="blocks").resume(TRAIN.X, 5)
    with pytest.raises(ParameterError, match="partial_fit"):
        fitted().partial_fit(TRAIN.X).resume(TRAIN.X, 5)
    assert not hasattr(MedLDAClassifier, "resume")


def test_a_state_begins_where_it_is_told():
    corpus = topoi.Corpus.from_counts(TRAIN.X)
    z = np.arange(corpus.n_tokens) % 3
    state = new_state(corpus, fixed_priors(np.ones(3), 0.1), 7, start=Start(z, 12))
    np.testing.assert_array_equal(state.z, z)
    assert (state.sweep, state.z.dtype) == (12, np.uint16)

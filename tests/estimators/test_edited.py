"""`apply`: what every part of a model becomes when topics are merged, split, hidden, named and reordered."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from support.labelled import Documents, fitted_bytes, quick, quick_regressor
from topoi import LDA, CorpusError, ParameterError
from topoi._disk.store import ModelError
from topoi.estimators.edits import EditError

TRAIN = Documents(120, 0)


def edits(*entries):
    return {"format": "topoi edits", "version": 1, "edits": list(entries)}


def merge(*topics):
    return {"edit": "merge", "topics": list(topics)}


def split(topic):
    return {"edit": "split", "topic": topic}


def order(*topics):
    return {"edit": "order", "topics": list(topics)}


def fitted(**parameters):
    return LDA(5, n_sweeps=20, n_samples=4, random_state=0, **parameters).fit(TRAIN.X)


@pytest.fixture(scope="module")
def lda():
    return fitted()


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.3, 0.4, 0.5], "learn", "hdp"])
def test_merged_topics_are_summed(prior):
    lda = fitted(doc_topic_prior=prior)
    before = {name: value for name, value in vars(lda).items() if isinstance(value, np.ndarray)}
    counts = lda.model_.counts.toarray()
    new = lda.apply(edits(merge(1, 4), {"edit": "hide", "topic": 0}, {"edit": "name", "topic": 1, "name": "both"}))
    parts = [[0], [1, 4], [2], [3]]
    for old, found in ((lda.model_.counts, new.model_.counts), (lda.model_.last_counts, new.model_.last_counts)):
        expected = np.column_stack([old.toarray()[:, part].sum(1) for part in parts])
        np.testing.assert_array_equal(found.toarray(), expected)
    np.testing.assert_array_equal(new.model_.topic_counts.sum(), lda.model_.topic_counts.sum())
    np.testing.assert_allclose(new.doc_topic_prior_, [lda.doc_topic_prior_[part].sum() for part in parts], rtol=1e-15)
    expected = np.column_stack([lda.doc_topic_[:, part].sum(1) for part in parts])
    np.testing.assert_allclose(new.doc_topic_, expected, rtol=1e-6)
    assert new.topic_names_ == ["topic 0", "both", "topic 2", "topic 3"]
    assert new.hidden_topics_ == [0]
    assert new.n_topics == new.n_topics_ == 4
    assert new.transform(TRAIN.X).shape == (120, 4)
    # What it was made of is as it was.
    np.testing.assert_array_equal(lda.model_.counts.toarray(), counts)
    assert all(vars(lda)[name] is value for name, value in before.items())
    assert lda.n_topics == 5
    assert new.partial_fit(TRAIN.X).topic_names_[1] == "both"


def test_another_order_is_the_same_model(lda):
    new = lda.apply(edits(order(3, 1)))
    places = [3, 1, 0, 2, 4]
    np.testing.assert_array_equal(new.components_, lda.components_[places])
    np.testing.assert_array_equal(new.doc_topic_, lda.doc_topic_[:, places])
    again = new.apply(edits(order(2, 1, 3, 0, 4)))
    np.testing.assert_array_equal(again.components_, lda.components_)


def test_a_split_shares_out_what_there_was(lda):
    merged = lda.apply(edits(merge(0, 1)))
    new = merged.apply(edits(split(0)), X=TRAIN.X)
    assert new.n_topics_ == 5
    for old, found in ((merged.model_.counts, new.model_.counts), (merged.model_.last_counts, new.model_.last_counts)):
        found = found.toarray()
        np.testing.assert_array_equal(found[:, 0] + found[:, 1], old.toarray()[:, 0])
        np.testing.assert_array_equal(found[:, 2:], old.toarray()[:, 1:])
    np.testing.assert_allclose(new.doc_topic_[:, :2].sum(1), merged.doc_topic_[:, 0], rtol=1e-5)
    np.testing.assert_allclose(new.doc_topic_prior_[:2].sum(), merged.doc_topic_prior_[0])
    # The two topics that had been merged are found again: other documents have one than the other.
    old, found = lda.components_[:2], new.components_[:2]
    overlap = np.minimum(old[:, None], found[None]).sum(2)
    assert max(overlap[0, 0] + overlap[1, 1], overlap[0, 1] + overlap[1, 0]) > 1.5
    which = int(overlap[0, 1] > overlap[0, 0])
    assert np.corrcoef(new.doc_topic_[:, which], lda.doc_topic_[:, 0])[0, 1] > 0.8
    assert new.model_.topic_counts[0] >= new.model_.topic_counts[1]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_split_is_the_same_bytes_on_any_number_of_threads(lda, n_jobs, tmp_path):
    one = fitted(n_jobs=n_jobs).apply(edits(split(2), split(4)), X=TRAIN.X)
    other = lda.apply(edits(split(4), split(2)), X=TRAIN.X).set_params(n_jobs=n_jobs)
    one.save(tmp_path / "one.topoi")
    other.save(tmp_path / "other.topoi")
    assert (tmp_path / "one.topoi").read_bytes() == (tmp_path / "other.topoi").read_bytes()


def test_what_cannot_be_split(lda):
    with pytest.raises(ParameterError, match="X: is needed to split a topic"):
        lda.apply(edits(split(0)))
    with pytest.raises(CorpusError, match="fewer than two tokens in the documents given"):
        lda.apply(edits(split(0)), X=np.zeros((3, TRAIN.X.shape[1]), int))
    with pytest.raises(CorpusError, match=r"X has \d+ features"):
        lda.apply(edits(split(0)), X=TRAIN.X[:, 1:])


@pytest.mark.parametrize("strategy", ["multitask", "ovr", "ovo"])
def test_weights_of_a_merged_topic(strategy):
    """Their sum over all tokens stays, of every sample; the refit stays where topics are as in the whole."""
    model = quick(strategy=strategy, refit=True, n_chains=2, n_sweeps=12).fit(TRAIN.X, TRAIN.many)
    new = model.apply(edits(merge(1, 3)))  # of the first model, if there are several
    old_one, new_one = model.estimators_[0], new.estimators_[0]
    chain = next(i for i, one in enumerate(old_one.posterior_) if one.model is old_one.model_)
    n, n_new = old_one.model_.topic_counts, new_one.model_.topic_counts
    before, after = (one.weight_samples_[chain].astype(float) for one in (old_one, new_one))
    np.testing.assert_allclose(after @ n_new, before @ n, rtol=1e-4, atol=1e-3)
    expected = (before[..., 1] * n[1] + before[..., 3] * n[3]) / (n[1] + n[3])
    np.testing.assert_allclose(after[..., 1], expected, rtol=1e-5)
    np.testing.assert_array_equal(after[..., [0, 2]], before[..., [0, 2]])
    unit = old_one.response_.unit
    np.testing.assert_allclose(new_one.topic_weights_, after.mean(0) / unit, rtol=1e-5)
    np.testing.assert_allclose(new_one.topic_weights_std_, after.std(0) / unit, rtol=1e-4, atol=1e-6)
    # Other chains and models have the weights that they had.
    other = 1 - chain
    assert new_one.chains_[other] is old_one.chains_[other]
    column = sum(one.n_topics for one in old_one.chains_[:chain])
    head, new_head = model._head.topics, new._head.topics
    assert len(new_head) == len(head) - 1
    own, new_own = head[column : column + 4], new_head[column : column + 3]
    np.testing.assert_allclose(np.sqrt(n_new) @ new_own, np.sqrt(n) @ own, rtol=1e-10)
    np.testing.assert_array_equal(np.delete(new_head, slice(column, column + 3), 0),
                                  np.delete(head, slice(column, column + 4), 0))  # fmt: skip
    assert new.predict(TRAIN.X).shape == (120,)
    assert new.topic_weights_.shape[1] == new.n_topics_ == model.n_topics_ - 1


@pytest.mark.parametrize("make", [lambda: quick(refit=True).fit(TRAIN.X, TRAIN.two),
                                  lambda: quick(refit=False).fit(TRAIN.X, TRAIN.several),
                                  lambda: quick(strategy="ovr").fit(TRAIN.X, TRAIN.many),
                                  lambda: quick_regressor(refit=True).fit(TRAIN.X, TRAIN.number)])  # fmt: skip
def test_merging_takes_back_what_splitting_did(make):
    """To rounding, of every weight; and counts, exactly."""
    model = make()
    new = model.apply(edits(split(1)), X=TRAIN.X)
    assert new.n_topics_ == model.n_topics_ + 1
    back = new.apply(edits(merge(1, 2)))
    np.testing.assert_array_equal(back.topic_models_[0].counts.toarray(), model.topic_models_[0].counts.toarray())
    np.testing.assert_allclose(back.topic_weights_, model.topic_weights_, rtol=1e-5)
    np.testing.assert_allclose(back.topic_weights_std_, model.topic_weights_std_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(back.estimators_[0].doc_topic_, model.estimators_[0].doc_topic_, rtol=1e-5, atol=1e-7)
    if model.refitted_:
        np.testing.assert_allclose(back._head.topics, model._head.topics, rtol=1e-10)
    np.testing.assert_allclose(back.topic_models_[0].alpha, model.topic_models_[0].alpha, rtol=1e-12)


def test_names_and_order_do_not_change_predictions():
    """Word features, covariates and calibration stay; the weights go with the topics."""
    beside = {"price": TRAIN.many + np.linspace(0, 1, 120)}
    model = quick(refit=True, infer_method="mean_field").fit(TRAIN.X, TRAIN.many, covariates=beside)
    new = model.apply(edits(order(2, 0), {"edit": "name", "topic": 3, "name": "x"}, {"edit": "hide", "topic": 1}))
    np.testing.assert_array_equal(new.topic_weights_, model.topic_weights_[:, [2, 0, 1, 3]])
    expected = model.decision_function(TRAIN.X, covariates=beside)
    np.testing.assert_allclose(new.decision_function(TRAIN.X, covariates=beside), expected, rtol=1e-4, atol=1e-4)
    reason = new.explain(TRAIN.X[:1], covariates={"price": [0.0]})[0][0]
    assert {topic for topic, *_ in reason.topics} <= set(range(4))


@pytest.mark.parametrize("kind", ["lda", "ovr", "numbers"])
def test_saved_and_loaded(kind, tmp_path):
    model = {"lda": fitted, "ovr": lambda: quick(strategy="ovr", refit=True).fit(TRAIN.X, TRAIN.many),
             "numbers": lambda: quick_regressor(refit=True, n_chains=2).fit(TRAIN.X, TRAIN.number)}[kind]()  # fmt: skip
    name = {"edit": "name", "topic": 0, "name": "first"}
    new = model.apply(edits(merge(0, 2), split(1), name, {"edit": "hide", "topic": 3}), X=TRAIN.X)
    new.save(tmp_path / "model.topoi")
    again = topoi.load(tmp_path / "model.topoi")
    assert again.topic_names_ == new.topic_names_
    assert again.hidden_topics_ == new.hidden_topics_ == [3]
    if kind != "lda":
        assert fitted_bytes(again.estimators_[0], TRAIN.X) == fitted_bytes(new.estimators_[0], TRAIN.X)
    np.testing.assert_array_equal(again.transform(TRAIN.X), new.transform(TRAIN.X))
    shown = again.apply(edits({"edit": "show", "topic": 3}))
    assert shown.hidden_topics_ == []


@pytest.mark.parametrize("hidden", [[5], [-1], [1, 1], [2, 1]])
def test_hidden_topics_of_a_file_are_checked(hidden):
    model = fitted().model_
    model.hidden = hidden
    with pytest.raises(ModelError, match="hidden must be numbers of topics, rising, from 0 to 4"):
        model.check()


def test_topics_of_other_models_cannot_be_merged():
    model = quick(strategy="ovr").fit(TRAIN.X, TRAIN.many)
    with pytest.raises(EditError, match=r"entry 0 \(merge\): topics \[3, 4\] are of different models"):
        model.apply(edits(merge(3, 4)))
    new = model.apply(edits(order(5, 1, 4), {"edit": "hide", "topic": 7}))
    np.testing.assert_array_equal(new.components_[:8], model.components_[[1, 0, 2, 3, 5, 4, 6, 7]])
    assert new.hidden_topics_ == [7]


def test_topics_of_labels_stay():
    labels = [["a"], ["b"], ["a", "b"]] * 40
    model = LDA(5, n_sweeps=6, n_samples=2, random_state=0).fit(TRAIN.X, topic_labels=labels)
    assert model.topic_names_[:2] == ["a", "b"]
    for entry, kind in ((merge(1, 2), "merge"), (split(0), "split"), (order(3, 0), "order")):
        with pytest.raises(EditError, match=rf"entry 0 \({kind}\): topic [01] belongs to a label of the fit"):
            model.apply(edits(entry), X=TRAIN.X)
    name = {"edit": "name", "topic": 1, "name": "c"}
    new = model.apply(edits(merge(3, 4), split(2), name), X=TRAIN.X, topic_labels=labels)
    assert new.topic_names_ == ["a", "c", "topic 2", "topic 3", "topic 4"]
    shares = new.transform(TRAIN.X, topic_labels=labels)
    assert (shares[::3, 1] == 0).all()
    assert (shares[1::3, 0] == 0).all()


def test_topics_that_depend_on_covariates():
    """α of a merged topic is the sum of its parts' for the average document; of a split one, for every document."""
    beside = {"year": np.linspace(0, 1, 120), "side": np.tile(["l", "r"], 60)}
    model = LDA(5, n_sweeps=20, n_samples=4, random_state=0).fit(TRAIN.X, covariates=beside)
    corpus = model.with_prevalence(TRAIN.X, beside)
    before = model.model_.priors.topics
    merged = model.apply(edits(merge(0, 2)))
    prior = merged.model_.priors.topics
    np.testing.assert_allclose(prior.alpha[0], before.alpha[[0, 2]].sum(), rtol=1e-9)
    step = 1e-5 * np.eye(len(prior.average))[1]
    slope = (np.exp(prior.weights @ (prior.average + step)) - np.exp(prior.weights @ prior.average)) / 1e-5
    slopes = (np.exp(before.weights @ (before.average + step)) - np.exp(before.weights @ before.average)) / 1e-5
    np.testing.assert_allclose(slope[0], slopes[[0, 2]].sum(), rtol=1e-3)
    assert len(merged.topic_effects()) == len(model.topic_effects()) * 4 / 5
    new = model.apply(edits(split(1)), X=TRAIN.X, covariates=beside)
    old = before.alpha_of(corpus).by_document()
    found = new.model_.priors.topics.alpha_of(corpus).by_document()
    np.testing.assert_allclose(found[:, 1] + found[:, 2], old[:, 1], rtol=1e-9)
    assert new.model_.draws["weights"].shape == (4, 6, len(prior.average))

"""A Pipeline that ends with an estimator of topoi: its words, its documents, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from topoi import LDA, Corpus, MedLDAClassifier, ParameterError
from topoi.estimators.pipelines import open_pipeline

TEXTS = ["apple pear apple plum", "pear plum fruit", "goal ball team", "team ball match goal", "", "fruit ball"] * 4
LABELS = np.array(["food", "food", "sport", "sport", "sport", "food"] * 4)
WORDS = CountVectorizer().fit(TEXTS).get_feature_names_out().tolist()
SHORT = {"n_sweeps": 4, "n_samples": 1, "random_state": 0}


def lda():
    return LDA(2, **SHORT)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(CountVectorizer(), lda()).fit(TEXTS)


def test_the_vectorizer_names_the_words_and_counts_documents(pipeline):
    before = pipeline[-1].topic_models_[0]
    estimator, documents = open_pipeline(pipeline, TEXTS[:3])
    assert estimator.vocabulary_.tolist() == WORDS
    np.testing.assert_array_equal(documents.toarray(), pipeline[0].transform(TEXTS[:3]).toarray())
    np.testing.assert_array_equal(estimator.transform(documents), pipeline.transform(TEXTS[:3]))
    assert estimator.get_params() == pipeline[-1].get_params()
    assert estimator.doc_topic_ is pipeline[-1].doc_topic_  # nothing large is copied
    assert pipeline[-1].vocabulary_ is None  # and the user's own stays as it is
    assert pipeline[-1].topic_models_[0] is before


def test_what_is_no_pipeline_stays_as_it_is(pipeline):
    assert open_pipeline(pipeline[-1], TEXTS) == (pipeline[-1], TEXTS)
    assert open_pipeline("anything") == ("anything", None)


def test_a_corpus_is_counted_already(pipeline):
    corpus = Corpus.from_counts(pipeline[0].transform(TEXTS), WORDS)
    assert open_pipeline(pipeline, corpus).documents is corpus


@pytest.mark.parametrize(
    ("steps", "given"),
    [
        ([("count", CountVectorizer()), ("rare", VarianceThreshold()), ("lda", lda())], TEXTS),
        ([("count", CountVectorizer()), ("nothing", "passthrough"), ("lda", lda())], TEXTS),
        ([("count", CountVectorizer()), ("rest", Pipeline([("rare", "passthrough"), ("lda", lda())]))], TEXTS),
        ([("all", make_pipeline(CountVectorizer(), lda()))], TEXTS),
        ([("one", lda())], Corpus.from_counts(CountVectorizer().fit_transform(TEXTS), WORDS)),
    ],
    ids=["three", "passthrough", "nested", "nested alone", "one step"],
)
def test_steps_of_every_kind(steps, given):
    whole = Pipeline(steps).fit(given)
    estimator, documents = open_pipeline(whole, given)
    assert estimator.as_corpus(documents).n_documents == len(TEXTS)
    np.testing.assert_array_equal(estimator.transform(documents), whole.transform(given))
    assert estimator.vocabulary_.tolist() == WORDS


def test_steps_without_names():
    hashed = make_pipeline(HashingVectorizer(n_features=8, norm=None, alternate_sign=False), lda()).fit(TEXTS)
    estimator, documents = open_pipeline(hashed, TEXTS)
    assert estimator.vocabulary_ is None
    assert documents.shape == (len(TEXTS), 8)


def test_names_that_the_model_has_come_first():
    corpus = Corpus.from_counts(CountVectorizer().fit_transform(TEXTS), [f"own {word}" for word in WORDS])
    own = lda().fit(corpus)
    estimator, _ = open_pipeline(Pipeline([("count", CountVectorizer().fit(TEXTS)), ("lda", own)]))
    assert estimator is own


@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
def test_all_models_of_a_classifier_get_the_names(strategy):
    classifier = MedLDAClassifier(2, strategy=strategy, n_chains=2, refit=False, **SHORT)
    whole = make_pipeline(CountVectorizer(), classifier).fit(TEXTS, LABELS)
    estimator, documents = open_pipeline(whole, TEXTS)
    for one in estimator.estimators_:
        assert any(chain is one.model_ for chain in one.chains_)  # the same object, which edits go by
        assert all(chain.vocabulary.tolist() == WORDS for chain in one.chains_)
    assert estimator.predict(documents).tolist() == whole.predict(TEXTS).tolist()
    (reason, *_) = estimator.explain(documents[:1])[0]
    assert {word for word, _ in reason.words} <= set(WORDS)
    edits = {"format": "topoi edits", "version": 1, "edits": [{"edit": "merge", "topics": [0, 1]}]}
    assert estimator.apply(edits).vocabulary_.tolist() == WORDS


def test_what_is_refused(pipeline):
    both = make_pipeline(CountVectorizer(), lda(), LogisticRegression()).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match=r"'logisticregression', is LogisticRegression; give .* pipeline\[:2\]"):
        open_pipeline(both)
    assert open_pipeline(both[:2], TEXTS).estimator.vocabulary_.tolist() == WORDS
    other = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match="is LogisticRegression; it must be a fitted LDA"):
        open_pipeline(other)
    with pytest.raises(ParameterError, match="is passthrough; it must be a fitted LDA"):
        open_pipeline(Pipeline([("count", CountVectorizer()), ("model", "passthrough")]))
    with pytest.raises(NotFittedError, match="LDA"):
        open_pipeline(clone(pipeline))
    with pytest.raises(ParameterError, match="vocabulary: has 1 words, but the model 8"):
        pipeline[-1].with_vocabulary(["one"])

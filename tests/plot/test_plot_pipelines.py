"""Every picture takes a Pipeline, and is the one of its last step with the words of the vectorizer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import topoi.plot
from topoi import LDA, Corpus, MedLDAClassifier, ParameterError

TEXTS = ["apple pear apple plum", "pear plum fruit", "goal ball team", "team ball match goal", "", "fruit ball"] * 4
LABELS = np.array(["food", "food", "sport", "sport", "sport", "food"] * 4)
YEARS = [2000 + d % 3 for d in range(len(TEXTS))]
PLACES = [f"place {d % 2}" for d in range(len(TEXTS))]
SHORT = {"n_sweeps": 4, "n_samples": 2, "random_state": 0}
CASES = {
    "by_group": lambda model, documents: topoi.plot.by_group(model, PLACES, documents),
    "calibration": lambda model, documents: topoi.plot.calibration(model, documents, LABELS),
    "compare_embeddings": lambda model, documents: topoi.plot.compare_embeddings(model, model, documents, LABELS)[0],
    "confusion": lambda model, documents: topoi.plot.confusion(model, documents, LABELS),
    "effects": lambda model, documents: topoi.plot.effects(model, "place"),
    "embedding": lambda model, documents: topoi.plot.embedding(model, documents, LABELS),
    "over_time": lambda model, documents: topoi.plot.over_time(model, YEARS, documents)[0],
    "topics": lambda model, documents: topoi.plot.topics(model)[0],
    "traces": lambda model, documents: topoi.plot.traces(model),
    "weights": lambda model, documents: topoi.plot.weights(model),
}


def test_every_picture_of_an_estimator_is_here():
    assert set(CASES) == set(topoi.plot.__all__) - {"choice"}  # which is about several fits


@pytest.fixture(scope="module")
def classifier():
    return make_pipeline(CountVectorizer(), MedLDAClassifier(2, refit=False, **SHORT)).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def varying():
    lda = LDA(2, prevalence="place", **SHORT)
    return make_pipeline(CountVectorizer(), lda).fit(TEXTS, lda__covariates={"place": PLACES})


def texts_of(ax):
    """All that is written in a picture, apart from numbers."""
    from matplotlib.text import Text

    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize("name", CASES)
def test_pipelines(name, classifier, varying):
    pipeline = varying if name == "effects" else classifier
    counter, model = pipeline[0], pipeline[-1]
    corpus = Corpus.from_counts(counter.transform(TEXTS), counter.get_feature_names_out(), allow_empty=True)
    given = texts_of(CASES[name](pipeline, TEXTS))
    assert given == texts_of(CASES[name](model.with_vocabulary(counter.get_feature_names_out()), corpus))
    if name in ("by_group", "effects", "over_time", "topics", "weights"):
        words = counter.get_feature_names_out()
        assert any(word in text.split() for text in given for word in words), "words, not numbers of columns"


@pytest.mark.parametrize("name", CASES)
def test_the_last_step_must_be_ours(name):
    other = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match="estimator: is a Pipeline whose last step, 'logisticregression'"):
        CASES[name](other, TEXTS)

"""Programs of others that show topic models take ours: pyLDAvis and topicwizard, where they are installed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from support.cli_files import QUICK, done, records, write_csv
from topoi import LDA

TEXTS = [record["body"] for record in records(60)]


@pytest.fixture(scope="module")
def made():
    """A vectoriser, counts without empty documents, and a model of them."""
    vectorizer = CountVectorizer(min_df=2)
    X = vectorizer.fit_transform(TEXTS)
    return vectorizer, X, LDA(4, n_sweeps=20, random_state=0).fit(X)


def frequencies(prepared):
    """Per cent of the tokens that each topic has, by its number."""
    table = prepared.topic_coordinates
    return table["Freq"].sort_index().to_numpy()


def test_pyldavis_takes_the_arrays_and_the_estimator(made):
    pyldavis = pytest.importorskip("pyLDAvis", reason="needs the extra `notebook`")
    lda_model = pytest.importorskip("pyLDAvis.lda_model")
    vectorizer, X, model = made
    lengths = np.asarray(X.sum(axis=1)).ravel()
    words = vectorizer.get_feature_names_out()
    arrays = (model.components_, model.doc_topic_, lengths, words, np.asarray(X.sum(axis=0)).ravel())
    prepared = pyldavis.prepare(*arrays, n_jobs=1)
    want = 100 * (model.doc_topic_ * lengths[:, None]).sum(0) / lengths.sum()
    np.testing.assert_allclose(frequencies(prepared), want, rtol=1e-4)
    again = lda_model.prepare(model, X, vectorizer, n_jobs=1)
    shares = 100 * (model.transform(X) * lengths[:, None]).sum(0) / lengths.sum()
    np.testing.assert_allclose(frequencies(again), shares, rtol=1e-4)


def test_pyldavis_takes_what_is_exported(tmp_path):
    pyldavis = pytest.importorskip("pyLDAvis", reason="needs the extra `notebook`")
    posts = write_csv(tmp_path / "posts.csv")
    done("fit", posts, "--text", "body", *QUICK, "-o", tmp_path / "model")
    done("export", tmp_path / "model", posts, "-f", "pyldavis", "-o", tmp_path / "vis.json")
    prepared = pyldavis.prepare(**json.loads((tmp_path / "vis.json").read_text("utf-8")), n_jobs=1)
    assert len(prepared.topic_coordinates) == 4
    assert "ldavis" in pyldavis.prepared_data_to_html(prepared)


def test_topicwizard(made):
    pipelines = pytest.importorskip("topicwizard.pipeline", reason="not installed by our tests: docs/howto/notebook.md")
    vectorizer, X, model = made
    data = pipelines.make_topic_pipeline(vectorizer, model).prepare_topic_data(TEXTS)
    np.testing.assert_array_equal(data["topic_term_matrix"], model.components_)
    np.testing.assert_allclose(data["document_topic_matrix"], model.transform(X))
    assert len(data["topic_names"]) == 4


def test_figures_of_topicwizard(made):
    figures = pytest.importorskip("topicwizard.figures", reason="not installed by our tests: docs/howto/notebook.md")
    pipelines = pytest.importorskip("topicwizard.pipeline")
    vectorizer, X, model = made
    data = pipelines.make_topic_pipeline(vectorizer, model).prepare_topic_data(TEXTS)
    importance = data["document_topic_matrix"] * np.asarray(X.sum(axis=1)).reshape(-1, 1)
    discs = figures.topic_map(data).data[0]
    assert len(discs.x) == 4
    areas = np.asarray(discs.marker.size, float)
    assert areas.argmax() == importance.sum(axis=0).argmax()  # the largest disc is the largest topic
    bars = {word for trace in figures.topic_barcharts(data, top_n=3).data for word in trace.y}
    words = vectorizer.get_feature_names_out()
    assert {words[j] for row in model.components_ for j in row.argsort()[-3:]} <= set(map(str.strip, bars))

"""Estimators take texts: fit, transform, predict, save and load, and scikit-learn's tools around them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import topoi
from topoi import LDA, Corpus, CorpusError, MedLDAClassifier, MedLDARegressor

KITCHEN = ["bread", "butter", "kettle", "spoon", "flour", "oven"]
WEATHER = ["rain", "wind", "cloud", "storm", "thunder", "hail"]


def documents(n=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["kitchen", "weather"])[np.arange(n) % 2]
    texts = [" ".join(rng.choice(KITCHEN if label == "kitchen" else WEATHER, 12)) + " and the rest" for label in labels]
    return texts, labels


def quick(cls=LDA, **more):
    return cls(n_topics=2, n_sweeps=20, n_samples=2, random_state=0, n_jobs=1, **more)


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(documents()[0])


def test_topics_are_words(fitted):
    assert sorted(set(words) <= set(KITCHEN) for words in fitted.top_words(5)) == [False, True]
    assert fitted.n_features_in_ == len(fitted.vocabulary_)
    assert "the" not in fitted.vocabulary_
    shares = fitted.transform(["fresh Bread & butter!", "wind, wind, rain"])
    assert shares.argmax(1)[0] != shares.argmax(1)[1]
    np.testing.assert_array_equal(fitted.transform(("fresh Bread & butter!",)), shares[:1])


def test_texts_are_what_a_corpus_of_them_is(fitted):
    texts, _ = documents()
    corpus = Corpus.from_texts(texts)
    same = quick().fit(corpus)
    np.testing.assert_array_equal(same.components_, fitted.components_)
    np.testing.assert_array_equal(same.transform(texts), fitted.transform(Corpus.from_texts(texts, like=fitted)))
    assert same.preparation_.to_json() == fitted.preparation_.to_json()
    np.testing.assert_array_equal(quick().fit(corpus.to_counts()).components_, fitted.components_)


@pytest.mark.parametrize("form", [pd.Series, np.array, lambda texts: pd.DataFrame({"body": texts})])
def test_forms(form, fitted):
    texts, _ = documents()
    np.testing.assert_array_equal(quick().fit(form(texts)).components_, fitted.components_)
    np.testing.assert_array_equal(fitted.transform(form(texts)), fitted.transform(texts))


def test_a_loaded_model_gives_the_same_numbers(tmp_path):
    texts, labels = documents()
    model = quick().fit(Corpus.from_texts(texts, phrases=True, clean="email"))
    model.save(tmp_path / "m.topoi")
    other = topoi.load(tmp_path / "m.topoi")
    new = ["> quoted rain\nbread butter oven", "wind"]
    np.testing.assert_array_equal(other.transform(new), model.transform(new))
    assert other.preparation_.to_json() == model.preparation_.to_json()
    classifier = quick(MedLDAClassifier).fit(texts, labels)
    classifier.save(tmp_path / "c.topoi")
    other = topoi.load(tmp_path / "c.topoi")
    np.testing.assert_array_equal(other.decision_function(new), classifier.decision_function(new))
    assert other.predict(["bread and butter", "storm and hail"]).tolist() == ["kitchen", "weather"]


def test_supervised():
    texts, labels = documents()
    classifier = quick(MedLDAClassifier).fit(pd.Series(texts), pd.Series(labels), validation=(texts[:6], labels[:6]))
    assert classifier.score(texts, labels) == 1.0
    assert classifier.explain(["bread"])[0]
    regressor = quick(MedLDARegressor).fit(texts, (labels == "weather").astype(float))
    low, high = regressor.predict(["bread butter spoon oven", "storm hail wind rain"])
    assert low < high


def test_gaps_are_empty_documents(fitted):
    texts, _ = documents()
    with pytest.warns(UserWarning, match="2 of 62 texts are missing"):
        model = quick().fit([*texts, None, np.nan])
    assert model.doc_topic_.shape == (62, 2)
    with pytest.warns(UserWarning, match="1 text is missing"):
        shares = fitted.transform(["bread", None])
    np.testing.assert_allclose(shares[1], 0.5)  # the prior's mean


def test_counts_and_texts_do_not_mix(fitted):
    texts, _ = documents()
    counts = np.array([[3, 0], [0, 3], [2, 1]])
    of_counts = quick().fit(counts)
    assert of_counts.preparation_ is None
    with pytest.raises(CorpusError, match="X has texts, but the model was fitted on counts"):
        of_counts.transform(texts)
    with pytest.raises(CorpusError, match=r"X is a string, and no folder has this name; for a text give a list"):
        fitted.transform("bread and butter")
    again = quick().fit(texts)
    assert again.fit(counts).preparation_ is None
    assert again.fit(texts).preparation_.language == fitted.preparation_.language


def test_more_documents(fitted):
    texts, _ = documents(20, seed=3)
    model = quick().fit(documents()[0]).partial_fit(texts)
    assert model.preparation_ is not None
    assert model.doc_topic_.shape == (20, 2)
    assert np.isfinite(model.perplexity(texts))
    np.testing.assert_array_equal(model.transform(["bread"]).shape, (1, 2))


def test_tools_of_scikit_learn(fitted):
    from sklearn.linear_model import LogisticRegression

    texts, labels = documents()
    assert clone(fitted).get_params()["n_topics"] == 2
    assert make_pipeline(quick(), LogisticRegression()).fit(texts, labels).score(texts, labels) == 1.0
    search = GridSearchCV(quick(), {"n_topics": [2, 3]}, cv=2).fit(texts)
    assert search.best_estimator_.transform(texts[:3]).shape[0] == 3
    frame = clone(fitted).set_output(transform="pandas").fit(texts).transform(pd.Series(texts[:2], index=[7, 8]))
    assert frame.shape == (2, 2)


def test_damaged_files(fitted, tmp_path):
    """A stranger's file may ask for any preparation; one that cannot be is an error of the file."""
    from dataclasses import replace

    from topoi._disk.store import ModelError

    model = quick().fit(documents()[0])
    for wrong in ({"clean": "soap"}, {"token_pattern": "("}, {"pairs": np.array(["x"], object)}):
        model._preparation = replace(fitted.preparation_, **wrong)
        model.save(tmp_path / "m.topoi")
        with pytest.raises(ModelError):
            topoi.load(tmp_path / "m.topoi")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_with_texts_says_which_columns_to_give(frame):
    """It has no counts, and which of its texts are meant nobody can know."""
    X = frame({"number": [1, 2], "title": ["bread", None], "body": ["butter and jam", "rain"]})
    with pytest.raises(
        CorpusError, match=r"texts in 'title', 'body', not counts. Give one column, as X\['body'\]"
    ) as told:
        quick().fit(X)
    joined = str(told.value).split("join several: ")[1].removesuffix(".")
    assert list(eval(joined, {"X": X})) == ["bread butter and jam", " rain"]
    with pytest.raises(
        CorpusError, match=r"in 'date', 'title', 'body', not.*X\['body'\], or.*X\['title'\].*X\['body'\]"
    ):
        quick().fit(
            frame({"date": ["2024", "2025"], "title": ["fresh bread", None], "body": ["butter and jam", "rain"]})
        )
    with pytest.raises(CorpusError, match=r"texts in 'body', not counts. Give one column, as X\['body'\]\."):
        quick().fit(X[["number", "body"]])


def test_the_name_of_a_file_says_how_it_is_read(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("text\nbread and butter\nrain and wind\n", "utf-8")
    with pytest.raises(CorpusError, match=r"X is the name of a file, not of the folder of a corpus\. Read it") as told:
        quick().fit(str(path))
    assert "damaged" not in str(told.value)
    code = str(told.value).split("Read it first: ")[1]
    assert eval(code, {"topoi": __import__("topoi.readers")}).n_documents == 2

"""Log-count ratios of words: naive Bayes's own, chosen for two classes where they help, kept with the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from support.labelled import Documents, quick
from topoi import MedLDAClassifier, load
from topoi._disk.store import ModelError
from topoi.predict.label_ratios import LEAST, label_ratios
from topoi.predict.refit import Head, Settings
from topoi.predict.word_features import inverse_document_frequency, tf_idf


def test_those_of_naive_bayes():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (40, 12))
    y = np.where(np.arange(40) % 3 == 0, 1.0, -1.0)
    bayes = MultinomialNB().fit((X > 0).astype(int), y)
    expected = np.abs(bayes.feature_log_prob_[1] - bayes.feature_log_prob_[0])
    np.testing.assert_allclose(label_ratios(sparse.csr_array(X), y), LEAST + expected / expected.mean())
    assert not np.allclose(expected, np.abs(np.diff(BernoulliNB().fit(X, y).feature_log_prob_, axis=0)[0]))


def test_where_they_say_nothing():
    bag = sparse.csr_array(np.ones((4, 3)))
    np.testing.assert_allclose(label_ratios(bag, np.array([1.0, -1.0, 1.0, -1.0])), LEAST + 1)
    assert label_ratios(bag, np.ones(4)).shape == (3,)


def test_the_factor_of_a_column():
    bag = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 2.0]]))
    idf = inverse_document_frequency(bag)
    found = tf_idf(bag, idf, 1.0, factor=np.array([1.0, 3.0])).toarray()
    plain = tf_idf(bag, idf, 1.0).toarray()
    assert found[0, 1] / found[0, 0] == pytest.approx(3 * plain[0, 1] / plain[0, 0], rel=1e-5)
    nothing = tf_idf(bag, idf, 1.0, factor=np.zeros(2)).toarray()
    np.testing.assert_array_equal(nothing, 0)  # and not NaN


def few_telling_words(n=300, seed=0):
    """Documents of many common words, of which four tell the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rates = np.full((n, 150), 0.3)
    rates[y == 1, :4] = 0.8
    rates[y == 0, :4] = 0.2
    return rng.poisson(rates), y


@pytest.fixture(scope="module")
def chosen():
    X, y = few_telling_words()
    return quick(refit=True).fit(X, y)


def test_chosen_where_few_words_tell(chosen):
    assert chosen.refit_settings_["ratio"] > 0
    weights = np.abs(chosen.word_weights_[0])
    assert set(np.argsort(-weights)[:4].tolist()) == {0, 1, 2, 3}


def test_saved(chosen, tmp_path):
    X, _ = few_telling_words(50, 1)
    chosen.save(tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(X), chosen.decision_function(X))
    for row, document in zip(chosen.decision_function(X), chosen.explain(X), strict=True):
        assert sum(document[0].parts.values()) == pytest.approx(row, abs=1e-5)


def test_two_classes_alone():
    data = Documents(150, 0)
    for y in (data.many, data.several):
        assert "ratio" not in quick(refit=True).fit(data.X, y).refit_settings_
    few = MedLDAClassifier(3, n_sweeps=4, random_state=0).fit(data.X[:30], data.two[:30])
    assert "ratio" not in few.refit_settings_


@pytest.mark.parametrize(("ratio", "ratios"), [
    (1.0, []), (1.0, [1.0]), (0.0, [1.0, 1.0]), (1.0, [1.0, np.nan]), (1.0, [1.0, 0.0]), (1.0, [1.0, -1.0]),
    (1.0, [1.0, 1e30]), (11.0, [1.0, 1.0]), (-1.0, [1.0, 1.0]), (np.nan, [1.0, 1.0]),
])  # fmt: skip
def test_what_a_file_may_not_say(ratio, ratios):
    arrays = (np.ones(2), np.zeros((2, 1), np.float32), np.zeros((3, 1)), np.zeros((0, 1)), np.zeros(1))
    Head(Settings(ratio=1.0), *arrays, 0, np.ones(2)).check_fits(2, 3, 0, 1)
    with pytest.raises(ModelError):
        Head(Settings(ratio=ratio), *arrays, 0, np.array(ratios)).check_fits(2, 3, 0, 1)

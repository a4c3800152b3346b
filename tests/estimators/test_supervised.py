"""The supervised estimators: scikit-learn's rules, forms of input, clone and pickle."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from support.labelled import N_WORDS, WORDS, fitted_bytes, quick, quick_regressor
from support.variants import slow_but
from topoi import Corpus, CorpusError, MedLDAClassifier, MedLDARegressor

SMALL = {"n_topics": 4, "n_sweeps": 30, "n_samples": 3}
NEGATIVE = "sends negative numbers, which are no counts"
EXPECTED_TO_FAIL = {"check_class_weight_classifiers": NEGATIVE, "check_decision_proba_consistency": NEGATIVE}


# The check wants the likeliest class to be the predicted one for every document. So it is after a refit, and for the
# logistic loss, unless pairs are coupled ("ovo"). For the chains of the hinge loss scores are averaged before they are
# compared, but probabilities count the votes of samples: on Gaussian blobs, which no topics can tell apart, two of
# three samples may outvote the mean.
DISAGREE = {"check_classifiers_train": "votes of samples are not always those of mean scores"}


def expected_to_fail(estimator):
    if not isinstance(estimator, MedLDAClassifier):
        return {}
    agrees = estimator.refit or (estimator.strategy == "multitask" and estimator.loss == "logistic")
    return EXPECTED_TO_FAIL | ({} if agrees else DISAGREE)


@parametrize_with_checks(
    [MedLDAClassifier(**SMALL), MedLDARegressor(**SMALL)],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MedLDAClassifier(refit=False, **SMALL),
        MedLDARegressor(refit=False, **SMALL),
        MedLDAClassifier(loss="logistic", **SMALL),
        MedLDAClassifier(strategy="ovr", **SMALL),
        MedLDAClassifier(strategy="ovo", loss="logistic", **SMALL),
        MedLDARegressor(loss="squared", **SMALL),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_with_other_settings(estimator, check):
    check(estimator)


TEXTS = ["apple pear apple plum", "pear plum fruit apple", "goal ball team", "team ball match goal", ""] * 6
KINDS = ["food", "food", "sport", "sport", "food"] * 6


def test_pipeline():
    pipeline = make_pipeline(CountVectorizer(), quick(n_topics=2, n_sweeps=40)).fit(TEXTS, KINDS)
    assert pipeline.predict(["pear and apple", "the team and the ball"]).tolist() == ["food", "sport"]
    assert pipeline.predict(["words nobody knows"])[0] in ("food", "sport")
    assert pipeline.score(TEXTS[:4], KINDS[:4]) == 1
    assert pipeline.transform(TEXTS).shape == (len(TEXTS), 2)


def test_grid_search(train, test):
    model = quick(n_topics=6, n_sweeps=20)
    grid = {"cost": [1e-9, 1.6], "margin": [2, 4]}
    search = GridSearchCV(model, grid, cv=2, n_jobs=1, error_score="raise").fit(train.X, train.many)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_["cost"] == 1.6  # without a cost the labels say nothing
    assert search.best_score_ > 0.7
    assert search.score(test.X, test.many) > 0.7
    assert search.best_estimator_.get_params()["margin"] in (2, 4)
    mask = np.arange(len(train.X)) % 4 == 0  # is split as X and y are
    GridSearchCV(model, {"cost": [1.6]}, cv=2, error_score="raise").fit(train.X, train.many, unlabelled=mask)


GRID = {"cost": [1.0, 1.6], "margin": [2, 4.0], "doc_topic_prior": [0.1, 0.5], "n_topics": [5, 7]}


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_grid_search_on_two_workers(backend, train):
    """Threads and processes find what one worker finds."""
    model = quick(n_sweeps=10)
    with parallel_config(backend=backend):
        found = GridSearchCV(model, GRID, cv=2, n_jobs=2, error_score="raise").fit(train.X, train.many)
    alone = GridSearchCV(model, GRID, cv=2, n_jobs=1, error_score="raise").fit(train.X, train.many)
    assert len(found.cv_results_["params"]) == 16
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert fitted_bytes(found.best_estimator_, train.X) == fitted_bytes(alone.best_estimator_, train.X)


def compiled():
    """How many times every kernel of topoi has been compiled or loaded."""
    kernels = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "topoi":
            kernels |= {f"{name}.{key}": value for key, value in vars(module).items() if hasattr(value, "signatures")}
    return {name: len(function.signatures) for name, function in kernels.items()}


@pytest.mark.parametrize("strategy", slow_but(["multitask"], ["multitask", "ovr", "ovo"]))
def test_nothing_is_compiled_anew(strategy, train):
    """One fit of two chains, whose seeds are drawn, has compiled all that other settings, folds and strategies need."""
    quick(sampler="collapsed", n_chains=2).fit(train.X, train.many).predict(train.X)
    before = compiled()
    assert sum(before.values()) > 5
    model = quick(sampler="collapsed", strategy=strategy, n_sweeps=3)
    grid = {**GRID, "n_topics": [3, 20], "cost": [1, 2.5], "class_weight": [None, "balanced"]}
    GridSearchCV(model, grid, cv=2, error_score="raise").fit(train.X, train.many)
    assert compiled() == before


@pytest.mark.parametrize("make", [quick, quick_regressor])
def test_parameters_clone_and_pickle(make, train, test):
    y = train.many if make is quick else train.numbers
    model = make(n_chains=2, weight_prior=0.5, cost=2.0)
    given = model.get_params()
    assert model.fit(train.X, y) is model
    assert model.get_params() == given  # fit changes no parameter
    copy = clone(model)
    assert not hasattr(copy, "model_")
    assert fitted_bytes(copy.fit(train.X, y), test.X) == fitted_bytes(model, test.X)
    back = pickle.loads(pickle.dumps(model))
    assert fitted_bytes(back, test.X) == fitted_bytes(model, test.X)
    assert back.predict(test.X).tobytes() == model.predict(test.X).tobytes()
    assert back.explain(test.X[:2]) == model.explain(test.X[:2])


def test_forms_of_input(train, test):
    expected = fitted_bytes(quick().fit(train.X, train.many), test.X)
    for form in (sparse.csr_array, sparse.csc_matrix, Corpus.from_counts, np.ndarray.tolist):
        assert fitted_bytes(quick().fit(form(train.X), train.many), form(test.X)) == expected, form
    assert fitted_bytes(quick().fit(train.X, train.many.tolist()), test.X) == expected
    named = quick().fit(Corpus.from_counts(train.X, WORDS), train.many)
    assert named.explain(Corpus.from_counts(test.X[:1], WORDS))[0][0].words[0][0] in WORDS


def test_data_frames(train, test):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(train.X, columns=WORDS)
    model = quick().fit(frame, pd.Series(train.many, name="topic"))
    assert list(model.feature_names_in_) == WORDS
    new = pd.DataFrame(test.X, columns=WORDS)
    assert (
        model.decision_function(new).tobytes() == quick().fit(train.X, train.many).decision_function(test.X).tobytes()
    )
    assert {word for word, _ in model.explain(new[:1])[0][0].words} <= set(WORDS)
    with pytest.raises(CorpusError, match="feature names"):
        model.predict(new[WORDS[::-1]])
    several = quick().fit(frame, pd.DataFrame(train.several))
    assert several.predict(new).shape == test.several.shape
    assert quick_regressor().fit(frame, pd.DataFrame(train.numbers)).predict(new).shape == test.numbers.shape


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, Corpus.from_counts], ids=["dense", "csr", "corpus"])
def test_wrong_number_of_columns(form, train):
    model, numbers = quick().fit(train.X, train.many), quick_regressor().fit(train.X, train.number)
    for wrong in (train.X[:, :-1], np.hstack([train.X, train.X])):
        for method in (model.predict, model.decision_function, model.predict_proba, model.explain, numbers.predict):
            with pytest.raises(CorpusError, match=rf"{wrong.shape[1]} (features|words).*{N_WORDS}"):
                method(form(wrong))


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "transform", "explain"])
def test_not_fitted(method, train):
    with pytest.raises(NotFittedError):
        getattr(MedLDAClassifier(), method)(train.X)
    if hasattr(MedLDARegressor, method):
        with pytest.raises(NotFittedError):
            getattr(MedLDARegressor(), method)(train.X)

"""The supervised estimators: scikit-learn's rules, every kind of label, reasons, bad labels, the same bytes."""

from __future__ import annotations

import os
import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import topoi.estimator_base
from topoi import Corpus, CorpusError, InterruptedFitWarning, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi.samplers import SAMPLERS

N_TOPICS = 5
PER_TOPIC = 12
N_WORDS = N_TOPICS * PER_TOPIC
EFFECT = np.array([1.0, -1.0, 2.0, -2.0, 0.0])  # of the share of a topic on the target of a regression
LOSSES = ["hinge", "logistic"]
REGRESSION_LOSSES = ["epsilon_insensitive", "squared"]
WORDS = [f"t{w // PER_TOPIC}w{w % PER_TOPIC}" for w in range(N_WORDS)]  # the topic that a word is of, and its number


def draw(n_documents, seed, length=40):
    """Counts and true shares: a main topic with some two thirds of a document, a second one, a trace of all."""
    rng = np.random.default_rng(seed)
    phi = np.kron(np.eye(N_TOPICS), np.full(PER_TOPIC, 0.95 / PER_TOPIC)) + 0.05 / N_WORDS
    theta = np.full((n_documents, N_TOPICS), 0.05 / N_TOPICS)
    topics = rng.permuted(np.tile(np.arange(N_TOPICS), (n_documents, 1)), axis=1)
    main = rng.uniform(0.6, 0.8, n_documents)
    rows = np.arange(n_documents)
    theta[rows, topics[:, 0]] += 0.95 * main
    theta[rows, topics[:, 1]] += 0.95 * (1 - main)
    return np.array([rng.multinomial(length, p) for p in theta @ phi]), theta


class Documents:
    """Counts `X` with labels of every kind that depend on the topics."""

    def __init__(self, n_documents, seed):
        self.X, self.theta = draw(n_documents, seed)
        self.many = self.theta.argmax(1)
        self.two = (self.many >= 3).astype(int)
        self.several = (self.theta > 0.1).astype(int)
        self.number = 10 + 3 * self.theta @ EFFECT
        self.numbers = np.column_stack((self.number, -self.theta @ EFFECT**2))


@pytest.fixture(scope="module")
def train():
    return Documents(200, seed=1)


@pytest.fixture(scope="module")
def test():
    return Documents(200, seed=2)


MARGIN = {"two": 4, "many": None, "several": 4}  # so short documents want a small one, unless classes are many


def classifier(kind="many", **parameters):
    """Two chains: one may end in a mode where two topics are merged."""
    given = {"n_topics": 8, "n_sweeps": 40, "n_samples": 5, "n_chains": 2, "random_state": 0, "margin": MARGIN[kind]}
    return MedLDAClassifier(**{**given, **parameters})


def regressor(**parameters):
    return MedLDARegressor(
        **{"n_topics": 8, "n_sweeps": 40, "n_samples": 5, "n_chains": 2, "random_state": 0, **parameters}
    )


def quick(**parameters):
    """A classifier that takes no time and need not be good."""
    return classifier(**{"n_topics": 4, "n_sweeps": 6, "n_samples": 2, "n_chains": 1, "infer_sweeps": 6, **parameters})


def quick_regressor(**parameters):
    return regressor(**{"n_topics": 4, "n_sweeps": 6, "n_samples": 2, "n_chains": 1, "infer_sweeps": 6, **parameters})


def fitted_bytes(model, X):
    """Everything that a fit gives, as bytes."""
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    arrays = (scores, model.topic_weights_, model.topic_weights_std_, model.components_, model.doc_topic_)
    return [array.tobytes() for array in (*arrays, model.transform(X))]


@pytest.fixture(scope="module")
def fitted(train):
    """Fitted classifiers by loss and kind of label."""
    return {
        (loss, kind): classifier(kind, loss=loss).fit(train.X, getattr(train, kind))
        for loss in LOSSES
        for kind in ("two", "many", "several")
    }


# ---- scikit-learn ------------------------------------------------------------------------------------------

SMALL = {"n_topics": 4, "n_sweeps": 30, "n_samples": 3}
NEGATIVE = "sends negative numbers, which are no counts"
EXPECTED_TO_FAIL = {"check_class_weight_classifiers": NEGATIVE, "check_decision_proba_consistency": NEGATIVE}


@parametrize_with_checks(
    [
        MedLDAClassifier(**SMALL),
        MedLDAClassifier(loss="logistic", **SMALL),
        MedLDARegressor(**SMALL),
        MedLDARegressor(loss="squared", **SMALL),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL if isinstance(estimator, MedLDAClassifier) else {},
)
def test_scikit_learn(estimator, check):
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


# ---- Labels are learned ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_two_classes(loss, fitted, test):
    model = fitted[loss, "two"]
    assert model.classes_.tolist() == [0, 1]
    assert model.topic_weights_.shape == model.topic_weights_std_.shape == (1, 8)
    scores = model.decision_function(test.X)
    assert scores.shape == (len(test.X),)
    np.testing.assert_array_equal(model.predict(test.X), (scores > 0).astype(int))
    assert model.score(test.X, test.two) > 0.9
    assert model.score(test.X, test.two) == (model.predict(test.X) == test.two).mean()


@pytest.mark.parametrize("loss", LOSSES)
def test_five_classes(loss, fitted, test):
    model = fitted[loss, "many"]
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.topic_weights_.shape == model.topic_weights_std_.shape == (5, 8)
    scores = model.decision_function(test.X)
    assert scores.shape == (len(test.X), 5)
    np.testing.assert_array_equal(model.predict(test.X), scores.argmax(1))
    assert model.score(test.X, test.many) > 0.9


def test_margin_by_default(train, test):
    """None takes the margin from the length of the documents, and scores are in its units."""
    model = classifier().fit(train.X, train.many)
    assert model.response_.margin == pytest.approx(16)
    assert model.score(test.X, test.many) > 0.9
    scores = model.decision_function(train.X)[np.arange(len(train.X)), train.many]
    assert 0.3 < np.median(scores) < 3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_several_labels(form, loss, fitted, train, test):
    model = fitted[loss, "several"]
    if form is not np.asarray:
        again = classifier("several", loss=loss).fit(train.X, form(train.several))
        assert again.decision_function(test.X).tobytes() == model.decision_function(test.X).tobytes()
        model = again
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    predicted = model.predict(test.X)
    assert predicted.shape == test.several.shape
    assert set(np.unique(predicted)) == {0, 1}
    np.testing.assert_array_equal(predicted, model.decision_function(test.X) > 0)
    assert f1_score(test.several, predicted, average="micro") > 0.9
    assert model.score(test.X, test.several) == (predicted == test.several).all(1).mean()


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_of_any_type(loss, fitted, train, test):
    """The same bytes, whatever the labels are called, if their order is the same."""
    two, many = (fitted[loss, kind].decision_function(test.X).tobytes() for kind in ("two", "many"))
    names = np.array(["art", "bread", "cars", "dogs", "earth"])
    for called in (names, names.astype(object), np.array([-1, 0, 7, 8, 2**40]), np.array([-1.0, 0, 7, 8, 9])):
        model = classifier(loss=loss).fit(train.X, called[train.many])
        assert model.classes_.tolist() == called.tolist()
        assert model.decision_function(test.X).tobytes() == many
        assert (model.predict(test.X) == called[test.many]).mean() > 0.9
        assert model.score(test.X, called[test.many]) > 0.9
    for called in (np.array([False, True]), np.array(["no", "yes"]), np.array([-1, 1])):
        model = classifier("two", loss=loss).fit(train.X, called[train.two])
        assert model.predict(test.X).dtype == called.dtype
        assert model.decision_function(test.X).tobytes() == two
        assert model.score(test.X, called[test.two]) > 0.9


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_regression(loss, train, test):
    one = regressor(loss=loss).fit(train.X, train.number)
    assert one.predict(test.X).shape == (len(test.X),)
    assert one.score(test.X, test.number) > 0.8
    assert one.topic_weights_.shape == (1, 8)
    column = regressor(loss=loss).fit(train.X, train.number[:, None])
    assert column.predict(test.X).shape == (len(test.X), 1)
    assert column.predict(test.X)[:, 0].tobytes() == one.predict(test.X).tobytes()
    scaled = regressor(loss=loss).fit(train.X, 1000 * train.number - 5).predict(test.X)  # its units do not matter
    np.testing.assert_allclose(scaled, 1000 * one.predict(test.X) - 5, rtol=0.1)
    two = regressor(loss=loss).fit(train.X, train.numbers)
    predicted = two.predict(test.X)
    assert predicted.shape == (len(test.X), 2)
    assert two.topic_weights_.shape == two.topic_weights_std_.shape == (2, 8)
    for output in range(2):
        truth = test.numbers[:, output]
        assert 1 - ((truth - predicted[:, output]) ** 2).mean() / truth.var() > 0.8
    assert two.score(test.X, test.numbers) > 0.8


def test_constant_target(train, test):
    np.testing.assert_allclose(quick_regressor().fit(train.X, np.full(len(train.X), 7.0)).predict(test.X), 7, atol=0.2)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_weights(loss, train, test):
    exact = classifier(loss=loss, n_gibbs=0).fit(train.X, train.many)
    assert exact.score(test.X, test.many) > 0.9
    numbers = regressor(n_gibbs=0).fit(train.X, train.number)
    assert numbers.score(test.X, test.number) > 0.8


@pytest.mark.parametrize("sampler", sorted(name for name, kind in SAMPLERS.items() if kind.tilts))
def test_samplers(sampler, train, test):
    assert classifier(sampler=sampler).fit(train.X, train.many).score(test.X, test.many) > 0.85


# ---- Documents without a label -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hidden(train):
    """All but a fifth of the documents."""
    mask = np.ones(len(train.X), bool)
    mask[::5] = False
    return mask


@pytest.mark.parametrize("loss", LOSSES)
def test_few_labels(loss, hidden, train, test):
    """Far better than guessing; the labels of the others are never looked at."""
    model = classifier(loss=loss).fit(train.X, train.many, unlabelled=hidden)
    assert model.score(test.X, test.many) > 0.4  # guessing: 0.2
    expected = fitted_bytes(model, test.X)
    rng = np.random.default_rng(0)
    garbage = {
        "other labels": np.where(hidden, rng.permutation(train.many), train.many),
        "new labels": np.where(hidden, 77, train.many),
        "minus one": np.where(hidden, -1, train.many),
        "NaN": np.where(hidden, np.nan, train.many),
        "None": [None if gone else int(label) for gone, label in zip(hidden, train.many, strict=True)],
        "text": [f"doc{d}" if gone else int(train.many[d]) for d, gone in enumerate(hidden)],
    }
    garbage["text"] = np.array(garbage["text"], object)
    for name, y in garbage.items():
        other = classifier(loss=loss).fit(train.X, y, unlabelled=hidden)
        assert other.classes_.tolist() == [0, 1, 2, 3, 4], name
        assert fitted_bytes(other, test.X) == expected, name
    without = classifier(loss=loss).fit(train.X[~hidden], train.many[~hidden])  # the words of the others take part
    assert fitted_bytes(without, test.X) != expected


def test_unlabelled_rows_of_several_labels(hidden, train, test):
    model = quick().fit(train.X, train.several, unlabelled=hidden)
    garbage = np.where(hidden[:, None], np.nan, train.several)
    other = quick().fit(train.X, garbage, unlabelled=hidden)
    assert fitted_bytes(other, test.X) == fitted_bytes(model, test.X)
    assert fitted_bytes(quick().fit(train.X, train.several), test.X) != fitted_bytes(model, test.X)


def test_no_document_unlabelled(train, test):
    none = np.zeros(len(train.X), bool)
    expected = fitted_bytes(quick().fit(train.X, train.many), test.X)
    assert fitted_bytes(quick().fit(train.X, train.many, unlabelled=none), test.X) == expected


def test_minus_one_is_a_label(train, test):
    y = np.where(train.many == 0, -1, train.many)
    model = classifier().fit(train.X, y)
    assert model.classes_.tolist() == [-1, 1, 2, 3, 4]
    assert recall_score(test.many == 0, model.predict(test.X) == -1) > 0.8


def test_weights_of_unlabelled_documents(hidden, train, test):
    """`class_weight` counts labelled documents only."""
    y = np.where(hidden, 1, train.two)
    balanced = quick(class_weight="balanced").fit(train.X, y, unlabelled=hidden)
    n, n_labelled = np.bincount(train.two[~hidden]), (~hidden).sum()
    given = quick(class_weight={0: n_labelled / (2 * n[0]), 1: n_labelled / (2 * n[1])})
    assert fitted_bytes(given.fit(train.X, y, unlabelled=hidden), test.X) == fitted_bytes(balanced, test.X)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_unknown_targets(loss, hidden, train, test):
    known = np.where(hidden, np.nan, train.number)
    model = regressor(loss=loss).fit(train.X, known)
    assert model.score(test.X, test.number) > 0.6
    assert np.isfinite(model.predict(test.X)).all()
    # An output may be known where the other is not.
    both = np.column_stack((known, np.where(hidden, train.numbers[:, 1], np.nan)))
    predicted = regressor(loss=loss).fit(train.X, both).predict(test.X)
    for output in range(2):
        truth = test.numbers[:, output]
        assert 1 - ((truth - predicted[:, output]) ** 2).mean() / truth.var() > 0.5


# ---- Scores, probabilities, topics -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["two", "many"])
def test_probabilities_of_one_label(kind, loss, fitted, test):
    model = fitted[loss, kind]
    p = model.predict_proba(test.X)
    assert p.shape == (len(test.X), len(model.classes_))
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-12)
    assert p.min() > 0
    assert p.max() < 1
    # Where one label has far more than half of the votes or of the probability, it is the predicted one.
    clear = p.max(1) > 0.8
    assert clear.mean() > 0.5
    predicted = model.predict(test.X)
    np.testing.assert_array_equal(model.classes_[p.argmax(1)][clear], predicted[clear])
    assert (model.classes_[p.argmax(1)] == predicted).mean() > 0.9
    assert (np.take_along_axis(p, getattr(test, kind)[:, None], 1)).mean() > 0.7  # truth is thought likely


@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_of_several_labels(loss, fitted, test):
    model = fitted[loss, "several"]
    p = model.predict_proba(test.X)
    assert p.shape == test.several.shape
    assert p.min() > 0
    assert p.max() < 1
    assert p.sum(1).max() > 1.3  # labels do not compete
    clear = np.abs(p - 0.5) > 0.3
    assert clear.mean() > 0.5
    np.testing.assert_array_equal((p > 0.5)[clear], model.predict(test.X)[clear])


def test_votes(fitted, test):
    """Hinge: the share of the ten samples (five of each chain), with one vote more that all labels share."""
    votes = fitted["hinge", "many"].predict_proba(test.X) * 11 - 1 / 5
    np.testing.assert_allclose(votes, votes.round(), atol=1e-9)
    assert votes.max() == pytest.approx(10)
    votes = fitted["hinge", "two"].predict_proba(test.X) * 11 - 1 / 2
    np.testing.assert_allclose(votes, votes.round(), atol=1e-9)


def test_loss_set_after_the_fit(train, test):
    model = quick(loss="logistic").fit(train.X, train.many)
    before = model.predict_proba(test.X)
    assert model.set_params(loss="hinge").predict_proba(test.X).tobytes() == before.tobytes()


@pytest.mark.parametrize("loss", LOSSES)
def test_topics(loss, fitted, test):
    model = fitted[loss, "many"]
    theta = model.transform(test.X)
    assert theta.shape == (len(test.X), 8)
    np.testing.assert_allclose(theta.sum(1), 1, atol=1e-9)
    assert theta.min() > 0
    assert model.components_.shape == (8, N_WORDS)
    np.testing.assert_allclose(model.components_.sum(1), 1, atol=1e-9)
    assert np.isfinite(model.topic_weights_).all()
    assert (model.topic_weights_std_ > 0).all()
    names = list(model.get_feature_names_out())
    assert names == [f"medldaclassifier{k}" for k in range(8)]
    # The topic that speaks most for a label is made of words of that label's true topic.
    for label in range(5):
        phi = model.components_[model.topic_weights_[label].argmax()]
        assert phi[label * PER_TOPIC : (label + 1) * PER_TOPIC].sum() > 0.6


def test_empty_documents(fitted, train):
    X = np.vstack([np.zeros((2, N_WORDS), int), train.X[:3]])
    for model in fitted.values():
        scores, p = model.decision_function(X), model.predict_proba(X)
        assert np.isfinite(scores).all()
        assert np.isfinite(p).all()
        assert scores[0].tolist() == scores[1].tolist()
        np.testing.assert_allclose(scores[2:], model.decision_function(train.X[:3]), rtol=1e-9)
        assert set(np.unique(model.predict(X))) <= set(model.classes_)
    assert fitted["hinge", "many"].predict(X[:2]).shape == (2,)
    assert np.isfinite(quick_regressor().fit(X, np.arange(5)).predict(X)).all()
    labels = ["a", "b", "c", "a", "b"]  # documents without words may have labels
    assert set(quick().fit(X, labels).predict(X)) <= set("abc")


# ---- Reasons -----------------------------------------------------------------------------------------------


def test_reasons(train, test):
    """Topics sum to the score, and words nearly do; those that speak for a label are words of its topic."""
    names = np.array(["art", "bread", "cars", "dogs", "earth"])
    corpus = Corpus.from_counts(test.X[:40], WORDS)
    model = classifier(n_chains=1).fit(Corpus.from_counts(train.X, WORDS), names[train.many])
    scores = model.decision_function(corpus)
    reasons = model.explain(corpus, n_topics=8, n_words=N_WORDS)
    assert len(reasons) == 40
    right = []
    for d, document in enumerate(reasons):
        assert [reason.label for reason in document] == names.tolist()
        for task, reason in enumerate(document):
            assert reason.score == pytest.approx(scores[d, task], abs=1e-6)
            assert len(reason.topics) == 8
            assert sum(part for _, part, _ in reason.topics) == pytest.approx(reason.score, abs=1e-9)
            sizes = [abs(part) for _, part, _ in reason.topics]
            assert sizes == sorted(sizes, reverse=True)
            assert {word for word, _ in reason.words} == {WORDS[w] for w in np.flatnonzero(test.X[d])}
            assert sum(part for _, part in reason.words) == pytest.approx(reason.score, abs=0.3)
            assert all(set(words) <= set(WORDS) for _, _, words in reason.topics)
        word, part = max(document[test.many[d]].words, key=lambda entry: entry[1])
        right.append(part > 0 and word.startswith(f"t{test.many[d]}w"))
    assert np.mean(right) > 0.8
    few = model.explain(corpus, n_topics=2, n_words=3)
    for document, all_of_it in zip(few, reasons, strict=True):
        for reason, whole in zip(document, all_of_it, strict=True):
            assert (reason.label, reason.score) == (whole.label, whole.score)
            assert reason.topics == whole.topics[:2]
            assert reason.words == whole.words[:3]


def test_reasons_of_two_classes(train, test):
    """One reason, for the second class: a positive score speaks for it."""
    model = quick().fit(train.X, np.array(["no", "yes"])[train.two])
    reasons = model.explain(test.X[:10], n_topics=4)
    assert [[reason.label for reason in document] for document in reasons] == [["yes"]] * 10
    scores = [document[0].score for document in reasons]
    np.testing.assert_allclose(scores, model.decision_function(test.X[:10]), atol=1e-6)


def test_reasons_of_several_labels_and_numbers(train, test):
    model = quick().fit(train.X, train.several)
    assert [reason.label for reason in model.explain(test.X[:1])[0]] == [0, 1, 2, 3, 4]
    numbers = quick_regressor().fit(train.X, train.numbers)
    (document,) = numbers.explain(test.X[:1], n_topics=4)
    assert [reason.label for reason in document] == [0, 1]
    expected = train.numbers.mean(0) + np.array([reason.score for reason in document]) * train.numbers.std(0)
    np.testing.assert_allclose(numbers.predict(test.X[:1])[0], expected, atol=1e-6)


def test_reasons_of_an_empty_document(train):
    model = quick().fit(train.X, train.many)
    X = np.vstack([np.zeros((1, N_WORDS), int), train.X[:1]])
    empty, other = model.explain(X)
    assert all(reason.words == [] for reason in empty)
    assert all(np.isfinite(reason.score) for reason in empty)
    assert all(len(reason.words) > 0 for reason in other)


# ---- Imbalance ---------------------------------------------------------------------------------------------


def test_class_weight(train, test):
    """A rare class whose words it shares with a common one is found more often if it counts for more."""
    rng = np.random.default_rng(3)

    def rare(documents):  # three of ten documents of topic 0, at random
        return ((documents.many == 0) & (rng.random(len(documents.X)) < 0.3)).astype(int)

    y, truth = rare(train), rare(test)
    assert 0.02 < y.mean() < 0.12
    recall = {}
    for weight in (None, "balanced"):
        # A small cost: a large one would let the model learn these random labels by heart, weighted or not.
        model = classifier(loss="logistic", cost=1.0, class_weight=weight).fit(train.X, y)
        recall[weight] = recall_score(truth, model.predict(test.X))
    assert recall["balanced"] > recall[None] + 0.2
    n = np.bincount(y)
    weights = {0: len(y) / (2 * n[0]), 1: len(y) / (2 * n[1])}
    same = classifier(loss="logistic", cost=1.0, class_weight=weights).fit(train.X, y)
    assert fitted_bytes(same, test.X) == fitted_bytes(model, test.X)
    assert fitted_bytes(quick(class_weight={1: 3.0}).fit(train.X, y), test.X) == fitted_bytes(
        quick(class_weight={0: 1.0, 1: 3.0}).fit(train.X, y), test.X
    )


def test_class_weight_of_names(train, test):
    y = np.array(["a", "b", "c", "d", "e"])[train.many]
    plain = fitted_bytes(quick().fit(train.X, y), test.X)
    assert fitted_bytes(quick(class_weight=dict.fromkeys("abcde", 1.0)).fit(train.X, y), test.X) == plain
    assert fitted_bytes(quick(class_weight={"b": 5.0}).fit(train.X, y), test.X) != plain
    assert fitted_bytes(quick(class_weight={"b": 0.0}).fit(train.X, y), test.X) != plain


# ---- Bad labels and parameters -----------------------------------------------------------------------------


@pytest.fixture
def no_sampling(monkeypatch):
    def stop(*arguments, **more):
        raise AssertionError("sampling began")

    monkeypatch.setattr(topoi.estimator_base, "new_state", stop)


def refuse(name, model, match="", /, *arguments, **more):
    with pytest.raises(ParameterError, match=rf"^{name}: .*{match}") as caught:
        model.fit(*arguments, **more)
    assert caught.value.parameter == name
    assert isinstance(caught.value, ValueError)


FOUR = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 4]])
BAD_LABELS = {
    "none": (None, "y is None"),
    "one class": ([1, 1, 1, 1], "one class, "),
    "one text": (["a"] * 4, "one class, .*a"),
    "NaN": ([0, 1, 0, np.nan], "label 3 is NaN.*unlabelled"),
    "NaN between texts": (np.array(["a", "b", "a", np.nan], object), "label 3 is NaN.*unlabelled"),
    "None between numbers": ([0, None, 1, 0], "label 1 is NaN.*unlabelled"),
    "infinity": ([0, 1, np.inf, 0], "label 2 is"),
    "too few": ([0, 1, 0], r"3.*4 documents"),
    "too many": ([0, 1, 0, 1, 1], r"5.*4 documents"),
    "too many rows": (np.eye(5), r"5.*4 documents"),
    "a number": (1, "4 documents"),
    "no labels": ([], "4 documents"),
    "continuous": ([0.5, 1.2, 3.3, 0.1], "continuous"),
    "continuous columns": ([[0.5, 1.2], [0.1, 0.2], [1.5, 1.0], [0.0, 2.5]], "continuous"),
    "several columns of classes": ([[0, 1], [2, 1], [1, 0], [3, 3]], ""),
    "NaN in an indicator": ([[0, 1], [1, np.nan], [1, 0], [0, 0]], "label 1 is NaN"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
@pytest.mark.usefixtures("no_sampling")
def test_bad_labels(case):
    y, match = BAD_LABELS[case]
    refuse("y", quick(), match, FOUR, y)


BAD_TARGETS = {
    "none": (None, "y is None"),
    "infinity": ([0, 1, 2, np.inf], "target 3 is infinite"),
    "minus infinity": ([[0, 1], [2, -np.inf], [1, 1], [0, 0]], "target 1 is infinite"),
    "too few": ([0, 1, 2], r"3.*4 documents"),
    "too many": (np.zeros((5, 2)), r"5.*4 documents"),
    "a number": (1.0, "4 documents"),
    "three dimensions": (np.zeros((4, 2, 2)), "4 documents"),
    "all unknown": ([np.nan] * 4, "without a single known"),
    "an output unknown": ([[0, np.nan], [1, np.nan], [2, np.nan], [3, np.nan]], "without a single known"),
    "text": (["a", "b", "c", "d"], "numbers"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
@pytest.mark.usefixtures("no_sampling")
def test_bad_targets(case):
    y, match = BAD_TARGETS[case]
    refuse("y", quick_regressor(), match, FOUR, y)


def test_only_unlabelled_labels_may_be_bad():
    """The row that is named is the row of X."""
    y = [np.nan, 0, np.nan, 1]
    assert quick().fit(FOUR, y, unlabelled=np.array([True, False, True, False])).classes_.tolist() == [0, 1]
    refuse("y", quick(), "label 2 is NaN", FOUR, y, unlabelled=np.array([True, False, False, False]))
    refuse("y", quick(), "one class", FOUR, [0, 0, 1, 1], unlabelled=np.array([False, False, True, True]))


BAD_MASKS = [
    ([True, False, True], "4 booleans"),
    ([[True], [False], [True], [False]], "4 booleans"),
    ([1, 0, 0, 0], "4 booleans"),
    ([0.0, 1.0, 0.0, 0.0], "4 booleans"),
    (["yes", "no", "no", "no"], "4 booleans"),
    (True, "4 booleans"),
    ([True] * 4, "every document"),
]


@pytest.mark.parametrize(("mask", "match"), BAD_MASKS, ids=[repr(mask) for mask, _ in BAD_MASKS])
@pytest.mark.usefixtures("no_sampling")
def test_bad_mask(mask, match):
    refuse("unlabelled", quick(), match, FOUR, [0, 1, 0, 1], unlabelled=mask)


BAD_PARAMETERS = [
    *[("loss", value) for value in ("squared", "epsilon_insensitive", "Hinge", None, 3, ["hinge"])],
    *[("cost", value) for value in (0, -1, np.nan, np.inf, "1", "high", [1.0])],
    *[("margin", value) for value in (0, -1, np.nan, np.inf, "1", [1.0])],
    *[("weight_prior", value) for value in (0, -1, np.nan, np.inf, "1")],
    *[("n_gibbs", value) for value in (-1, 2.5, "2", None, np.nan)],
    *[("sampler", value) for value in ("gibbs", None, 3)],
    *[("n_topics", value) for value in (0, 2.5)],
    *[("n_chains", value) for value in (0, "2")],
    *[("burn_in", value) for value in (6, -1)],
    ("n_sweeps", 0), ("n_samples", 0), ("infer_sweeps", 0), ("doc_topic_prior", -1.0), ("topic_word_prior", 0),
    ("random_state", "seed"), ("n_jobs", 0), ("callbacks", 3),
    *[("class_weight", value) for value in ("balance", 3, [1.0, 2.0], {7: 2.0}, {0: 1.0, 1: 1.0, 7: 2.0})],
    *[("class_weight", {1: value}) for value in (-1.0, np.nan, np.inf, "heavy")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS, ids=[f"{n}={v!r}" for n, v in BAD_PARAMETERS])
@pytest.mark.usefixtures("no_sampling")
def test_bad_parameter(name, value):
    refuse(name, quick(**{name: value}), "", FOUR, [0, 1, 0, 1])
    if name in quick_regressor().get_params() and name != "loss":
        refuse(name, quick_regressor(**{name: value}), "", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "0", None, [0.1]])
@pytest.mark.usefixtures("no_sampling")
def test_bad_epsilon(value):
    refuse("epsilon", quick_regressor(epsilon=value), "", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("value", ["hinge", "logistic", "", None, 3])
@pytest.mark.usefixtures("no_sampling")
def test_bad_loss_of_a_regression(value):
    refuse("loss", quick_regressor(loss=value), "epsilon_insensitive.*squared", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("sampler", sorted(name for name, kind in SAMPLERS.items() if not kind.tilts))
@pytest.mark.usefixtures("no_sampling")
def test_samplers_that_cannot_tilt(sampler):
    choices = ", ".join(["auto", *sorted(name for name, kind in SAMPLERS.items() if kind.tilts)])
    for model in (quick(sampler=sampler), quick_regressor(sampler=sampler)):
        refuse("sampler", model, f"{sampler}.*one of {choices}$", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("weight", ["balanced", {0: 2.0}])
@pytest.mark.usefixtures("no_sampling")
def test_class_weight_of_several_labels(weight, train):
    refuse("class_weight", quick(class_weight=weight), "indicator", train.X, train.several)


def test_good_labels(train, test):
    """What looks odd but has a meaning."""
    several = train.several.copy()
    several[:20] = 0  # documents without any label: all negative
    several[:, 4] = 0  # a label of no document
    model = classifier("several").fit(train.X, several)
    assert not model.predict(test.X)[:, 4].any()
    assert f1_score(test.several[:, :4], model.predict(test.X)[:, :4], average="micro") > 0.8
    for parameters in ({"cost": 1}, {"cost": np.float32(2), "margin": np.int64(3)}, {"weight_prior": 10, "n_gibbs": 5}):
        assert np.isfinite(quick(**parameters).fit(train.X, train.two).decision_function(test.X)).all()
    assert np.isfinite(quick_regressor(epsilon=0).fit(train.X, train.number).predict(test.X)).all()
    assert np.isfinite(quick_regressor(epsilon=0.5).fit(train.X, train.number).predict(test.X)).all()
    assert quick().fit(train.X, train.several.astype(bool)).predict(test.X).shape == test.several.shape
    with pytest.warns(UserWarning, match="column-vector"):
        column = quick().fit(train.X, train.many[:, None])
    assert fitted_bytes(column, test.X) == fitted_bytes(quick().fit(train.X, train.many), test.X)


# ---- The same bytes, chains, Ctrl-C ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocks():
    """Documents in several blocks, so that threads share the work."""
    documents = Documents(500, seed=3)
    assert len(Corpus.from_counts(documents.X).block_ptr) > 4
    return documents


@pytest.mark.parametrize("kind", ["two", "several", "numbers"])
@pytest.mark.parametrize("n_gibbs", [0, 2])
def test_same_bytes_for_any_number_of_threads(n_gibbs, kind, blocks):
    losses = REGRESSION_LOSSES if kind == "numbers" else LOSSES
    make = quick_regressor if kind == "numbers" else quick
    for loss in losses:
        results = []
        for n_jobs in (1, 2, 4):
            model = make(loss=loss, n_gibbs=n_gibbs, n_jobs=n_jobs).fit(blocks.X, getattr(blocks, kind))
            results.append([*fitted_bytes(model, blocks.X), model.predict(blocks.X).tobytes()])
        assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("make", [quick, quick_regressor])
def test_random_state(make, train, test):
    y = train.many if make is quick else train.number
    first = fitted_bytes(make(random_state=7).fit(train.X, y), test.X)
    assert fitted_bytes(make(random_state=7).fit(train.X, y), test.X) == first
    assert fitted_bytes(make(random_state=8).fit(train.X, y), test.X) != first
    again = make(random_state=7).fit(train.X, y[::-1]).fit(train.X, y)  # a second fit starts from nothing
    assert fitted_bytes(again, test.X) == first


def test_documents_are_scored_each_by_itself(fitted, test):
    for model in fitted.values():
        together = model.decision_function(test.X[:20])
        for d in (0, 7, 19):
            np.testing.assert_allclose(model.decision_function(test.X[d : d + 1])[0], together[d], rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_chains(loss, train, test):
    """Scores are averaged over chains; chain 0 is what one chain would be; the best chain is the model."""
    alone = quick(loss=loss, n_sweeps=12).fit(train.X, train.many)
    results = []
    for n_jobs in (1, 2):
        model = quick(loss=loss, n_sweeps=12, n_chains=2, n_jobs=n_jobs).fit(train.X, train.many)
        results.append([*fitted_bytes(model, test.X), model.predict(test.X).tobytes()])
    assert results[0] == results[1]
    assert len(model.chains_) == 2
    np.testing.assert_array_equal(model.chains_[0].counts.toarray(), alone.model_.counts.toarray())
    assert any(model.model_ is chain for chain in model.chains_)
    both, first = model.decision_function(test.X), alone.decision_function(test.X)
    second = 2 * both - first  # the mean of the two: what remains must be the second chain's
    assert np.abs(second - first).max() > 1e-3
    shown = np.array([[reason.score for reason in document] for document in model.explain(test.X)])
    np.testing.assert_allclose(shown, second if model.model_ is model.chains_[1] else first, atol=1e-6)


@pytest.fixture
def listening():
    """Python's own SIGINT handler: a background job, as a CI run may be, is started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("at", [1, 5])
@pytest.mark.parametrize("n_chains", [1, 2])
def test_interrupt(n_chains, at, train, test):
    """The model so far, which predicts, before the first sample was due and after it."""

    def press(progress):
        if progress.sweep == at and progress.chain == 0:
            os.kill(os.getpid(), signal.SIGINT)  # as the terminal does

    for model, y in [(quick(n_chains=n_chains), train.many), (quick_regressor(n_chains=n_chains), train.number)]:
        model.set_params(callbacks=[press], n_sweeps=2000, burn_in=3, n_samples=1997)
        before = signal.getsignal(signal.SIGINT)
        with pytest.warns(InterruptedFitWarning, match="of 2000 sweeps"):
            model.fit(train.X, y)
        assert signal.getsignal(signal.SIGINT) is before
        assert model.stopped_ == "interrupted"
        assert at <= model.n_sweeps_ < 2000
        assert model.predict(test.X).shape == (len(test.X),)
        assert np.isfinite(model.topic_weights_).all()
        assert model.topic_weights_.any()
        assert len(model.explain(test.X[:2])) == 2


def test_stopped_by_a_callback(train, test):
    """The bytes of a run of so many sweeps."""
    stopped = quick(n_sweeps=50, burn_in=0, n_samples=50, callbacks=[lambda progress: progress.sweep == 6])
    whole = quick(n_sweeps=6, burn_in=0, n_samples=6)
    first, second = (model.fit(train.X, train.many) for model in (stopped, whole))
    assert (first.stopped_, second.stopped_) == ("callback", "finished")
    assert first.decision_function(test.X).tobytes() == second.decision_function(test.X).tobytes()

"""Settings that adapt to the documents and labels: margin, cost, and the weight of rare labels."""

from __future__ import annotations

import numpy as np
import pytest

from support.labelled import LOSSES, quick
from topoi.chain.responses.signs import Signs, SignWeights
from topoi.estimators.classifier import MedLDAClassifier
from topoi.estimators.labels import balance

NAN = np.nan


class ToldError(Exception):
    """Carries the lessons out of a fit before anything is learned."""


@pytest.fixture
def lessons(monkeypatch):
    """lessons(X, y, …): what a classifier would learn."""

    def stop(self, lessons, seed, checkpoints=None):
        raise ToldError(lessons)

    monkeypatch.setattr(MedLDAClassifier, "_learn", stop)

    def of(X, y, unlabelled=None, **parameters):
        with pytest.raises(ToldError) as told:
            quick(**parameters).fit(X, y, unlabelled)
        return told.value.args[0]

    return of


def weights_by(targets, positive_weight):
    """Weights (documents, labels) that balance the labels alone."""
    of_documents = np.ones(len(targets), np.float32)
    return SignWeights(Signs.of(targets), of_documents, balance(targets, positive_weight))[:]


def test_balance():
    """The cube root of how many times rarer a label is; never less than 1, nothing for documents without labels."""
    targets = np.full((28, 3), -1.0)
    targets[0, 0] = 1  # 1 of 28: 27 times rarer
    targets[:20, 1] = 1  # more often there than not
    targets[20:, 2] = NAN
    targets[:4, 2] = 1  # 4 of 20
    found = weights_by(targets, None)
    assert found[0, 0] == pytest.approx(3)
    assert (found[:20, 1] == 1).all()
    np.testing.assert_allclose(found[:4, 2], 4 ** (1 / 3))
    assert (found[targets <= 0] == 1).all()
    assert (found[np.isnan(targets)] == 1).all()
    np.testing.assert_array_equal(weights_by(targets, 5.0), np.where(targets > 0, 5.0, 1.0))
    assert np.isfinite(balance(np.array([[-1.0, 1.0], [-1.0, 1.0]]), None)).all()  # no positive, no negative


def test_who_is_weighed(lessons, train):
    """More than two labels, hinge loss; any loss if asked for; never two classes or pairs of them."""
    rare = (np.arange(len(train.X)) < 8).astype(int)
    several = np.column_stack((rare, 1 - rare))
    expected = ((len(rare) - 8) / 8) ** (1 / 3)
    (lesson,) = lessons(train.X, several)
    np.testing.assert_allclose(lesson.weight[:, 0], np.where(rare > 0, expected, 1.0))
    assert (lesson.weight[:, 1] == 1).all()
    assert (lessons(train.X, several, loss="logistic")[0].weight[:] == 1).all()
    assert (lessons(train.X, several, positive_weight=1.0)[0].weight[:] == 1).all()
    assert lessons(train.X, several, loss="logistic", positive_weight=2.0)[0].weight[:].max() == 2
    assert (lessons(train.X, rare)[0].weight[:] == 1).all()
    for lesson in lessons(train.X, train.many, strategy="ovo"):
        assert (lesson.weight[:] == 1).all()
    of_rest = lessons(train.X, train.many, strategy="ovr")
    of_all = lessons(train.X, train.many)[0].weight[:]
    np.testing.assert_array_equal(np.concatenate([lesson.weight[:] for lesson in of_rest], axis=1), of_all)
    assert of_all.max() > 1


@pytest.mark.parametrize("labelled", [1.0, 0.5])
def test_margin_and_cost(labelled, lessons, train):
    """A fifth of the mean length (documents without words aside) times the share of labels, at least 1."""
    n = len(train.X)
    hidden = np.arange(n) >= labelled * n
    X = np.vstack((train.X, np.zeros_like(train.X)))  # empty documents, without labels
    y, mask = np.tile(train.many, 2), np.concatenate((hidden, np.ones(n, bool)))
    expected = 0.2 * train.X.sum() / n * labelled / 2
    assert lessons(X, y, mask, margin=None)[0].response.margin == pytest.approx(expected)
    assert lessons(X, y, mask, margin=None)[0].response.cost == 1.6
    assert lessons(X, y, mask, loss="logistic")[0].response.cost == pytest.approx(expected)
    assert lessons(X, y, mask, loss="logistic", cost=3.0)[0].response.cost == 3
    assert lessons(X, y, mask, margin=7.0)[0].response.margin == 7


def test_smallest(lessons):
    X, y = np.eye(6, dtype=int), np.arange(6) % 3
    assert lessons(X, y, margin=None)[0].response.margin == 1
    assert lessons(X, y, loss="logistic")[0].response.cost == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_a_rare_label_is_not_denied(loss, train, test):
    """A label of one document in seventeen is found where its topic is."""
    rare = train.theta[:, 0] > np.quantile(train.theta[:, 0], 1 - 1 / 17)
    several = np.column_stack((rare, train.several[:, 1:])).astype(int)
    scores = quick(loss=loss, n_topics=8, n_sweeps=40, n_samples=5).fit(train.X, several).decision_function(test.X)
    clear = test.theta[:, 0] > 0.6
    assert clear.sum() > 10
    assert scores[clear, 0].mean() > scores[test.theta[:, 0] < 0.1, 0].mean() + 0.5


@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
def test_the_likeliest_label_is_the_predicted_one(strategy, train, test):
    """Logistic loss: log odds of the averaged probability order labels as the probability does, to the document."""
    model = quick(loss="logistic", strategy=strategy, n_chains=2).fit(train.X, train.many)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(test.X).argmax(1)], model.predict(test.X))
    two = quick(loss="logistic", strategy=strategy, n_chains=2).fit(train.X, train.two)
    odds = two.decision_function(test.X)
    np.testing.assert_allclose(two.predict_proba(test.X)[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-9)

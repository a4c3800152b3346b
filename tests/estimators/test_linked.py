"""Losses whose answer is more than a linear score: refitted with words, covariates, and a link to the likelihood."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from support.kills import Killed
from support.labelled import COUNT_LOSSES, JOINT_LOSSES, Documents, fitted_bytes, quick, quick_regressor
from topoi import Checkpoints, load
from topoi._disk.store import ModelError
from topoi.chain.responses import RESPONSES

ORDERED = [loss for loss in JOINT_LOSSES if RESPONSES[loss].ordered]
LINKED = [*ORDERED, *COUNT_LOSSES]


@pytest.fixture(scope="module")
def train():
    return Documents(240, 0)


@pytest.fixture(scope="module")
def test():
    return Documents(300, 1)


def estimator(loss, **parameters):
    given = {"loss": loss, "refit": True, **parameters}
    return quick(**given) if loss in ORDERED else quick_regressor(**given)


def right(documents, loss):
    return documents.stars if loss in ORDERED else documents.count


@pytest.fixture(scope="module")
def learned(train):
    return {loss: estimator(loss).fit(train.X, right(train, loss)) for loss in LINKED}


def log_likelihood(model, documents, loss):
    """The mean log likelihood of targets by a model's predictions."""
    if loss in ORDERED:
        p = model.predict_proba(documents.X)
        return float(np.log(p[np.arange(len(p)), documents.stars - 1]).mean())
    scores, own = model._draws(model.as_corpus(documents.X), None)
    each = [model.response_.log_loss(documents.count, f[:, 0], at) for f, at in zip(scores, own, strict=True)]
    return float(np.logaddexp.reduce(each, axis=0).mean() - np.log(len(each)))


@pytest.mark.parametrize("loss", LINKED)
def test_better_than_a_poor_chain(loss, learned, train, test):
    """Six sweeps make a poor chain; words have their say in the refit, and what is left is part of the likelihood."""
    model = learned[loss]
    assert model.refitted_
    assert model.word_weights_.shape == (1, train.X.shape[1])
    chain = estimator(loss, refit=False).fit(train.X, right(train, loss))
    assert not chain.refitted_
    assert log_likelihood(model, test, loss) > log_likelihood(chain, test, loss) + 0.05
    alone = estimator(loss, word_features=None).fit(train.X, right(train, loss))
    assert alone.refitted_
    assert not alone.word_weights_.size
    assert log_likelihood(alone, test, loss) < log_likelihood(model, test, loss)


def test_stars(learned, test):
    (loss,) = ORDERED
    model = learned[loss]
    p, predicted = model.predict_proba(test.X), model.predict(test.X)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-9)
    np.testing.assert_array_equal(model.classes_[p.argmax(1)], predicted)
    assert np.abs(predicted - test.stars).mean() < 0.7
    order = model.decision_function(test.X).argsort()
    expected = (p @ model.classes_)[order]
    assert (np.diff(expected) >= 0).all(), "a higher score speaks for later labels"


def test_expected_counts_and_intervals(learned, test):
    (loss,) = COUNT_LOSSES
    model = learned[loss]
    mean, spread = model.predict(test.X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(test.X))
    assert np.corrcoef(np.log(mean), np.log(test.rate))[0, 1] > 0.8
    assert (spread > np.sqrt(mean)).all(), "more than that of a Poisson distribution"
    low, high = model.predict_interval(test.X, 0.8).T
    assert (low == np.floor(low)).all()
    inside = np.mean((test.count >= low) & (test.count <= high))
    # Of 300 documents; counts cannot hit a level exactly, and what is known of 240 documents is not certain.
    assert 0.8 - 3 * np.sqrt(0.16 / 300) < inside < 0.95


@pytest.mark.parametrize("loss", LINKED)
def test_reasons_add_up(loss, learned, test):
    model = learned[loss]
    reasons = [own[0] for own in model.explain(test.X[:5])]
    scores = np.array([reason.score for reason in reasons])
    np.testing.assert_allclose([sum(reason.parts.values()) for reason in reasons], scores, atol=1e-6)
    if loss in ORDERED:
        np.testing.assert_allclose(scores, model.decision_function(test.X[:5]), atol=1e-6)
    else:  # the level, what a score of 0 stands for, is no part of the score
        np.testing.assert_allclose(np.exp(scores + model._link.own[0, 1]), model.predict(test.X[:5]), rtol=1e-6)


@pytest.mark.parametrize("loss", LINKED)
def test_files_and_threads(loss, learned, train, test, tmp_path):
    model = learned[loss]
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert fitted_bytes(again, test.X) == fitted_bytes(model, test.X)
    two = estimator(loss, n_jobs=2).fit(train.X, right(train, loss))
    assert fitted_bytes(two, test.X) == fitted_bytes(model, test.X)
    del again._link
    again.save(tmp_path / "broken")
    with pytest.raises(ModelError, match="link"):
        load(tmp_path / "broken")


@pytest.mark.parametrize("loss", LINKED)
def test_killed_in_a_pilot(loss, learned, train, test, tmp_path):
    """A fit that dies in a pilot goes on there, to the same bytes."""

    class InPilot:
        hears_pilots = True

        def __call__(self, progress):
            if progress.n_sweeps < 6 and progress.sweep == 2:
                raise Killed

    with pytest.raises(Killed):
        estimator(loss, callbacks=[InPilot()]).fit(train.X, right(train, loss), checkpoint=Checkpoints(tmp_path, 1))
    model = estimator(loss).fit(train.X, right(train, loss), checkpoint=Checkpoints(tmp_path, 1))
    assert fitted_bytes(model, test.X) == fitted_bytes(learned[loss], test.X)


@pytest.mark.parametrize("loss", LINKED)
def test_covariates(loss, train, test):
    """A covariate that the target follows makes predictions better."""
    rng = np.random.default_rng(3)

    def of(documents):
        shift = rng.normal(0, 1, len(documents.X))
        if loss in ORDERED:
            return pd.DataFrame({"shift": shift}), np.clip(np.round(3 + 1.5 * shift), 1, 5).astype(int)
        return pd.DataFrame({"shift": shift}), rng.poisson(np.exp(2 + shift)).astype(float)

    (given, y), (new, truth) = of(train), of(test)
    model = estimator(loss).fit(train.X, y, covariates=given)
    predicted = model.predict(test.X, covariates=new)
    assert np.corrcoef(predicted, truth)[0, 1] > 0.8
    (reason,) = model.explain(test.X[:1], covariates=new[:1])[0]
    assert reason.parts["covariates"] != 0


@pytest.mark.parametrize("loss", LINKED)
def test_too_few_documents(loss, train, test):
    """With fewer than 40 there is nothing to fit a link on: the chain predicts."""
    model = estimator(loss).fit(train.X[:39], right(train, loss)[:39])
    assert not model.refitted_
    assert len(model.predict(test.X)) == len(test.X)


@pytest.mark.parametrize("loss", LINKED)
def test_targets_not_known(loss, train, test):
    y, hidden = right(train, loss).astype(float), np.arange(len(train.X)) % 3 == 0
    if loss in ORDERED:
        model = estimator(loss).fit(train.X, y, unlabelled=hidden)
    else:
        model = estimator(loss).fit(train.X, np.where(hidden, np.nan, y))
    assert model.refitted_
    assert np.corrcoef(model.predict(test.X), right(test, loss))[0, 1] > 0.5


def test_several_outputs(train, test):
    (loss,) = COUNT_LOSSES
    model = estimator(loss).fit(train.X, train.counts)
    assert model._link.own.shape == (2, 2)
    found = model.predict(test.X)
    assert np.corrcoef(np.log(found[:, 0]), np.log(test.rate))[0, 1] > 0.8
    assert np.corrcoef(found[:, 1], test.theta[:, 0])[0, 1] > 0.8
    assert model.predict_interval(test.X).shape == (len(test.X), 2, 2)

"""Predictions by the refit: on every kind of label, saved, resumed, in pipelines, on any number of threads; reasons."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from support.labelled import Documents, quick, quick_regressor, regressor
from topoi import MedLDAClassifier, load
from topoi.estimators.pilot import FEW, PILOTS, SWEEPS_OF_FEW, plan_pilots
from topoi.predict.reasons import PARTS

KINDS = ["two", "many", "several"]
N = 240


@pytest.fixture(scope="module")
def train():
    return Documents(N, 0)


@pytest.fixture(scope="module")
def test():
    return Documents(150, 1)


@pytest.fixture(scope="module")
def fitted(train):
    """A classifier of every kind of label."""
    return {kind: quick(refit=True).fit(train.X, getattr(train, kind)) for kind in KINDS}


@pytest.fixture(scope="module")
def numbers(train):
    return quick_regressor(refit=True, n_topics=8, n_sweeps=40).fit(train.X, train.number)


@pytest.mark.parametrize("kind", KINDS)
def test_labels(kind, fitted, test):
    """Even a poor chain predicts well: words have their say."""
    model, truth = fitted[kind], getattr(test, kind)
    assert model.refitted_
    scores, predicted, p = model.decision_function(test.X), model.predict(test.X), model.predict_proba(test.X)
    if kind == "two":
        np.testing.assert_array_equal(predicted, (scores > 0).astype(int))
        np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-scores)))
    elif kind == "many":
        np.testing.assert_array_equal(predicted, scores.argmax(1))
        np.testing.assert_array_equal(p.argmax(1), predicted)
        np.testing.assert_allclose(p.sum(1), 1)
    else:
        best = scores >= scores.max(1, keepdims=True)
        np.testing.assert_array_equal(predicted, (scores > 0) | best)  # every training document has a label
        assert predicted.any(1).all()
    assert f1_score(truth, predicted, average="micro") > 0.9
    assert p.shape == (len(test.X), 2 if kind == "two" else 5)


def test_a_document_may_have_no_label(train, test):
    """Where some training documents have none, no label is forced on a document."""
    y = train.several.copy()
    y[: len(y) // 2] = 0
    model = quick(refit=True).fit(train.X, y)
    np.testing.assert_array_equal(model.predict(test.X), model.decision_function(test.X) > 0)


def test_numbers(numbers, test):
    assert numbers.score(test.X, test.number) > 0.8
    bounds = numbers.predict_interval(test.X)
    inside = (bounds[:, 0] <= test.number) & (test.number <= bounds[:, 1])
    assert 0.8 < inside.mean() <= 0.99


def test_probabilities_are_calibrated():
    """Labels that are right four times of five are given a probability of about four fifths."""
    train, test = Documents(600, 2), Documents(600, 3)
    rng = np.random.default_rng(4)
    y, truth = (np.where(rng.random(len(d.two)) < 0.2, 1 - d.two, d.two) for d in (train, test))
    p = quick(refit=True).fit(train.X, y).predict_proba(test.X)
    chosen = p.argmax(1) == truth
    assert abs(p.max(1).mean() - chosen.mean()) < 0.05


@pytest.mark.parametrize("kind", [*KINDS, "number"])
def test_reasons_add_up(kind, fitted, numbers, test):
    model = numbers if kind == "number" else fitted[kind]
    some = test.X[:6]
    if kind == "number":
        scores = ((model.predict(some) - model._mean) / model._spread).reshape(len(some), -1)
    else:
        scores = model.decision_function(some).reshape(len(some), -1)
    for d, reasons in enumerate(model.explain(some, n_topics=99, n_words=99)):
        assert [reason.score for reason in reasons] == pytest.approx(scores[d].tolist(), abs=1e-5)
        for reason in reasons:
            assert tuple(reason.parts) == PARTS
            assert sum(reason.parts.values()) == pytest.approx(reason.score, abs=1e-6)
            assert sum(value for _, value, _ in reason.topics) == pytest.approx(reason.parts["topics"], abs=1e-6)
            assert sum(value for _, value in reason.words) == pytest.approx(reason.parts["topics"], abs=1e-6)
            assert sum(value for _, value in reason.own_words) == pytest.approx(reason.parts["words"], abs=1e-6)
            assert reason.parts["words"] != 0
            assert reason.parts["covariates"] == 0


def test_topics_alone(train, test):
    model = quick(refit=True, word_features=None, n_topics=8, n_sweeps=30).fit(train.X, train.many)
    assert model.word_weights_.size == 0
    assert model.score(test.X, test.many) > 0.8
    assert all(reason.parts["words"] == 0 for reason in model.explain(test.X[:1])[0])


def test_word_weights_speak_for_their_topic(fitted):
    """Words of a topic speak for the label that it has."""
    weights = fitted["many"].word_weights_
    by_topic = weights.reshape(5, 5, -1).mean(2)
    np.testing.assert_array_equal(by_topic.argmax(1), np.arange(5))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_strategies(strategy, train, test):
    model = quick(refit=True, strategy=strategy).fit(train.X, train.many)
    assert model.decision_function(test.X).shape == (len(test.X), 5)
    assert model.score(test.X, test.many) > 0.9
    reason = model.explain(test.X[:1], n_topics=99)[0][0]
    assert sum(value for _, value, _ in reason.topics) == pytest.approx(reason.parts["topics"], abs=1e-6)
    assert not model.estimators_[0].refitted_


def test_unlabelled_documents(train, test):
    mask = np.arange(N) % 3 == 0
    model = quick(refit=True).fit(train.X, np.where(mask, 9, train.many), unlabelled=mask)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.score(test.X, test.many) > 0.85


def test_several_outputs_some_unknown(train, test):
    y = train.numbers.copy()
    y[::4, 1] = np.nan
    model = quick_regressor(refit=True).fit(train.X, y)
    assert model.predict(test.X).shape == (len(test.X), 2)
    assert model.score(test.X, test.numbers) > 0.6


def test_weights_of_classes(train, test):
    """A heavier class is predicted more often, also where there are two."""
    y = np.where(np.random.default_rng(0).random(N) < 0.3, 1 - train.two, train.two)
    shares = [quick(refit=True, **more).fit(train.X, y).predict(test.X).mean()
              for more in ({}, {"positive_weight": 5.0}, {"class_weight": {0: 5.0, 1: 1.0}})]  # fmt: skip
    assert shares[2] < shares[0] < shares[1]


def test_few_documents_use_the_usual_settings(train, test):
    model = quick(refit=True).fit(train.X[:30], train.two[:30])
    assert model.refitted_
    assert model.score(test.X, test.two) > 0.7


@pytest.mark.parametrize("more", [{}, {"n_chains": 2}])
def test_same_bytes_for_any_number_of_threads(more, train, test):
    one, three = (quick(refit=True, n_jobs=n, **more).fit(train.X, train.several) for n in (1, 3))
    assert one.decision_function(test.X).tobytes() == three.decision_function(test.X).tobytes()
    assert one.word_weights_.tobytes() == three.word_weights_.tobytes()


def test_same_bytes_in_blocks(train, test, tmp_path):
    here = quick(refit=True, sampler="partial").fit(train.X, train.many)
    blocks = quick(refit=True, sampler="partial", engine="blocks").fit(train.X, train.many)
    assert here.decision_function(test.X).tobytes() == blocks.decision_function(test.X).tobytes()


@pytest.mark.parametrize("kind", [*KINDS, "number"])
def test_saved(kind, fitted, numbers, test, tmp_path):
    model = numbers if kind == "number" else fitted[kind]
    model.save(tmp_path / "model.topoi")
    again = load(tmp_path / "model.topoi")
    for method in ("predict", *(("predict_interval",) if kind == "number" else ("decision_function", "predict_proba"))):
        assert getattr(again, method)(test.X).tobytes() == getattr(model, method)(test.X).tobytes()


def test_resumed(train, test, tmp_path):
    """A fit that was stopped and goes on predicts the same, and so does one that had ended."""
    whole = quick(refit=True, n_sweeps=12).fit(train.X, train.many)

    def stop(progress):
        if progress.sweep == 5:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        quick(refit=True, n_sweeps=12, callbacks=[stop]).fit(train.X, train.many, checkpoint=tmp_path)
    for _ in range(2):
        again = quick(refit=True, n_sweeps=12).fit(train.X, train.many, checkpoint=tmp_path)
        assert again.decision_function(test.X).tobytes() == whole.decision_function(test.X).tobytes()


def test_callbacks_hear_of_models_alone(train):
    """Sweeps of pilots are not those of the model."""
    heard = []
    quick(refit=True, callbacks=[lambda progress: heard.append(progress.sweep)]).fit(train.X, train.two)
    assert heard == list(range(1, 7))


def test_a_stopped_fit_has_no_pilots(train, test):
    """Who stops a fit does not want to wait for more: it predicts with the usual settings."""
    heard = []

    class Watcher:
        hears_pilots = True

        def __call__(self, progress):
            heard.append(progress.n_sweeps)
            return progress.sweep == 3

    model = quick(refit=True, n_sweeps=1000, callbacks=[Watcher()]).fit(train.X, train.many)
    assert heard == [1000] * 3
    assert model.refitted_
    assert model.score(test.X, test.many) > 0.8


def test_stopped_pilots_are_not_believed(train, test):
    """A pilot that was stopped says nothing: the model is as if there had been none."""

    class Watcher:
        hears_pilots = True

        def __call__(self, progress):
            return progress.n_sweeps < 20

    usual = quick(refit=True, n_sweeps=20, callbacks=[lambda progress: progress.sweep == 19])
    model = quick(refit=True, n_sweeps=20, callbacks=[Watcher()]).fit(train.X, train.many)
    assert model._head.settings == usual.fit(train.X, train.many)._head.settings


def test_pilots_are_as_long_as_the_fit_was(train):
    """A fit that settles early, or is out of time, has shorter pilots; the time is that of both together."""
    heard = []

    class Watcher:
        hears_pilots = True

        def __call__(self, progress):
            heard.append(progress.n_sweeps)

    model = quick(refit=True, n_sweeps=100_000, max_seconds=1.0, callbacks=[Watcher()]).fit(train.X, train.many)
    assert model.stopped_ == "time"
    pilots = {n for n in heard if n != 100_000}
    assert pilots == {max(round(SWEEPS_OF_FEW * model.n_sweeps_), 1)}


def test_pipeline_and_search(train, test):
    pipeline = make_pipeline(FunctionTransformer(), MedLDAClassifier(4, n_sweeps=5, random_state=0))
    search = GridSearchCV(pipeline, {"medldaclassifier__word_features": ["tfidf", None]}, cv=2).fit(train.X, train.two)
    assert len(search.cv_results_["mean_test_score"]) == 2
    assert search.score(test.X, test.two) > 0.9


@pytest.mark.parametrize(("name", "value"), [("word_features", "bm25"), ("refit", "yes")])
def test_parameters_are_checked(name, value, train):
    with pytest.raises(ValueError, match=rf"^{name}: must be"):
        quick(**{name: value}).fit(train.X, train.two)


def test_pilots_set_aside_the_last_of_every_label():
    targets = np.where(np.arange(10_000)[:, None] < [1000, 9000], 1.0, -1.0)
    (pilot,) = plan_pilots(targets, 0)
    assert len(pilot.set_aside) == 2500
    assert not np.intersect1d(pilot.learned, pilot.set_aside).size
    np.testing.assert_array_equal(np.union1d(pilot.learned, pilot.set_aside), np.arange(10_000))
    for first, last in ((0, 1000), (1000, 9000), (9000, 10_000)):
        own = pilot.set_aside[(pilot.set_aside >= first) & (pilot.set_aside < last)]
        np.testing.assert_array_equal(own, np.arange(last - (last - first) // 4, last))


def test_pilots_of_few_documents_set_aside_all_in_turn():
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(FEW - 1, 1))
    targets[::7] = np.nan
    pilots = plan_pilots(targets, 0)
    assert len(pilots) == PILOTS
    together = np.concatenate([pilot.set_aside for pilot in pilots])
    np.testing.assert_array_equal(np.sort(together), np.flatnonzero(~np.isnan(targets[:, 0])))
    means = [np.nanmean(targets[pilot.set_aside]) for pilot in pilots]
    assert np.ptp(means) < 0.1  # every tenth of the targets is shared out
    assert plan_pilots(targets[:40], 0) == []


def test_numbers_are_drawn_for_pilots():
    """Neighbours that are alike, as the texts of one author, are not set aside together."""
    targets = np.repeat(np.arange(100.0), 100)[:, None]  # every author has one number
    (pilot,) = plan_pilots(targets, 0)
    shares = np.bincount(pilot.set_aside // 100, minlength=100)
    assert shares.min() >= 5
    assert shares.max() < 50
    assert not np.array_equal(pilot.set_aside, plan_pilots(targets, 1)[0].set_aside)


def test_held_out_share_of_a_regressor(train, test):
    """A share is set aside for intervals, whatever it is; 0 is a quarter."""
    for share in (0.0, 0.4):
        model = regressor(refit=True, held_out=share, n_sweeps=10, n_chains=1).fit(train.X, train.number)
        assert model.predict_interval(test.X).shape == (len(test.X), 2)

"""Losses of labels of which exactly one is right: the softmax, and labels in order."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import cross_val_score

import topoi
from support.cli_files import done
from support.kills import Killed, killer
from support.labelled import JOINT_LOSSES, WORDS, classifier, fitted_bytes, quick, refuse
from topoi import Checkpoints, MedLDAClassifier, NeverPredictedWarning
from topoi._disk.store import ModelError
from topoi.chain.responses import RESPONSES
from topoi.evaluate import evaluate
from topoi.report import write_report

ORDERED = [loss for loss in JOINT_LOSSES if RESPONSES[loss].ordered]
FREE = [loss for loss in JOINT_LOSSES if loss not in ORDERED]


def kind_of(loss):
    """Labels that a loss can learn."""
    return "stars" if loss in ORDERED else "many"


def right(documents, loss):
    return getattr(documents, kind_of(loss))


@pytest.fixture(scope="module")
def learned(train):
    return {loss: classifier(loss=loss).fit(train.X, right(train, loss)) for loss in JOINT_LOSSES}


@pytest.mark.parametrize("loss", JOINT_LOSSES)
@pytest.mark.parametrize("n_gibbs", [0, 2])
def test_two_classes(loss, n_gibbs, train, test):
    model = classifier(loss=loss, n_gibbs=n_gibbs).fit(train.X, train.two)
    assert model.topic_weights_.shape == (1, 8)
    assert model.decision_function(test.X).shape == (len(test.X),)
    assert model.score(test.X, test.two) > 0.9
    p = model.predict_proba(test.X)
    assert p.shape == (len(test.X), 2)
    np.testing.assert_array_equal(p.argmax(1), model.predict(test.X))
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-12)
    named = classifier(loss=loss, n_gibbs=n_gibbs).fit(train.X, np.array(["no", "yes"])[train.two])
    assert fitted_bytes(named, test.X) == fitted_bytes(model, test.X)


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_several_classes(loss, learned, test):
    model, truth = learned[loss], right(test, loss)
    n_tasks = 1 if loss in ORDERED else 5
    assert model.topic_weights_.shape == model.topic_weights_std_.shape == (n_tasks, 8)
    scores = model.decision_function(test.X)
    assert scores.shape == ((len(test.X),) if loss in ORDERED else (len(test.X), 5))
    p = model.predict_proba(test.X)
    np.testing.assert_array_equal(model.classes_[p.argmax(1)], model.predict(test.X))
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-12)
    assert model.score(test.X, truth) > (0.5 if loss in ORDERED else 0.9)
    own = p[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
    assert -np.log(own).mean() < 0.65 * np.log(5)
    assert own.mean() - p.max(1).mean() == pytest.approx(0, abs=0.25)


@pytest.mark.parametrize("loss", ORDERED)
def test_scores_follow_the_order(loss, learned, test):
    model = learned[loss]
    cuts = model.loss_parameters_
    assert cuts.shape == (10, 1, 4)
    assert (np.diff(cuts, axis=2) > 0).all()
    assert (cuts[0] != cuts[1]).all(), "samples differ"
    assert stats.spearmanr(model.decision_function(test.X), test.theta @ [1, -1, 2, -2, 0])[0] > 0.85
    assert np.abs(model.predict(test.X) - test.stars).mean() < 0.6
    (reason,) = model.explain(test.X[:1])[0]
    assert reason.label == 5


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_any_labels_in_the_same_order(loss, train, test, learned):
    expected = fitted_bytes(learned[loss], test.X)
    numbers = np.searchsorted(np.unique(right(train, loss)), right(train, loss))
    for called in (np.array(["a", "b", "c", "d", "e"]), np.array([-2.0, 0, 1, 7, 1e9])):
        model = classifier(loss=loss).fit(train.X, called[numbers])
        assert model.classes_.tolist() == called.tolist()
        assert fitted_bytes(model, test.X) == expected


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_documents_without_a_label(loss, hidden, train, test):
    y = right(train, loss)
    model = quick(loss=loss).fit(train.X, y, unlabelled=hidden)
    expected = fitted_bytes(model, test.X)
    assert fitted_bytes(quick(loss=loss).fit(train.X, np.where(hidden, 77, y), unlabelled=hidden), test.X) == expected
    assert fitted_bytes(quick(loss=loss).fit(train.X[~hidden], y[~hidden]), test.X) != expected


@pytest.mark.parametrize("loss", JOINT_LOSSES)
@pytest.mark.usefixtures("no_sampling")
def test_what_has_no_meaning_is_refused(loss, train):
    y = right(train, loss)
    refuse("loss", quick(loss=loss), "one label each", train.X, train.several)
    for strategy in ("ovr", "ovo"):
        refuse("strategy", quick(loss=loss, strategy=strategy), "multitask", train.X, y)
    refuse("positive_weight", quick(loss=loss, positive_weight=2.0), "must be None", train.X, y)
    if loss in ORDERED:
        refuse("class_weight", quick(loss=loss, class_weight="balanced"), "precision", train.X, y)


@pytest.mark.parametrize("loss", ORDERED)
@pytest.mark.usefixtures("no_sampling")
def test_too_many_labels_to_be_in_order(loss):
    y = np.tile(np.arange(1200), 2)
    refuse("y", quick(loss=loss), "1200 labels", np.ones((2400, 2), int), y)


@pytest.mark.parametrize("loss", FREE)
def test_weights_of_classes_are_powers(loss, train, test):
    """A weight of 2 for all is a cost twice as large, and a heavy class is thought likelier."""
    alike = {"loss": loss, "init": "random"}  # by default weights have a say in how chains begin
    double = quick(**alike, cost=3.0, class_weight=dict.fromkeys(range(5), 2.0)).fit(train.X, train.many)
    assert fitted_bytes(double, test.X) == fitted_bytes(quick(**alike, cost=6.0).fit(train.X, train.many), test.X)
    heavy = classifier(loss=loss, class_weight={0: 30.0}).fit(train.X, train.many)
    plain = classifier(loss=loss).fit(train.X, train.many)
    assert heavy.predict_proba(test.X)[:, 0].mean() > plain.predict_proba(test.X)[:, 0].mean() + 0.02


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_same_bytes_by_threads_and_by_engine(loss, train, test):
    y = right(train, loss)
    given = {"loss": loss, "sampler": "partial", "n_samples": 3}
    expected = fitted_bytes(quick(**given).fit(train.X, y), test.X)
    for more in ({"n_jobs": 2}, {"engine": "blocks"}, {"engine": "blocks", "n_jobs": 2}):
        assert fitted_bytes(quick(**given, **more).fit(train.X, y), test.X) == expected


@pytest.mark.parametrize("loss", JOINT_LOSSES)
@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(loss, engine, train, test, tmp_path):
    y = right(train, loss)
    given = {"loss": loss, "sampler": "partial", "engine": engine, "n_sweeps": 10, "n_samples": 3}
    whole = quick(**given).fit(train.X, y)
    with pytest.raises(Killed):
        quick(**given, callbacks=killer(8)).fit(train.X, y, checkpoint=Checkpoints(tmp_path, every_sweeps=2))
    resumed = quick(**given).fit(train.X, y, checkpoint=tmp_path)
    assert fitted_bytes(resumed, test.X) == fitted_bytes(whole, test.X)
    assert resumed.predict_proba(test.X).tobytes() == whole.predict_proba(test.X).tobytes()


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_saved(loss, learned, test, tmp_path):
    learned[loss].save(tmp_path / "model.topoi")
    back = topoi.load(tmp_path / "model.topoi")
    assert back.predict_proba(test.X).tobytes() == learned[loss].predict_proba(test.X).tobytes()
    assert back.target_ == learned[loss].target_


@pytest.mark.parametrize("loss", ORDERED)
@pytest.mark.parametrize("levels", [1e12, 2.5, -3.0, 4.0])
@pytest.mark.parametrize("cuts", ["kept", "as many"])
def test_a_file_with_another_number_of_levels_is_refused(loss, levels, cuts, learned, tmp_path):
    model = topoi.MedLDAClassifier(**learned[loss].get_params(deep=False))
    vars(model).update(vars(learned[loss]) | {"response_": type(learned[loss].response_)(levels=levels)})
    if cuts == "as many":
        own = np.zeros((5, 1, int(np.clip(levels - 1, 0, 9))))
        model._chains = [dataclasses.replace(chain, beside={"own": own}) for chain in model._chains]
    model.save(tmp_path / "model.topoi")
    with pytest.raises(ModelError):
        topoi.load(tmp_path / "model.topoi")


@pytest.mark.parametrize("loss", JOINT_LOSSES)
@pytest.mark.parametrize("two", [False, True])
def test_validation(loss, two, train, test):
    y, truth = (train.two, test.two) if two else (right(train, loss), right(test, loss))
    model = quick(loss=loss, n_sweeps=12).fit(train.X, y, validation=(test.X, truth))
    assert model.validation_measure_ == "accuracy"
    assert model.validation_traces_[0][-1, 1] == pytest.approx(model.score(test.X, truth))


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_evaluation_search_and_report(loss, learned, train, test, tmp_path):
    model, truth = learned[loss], right(test, loss)
    found = evaluate(model, test.X, truth, measures=["predictions"])
    assert found["accuracy"] == pytest.approx(model.score(test.X, truth))
    scores = cross_val_score(
        MedLDAClassifier(4, loss=loss, n_sweeps=6, random_state=0), train.X, right(train, loss), cv=2
    )
    assert np.isfinite(scores).all()
    page = tmp_path / "report.html"
    write_report(page, model, X=test.X[:30], y=truth[:30])
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_pictures(loss, learned):
    pytest.importorskip("matplotlib")
    from topoi import plot

    assert plot.weights(learned[loss]).figure is not None
    assert len(plot._weights.task_names(learned[loss])) == len(learned[loss].topic_weights_)


@pytest.mark.parametrize("loss", ORDERED)
def test_a_class_that_is_never_predicted_is_told_of(loss, train):
    """One document in the middle of the order."""
    y = np.where(train.stars > 3, 5, 1)
    y[0] = 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier(loss=loss).fit(train.X, y)
    (found,) = [w.message for w in caught if issubclass(w.category, NeverPredictedWarning)]
    assert (found.classes, found.counts) == ([3], [1])
    assert not any(f'"{name}"' in str(found) for name in JOINT_LOSSES)


@pytest.mark.parametrize("loss", JOINT_LOSSES)
def test_command_line(loss, train, tmp_path):
    lines = ["text,stars"] + [
        " ".join(np.repeat(WORDS, row)) + f",{label}" for row, label in zip(train.X, right(train, loss), strict=True)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(lines))
    options = ["--text", "text", "--label", "stars", "--topics", "6", "--sweeps", "10", "--max-df", "1.0"]
    options += ["--token-pattern", r"\w+"]  # these words have digits
    done("fit", tmp_path / "posts.csv", *options, "--loss", loss, "-o", tmp_path / "model")
    out = done("predict", tmp_path / "model", tmp_path / "posts.csv", "--proba", "--scores").stdout
    header = out.splitlines()[0].split(",")
    assert [name for name in header if name.startswith("score")] == (
        ["score"] if loss in ORDERED else [f"score:{label}" for label in range(5)]
    )
    assert sum(name.startswith("p:") for name in header) == 5
    shown = done("explain", tmp_path / "model", "--text", " ".join(WORDS[:12])).output
    assert "5, not 1: score" in shown or loss in FREE
    done("topics", tmp_path / "model")
    done("evaluate", tmp_path / "model", tmp_path / "posts.csv")
    assert loss in done("info").output

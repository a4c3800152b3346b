"""Fits with columns beside the topics, and with a loss that has parameters of its own: kept, saved, resumed, sent."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import topoi
from support.kills import Killed, killer
from support.labelled import Documents
from support.noisy import Noisy, with_columns
from topoi import Checkpoints, MedLDAClassifier, MedLDARegressor
from topoi._disk import store
from topoi._disk.schema import NUMBER
from topoi._disk.store import ModelError, Stored
from topoi.chain import checkpoint
from topoi.chain.checkpoint import CheckpointError
from topoi.chain.counts.shares import Design
from topoi.chain.responses import RESPONSES
from topoi.estimators import saved

DATA = Documents(220, seed=3)
QUICK = {"n_topics": 6, "n_sweeps": 12, "n_samples": 3, "sampler": "partial", "random_state": 0, "refit": False}
ENGINES = [None, "blocks"]


def some_columns(n_columns=20):
    rng, shape = np.random.default_rng(4), (len(DATA.X), n_columns)
    # Not sparse.random_array: SciPy 1.15 has given its argument another name.
    found = sparse.csc_array(rng.random(shape) * (rng.random(shape) < 0.2))
    found.sort_indices()
    start, doc = found.indptr.astype(np.int64), found.indices.astype(np.int32)
    return Design(start, doc, found.data.astype(np.float32), len(DATA.X))


@pytest.fixture
def columns(monkeypatch):
    """All fits have columns beside the topics."""
    with_columns(monkeypatch, some_columns(), 0.5)


@pytest.fixture
def noisy(monkeypatch):
    """Topoi has one loss more."""
    monkeypatch.setitem(RESPONSES, Noisy.name, Noisy)
    monkeypatch.setitem(
        saved.PARTS, "Noisy", Stored(Noisy, {field.name: NUMBER for field in dataclasses.fields(Noisy)})
    )


def labels(**more):
    return MedLDAClassifier(**QUICK | more), DATA.several


def numbers(**more):
    return MedLDARegressor(**QUICK | {"loss": "squared", "n_gibbs": 0} | more), DATA.numbers


def of_noise(**more):
    return MedLDARegressor(**QUICK | {"loss": "noisy"} | more), DATA.numbers


def learned(made, checkpoint=None):
    """All that the samples of a fit hold, as bytes."""
    model, y = made
    model.fit(DATA.X, y, checkpoint=checkpoint)
    arrays = [model.model_.counts.toarray(), model.doc_topic_]
    for chain in model._chains:
        arrays += [chain.weights, *(chain.beside[name] for name in sorted(chain.beside))]
    return [array.tobytes() for array in arrays], model


KINDS = {"labels": labels, "numbers": numbers, "noise": of_noise}


@pytest.mark.usefixtures("columns", "noisy")
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_same_bytes_by_threads_and_by_engine(make):
    expected, model = learned(make())
    (chain,) = model._chains
    assert chain.beside["columns"].shape == (3, len(model.topic_weights_), 20)
    assert (chain.beside["columns"][0] != chain.beside["columns"][1]).all(), "samples differ"
    assert ("own" in chain.beside) == (make is of_noise)
    if make is of_noise:
        assert chain.beside["own"].shape == (3, 2, 1)
        assert (chain.beside["own"] > 0).all()
    assert learned(make(n_jobs=2))[0] == expected
    assert learned(make(engine="blocks"))[0] == expected
    assert learned(make(engine="blocks", n_jobs=2))[0] == expected


@pytest.mark.usefixtures("columns", "noisy")
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_killed_and_resumed(engine, make, tmp_path):
    """Before the first sample and after it."""
    expected, _ = learned(make())
    for at in (5, 11):
        folder = tmp_path / str(at)
        with pytest.raises(Killed):
            learned(make(engine=engine, callbacks=killer(at)), Checkpoints(folder, every_sweeps=2))
        begun = []
        watch = [lambda progress, to=begun: to.append(progress.sweep)]
        assert learned(make(engine=engine, callbacks=watch), folder)[0] == expected
        assert min(begun) > 3


@pytest.mark.usefixtures("columns")
def test_other_columns_are_another_run(monkeypatch, tmp_path):
    def fit(**more):
        return learned(numbers(**more), Checkpoints(tmp_path, every_sweeps=2))

    with pytest.raises(Killed):
        fit(callbacks=killer(5))
    monkeypatch.undo()
    for other, nu in ((some_columns(21), 0.5), (some_columns(), 0.25), (None, 1.0)):
        with monkeypatch.context() as here:
            with_columns(here, other, nu)
            with pytest.raises(topoi.ParameterError, match="other documents, labels or settings"):
                fit()


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("fault", ["shape", "name", "missing", "samples", "dtype"])
def test_a_checkpoint_that_does_not_fit_is_refused(fault, tmp_path, monkeypatch):
    """Whole files that hold other columns: kernels would go by what they say."""
    with pytest.raises(Killed):
        learned(numbers(callbacks=killer(11)), Checkpoints(tmp_path, every_sweeps=2))
    (path,) = sorted(tmp_path.rglob("sweep-*10.topoi"))
    point = store.load(path, checkpoint.CLASSES)
    wrong = {
        "shape": {"beside": {"columns": point.beside["columns"][:, 1:].copy()}},
        "name": {"beside": {"own": point.beside["columns"]}},
        "missing": {"beside": {}},
        "samples": {"beside_samples": {"columns": point.beside_samples["columns"][:-1]}},
        "dtype": {"beside": {"columns": point.beside["columns"].astype(np.float64)}},
    }[fault]
    store.save(path, dataclasses.replace(point, **wrong), checkpoint.CLASSES)
    with pytest.raises(CheckpointError, match="does not hold a point of this run"):
        learned(numbers(), Checkpoints(tmp_path, every_sweeps=2))


def test_files_of_models_without_them_know_nothing_of_them(tmp_path):
    model, y = numbers()
    model.fit(DATA.X, y, checkpoint=Checkpoints(tmp_path, every_sweeps=4))
    model.save(tmp_path / "model.topoi")
    for path in tmp_path.rglob("*.topoi"):
        assert b"beside" not in path.read_bytes(), path
    assert not model._chains[0].beside


@pytest.mark.usefixtures("noisy")
def test_a_loss_with_parameters_predicts_and_is_saved(tmp_path):
    model, y = of_noise(n_chains=2)
    model.fit(DATA.X, y, validation=(DATA.X[:40], y[:40]))
    assert [chain.beside["own"].shape for chain in model._chains] == [(3, 2, 1)] * 2
    assert np.isfinite(model.validation_traces_[0]).all()
    mean, spread = model.predict(DATA.X, return_std=True)
    assert np.corrcoef(mean[:, 0], y[:, 0])[0, 1] > 0.8
    assert (spread > 0).all()
    model.save(tmp_path / "model.topoi")
    back = topoi.load(tmp_path / "model.topoi")
    assert back.predict_interval(DATA.X).tobytes() == model.predict_interval(DATA.X).tobytes()
    assert back._chains[1].beside["own"].tobytes() == model._chains[1].beside["own"].tobytes()


@pytest.mark.usefixtures("noisy")
@pytest.mark.parametrize("wrong", [{}, {"own": np.ones((3, 1, 1))}, {"own": np.full((3, 2, 1), np.nan)},
                                   {"own": np.ones((3, 2, 1), np.float32)},
                                   {"own": np.ones((3, 2, 1)), "columns": np.ones((3, 2, 4), np.float32)}])  # fmt: skip
def test_a_file_with_other_parameters_is_refused(wrong, tmp_path):
    model, y = of_noise()
    model.fit(DATA.X, y)
    model._chains[0].beside = wrong
    model.save(tmp_path / "model.topoi")
    with pytest.raises(ModelError, match="parameters of its loss"):
        topoi.load(tmp_path / "model.topoi")

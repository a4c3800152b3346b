"""A fit that is killed and goes on ends with the same bytes: every sampler, every loss, and whatever else happens."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from support.kills import Killed, killer
from support.labelled import LOSSES, REGRESSION_LOSSES, Documents
from support.places import GOLDEN, TESTS
from support.saved_models import answers
from support.variants import slow_but
from topoi import LDA, Checkpoints, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi._disk import store
from topoi._disk.schema import TEXT, Field
from topoi._disk.store import ModelError, Stored
from topoi.chain.checkpoint import CLASSES, CheckpointError, CheckpointWarning, Journal
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samples import Trace

TILTING = sorted(name for name, sampler in SAMPLERS.items() if sampler.tilts)
QUICK = {"n_topics": 3, "n_sweeps": 8, "n_samples": 3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return Documents(60, seed=3)


def check_resumed(make, fit, data, folder, at, every=3):
    """Killed after sweep `at`, with checkpoints after every third: the same as never killed."""
    through = fit(make())
    with pytest.raises(Killed):
        fit(make(callbacks=killer(at)), checkpoint=Checkpoints(folder, every_sweeps=every))
    begun = []
    watch = [lambda progress: begun.append(progress.sweep) if progress.chain == progress.model == 0 else None]
    resumed = fit(make(callbacks=watch), checkpoint=Checkpoints(folder, every_sweeps=every))
    assert min(begun) == (at - 1) // every * every + 1, "it did not begin anew"
    assert answers(resumed, data.X) == answers(through, data.X)
    assert [trace.tobytes() for trace in traces(resumed)] == [trace.tobytes() for trace in traces(through)]


def traces(model):
    return [trace for one in getattr(model, "estimators_", [model]) for trace in one.traces_]


@pytest.mark.parametrize(
    ("sampler", "at"), [("auto", 2), ("auto", 5), ("auto", 8), *((name, 5) for name in sorted(SAMPLERS))]
)
def test_every_sampler(sampler, at, data, tmp_path):
    check_resumed(
        lambda **more: LDA(**QUICK | {"sampler": sampler} | more),
        lambda model, **more: model.fit(data.X, **more), data, tmp_path, at,
    )  # fmt: skip


@pytest.mark.parametrize("sampler", ["auto", *TILTING])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_of_labels(loss, sampler, data, tmp_path):
    check_resumed(
        lambda **more: MedLDAClassifier(**QUICK | {"sampler": sampler, "loss": loss} | more),
        lambda model, **more: model.fit(data.X, data.many, **more), data, tmp_path, 5,
    )  # fmt: skip


@pytest.mark.parametrize("sampler", ["auto", *TILTING])
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_every_loss_of_numbers(loss, sampler, data, tmp_path):
    check_resumed(
        lambda **more: MedLDARegressor(**QUICK | {"sampler": sampler, "loss": loss, "n_gibbs": 0} | more),
        lambda model, **more: model.fit(data.X, data.numbers, **more), data, tmp_path, 7,
    )  # fmt: skip


SETTINGS = {
    "learned priors": {"doc_topic_prior": "learn", "topic_word_prior": "learn", "n_sweeps": 24},
    "all samples": {"burn_in": 0, "n_samples": 8},
    "chains": {"n_chains": 3},
    "threads": {"n_jobs": 2},
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings(settings, data, tmp_path):
    at = 14 if settings == "learned priors" else 5
    check_resumed(
        lambda **more: LDA(**QUICK | SETTINGS[settings] | more),
        lambda model, **more: model.fit(data.X, **more), data, tmp_path, at,
    )  # fmt: skip


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_strategies(strategy, data, tmp_path):
    check_resumed(
        lambda **more: MedLDAClassifier(**QUICK | {"strategy": strategy, "n_sweeps": 5} | more),
        lambda model, **more: model.fit(data.X, data.many, **more), data, tmp_path, 4,
    )  # fmt: skip


def test_unlabelled_and_held_out(data, tmp_path):
    hidden = np.arange(60) % 4 == 0
    check_resumed(
        lambda **more: MedLDAClassifier(**QUICK | more),
        lambda model, **more: model.fit(data.X, data.several, hidden, **more), data, tmp_path / "a", 5,
    )  # fmt: skip
    check_resumed(
        lambda **more: MedLDARegressor(**QUICK | {"held_out": 0.2} | more),
        lambda model, **more: model.fit(data.X, data.number, **more), data, tmp_path / "b", 5,
    )  # fmt: skip


def test_a_seed_that_was_drawn_is_kept(data, tmp_path):
    with pytest.raises(Killed):
        LDA(**QUICK | {"random_state": None, "callbacks": killer(5)}).fit(data.X, checkpoint=tmp_path)
    first, second = (LDA(**QUICK | {"random_state": None}).fit(data.X, checkpoint=str(tmp_path)) for _ in range(2))
    assert answers(first, data.X) == answers(second, data.X)
    (tmp_path / "seed.json").write_text("?")
    with pytest.raises(ParameterError, match=r"checkpoint: .*seed.json is damaged"):
        LDA(**QUICK | {"random_state": None}).fit(data.X, checkpoint=tmp_path)


def test_a_random_state_that_is_no_number(data, tmp_path):
    """It moves on with every draw; a fit that goes on has the seed that it had all the same."""
    state = np.random.RandomState(3)
    with pytest.raises(Killed):
        LDA(**QUICK | {"random_state": state, "callbacks": killer(5)}).fit(data.X, checkpoint=tmp_path)
    first, second = (LDA(**QUICK | {"random_state": state}).fit(data.X, checkpoint=tmp_path) for _ in range(2))
    assert answers(first, data.X) == answers(second, data.X)


@pytest.mark.parametrize(
    ("name", "value"), [("every_seconds", value) for value in (-1, "5", None, np.nan, True)]
    + [("every_sweeps", value) for value in (0, -3, 2.5, "5")]
)  # fmt: skip
def test_bad_intervals(name, value, tmp_path):
    with pytest.raises(ParameterError, match=f"^{name}: must be"):
        Checkpoints(tmp_path, **{name: value})


@pytest.mark.parametrize("random_state", [0, None])
def test_a_folder_that_cannot_be_made(random_state, data, tmp_path):
    """Told before the first sweep, not when the first checkpoint is due."""
    (tmp_path / "file").write_text("")
    seen = []
    model = LDA(**QUICK | {"random_state": random_state, "callbacks": [seen.append]})
    with pytest.raises((CheckpointError, ParameterError), match="file"):
        model.fit(data.X, checkpoint=tmp_path / "file")
    assert not seen


def test_a_finished_fit_is_not_run_again(data, tmp_path):
    first = LDA(**QUICK).fit(data.X, checkpoint=tmp_path)
    again = LDA(**QUICK | {"callbacks": killer(8)}).fit(data.X, checkpoint=tmp_path)
    assert answers(first, data.X) == answers(again, data.X)
    assert again.stopped_ == "finished"


def test_stopped_and_gone_on(data, tmp_path):
    """A budget that is used up leaves a checkpoint, whenever the last one was."""
    stopped = LDA(**QUICK | {"callbacks": [lambda progress: progress.sweep == 4]}).fit(data.X, checkpoint=tmp_path)
    assert stopped.n_sweeps_ == 4
    assert answers(LDA(**QUICK).fit(data.X, checkpoint=tmp_path), data.X) == answers(LDA(**QUICK).fit(data.X), data.X)


CHANGES = {
    "documents": lambda data: (LDA(**QUICK), data.X[:-1], None),
    "a word": lambda data: (LDA(**QUICK), data.X[:, ::-1], None),
    "topics": lambda data: (LDA(**QUICK | {"n_topics": 4}), data.X, None),
    "seed": lambda data: (LDA(**QUICK | {"random_state": 1}), data.X, None),
    "sweeps": lambda data: (LDA(**QUICK | {"n_sweeps": 9}), data.X, None),
    "prior": lambda data: (LDA(**QUICK | {"topic_word_prior": 0.02}), data.X, None),
    "sampler": lambda data: (LDA(**QUICK | {"sampler": "light"}), data.X, None),
    "labels": lambda data: (MedLDAClassifier(**QUICK), data.X, data.many),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_run_in_the_folder(change, data, tmp_path):
    LDA(**QUICK).fit(data.X, checkpoint=tmp_path)
    model, X, y = CHANGES[change](data)
    with pytest.raises(ParameterError, match="other documents, labels or settings"):
        model.fit(X, y, checkpoint=tmp_path)


def test_other_labels_or_settings_of_labels(data, tmp_path):
    MedLDAClassifier(**QUICK).fit(data.X, data.many, checkpoint=tmp_path)
    for settings, y in (({}, data.many[::-1]), ({"cost": 2.0}, data.many), ({"weight_prior": 2.0}, data.many)):
        with pytest.raises(ParameterError, match="other documents, labels or settings"):
            MedLDAClassifier(**QUICK | settings).fit(data.X, y, checkpoint=tmp_path)


@pytest.mark.parametrize("checkpoint", [3, b"x", ["folder"]])
def test_not_a_folder(checkpoint, data):
    with pytest.raises(ParameterError, match="checkpoint: must be a folder"):
        LDA(**QUICK).fit(data.X, checkpoint=checkpoint)


# ---- Files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def killed(data, tmp_path):
    """A folder with the last two checkpoints of a fit that was killed."""
    with pytest.raises(Killed):
        LDA(**QUICK | {"callbacks": killer(8)}).fit(data.X, checkpoint=Checkpoints(tmp_path, every_sweeps=2))
    files = sorted(tmp_path.rglob("sweep-*"))
    assert [file.name for file in files] == ["sweep-000000004.topoi", "sweep-000000006.topoi"]
    return files


DAMAGES = {
    "cut": lambda raw: raw[: len(raw) // 2],
    "empty": lambda raw: b"",
    "one byte": lambda raw: raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:],
    "foreign": lambda raw: b"hello",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_checkpoint(damage, killed, data, tmp_path):
    """The one before it is used, with a warning; the end is the same."""
    killed[1].write_bytes(DAMAGES[damage](killed[1].read_bytes()))
    begun = []
    watch = [lambda progress: begun.append(progress.sweep)]
    with pytest.warns(CheckpointWarning, match=r"sweep-000000006.topoi: .*; an earlier checkpoint is used"):
        model = LDA(**QUICK | {"callbacks": watch}).fit(data.X, checkpoint=tmp_path)
    assert begun[0] == 5
    assert answers(model, data.X) == answers(LDA(**QUICK).fit(data.X), data.X)


def priors_of(point, name, factor):
    return {"priors": {**point.priors, name: factor * point.priors[name]}}


LIES = {
    "a topic that there is not": lambda point: {"z": np.full_like(point.z, 3)},
    "too few tokens": lambda point: {"z": point.z[:-1]},
    "topics of another type": lambda point: {"z": point.z.astype(np.uint32)},
    "a negative prior": lambda point: priors_of(point, "topics.alpha", -1.0),
    "a prior of another length": lambda point: {
        "priors": {**point.priors, "topics.alpha": point.priors["topics.alpha"][:-1]}
    },
    "no β": lambda point: priors_of(point, "words.beta", 0.0),
    "no prior": lambda point: {"priors": {}},
    "a prior that there is not": lambda point: {"priors": {**point.priors, "words.gamma": np.ones(1)}},
    "a negative sweep": lambda point: {"sweep": -1},
    "counts of another shape": lambda point: {"counts": point.counts[:-1]},
    "shares of another shape": lambda point: {"shares": point.shares[:-1]},
    "no shares": lambda point: {"shares": None},
    "weights without labels": lambda point: {"eta": np.zeros((1, 3), np.float32)},
    "samples of weights without labels": lambda point: {"weights": [np.zeros((1, 3), np.float32)]},
    "half a trace": lambda point: {"trace_sweep": [*point.trace_sweep, 3]},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_checkpoint_that_lies(lie, killed, data, tmp_path):
    """With a checksum that fits: kernels would go by what it says, out of bounds. It is refused, and stays."""
    point = store.load(killed[1], CLASSES)
    store.save(killed[1], dataclasses.replace(point, **LIES[lie](point)), CLASSES)
    refused(killed, data, tmp_path, "does not hold a point of this run")


def refused(files, data, folder, why):
    """The fit ends with an error before its first sweep, and every file is as it was."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    seen = []
    with pytest.raises(CheckpointError, match=rf"{files[1].name}: .*{why}.*Nothing was changed"):
        LDA(**QUICK | {"callbacks": [seen.append]}).fit(data.X, checkpoint=folder)
    assert not seen
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_checkpoint_of_another_format(killed, data, tmp_path, monkeypatch):
    """One of a later topoi is not damaged: it must not be passed over, replaced or set aside."""
    point = store.load(killed[1], CLASSES)
    with monkeypatch.context() as patch:
        patch.setattr(store, "VERSION", store.VERSION + 1)
        patch.setattr(store, "__version__", "99.0")
        store.save(killed[1], point, CLASSES)
    refused(killed, data, tmp_path, "written by topoi 99.0, in a format that this version")


def test_a_checkpoint_with_a_field_that_is_not_known(killed, data, tmp_path):
    point = store.load(killed[1], CLASSES)
    more = {**CLASSES["Point"].fields, "tomorrow": TEXT}
    Later = dataclasses.make_dataclass("Point", more)
    later = Later(*(getattr(point, name) for name in CLASSES["Point"].fields), "x")
    store.save(killed[1], later, {"Point": Stored(Later, more)})
    refused(killed, data, tmp_path, "not damaged, but .* cannot read .*has no field 'tomorrow'")


def test_a_bug_in_reading_is_not_damage(killed, data, tmp_path, monkeypatch):
    """Whatever goes wrong with a file whose digest fits is ours: numpy 2.5 once made every checkpoint "damaged"."""

    def fail(value):
        raise TypeError("the type is not one that files have")

    fields = CLASSES["Point"].fields | {"z": Field("topics", fail)}
    monkeypatch.setitem(CLASSES, "Point", Stored(CLASSES["Point"].cls, fields))
    refused(killed, data, tmp_path, "not damaged, but .* the type is not one that files have")


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("checkpoints-*")), ids=lambda path: path.name)
def test_golden_checkpoint(folder, tmp_path):
    """A run that an earlier version began, on any system, goes on here (tests/golden/make.py)."""
    begun = json.loads((folder / "run.json").read_text("utf-8"))
    shutil.copytree(folder, tmp_path / "run")
    sweeps = []
    watch = [lambda progress: sweeps.append(progress.sweep) if progress.chain == 0 else None]
    estimator = {"LDA": LDA, "MedLDAClassifier": MedLDAClassifier}[begun["class"]]
    model = estimator(**begun["settings"], callbacks=watch)
    X, y = np.array(begun["X"]), begun["y"]
    model.fit(X, **({} if y is None else {"y": np.array(y)}), checkpoint=tmp_path / "run")
    assert sweeps[0] == begun["sweep"] + 1
    assert sweeps[-1] == begun["settings"]["n_sweeps"]
    np.testing.assert_array_equal(model.traces_[0][: len(begun["trace"])], begun["trace"])


def test_there_are_golden_checkpoints():
    assert len(list(GOLDEN.glob("checkpoints-*"))) >= 2


def test_all_damaged(killed, data, tmp_path):
    for file in killed:
        file.write_bytes(b"")
    with pytest.warns(CheckpointWarning):
        model = LDA(**QUICK).fit(data.X, checkpoint=tmp_path)
    assert answers(model, data.X) == answers(LDA(**QUICK).fit(data.X), data.X)


def test_new_checkpoints_stay_where_later_ones_were_damaged(killed, data, tmp_path):
    """They are the last good ones, though those of later sweeps lie beside them."""
    for file in killed:
        file.write_bytes(b"")
    with pytest.warns(CheckpointWarning, match="; the run begins anew"), pytest.raises(Killed):
        LDA(**QUICK | {"callbacks": killer(4)}).fit(data.X, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    begun = []
    model = LDA(**QUICK | {"callbacks": [lambda progress: begun.append(progress.sweep)]})
    model.fit(data.X, checkpoint=tmp_path)
    assert begun[0] == 4
    assert answers(model, data.X) == answers(LDA(**QUICK).fit(data.X), data.X)
    assert len(list(tmp_path.rglob("sweep-*.topoi"))) == 2


def test_a_disk_that_fails_now(killed, data, tmp_path, monkeypatch):
    """What cannot be read at the moment is not set aside: it may be whole."""
    load = store.load

    def fail(path, classes, mapped):
        if path == killed[1]:
            raise ModelError(f"{path}: cannot be read") from OSError(5, "Input/output error")
        return load(path, classes, mapped)

    with monkeypatch.context() as patch:
        patch.setattr(store, "load", fail)
        with pytest.warns(CheckpointWarning, match="an earlier checkpoint is used"), pytest.raises(Killed):
            LDA(**QUICK | {"callbacks": killer(5)}).fit(data.X, checkpoint=tmp_path)
    assert killed[1].exists()
    assert answers(LDA(**QUICK).fit(data.X, checkpoint=tmp_path), data.X) == answers(LDA(**QUICK).fit(data.X), data.X)


def test_a_fit_that_settled_is_not_run_again(data, tmp_path):
    settings = QUICK | {"n_sweeps": 200, "tol": 0.5}
    through = LDA(**settings).fit(data.X)
    assert through.stopped_ == "converged"
    for _ in range(3):
        model = LDA(**settings).fit(data.X, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
        assert (model.n_sweeps_, model.stopped_) == (through.n_sweeps_, "converged")
        assert answers(model, data.X) == answers(through, data.X)


def test_full_disk(killed, data, tmp_path, monkeypatch):
    before = killed[1].read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(
            CheckpointError, match=r"sweep-000000008.*No space left.*last good one is .*sweep-000000006"
        ):
            LDA(**QUICK).fit(data.X, checkpoint=tmp_path)
    assert killed[1].read_bytes() == before
    assert not list(tmp_path.rglob("*.new"))
    assert answers(LDA(**QUICK).fit(data.X, checkpoint=tmp_path), data.X) == answers(LDA(**QUICK).fit(data.X), data.X)


def test_small(data, tmp_path):
    """Before a sample is kept a checkpoint is the topics and a few numbers."""
    with pytest.raises(Killed):
        LDA(**QUICK | {"callbacks": killer(4)}).fit(data.X, checkpoint=Checkpoints(tmp_path, every_sweeps=3))
    (file,) = tmp_path.rglob("sweep-*")
    assert file.stat().st_size < 2 * data.X.sum() + 2000


def test_time(tmp_path):
    journal = Journal(tmp_path, "", every_seconds=1e6)
    assert not journal.due(1)
    journal.written -= 1e6
    assert journal.due(1)
    assert Journal(tmp_path, "", 1e9, every_sweeps=3).due(6)
    assert not Journal(tmp_path, "", 1e9, every_sweeps=3).due(7)


def test_settled():
    assert not Trace([1, 2, 3], [-100.0, -99.9, -99.9]).settled(0.01)
    assert Trace([1, 2, 3, 4], [-100.0, -99.9, -99.9, -99.8]).settled(0.01)
    assert not Trace([1, 2, 3, 4], [-100.0, -99.9, -95.0, -94.9]).settled(0.01)
    assert not Trace([1, 2, 3, 4, 5], [-100.0, -100.0, -100.0, -90.0, -90.0]).settled(0.01)


# ---- Processes -----------------------------------------------------------------------------------------------------

PROGRAM = textwrap.dedent(
    """
    import os, signal, sys, threading
    from support.labelled import Documents
    from topoi import Checkpoints, MedLDAClassifier

    folder, out, at, delay = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

    def watch(progress):
        if progress.sweep == at:  # the end comes from another thread, at whatever moment
            threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()

    data = Documents(60, seed=3)
    model = MedLDAClassifier(3, n_sweeps=400, n_samples=3, random_state=0, n_jobs=2, callbacks=[watch])
    model.fit(data.X, data.many, checkpoint=Checkpoints(folder, every_sweeps=1)).save(out)
    """
)


# After which sweep, and how many seconds later.
KILLS = [(5, 0.001), (60, 0.004), (130, 0.007)]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("kills", slow_but([KILLS[1:2]], [KILLS, KILLS[1:2]]), ids=["three times", "once"])
def test_sigkill(kills, tmp_path):
    """Killed at whatever moment; ends as if it had never been."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}

    def run(folder, at, delay=0.0):
        command = [sys.executable, "-c", PROGRAM, tmp_path / folder, tmp_path / f"{folder}.topoi", at, delay]
        return subprocess.run([str(part) for part in command], env=environment, check=False).returncode

    assert run("through", -1) == 0
    for at, delay in kills:
        assert run("killed", at, delay) == -signal.SIGKILL
    assert run("killed", -1) == 0
    assert (tmp_path / "killed.topoi").read_bytes() == (tmp_path / "through.topoi").read_bytes()

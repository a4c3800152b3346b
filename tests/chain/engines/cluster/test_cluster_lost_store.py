"""An object store that is lost under a fit: asked again for a while, and the same call goes on once it is back."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from support import object_store
from support.corpora import random_counts
from support.waiting import PATIENCE
from topoi import LDA, Checkpoints, ParameterError
from topoi._disk import patience, remote
from topoi._disk.patience import SilentStoreError, asked_again, patient
from topoi._disk.remote import locate
from topoi.chain.checkpoint import CheckpointError
from topoi.chain.engines.cluster import EngineError
from topoi.errors import MissingObjectError, StorageError

X = random_counts(300, 200, 60, seed=2)
QUICK = {"n_topics": 5, "n_sweeps": 8, "n_samples": 1, "burn_in": 6, "sampler": "partial", "random_state": 0}


def fit(checkpoint=None, **more):
    return LDA(**QUICK | more).fit(X, checkpoint=checkpoint)


def said(model):
    return model.components_.tobytes(), np.asarray(model.doc_topic_).tobytes()


@pytest.fixture(scope="module")
def expected():
    return said(fit())


@pytest.fixture
def server(monkeypatch, own_cache):
    with object_store.running() as server:
        object_store.use(monkeypatch, server.address)
        yield server


@pytest.fixture
def cluster(server, own_cache):
    """A worker with a cache of its own."""
    distributed = pytest.importorskip("distributed")
    env = {"TOPOI_CACHE": str(own_cache.with_name("other"))}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, env=env, dashboard_address=":0"
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        yield client


@pytest.fixture
def engine(request):
    return request.getfixturevalue("cluster") if request.param == "dask" else request.param


engines = pytest.mark.parametrize(
    "engine", [None, "blocks", pytest.param("dask", marks=pytest.mark.slow)], indirect=True
)


@engines
def test_a_server_that_is_away_for_a_while(engine, server, expected):
    """Long enough for the package of the store to give up: it tries for two seconds."""
    asked = threading.Event()

    def leave(progress):
        if progress.sweep == 4:
            server.stop()
            asked.set()
            threading.Timer(4.0, server.start).start()

    url = object_store.new_bucket()
    assert said(fit(Checkpoints(url, every_sweeps=2), engine=engine, callbacks=[leave])) == expected
    assert asked.is_set()


@engines
def test_a_server_that_does_not_come_back(engine, server, expected, monkeypatch):
    if engine not in (None, "blocks"):
        # Not `os.environ.update`: with a method its object goes to the worker, which would set a copy of our variables.
        engine.run(lambda: os.environ.update({"TOPOI_STORE_SECONDS": "1"}))
    monkeypatch.setenv("TOPOI_STORE_SECONDS", "1")
    url = object_store.new_bucket()
    says = r"the store cannot be reached.*; asked again for 1 seconds \(TOPOI_STORE_SECONDS\)"
    with pytest.raises((EngineError, CheckpointError), match=says) as caught:
        fit(
            Checkpoints(url, every_sweeps=3),
            engine=engine,
            callbacks=[lambda p: server.stop() if p.sweep == 5 else None],
        )
    assert url in str(caught.value)
    server.start()
    begun = []
    model = fit(url, engine=engine, callbacks=[lambda progress: begun.append(progress.sweep)])
    assert said(model) == expected
    assert begun[0] == 4


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_while_a_store_is_silent(n_jobs, memory, monkeypatch):
    """It need not be pressed twice: a sweep that waits may never end."""
    import fsspec

    monkeypatch.setenv("TOPOI_STORE_SECONDS", str(PATIENCE))
    url_to_fs, silent, pressed = fsspec.core.url_to_fs, threading.Event(), threading.Event()

    def lost(*given, **more):
        if not silent.is_set():
            return url_to_fs(*given, **more)
        if not pressed.is_set():
            pressed.set()
            signal.raise_signal(signal.SIGINT)
        raise ConnectionResetError("gone")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lost)
    leave = [lambda progress: silent.set() if progress.sweep == 4 else None]
    with pytest.raises(KeyboardInterrupt):
        fit(memory, engine="blocks", n_jobs=n_jobs, callbacks=leave)
    assert pressed.is_set()
    silent.clear()


# ---- How it is asked again -------------------------------------------------------------------------------------------


class Silent:
    """A store that is silent some times."""

    def __init__(self, times, error=SilentStoreError):
        self.times, self.error, self.asked = times, error, 0

    def __call__(self):
        self.asked += 1
        if self.asked <= self.times:
            raise self.error("no answer")
        return "answer"


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(patience, "FIRST", 1e-3)


@pytest.mark.usefixtures("quick")
def test_asked_until_there_is_an_answer():
    store = Silent(4)
    with patient():
        assert asked_again(store)() == "answer"
    assert store.asked == 5


def test_whoever_begins_hears_of_it_at_once():
    store = Silent(1)
    with pytest.raises(SilentStoreError):
        asked_again(store)()
    assert store.asked == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("error", [StorageError, MissingObjectError])
def test_what_would_not_change_is_asked_once(error):
    store = Silent(1, error)
    with patient(), pytest.raises(error):
        asked_again(store)()
    assert store.asked == 1


@pytest.mark.usefixtures("quick")
def test_a_wait_for_a_store_hears_a_stop():
    def stop():
        raise KeyboardInterrupt

    with patient(stop), pytest.raises(KeyboardInterrupt):
        asked_again(Silent(1))()


@pytest.mark.parametrize("given", ["soon", "-1", "nan"])
def test_how_long_is_a_number(given, monkeypatch):
    monkeypatch.setenv("TOPOI_STORE_SECONDS", given)
    with patient(), pytest.raises(ParameterError, match="TOPOI_STORE_SECONDS: must be a number of seconds"):
        asked_again(Silent(1))()


def test_all_that_is_asked_of_a_store(memory, monkeypatch, tmp_path):
    """Each question is asked again, and done once."""
    import fsspec

    monkeypatch.setattr(patience, "FIRST", 1e-3)
    url_to_fs, calls = fsspec.core.url_to_fs, []

    def every_other(*given, **more):
        calls.append(given)
        if len(calls) % 2:
            raise ConnectionResetError("gone")
        return url_to_fs(*given, **more)

    monkeypatch.setattr(fsspec.core, "url_to_fs", every_other)
    place, file = locate(memory), tmp_path / "file"
    with patient():
        remote.put_bytes(place / "a", b"one")
        file.write_bytes(b"two")
        remote.put(place / "b", file)
        remote.fetch(place / "b", tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == b"two"
        assert remote.read(place / "a") == b"one"
        assert remote.size(place / "a") == 3
        assert remote.below(place) == {"a": 3, "b": 3}
        remote.remove(place, (name for name in ("a", "b")))
        assert remote.below(place) == {}
    assert len(calls) == 2 * 8

"""What an operator of a cluster sees and meets: bytes, names of tasks, workers that come and go, or want memory."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import os
import re
import subprocess
import sys
import time
import types

import numpy as np
import pytest

from support.corpora import random_counts
from support.tasks import Faults
from support.waiting import PATIENCE, wait_until
from topoi import LDA, Checkpoints
from topoi.chain.engines.cluster import EngineError, _engine, _meet, _names, _stamp
from topoi.chain.engines.cluster._faults import size_in_words
from topoi.chain.engines.cluster._stamp import code_stamp, differences
from topoi.chain.engines.cluster._views import group_corpus

X = random_counts(300, 200, 60, seed=2)
QUICK = {"n_topics": 6, "n_sweeps": 12, "n_samples": 1, "sampler": "partial", "random_state": 0}
posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def fit(checkpoint=None, **more):
    return LDA(**QUICK | more).fit(X, checkpoint=checkpoint)


def said(model):
    return model.components_.tobytes(), np.asarray(model.doc_topic_).tobytes()


@pytest.fixture(scope="module")
def expected():
    return said(fit())


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    return Faults(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def cluster(faults):
    """Two worker processes, of which a task may cost two."""
    distributed = pytest.importorskip("distributed")
    import dask

    settings = {"distributed.deploy.lost-worker-timeout": "10 minutes", "distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", preload=[str(faults.preload)], dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster, faults):
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client
        faults.end()


# ---- Bytes -----------------------------------------------------------------------------------------------------------


class Files:
    """A callback that adds up the files of each sweep, and the checkpoint before it, as they lie in the folder."""

    def __init__(self, folder):
        self.folder, self.told, self.there = folder, [], []

    def __call__(self, progress):
        self.told.append(progress)
        before, now = (f"sweep-{progress.sweep - ago:09d}" for ago in (1, 0))
        sizes = {path: path.stat().st_size for path in self.folder.rglob("*") if path.is_file()}
        self.there.append(sum(
            size for path, size in sizes.items()
            if path.parent.name == now
            or (path.parent.name == before and path.name.startswith(("factor-", "scale")))
            or path.name == f"{before}.topoi"
        ))  # fmt: skip


@pytest.mark.parametrize("engine", ["blocks", "dask"])
def test_bytes_written_are_those_of_the_files(engine, tmp_path, request):
    files = Files(tmp_path)
    engine = request.getfixturevalue("client") if engine == "dask" else engine
    fit(Checkpoints(tmp_path, every_sweeps=1), engine=engine, n_sweeps=6, burn_in=5, callbacks=[files])
    assert [progress.bytes_written for progress in files.told[1:-1]] == files.there[1:-1]
    assert min(files.there) > X.sum()  # a byte for each topic, and counts
    assert files.told[0].bytes_written > files.told[1].bytes_written, "the first topics, and what all tasks read"


def test_bytes_read():
    """The topics that are moved, the counts of them, and φ, which is mapped, once."""
    told = []
    fit(engine="blocks", n_jobs=1, n_sweeps=6, burn_in=5, callbacks=[told.append])
    least, most = X.sum() + X.shape[1] * QUICK["n_topics"] * 4, sum(p.bytes_written for p in told)
    assert all(least < progress.bytes_read < most for progress in told)


def test_nothing_is_moved_in_memory():
    told = []
    fit(n_sweeps=2, callbacks=[told.append])
    assert [(progress.bytes_read, progress.bytes_written) for progress in told] == [(0, 0)] * 2


# ---- Names -----------------------------------------------------------------------------------------------------------


def test_every_kind_of_task_has_a_name():
    rounds = (
        r"self\._(?:groups|shards|map|spans)\(\s*(?:(?:self\.state\.sweep|sweep|before \+ 1),\s*)?(?:_\w+\.)?([a-z]\w*)"
    )
    tasks = set(re.findall(rounds, inspect.getsource(_engine))) - {"task"}
    assert len(tasks) > 15
    assert tasks == set(_names.NAMES) - {"revise"} | ({"revise"} & tasks)
    assert all(name.replace(" ", "").isalpha() for name in _names.NAMES.values())


def test_dask_puts_tasks_together_by_what_they_do(client):
    keys = []
    record = [lambda progress: keys.append(progress.sweep)]
    fit(engine=client, n_sweeps=3, callbacks=record)
    prefixes = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    ours = {prefix for prefix in prefixes if prefix.startswith("topoi")}
    assert {"topoi first topics", "topoi counts and φ", "topoi topics", "topoi log joint of words"} <= ours
    assert ours <= {f"topoi {name}" for name in _names.NAMES.values()} | {"topoi first worker"}


def test_the_sweep_is_in_the_name_of_a_task():
    from dask.utils import key_split

    keys = [key for sweep in (7, 12) for key in _names.keys("draw", sweep, 2)]
    assert len(set(keys)) == 4
    assert [key.split("-")[1] for key in keys] == ["7", "7", "12", "12"]
    assert {key_split(key) for key in keys} == {"topoi counts and φ"}


# ---- Workers that come and go ----------------------------------------------------------------------------------------


def test_an_adaptive_cluster(expected):
    """It has no worker before the fit, nor in the middle of it."""
    distributed = pytest.importorskip("distributed")

    def workers(client):
        return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.workers))

    with (
        distributed.LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        cluster.adapt(minimum=0, maximum=2, interval="100ms", wait_count=2, target_duration="1ms")
        assert workers(client) == 0

        def come_and_go(progress):
            if progress.sweep == 4:
                wait_until(lambda: workers(client) == 0, "all workers have gone")
            if progress.sweep == 8:
                others = client.map(time.sleep, [0.2] * 50, pure=False)
                wait_until(lambda: workers(client) == 2, "there is work for two workers")
                client.cancel(others)

        assert said(fit(engine=client.scheduler.address, callbacks=[come_and_go])) == expected


# ---- Workers that want memory ----------------------------------------------------------------------------------------

ENDED = (
    r"tasks of sweep 7, “topics”, have ended 2 workers; the last was tcp://\S+ \(1 thread, 1 GB of memory\)\. As a "
    r"rule they want more memory .*--memory-limit.*--nthreads.*with .*checkpoint=folder.* goes on"
)


@posix
@pytest.mark.parametrize("what", ["kill", pytest.param("eat", marks=pytest.mark.slow)])  # workers have to start
def test_workers_that_are_ended_again_and_again(what, client, faults, expected, tmp_path):
    """By the system, or by Dask's nanny, for want of memory."""
    with pytest.raises(EngineError, match=ENDED):
        fit(Checkpoints(tmp_path, every_sweeps=2), engine=client, callbacks=[faults.at(6, what)])
    faults.end()
    begun = []
    assert said(fit(tmp_path, engine=client, callbacks=[lambda p: begun.append(p.sweep)])) == expected
    assert begun[0] == 7


def hold(place, dask_worker):
    """In a worker: use as much memory as makes Dask pause it, in the groups that are kept open, or elsewhere."""
    n_bytes = int(0.87 * dask_worker.memory_manager.memory_limit) - dask_worker.monitor.get_process_memory()
    held = types.SimpleNamespace(n_tokens=0, n_words=0, held=np.ones(n_bytes, np.uint8))
    if place == "groups":
        group_corpus.corpora["somebody", 0] = held
    else:
        builtins.held_by_a_test = held


def let_go():
    vars(builtins).pop("held_by_a_test", None)


def paused(client):
    there = client.run_on_scheduler(lambda dask_scheduler: [ws.status.name for ws in dask_scheduler.workers.values()])
    return len(there) == 2 and set(there) == {"paused"}


def test_paused_workers_give_back_memory(client, expected):
    """What they keep to save time; Dask would give them no task any more, and the fit would wait without end."""

    def fill(progress):
        if progress.sweep == 3:
            client.run(hold, "groups")
            wait_until(lambda: paused(client), "Dask has paused both workers")

    assert said(fit(engine=client, callbacks=[fill])) == expected


@pytest.mark.slow
def test_workers_that_stay_paused(client, expected, tmp_path):
    import dask

    def fill(progress):
        if progress.sweep == 6:
            client.run(hold, "elsewhere")
            wait_until(lambda: paused(client), "Dask has paused both workers")

    says = (
        r"Dask has paused all 2 workers: the worker tcp://\S+ \(1 threads, 1 GB of memory\) .*--memory-limit.* goes on"
    )
    try:
        with dask.config.set({"topoi.workers-timeout": "1s"}), pytest.raises(EngineError, match=says):
            fit(Checkpoints(tmp_path, every_sweeps=2), engine=client, callbacks=[fill])
    finally:
        client.run(let_go)
    wait_until(lambda: not paused(client), "they have memory again")
    assert said(fit(tmp_path, engine=client)) == expected


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "an unknown size"), (None, "an unknown size"), (999, "999 B"), (1e9, "1 GB"), (2**29, "537 MB")],
)
def test_sizes_in_words(n, words):
    assert size_in_words(n) == words


# ---- Full disks ------------------------------------------------------------------------------------------------------


def test_a_full_disk_of_a_worker(client, faults, expected, tmp_path):
    disk = re.escape(str(tmp_path))
    says = rf"move failed on tcp://\S+ on .*No space left on device; make room on the disk of {disk}.* goes on"
    with pytest.raises(EngineError, match=says):
        fit(Checkpoints(tmp_path, every_sweeps=2), engine=client, callbacks=[faults.at(6, "fill")])
    faults.end()
    assert said(fit(tmp_path, engine=client)) == expected


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MB of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("engine", ["blocks", "dask"])
def test_a_disk_that_is_full(engine, small_disk, expected, request):
    """Really."""
    engine = request.getfixturevalue("client") if engine == "dask" else engine
    run, rest = small_disk / "run", small_disk / "of somebody else"

    def fill(progress):
        if progress.sweep == 6:
            with rest.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(2**12))

    says = rf"failed on .*No space left on device; make room on the disk of {re.escape(str(small_disk))}.* goes on"
    with pytest.raises(EngineError, match=says):
        fit(Checkpoints(run, every_sweeps=5), engine=engine, callbacks=[fill])
    rest.unlink()
    begun = []
    assert said(fit(run, engine=engine, callbacks=[lambda p: begun.append(p.sweep)])) == expected
    assert begun[0] == 6


# ---- Versions --------------------------------------------------------------------------------------------------------


def test_differences_are_named():
    ours = code_stamp()
    theirs = re.sub(r"numpy [^,]*", "numpy 1.0", re.sub(r"source \w+", "source 0123", ours)).replace(
        ", scipy", ", scipi"
    )
    found = differences(theirs, ours).split("; ")
    assert [text.split(" is ")[0] for text in found] == ["the source of topoi", "numpy", "scipi"]
    assert found[1] == f"numpy is 1.0 there and {np.__version__} here"


def test_other_versions_are_told_before_the_first_task(cluster, client, monkeypatch, tmp_path):
    """With the name of the worker, and of what differs there."""

    def lie():
        from topoi.chain.engines.cluster import _stamp

        _stamp.version = lambda package: "0.1" if package == "numba" else "2.0"
        _stamp.code_stamp.cache_clear()

    def tell_the_truth():
        from importlib import metadata

        from topoi.chain.engines.cluster import _stamp

        _stamp.version = metadata.version
        _stamp.code_stamp.cache_clear()

    worker = next(iter(client.run(os.getpid)))
    client.run(lie, workers=[worker])
    monkeypatch.setattr("topoi.chain.engines.cluster._workers.Dask.map", None)  # no task is begun
    try:
        with pytest.raises(EngineError) as caught:
            fit(tmp_path, engine=client)
    finally:
        client.run(tell_the_truth, workers=[worker])
    assert str(caught.value).startswith(f"the worker {worker} runs other code than the driver")
    assert f"numba is 0.1 there and {_stamp.version('numba')} here" in str(caught.value)
    assert "Python" not in str(caught.value).split("(it has")[0]
    assert not list(tmp_path.rglob("blocks"))


def test_a_worker_that_cannot_say_what_it_runs(client, monkeypatch):
    monkeypatch.setattr(_meet, "_ask", lambda client, limit, what, *_: {"tcp://a:1": AttributeError("code_stamp")})
    monkeypatch.setattr(_meet, "code_stamp", lambda: "topoi 1")
    with pytest.raises(
        EngineError, match=r"the worker tcp://a:1 cannot say what it runs \(AttributeError: code_stamp\)"
    ):
        _meet.check_workers(client)


def test_a_worker_that_goes_while_it_is_asked(monkeypatch):
    """As those of an adaptive cluster do, which have nothing to do yet."""
    asked = []

    def ask(client, limit, *what):
        asked.append(what)
        return {"tcp://a:1": OSError("Stream is closed")}

    monkeypatch.setattr(_meet, "_ask", ask)
    _meet.check_workers(None)
    assert len(asked) == 2

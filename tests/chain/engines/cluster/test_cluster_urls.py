"""Fits whose folder is at a URL: workers that share no disk, killed or not, end with the bytes of a fit in memory."""

from __future__ import annotations

import os
import signal
import sys
import threading

import numpy as np
import pytest

from support import object_store
from support.corpora import random_counts
from support.kills import Killed, killer
from support.labelled import Documents
from support.object_store import SECRET, change, objects
from support.variants import slow_but
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier, ParameterError
from topoi._disk import anywhere, remote, safetensors
from topoi._disk.remote import locate
from topoi.chain.checkpoint import CheckpointError, CheckpointWarning
from topoi.chain.engines.cluster import EngineError, _workers
from topoi.chain.engines.cluster._job import Layout, read_part
from topoi.chain.samplers import SAMPLERS
from topoi.errors import StorageError

PARALLEL = sorted(name for name, sampler in SAMPLERS.items() if sampler.spreads())
X = random_counts(300, 200, 60, seed=2)
LABELLED = Documents(220, seed=3)
QUICK = {"n_topics": 5, "n_sweeps": 10, "n_samples": 2, "burn_in": 4, "sampler": "partial", "random_state": 0}
FITS = {
    **{name: lambda name=name, **more: (LDA(**QUICK | {"sampler": name} | more), X, {}) for name in PARALLEL},
    "sparse": lambda **more: (LDA(**QUICK | {"sampler_options": {"dense_up_to": 0}} | more), X, {}),
    "learned priors": lambda **more: (
        LDA(**QUICK | {"doc_topic_prior": "learn", "topic_word_prior": "learn"} | more), X, {}),
    "labels": lambda **more: (MedLDAClassifier(**QUICK | more), LABELLED.X, {"y": LABELLED.several}),
    "covariates": lambda **more: (LDA(**QUICK | more), X, {"covariates": {"year": np.arange(X.shape[0]) % 7}}),
    "seeds": lambda **more: (LDA(**QUICK | {"seeds": {"one": [2, 5], "two": [5, 40]}} | more), X, {}),
    "number of topics": lambda **more: (LDA(**QUICK | {"n_topics": "auto", "n_sweeps": 30} | more), X, {}),
}  # fmt: skip


def fit(name, checkpoint=None, X=None, **more):
    model, documents, beside = FITS[name](**more)
    return model.fit(documents if X is None else X, checkpoint=checkpoint, **beside)


def said(model):
    """All that a fit says of its topics and documents."""
    return model.components_.tobytes(), np.asarray(model.doc_topic_).tobytes(), [t.tobytes() for t in model.traces_]


@pytest.fixture(scope="module")
def expected():
    """What a fit in memory says."""
    found = {}
    return lambda name: found.setdefault(name, said(fit(name))) if name not in found else found[name]


def test_several_parts():
    """There is something to put together."""
    layout = Layout.of(Corpus.from_counts(X), 5)
    assert min(layout.n_groups, layout.n_shards) >= 2


@pytest.mark.parametrize("name", slow_but(["partial", "expected", "polya_urn", "labels"], FITS))
def test_blocks(name, memory, expected):
    assert said(fit(name, memory, engine="blocks")) == expected(name)


def test_blocks_on_s3(s3, expected):
    """Of a corpus that is in the store as well."""
    Corpus.from_counts(X).save(f"{s3}/corpus")
    model = fit("partial", Checkpoints(f"{s3}/run", every_sweeps=4), X=f"{s3}/corpus", engine="blocks")
    assert said(model) == expected("partial")
    kept = {name: remote.read(locate(s3) / name) for name in objects(s3)}
    assert len(kept) > 20
    assert not any(SECRET.encode() in data for data in kept.values())


@pytest.mark.parametrize("name", slow_but(["partial", "seeds"], FITS))
def test_nobody_has_copies(name, memory, expected, monkeypatch):
    """What a task has not written itself it fetches, of large files the arrays that it needs."""
    named = []

    def fetch(place, names):
        named.append(safetensors.fetch_named(place, names))
        return named[-1]

    monkeypatch.setattr(safetensors, "WHOLE", 0)
    monkeypatch.setattr(safetensors, "HEAD", 100)
    monkeypatch.setattr(anywhere, "held", lambda key: False)
    monkeypatch.setattr(anywhere, "fetch_named", fetch)
    assert said(fit(name, memory, engine="blocks")) == expected(name)
    assert named
    assert None not in named


@pytest.mark.parametrize(("sampler", "options"), [("delayed", {"dense_up_to": 0}), ("ad_lda", {})])
def test_opened_once_for_several_groups(sampler, options, monkeypatch):
    """What follows from all rows of φ is made once in a task."""
    settings = QUICK | {"sampler": sampler, "sampler_options": options}
    made, factor = [], SAMPLERS[sampler].factor_class
    opened = factor.opened
    monkeypatch.setattr(factor, "opened", lambda self: made.append(self.name) or opened(self))
    assert said(LDA(**settings, engine="blocks").fit(X)) == said(LDA(**settings).fit(X))
    layout = Layout.of(Corpus.from_counts(X), QUICK["n_topics"])
    assert 0 < len(made) < QUICK["n_sweeps"] * layout.n_groups


def test_nothing_is_left_but_checkpoints(memory):
    fit("partial", Checkpoints(memory, every_sweeps=2), engine="blocks")
    run = [name.split("/") for name in objects(memory)]
    assert {parts[1] for parts in run if len(parts) == 2} == {"sweep-000000008.topoi", "sweep-000000010.topoi"}
    assert len({parts[2] for parts in run if "blocks" in parts}) == 1
    folders = {parts[3] for parts in run if len(parts) == 5}
    assert folders == {"sweep-000000008", "sweep-000000010", "shares-000000007", "shares-000000010"}


def test_in_memory(memory, expected):
    """A fit without an engine has its checkpoints there, too."""
    with pytest.raises(Killed):
        fit("partial", Checkpoints(memory, every_sweeps=2), callbacks=killer(7))
    assert objects(memory) == [f"model-0-chain-0/sweep-00000000{n}.topoi" for n in (4, 6)]
    begun = []
    model = fit("partial", memory, callbacks=[lambda progress: begun.append(progress.sweep)])
    assert said(model) == expected("partial")
    assert begun[0] == 7


# ---- Killed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(["partial", "labels"], FITS))
def test_killed_and_resumed(name, memory, expected, own_cache, monkeypatch):
    """Also on another machine, whose cache is empty."""
    begun = []
    with pytest.raises(Killed):
        fit(name, Checkpoints(memory, every_sweeps=2), engine="blocks", callbacks=killer(8))
    monkeypatch.setenv("TOPOI_CACHE", str(own_cache.with_name("other")))
    for _ in range(2):  # the second time there is nothing left to do
        watch = [lambda progress: begun.append(progress.sweep)]
        assert said(fit(name, memory, engine="blocks", callbacks=watch)) == expected(name)
    assert min(begun) == 7
    assert max(begun.count(sweep) for sweep in begun) == 1


def test_a_seed_that_was_drawn(memory):
    with pytest.raises(Killed):
        fit("partial", Checkpoints(memory, every_sweeps=2), random_state=None, callbacks=killer(5))
    models = [fit("partial", memory, random_state=None) for _ in range(2)]
    assert said(models[0]) == said(models[1])
    remote.put_bytes(locate(memory) / "seed.json", b"x")
    with pytest.raises(ParameterError, match=f"checkpoint: {memory}/seed.json is damaged"):
        fit("partial", memory, random_state=None)


@pytest.mark.parametrize("how", ["cut", "one byte", "missing"])
@pytest.mark.parametrize("which", ["/z-00001", ".topoi"])
def test_damaged(how, which, memory, expected):
    """The checkpoint before it is used, with a warning; the end is the same."""
    with pytest.raises(Killed):
        fit("partial", Checkpoints(memory, every_sweeps=2), engine="blocks", callbacks=killer(9))
    victim = next(name for name in objects(memory) if name.endswith(f"sweep-000000008{which}"))
    if how == "missing":
        remote.remove(locate(memory), [victim])
    else:
        change(f"{memory}/{victim}", lambda raw: raw[:40] if how == "cut" else raw[:-1] + bytes([raw[-1] ^ 1]))
    begun = []
    watch = [lambda progress: begun.append(progress.sweep)]
    if (how, which) == ("missing", ".topoi"):
        model = fit("partial", memory, engine="blocks", callbacks=watch)
    else:
        with pytest.warns(CheckpointWarning, match="an earlier checkpoint is used"):
            model = fit("partial", memory, engine="blocks", callbacks=watch)
    assert begun[0] == 7
    assert said(model) == expected("partial")


def test_another_run(memory):
    fit("partial", memory)
    with pytest.raises(ParameterError, match=f"{memory}/model-0-chain-0 holds a run of other documents"):
        fit("partial", memory, n_topics=7)


# ---- A store that fails ----------------------------------------------------------------------------------------------


class Lost:
    """A store that answers nothing from some time on."""

    def __init__(self, patch):
        import fsspec

        self.now = False
        patch.setenv("TOPOI_STORE_SECONDS", "0")
        url_to_fs = fsspec.core.url_to_fs

        def lost(*given, **more):
            if self.now:
                raise ConnectionResetError("gone")
            return url_to_fs(*given, **more)

        patch.setattr(fsspec.core, "url_to_fs", lost)

    def at(self, sweep):
        def callback(progress):
            self.now = progress.sweep >= sweep

        return callback


def test_a_store_that_is_lost_under_way(memory, expected, monkeypatch):
    with monkeypatch.context() as patch:
        lost = Lost(patch)
        given = {"engine": "blocks", "callbacks": [lost.at(7)]}
        with pytest.raises((EngineError, CheckpointError), match=r"the store cannot be reached.*gone"):
            fit("partial", Checkpoints(memory, every_sweeps=2), **given)
    assert said(fit("partial", memory, engine="blocks")) == expected("partial")


def test_a_store_that_is_lost_at_a_checkpoint(memory, expected, monkeypatch):
    with monkeypatch.context() as patch:
        lost = Lost(patch)
        with pytest.raises(
            CheckpointError, match=f"cannot write the checkpoint {memory}/.*the store cannot be reached"
        ):
            fit("partial", Checkpoints(memory, every_sweeps=2), callbacks=[lost.at(6)])
    assert said(fit("partial", memory)) == expected("partial")


def test_a_store_that_is_lost_at_the_beginning(memory, monkeypatch):
    Lost(monkeypatch).now = True
    for engine in (None, "blocks"):
        with pytest.raises((StorageError, EngineError), match="the store cannot be reached"):
            fit("partial", memory, engine=engine)


# ---- Files that several tasks fill -----------------------------------------------------------------------------------


def test_shared_arrays(memory, tmp_path):
    for place in (tmp_path / "a", locate(memory) / "a"):
        anywhere.make_shared(place, 7, np.float32)
        numbers = np.arange(7, dtype=np.float32)
        for first, last in ((4, 7), (0, 4), (0, 4), (7, 7)):
            anywhere.write_shared(place, first, numbers[first:last])
        array = anywhere.map_shared(place, np.float32, (7,), "r+")
        np.testing.assert_array_equal(array, numbers)
        array[5] = 50
        anywhere.flush_shared(place, array)
        del array
        assert anywhere.map_shared(place, np.float32, (7, 1))[5] == 50
        with pytest.raises(OSError, match="is damaged"):
            anywhere.map_shared(place, np.float32, (8,))
    assert [name for name in objects(memory) if name.startswith("a.")] == ["a.000000000000000", "a.000000000000004"]


def test_a_part_is_missing(memory):
    place = locate(memory) / "a"
    anywhere.write_shared(place, 2, np.zeros(2))
    with pytest.raises(OSError, match=r"a is damaged .its part from number 2 on does not follow"):
        anywhere.map_shared(place, np.float64, (4,))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_parts_of_an_array(dtype, memory, tmp_path):
    """Of a stored array no more is read than is asked for."""
    numbers = np.arange(1000, dtype=dtype)
    np.save(tmp_path / "a.npy", numbers)
    remote.put(locate(memory) / "a.npy", tmp_path / "a.npy")
    for place in (tmp_path / "a.npy", locate(memory) / "a.npy"):
        for first, last in ((0, 1000), (3, 3), (999, 1000), (0, 0)):
            np.testing.assert_array_equal(read_part(place, dtype, first, last), numbers[first:last])
        with pytest.raises(OSError, match="it ends too early"):
            read_part(place, dtype, 990, 1001)
        with pytest.raises(OSError, match="items of"):
            read_part(place, np.int16, 0, 1)


# ---- Dask workers that share no folder, and an S3 server -------------------------------------------------------------


@pytest.fixture(scope="module")
def caches(tmp_path_factory):
    return [tmp_path_factory.mktemp(f"machine{n}") for n in range(3)]


@pytest.fixture(scope="module")
def machines(s3_server, caches):
    """Two workers, each with folders of its own: all that they have in common with the driver is the server."""
    distributed = pytest.importorskip("distributed")
    import dask

    def worker(folder):
        options = {"nthreads": 1, "local_directory": str(folder / "dask"), "env": {"TOPOI_CACHE": str(folder)}}
        return {"cls": distributed.Nanny, "options": options}

    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
    ):
        object_store.use(patch, s3_server)
        patch.setenv("TOPOI_CACHE", str(caches[2]))
        scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0", "host": "127.0.0.1"}}
        with distributed.SpecCluster(scheduler=scheduler, workers={n: worker(caches[n]) for n in range(2)}) as cluster:
            yield cluster


@pytest.fixture
def client(machines):
    from distributed import Client

    with Client(machines) as client:
        client.wait_for_workers(2)
        yield client


@pytest.mark.parametrize("name", slow_but(["partial"], FITS))
def test_two_workers(name, client, caches, expected, monkeypatch):
    told, given, read, read_here = set(), _workers.Dask.map, remote.read, []
    read_together = remote.read_together

    def note(self, task, job, *more, **options):
        told.update((job.folder, job.corpus))
        return given(self, task, job, *more, **options)

    monkeypatch.setattr(_workers.Dask, "map", note)
    monkeypatch.setattr(remote, "read", lambda place, *what: read_here.append(place.name) or read(place, *what))
    monkeypatch.setattr(
        remote, "read_together", lambda places: read_here.extend(at.name for at in places) or read_together(places)
    )
    url = object_store.new_bucket()
    assert said(fit(name, url, engine=client)) == expected(name)
    assert all(place.startswith(url) for place in told), "no task is told a path"
    assert not [name for name in read_here if "factor" in name or "counts" in name], "the driver has no use for them"
    copies = [{path.name for path in (cache / "objects").glob("object-*")} for cache in caches]
    assert all(copies), "each has copies of what it has read and written"
    assert copies[0] != copies[1]


def test_a_corpus_that_is_there(client, expected):
    """Tasks read their parts of it: no worker has all of it."""
    url = object_store.new_bucket()
    Corpus.from_counts(X).save(f"{url}/corpus")
    assert said(fit("partial", f"{url}/run", X=f"{url}/corpus", engine=client)) == expected("partial")
    assert not any("corpus-" in name for name in objects(f"{url}/run"))


def test_a_shared_disk_and_a_corpus_at_a_url(client, expected, tmp_path):
    url = object_store.new_bucket()
    Corpus.from_counts(X).save(url)
    assert said(fit("partial", tmp_path, X=url, engine=client)) == expected("partial")


def test_the_driver_is_killed(client, expected):
    url = object_store.new_bucket()
    with pytest.raises(Killed):
        fit("labels", Checkpoints(url, every_sweeps=2), engine=client, callbacks=killer(7))
    assert said(fit("labels", url, engine=client)) == expected("labels")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.slow  # new workers have to start
@pytest.mark.parametrize("name", ["partial", "labels"])
def test_a_worker_is_killed(name, client, expected):
    def kill(progress):
        if progress.sweep == 3:
            pid = next(iter(client.run(os.getpid).values()))
            threading.Timer(0.02, os.kill, (pid, signal.SIGKILL)).start()

    assert said(fit(name, object_store.new_bucket(), engine=client, callbacks=[kill])) == expected(name)


def test_a_worker_without_credentials(client, expected):
    url = object_store.new_bucket()

    def forget_them():
        from s3fs import S3FileSystem

        os.environ["AWS_ACCESS_KEY_ID"], key = "", os.environ["AWS_ACCESS_KEY_ID"]
        os.environ["AWS_SECRET_ACCESS_KEY"], secret = "", os.environ["AWS_SECRET_ACCESS_KEY"]
        S3FileSystem.clear_instance_cache()
        return key, secret

    def remember(key, secret):
        from s3fs import S3FileSystem

        os.environ.update(AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret)
        S3FileSystem.clear_instance_cache()

    known = next(iter(client.run(forget_them).values()))
    try:
        with pytest.raises(EngineError, match=rf"failed on tcp://.*{url}.*the store does not let us in") as caught:
            fit("partial", url, engine=client)
    finally:
        client.run(remember, *known)
    assert SECRET not in str(caught.value)

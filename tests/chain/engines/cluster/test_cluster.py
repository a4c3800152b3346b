"""Fits on a cluster, or with topics in files, end with the bytes of a fit in memory, whatever happens to workers."""

from __future__ import annotations

import gc
import mmap
import os
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import topoi
from support.cli_files import FILES, call, done, write_csv
from support.corpora import random_counts
from support.kills import Killed, kill_after, killer
from support.kills import Killed as KilledCommand
from support.labelled import Documents
from support.saved_models import answers
from support.variants import slow_but
from support.waiting import PATIENCE, wait_until
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi._disk import mapped
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import CheckpointWarning
from topoi.chain.engines.cluster import EngineError, _counts, _documents, _views, _words, _workers
from topoi.chain.engines.cluster._job import Layout
from topoi.chain.samplers import SAMPLERS
from topoi.estimators.saved import StoredEstimator

PARALLEL = sorted(name for name, sampler in SAMPLERS.items() if sampler.spreads())
X = random_counts(300, 200, 60, seed=2)
LABELLED = Documents(220, seed=3)
QUICK = {"n_topics": 6, "n_sweeps": 12, "n_samples": 3, "sampler": "partial", "random_state": 0}
#: Fits of every kind: an estimator, and what it is fitted on.
FITS = {
    **{name: lambda name=name, **more: (LDA(**QUICK | {"sampler": name} | more), X, None) for name in PARALLEL},
    "learned priors": lambda **more: (
        LDA(**QUICK | {"doc_topic_prior": "learn", "topic_word_prior": "learn"} | more), X, None),
    "sparse partial": lambda **more: (LDA(**QUICK | {"sampler_options": {"dense_up_to": 0}} | more), X, None),
    "split delayed": lambda **more: (
        LDA(**QUICK | {"sampler": "delayed", "sampler_options": {"dense_up_to": 0, "dense_share": 2}} | more), X, None),
    "chains": lambda **more: (LDA(**QUICK | {"n_chains": 2, "n_sweeps": 5} | more), X, None),
    "several labels": lambda **more: (MedLDAClassifier(**QUICK | more), LABELLED.X, LABELLED.several),
    "urn of labels": lambda **more: (
        MedLDAClassifier(**QUICK | {"sampler": "polya_urn", "loss": "logistic"} | more), LABELLED.X, LABELLED.many),
    "ovr": lambda **more: (
        MedLDAClassifier(**QUICK | {"strategy": "ovr", "n_sweeps": 4} | more), LABELLED.X, LABELLED.many),
    "numbers": lambda **more: (MedLDARegressor(**QUICK | more), LABELLED.X, LABELLED.numbers),
    "exact weights": lambda **more: (
        MedLDARegressor(**QUICK | {"n_gibbs": 0, "loss": "squared", "sampler": "delayed"} | more), LABELLED.X,
        LABELLED.number),
    "held out": lambda **more: (MedLDARegressor(**QUICK | {"held_out": 0.2} | more), LABELLED.X, LABELLED.number),
    "covariates": lambda **more: (LDA(**QUICK | more), X, None),
    "topic labels": lambda **more: (LDA(**QUICK | more), X, None),
    "number of topics": lambda **more: (LDA(**QUICK | {"n_topics": "auto", "n_sweeps": 60} | more), X, None),
    "hdp": lambda **more: (LDA(**QUICK | {"doc_topic_prior": "hdp"} | more), X, None),
    "seeds": lambda **more: (LDA(**QUICK | {"seeds": {"one": [2, 5], "two": [5, 40]}} | more), X, None),
    "beta of words": lambda **more: (LDA(**QUICK | {"topic_word_prior": np.linspace(0.01, 0.5, 200)} | more), X, None),
    "learned beta of words": lambda **more: (LDA(**QUICK | {"topic_word_prior": "learn_words"} | more), X, None),
    "beta of words, urn": lambda **more: (
        LDA(**QUICK | {"topic_word_prior": np.linspace(0.01, 0.5, 200), "sampler": "polya_urn"} | more), X, None),
    "beta of words, expected": lambda **more: (
        LDA(**QUICK | {"topic_word_prior": np.linspace(0.01, 0.5, 200), "sampler": "expected"} | more), X, None),
    "beta of words, split": lambda **more: (
        LDA(**QUICK | {"topic_word_prior": np.linspace(0.01, 0.5, 200), "sampler": "delayed",
                       "sampler_options": {"dense_up_to": 0, "dense_share": 2}} | more), X, None),
    "number of topics, labels": lambda **more: (
        MedLDAClassifier(**QUICK | {"n_topics": "auto", "n_sweeps": 40} | more), LABELLED.X, LABELLED.many),
    "seeds, numbers": lambda **more: (
        MedLDARegressor(**QUICK | {"seeds": {"one": [2, 5], "two": [5, 40]}} | more), LABELLED.X, LABELLED.number),
}  # fmt: skip
#: What else the fits of these names are given, of so many documents.
BESIDE = {
    "covariates": lambda n: {"covariates": {"party": np.arange(n) % 3 // 2, "year": np.arange(n) % 17}},
    "topic labels": lambda n: {"topic_labels": [[["a"], ["b"], ["a", "b"], [], None][d % 5] for d in range(n)]},
}


PRIORS = [*BESIDE, "beta of words", "number of topics", "hdp", "seeds", "number of topics, labels", "seeds, numbers"]


def said(model):
    """All that a fit says: its answers, the shares of its documents, and its traces."""
    parts = getattr(model, "estimators_", [model])
    documents = [np.asarray(part.doc_topic_).tobytes() for part in parts]
    return answers(model, LABELLED.X if model.n_features_in_ == 60 else X), documents, [
        trace.tobytes() for part in parts for trace in part.traces_]  # fmt: skip


def fit(name, checkpoint=None, **more):
    model, documents, y = FITS[name](**more)
    return model.fit(documents, y, checkpoint=checkpoint, **BESIDE.get(name, lambda n: {})(len(documents)))


@pytest.fixture(scope="module")
def expected():
    """What a fit in memory says."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = said(fit(name))
        return found[name]

    return of


def test_several_parts():
    """There is something to put together."""
    for documents in (X, LABELLED.X):
        layout = Layout.of(Corpus.from_counts(documents), 6)
        assert min(layout.n_groups, layout.n_shards) >= 2


# ---- Topics in files, one process ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", slow_but([*PARALLEL, "learned priors", "several labels", "exact weights", "covariates"], FITS)
)
def test_blocks(name, expected):
    assert said(fit(name, engine="blocks")) == expected(name)


def test_blocks_on_threads(expected):
    assert said(fit("partial", engine="blocks", n_jobs=2)) == expected("partial")


def test_counts_are_added_up_by_a_tree(expected, monkeypatch):
    monkeypatch.setattr(_words, "FAN_IN", 2)
    n_groups = Layout.of(Corpus.from_counts(X), 6).n_groups
    assert len(_words.count_levels(len(_workers.batches(list(range(n_groups)), 1)))) >= 2
    assert said(fit("polya_urn", engine="blocks")) == expected("polya_urn")


@pytest.mark.parametrize("pairs", [0, 10**6])
def test_counts_by_tokens_or_by_words(pairs, expected, monkeypatch):
    monkeypatch.setattr(_counts, "PAIRS_PER_TOKEN", pairs)
    assert said(fit("partial", engine="blocks")) == expected("partial")


def test_the_word_factor_is_mapped(expected, monkeypatch):
    """So the workers of a machine have one copy of it in memory, whatever their number."""
    seen = []
    give = _words.give_factor

    def see(factor, arrays):
        give(factor, arrays)
        seen.append(all(isinstance(getattr(factor, part.name).base, np.memmap | mmap.mmap) for part in factor.given))

    monkeypatch.setattr(_documents, "give_factor", see)
    assert said(fit("partial", engine="blocks")) == expected("partial")
    assert seen
    assert all(seen)


def test_no_room_for_groups(expected, monkeypatch):
    """A worker that keeps no group open does the same, more slowly."""
    monkeypatch.setattr(_views, "ROOM", 1)
    assert said(fit("several labels", engine="blocks")) == expected("several labels")
    assert not _views.group_corpus.corpora


def test_no_group_stays_open():
    """Windows could not replace the corpus in the folder of the fit."""
    fit("partial", engine="blocks")
    gc.collect()
    assert not _views.group_corpus.corpora


def test_a_corpus_in_the_folder_is_used_again(expected, tmp_path):
    fit("partial", engine="blocks", checkpoint=tmp_path)
    written = (tmp_path / "corpus-0" / "words.npy").stat().st_mtime_ns
    assert said(fit("partial", engine="blocks", checkpoint=tmp_path)) == expected("partial")
    assert (tmp_path / "corpus-0" / "words.npy").stat().st_mtime_ns == written


@pytest.mark.parametrize("change", [lambda x: x[:-1], lambda x: x[::-1]])
def test_a_corpus_that_changes_under_way(change, tmp_path, monkeypatch):
    """Kernels would read beyond its end."""
    monkeypatch.setattr(_views, "ROOM", 1)  # every group is opened anew, as on a worker that joins late
    Corpus.from_counts(X).save(tmp_path / "corpus")

    def exchange(progress):
        if progress.sweep == 2:
            Corpus.from_counts(change(X)).save(tmp_path / "corpus")

    model = LDA(**QUICK, engine="blocks", callbacks=[exchange])
    with pytest.raises(EngineError, match="has changed since the fit began"):
        model.fit(str(tmp_path / "corpus"))


@pytest.mark.parametrize("give", [str, Path, Corpus.load])
def test_a_saved_corpus(give, expected, tmp_path):
    Corpus.from_counts(X).save(tmp_path / "corpus")
    for engine in (None, "blocks"):
        assert said(LDA(**QUICK, engine=engine).fit(give(tmp_path / "corpus"))) == expected("partial")


def test_temporary_files_go(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = LDA(**QUICK, engine="blocks").fit(X)
    del model
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_stopped_early():
    stop = [lambda progress: progress.sweep == 4]
    for settings in ({}, {"burn_in": 1, "n_samples": 6}):
        fits = [fit("numbers", engine=engine, callbacks=stop, **settings) for engine in (None, "blocks")]
        assert fits[0].n_sweeps_ == 4
        assert said(fits[0]) == said(fits[1])


def test_watched():
    """Scores of held-out documents are those of a fit in memory, before the first sample and after."""
    traces = []
    for engine in (None, "blocks"):
        model, documents, y = FITS["several labels"](n_sweeps=30, engine=engine)
        traces.append(model.fit(documents, y, validation=(documents[:40], y[:40])).validation_traces_)
    np.testing.assert_array_equal(*traces)
    assert len(traces[0][0]) == 3


def test_progress_is_told():
    told = {}
    for engine in (None, "blocks"):
        told[engine] = []
        fit("urn of labels", engine=engine, callbacks=[lambda progress, to=told[engine]: to.append(progress.info)])
    assert told[None] == told["blocks"]
    assert set(told["blocks"][0]) == {"tokens_kept", "phi_entries", "acceptance"}


def test_a_file_names_no_engine(tmp_path, monkeypatch):
    """Whoever loads a model does not want to be connected to where a stranger says."""
    model = LDA(**QUICK | {"n_sweeps": 1}).fit(X)
    said = StoredEstimator.values

    def lie(stored, thing):
        values = said(stored, thing)
        return {**values, "parameters": values["parameters"] | {"engine": "tcp://127.0.0.1:9"}}

    with monkeypatch.context() as patch:
        patch.setattr(StoredEstimator, "values", lie)
        model.save(tmp_path / "lie")
    with pytest.raises(ModelError, match="LDA has an engine"):
        topoi.load(tmp_path / "lie")


# ---- Checkpoints ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "at"),
    slow_but(
        [("polya_urn", 10), ("learned priors", 11), ("several labels", 3)],
        [
            ("delayed", 3),
            ("expected", 3),
            ("polya_urn", 10),
            ("learned priors", 11),
            ("several labels", 3),
            ("exact weights", 9),
            ("ovr", 3),
            ("number of topics", 27),
        ],
    ),
)
def test_killed_and_resumed(name, at, expected, tmp_path):
    begun = []
    with pytest.raises(Killed):
        fit(name, Checkpoints(tmp_path, every_sweeps=2), engine="blocks", callbacks=killer(at))
    watch = [lambda progress: begun.append(progress.sweep) if progress.model == 0 else None]
    for _ in range(2):  # the second time there is nothing left to do
        assert said(fit(name, tmp_path, engine="blocks", callbacks=watch)) == expected(name)
    assert min(begun) == (at - 1) // 2 * 2 + 1
    assert max(begun.count(sweep) for sweep in begun) == 1


@pytest.fixture
def killed(tmp_path):
    """A folder with two checkpoints of a fit that was killed, of sweeps 6 and 8; and the files of the last."""
    with pytest.raises(Killed):
        fit("partial", Checkpoints(tmp_path, every_sweeps=2), engine="blocks", callbacks=killer(9))
    names = {path.name for path in tmp_path.rglob("sweep-*")}
    kept = {f"sweep-00000000{sweep}{end}" for sweep in (6, 8) for end in ("", ".topoi")}
    assert names == kept | {"sweep-000000009"}, "and what it had in hand"
    return sorted(tmp_path.rglob("sweep-000000008/z-*")), sorted(tmp_path.rglob("shares-000000008/*"))


@pytest.mark.parametrize(("which", "damage"), [(0, "cut"), (0, "one byte"), (1, "missing"), (1, "one byte")])
def test_damaged_block(which, damage, killed, expected, tmp_path):
    """The checkpoint before it is used, with a warning; the end is the same."""
    victim = killed[which][1]
    raw = victim.read_bytes()
    victim.unlink()
    if damage != "missing":
        victim.write_bytes(raw[:40] if damage == "cut" else raw[:-1] + bytes([raw[-1] ^ 1]))
    begun = []
    with pytest.warns(CheckpointWarning, match=f"{victim.name} is (damaged|missing); an earlier checkpoint is used"):
        model = fit("partial", tmp_path, engine="blocks", callbacks=[lambda progress: begun.append(progress.sweep)])
    assert begun[0] == 7
    assert said(model) == expected("partial")


def test_files_that_are_left(killed, tmp_path):
    fit("partial", Checkpoints(tmp_path, every_sweeps=2), engine="blocks")
    assert len(list(tmp_path.rglob("blocks/*"))) == 1, "that of the process before is gone"
    left = {path.name for path in tmp_path.rglob("blocks/*/*")}
    assert left == {"layout", "sweep-000000010", "sweep-000000012", "shares-000000010", "shares-000000012"}


def test_a_run_in_memory_is_another_run(killed, tmp_path):
    with pytest.raises(ParameterError, match="other documents, labels or settings"):
        fit("partial", tmp_path)


def test_full_disk(killed, expected, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_words, "write_shared", full)
        with pytest.raises(
            EngineError,
            match=rf"draw failed on .*No space left on device; make room .*disk of {re.escape(str(tmp_path))}",
        ):
            fit("partial", tmp_path, engine="blocks")
    assert said(fit("partial", tmp_path, engine="blocks")) == expected("partial")


def test_command_line(tmp_path, monkeypatch):
    posts = write_csv(tmp_path / "posts.csv")
    options = ("--text", "body", "--label", "tags", "--label-separator", ";", "--sampler", "partial", "--topics", "4",
               "--sweeps", "12", "--jobs", "1", "--checkpoint-seconds", "0")  # fmt: skip
    done("fit", posts, *options, "-o", tmp_path / "memory")
    with monkeypatch.context() as patch:
        kill_after(patch, 7)
        with pytest.raises(KilledCommand):
            call("fit", posts, *options, "--dask", "blocks", "-o", tmp_path / "killed")
    assert list((tmp_path / "killed").rglob("z-00000"))
    done("resume", tmp_path / "killed")
    text = Path(posts).read_text("utf-8")
    done("fit", "-", "--format", "csv", *options, "--dask", "blocks", "-o", tmp_path / "piped", input=text)
    models = [tmp_path / name / "estimator.topoi" for name in ("memory", "killed", "piped")]
    assert len({path.read_bytes() for path in models}) == 1
    assert all(sorted(path.name for path in model.parent.iterdir()) == FILES for model in models)
    failed = call("fit", posts, *options, "--dask", "nowhere", "-o", tmp_path / "x")
    assert failed.exit_code == 2
    assert 'Error: --dask: must be None, "blocks"' in failed.output


# ---- Errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["block", 3, object(), ["tcp://a:1"]])
def test_not_an_engine(engine):
    with pytest.raises(ParameterError, match='engine: must be None, "blocks", a Dask Client, or the address'):
        LDA(**QUICK, engine=engine).fit(X)


@pytest.mark.parametrize(
    ("sampler", "does"),
    [("collapsed", "moves one token after another"), ("warp", "needs all tokens of a word in one process")],
)
def test_samplers_that_are_not_parallel(sampler, does):
    choices = "auto, ad_fast, ad_lda, delayed, expected, partial, polya_urn"
    says = f"sampler: '{sampler}' {does}, but an engine needs one of {choices}"
    with pytest.raises(ParameterError, match=says):
        LDA(**QUICK | {"sampler": sampler, "engine": "blocks"}).fit(X)


@pytest.mark.parametrize("n_topics", [3, 5000])
def test_auto_works_with_an_engine(n_topics):
    """Also with many topics for few tokens, where a fit in memory takes a sampler that no engine can use."""
    record = []
    given = {"n_topics": n_topics, "sampler": "auto", "callbacks": [lambda progress: record.append(progress.sampler)]}
    model = LDA(**QUICK | given | {"engine": "blocks"}).fit(X)
    assert set(record) == {"expected", "delayed", "partial"}
    record.clear()
    alone = LDA(**QUICK | given).fit(X)
    if n_topics == 3:
        np.testing.assert_array_equal(alone.components_, model.components_)
    else:
        assert "split" in record


def test_without_distributed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError, match=r"needs the package `distributed`: pip install distributed"):
        LDA(**QUICK, engine="tcp://127.0.0.1:9").fit(X)


# ---- Dask ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    import dask

    # A LocalCluster gives up a worker that has not come back within 15 seconds, which a busy machine may need.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    with patience, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    from distributed import Client

    with Client(cluster) as client:
        yield client


def kill_a_worker(client, delay=0.0):
    """SIGKILL for one of the workers, `delay` seconds from now."""
    pid = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
    timer.start()
    return pid


@pytest.mark.parametrize(
    "name",
    slow_but(
        ["partial", "several labels", "covariates"],
        ["delayed", "expected", "partial", "polya_urn", "several labels", "numbers", *PRIORS],
    ),
)
def test_two_workers(name, client, expected):
    assert said(fit(name, engine=client)) == expected(name)


def test_two_workers_with_counts_in_files(client, expected, monkeypatch):
    """See test_large_counts.py; that a model is large is for the driver to know."""
    monkeypatch.setattr(mapped, "MAPPED", 1)
    found = fit("partial", engine=client)
    assert said(found) == expected("partial")
    assert mapped.is_mapped(found.model_.counts.data)


def test_address_and_corpus_in_a_folder(client, expected, tmp_path):
    Corpus.from_counts(X).save(tmp_path)
    model = LDA(**QUICK, engine=client.scheduler.address).fit(tmp_path)
    assert said(model) == expected("partial")
    model.save(tmp_path.with_suffix(".topoi"))
    assert topoi.load(tmp_path.with_suffix(".topoi")).engine is None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.slow  # new workers have to start
@pytest.mark.parametrize(("name", "delay"), [("partial", 0.0), ("several labels", 0.03)])
def test_a_worker_is_killed(name, delay, client, expected):
    killed = []
    at_three = [lambda progress: killed.append(kill_a_worker(client, delay)) if progress.sweep == 3 else None]
    assert said(fit(name, engine=client, callbacks=at_three)) == expected(name)

    def replaced():
        pids = set(client.run(os.getpid, on_error="ignore").values())
        return killed[0] not in pids and len(pids) == 2

    wait_until(replaced, "the worker was killed, and another came")


def test_the_driver_is_killed(client, expected, tmp_path):
    with pytest.raises(Killed):
        fit("several labels", Checkpoints(tmp_path, every_sweeps=2), engine=client, callbacks=killer(7))
    assert said(fit("several labels", tmp_path, engine=client)) == expected("several labels")


@pytest.mark.slow
def test_one_worker_and_a_late_one(cluster, client, expected):
    cluster.scale(1)
    client.sync(cluster._correct_state)
    seen = []

    def watch(progress):
        # Asked of the scheduler itself: what the client knows lags behind on a busy machine.
        seen.append(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.workers)))
        if progress.sweep == 6:
            cluster.scale(2)
            client.wait_for_workers(2, timeout=PATIENCE)

    assert said(fit("learned priors", engine=client, callbacks=[watch])) == expected("learned priors")
    assert (seen[0], seen[-1]) == (1, 2)

"""Fits whose counts lie in files, not in the memory of the driver: the bytes are those of a fit in memory."""

from __future__ import annotations

import numpy as np
import pytest

from support.corpora import random_counts
from support.kills import Killed, killer
from support.labelled import Documents
from support.variants import slow_but
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier
from topoi._disk import folders, mapped
from topoi._disk.mapped import is_mapped
from topoi.chain.counts import by_rows
from topoi.chain.engines.cluster import _samples
from topoi.chain.engines.cluster._job import Layout

X = random_counts(300, 200, 60, seed=2)
LABELLED = Documents(220, seed=3)
QUICK = {"n_topics": 5, "n_sweeps": 12, "n_samples": 3, "burn_in": 4, "sampler": "partial", "random_state": 0}
FITS = {
    "partial": lambda **more: (LDA(**QUICK | more), X, {}),
    "polya_urn": lambda **more: (LDA(**QUICK | {"sampler": "polya_urn"} | more), X, {}),
    "one sample": lambda **more: (LDA(**QUICK | {"n_samples": 1} | more), X, {}),
    "learned priors": lambda **more: (
        LDA(**QUICK | {"doc_topic_prior": "learn", "topic_word_prior": "learn"} | more), X, {}),
    "no shares": lambda **more: (LDA(**QUICK | {"keep_doc_topic": False} | more), X, {}),
    "held out": lambda **more: (LDA(**QUICK | {"n_sweeps": 30, "burn_in": 15} | more), X, {"validation": X[:40]}),
    "labels": lambda **more: (MedLDAClassifier(**QUICK | more), LABELLED.X, {"y": LABELLED.several}),
    "seeds": lambda **more: (LDA(**QUICK | {"seeds": {"one": [2, 5], "two": [5, 40]}} | more), X, {}),
    "number of topics": lambda **more: (LDA(**QUICK | {"n_topics": "auto", "n_sweeps": 60} | more), X, {}),
}  # fmt: skip
SAMPLED = 10  # a sweep after the first sample


def fit(name, checkpoint=None, **more):
    model, documents, beside = FITS[name](**more)
    return model.fit(documents, checkpoint=checkpoint, **beside)


def said(model):
    """All that a fit says of its topics, and the parts of its matrices."""
    parts = [
        getattr(getattr(one.model_, name), part)
        for one in model.estimators_
        for name in ("counts", "last_counts")
        for part in ("data", "indices", "indptr")
    ]
    shares = [np.asarray(one.doc_topic_).tobytes() for one in model.estimators_ if "doc_topic_" in vars(one)]
    traces = [trace.tobytes() for one in model.estimators_ for trace in one.traces_]
    held_out = [trace.tobytes() for trace in getattr(model, "validation_traces_", [])]
    return [(part.dtype, part.tobytes()) for part in parts], shares, traces, held_out


def in_files(model):
    return [is_mapped(matrix.data) for matrix in (model.model_.counts, model.model_.last_counts)]


@pytest.fixture(scope="module")
def expected():
    """What a fit in memory says."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = said(fit(name))
        return found[name]

    return of


@pytest.fixture
def large(monkeypatch):
    """All models are large ones; workers need not know it."""
    monkeypatch.setattr(mapped, "MAPPED", 1)
    monkeypatch.setattr(mapped, "AT_ONCE", 64)
    monkeypatch.setattr(by_rows, "ENTRIES", 50)


def test_several_shards():
    """There is something to put together."""
    for documents in (X, LABELLED.X):
        assert Layout.of(Corpus.from_counts(documents), 5).n_shards >= 2


@pytest.mark.parametrize("name", slow_but(["partial", "one sample", "held out", "labels", "number of topics"], FITS))
def test_blocks(name, expected, request):
    """Few counts stay in memory, and many do not."""
    wanted = expected(name)
    small = fit(name, engine="blocks")
    request.getfixturevalue("large")
    found = fit(name, engine="blocks")
    assert said(small) == said(found) == wanted
    assert in_files(small) == [False, False]
    assert in_files(found) == [True, True]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("name", slow_but(["partial", "labels"], FITS))
@pytest.mark.parametrize("sweep", [6, SAMPLED])
def test_killed_and_resumed(name, sweep, expected, tmp_path):
    wanted = expected(name)
    if name == "number of topics":
        sweep *= 5
    begun = []
    with pytest.raises(Killed):
        fit(name, Checkpoints(tmp_path, every_sweeps=2), engine="blocks", callbacks=killer(sweep))
    for _ in range(2):  # the second time there is nothing left to do
        watch = [lambda progress: begun.append(progress.sweep)]
        assert said(fit(name, tmp_path, engine="blocks", callbacks=watch)) == wanted
    assert min(begun) > sweep - 3


@pytest.mark.parametrize("first", [True, False])
def test_a_checkpoint_does_not_depend_on_where_counts_were(first, expected, tmp_path, monkeypatch):
    """As after a change of the limit from one version to the next."""
    for large in (first, not first):
        monkeypatch.setattr(mapped, "MAPPED", 1 if large else 2**28)
        if large is first:
            with pytest.raises(Killed):
                fit("partial", Checkpoints(tmp_path, every_sweeps=2), engine="blocks", callbacks=killer(SAMPLED))
    found = fit("partial", tmp_path, engine="blocks")
    assert said(found) == expected("partial")
    assert in_files(found) == [not first] * 2


@pytest.mark.usefixtures("large")
def test_files_that_are_left(tmp_path):
    """Those of the last sample, and all have names by which they are known when the fit is done."""
    fit("partial", Checkpoints(tmp_path, every_sweeps=2), engine="blocks")
    paths = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")]
    assert [path for path in paths if not folders.CHECKPOINT_NAMES.fullmatch(path)] == []
    assert len({path.split("/")[3] for path in paths if "/kept-" in path}) == 1
    assert any(path.endswith("/total-data") for path in paths)


@pytest.mark.usefixtures("large")
def test_stopped_before_the_first_sample(expected):
    stop = [lambda progress: progress.sweep == 2]
    here, there = (fit("partial", engine=engine, callbacks=stop) for engine in (None, "blocks"))
    assert said(here) == said(there)
    assert in_files(there) == [True, True]


@pytest.mark.usefixtures("large")
def test_at_a_url(memory, expected):
    """Where files of all shards are an object for each."""
    with pytest.raises(Killed):
        fit("partial", Checkpoints(memory, every_sweeps=2), engine="blocks", callbacks=killer(SAMPLED))
    found = fit("partial", memory, engine="blocks")
    assert said(found) == expected("partial")
    assert in_files(found) == [True, True]


@pytest.mark.usefixtures("large")
def test_no_matrix_of_all_words_is_made_in_memory(monkeypatch):
    """The driver maps what tasks have written; a task makes the rows of its shard."""
    made = []
    whole = _samples.whole
    monkeypatch.setattr(_samples, "whole", lambda *given: made.append(whole(*given)) or made[-1])
    model = fit("partial", engine="blocks").model_
    assert model.counts.data.base is not None
    assert len(made) == 2 * QUICK["n_samples"]  # the counts of each sample, and their sums
    assert all(is_mapped(matrix.data) and is_mapped(matrix.indices) for matrix in made)
    assert np.shares_memory(model.counts.data, made[-1].data)


def test_what_may_be_large(monkeypatch):
    for n_bytes, large in ((16 * X.sum(), True), (16 * X.sum() + 1, False)):
        monkeypatch.setattr(mapped, "MAPPED", n_bytes)
        found = fit("partial", engine="blocks", n_topics=200, n_sweeps=2, burn_in=0)
        assert in_files(found) == [large, large]

"""Folders that somebody else has filled: what is no file, what is not topoi's; found by fuzz_folders.py."""

from __future__ import annotations

import hashlib
import os
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import topoi
from support.cli_files import call, done
from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor
from topoi._disk import store, strict_json
from topoi._disk.folders import CHECKPOINT_NAMES, clear
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import CLASSES, Checkpoints
from topoi.corpus.on_disk import MAX_VOCABULARY
from topoi.errors import CorpusError, TopoiError

X = np.eye(4, dtype=int) + 1
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@PIPES
def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "model.topoi")
    with pytest.raises(ModelError, match=r"model\.topoi: not a topoi model: it is not a file"):
        topoi.load(tmp_path / "model.topoi")


@PIPES
@pytest.mark.parametrize("name", ["corpus.json", "words.npy", "doc_ptr.npy", "vocabulary.json"])
def test_a_pipe_is_no_part_of_a_corpus(name, tmp_path):
    Corpus.from_counts(X, vocabulary=list("abcd")).save(tmp_path / "corpus")
    (tmp_path / "corpus" / name).unlink()
    os.mkfifo(tmp_path / "corpus" / name)
    with pytest.raises(CorpusError, match="not a file"):
        Corpus.load(tmp_path / "corpus")


def test_a_small_vocabulary_asks_for_little_memory(tmp_path):
    """Python makes room for as many bytes as it is asked to read."""
    (tmp_path / "vocabulary.json").write_text('["a"]')
    tracemalloc.start()
    try:
        assert strict_json.read(tmp_path / "vocabulary.json", MAX_VOCABULARY) == ["a"]
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


class Killed(BaseException):
    pass


def kill(progress):
    if progress.sweep == 4:
        raise Killed


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_files_of_others_among_checkpoints_stay(engine, tmp_path):
    """In every folder that topoi makes there: whether a fit goes on, or begins anew."""
    settings = {"n_topics": 2, "n_sweeps": 6, "n_samples": 2, "random_state": 0, "engine": engine}
    points = Checkpoints(tmp_path, every_sweeps=1)
    with pytest.raises(Killed):
        LDA(**settings, callbacks=[kill]).fit(X, checkpoint=points)
    mine = []
    for folder in [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]:
        for name in ("thesis", "sweep-x.topoi", "sweep-000000001 (copy).topoi", "z-copy"):
            mine.append(folder / name)
            mine[-1].write_text("years of work")
    chain = tmp_path / "model-0-chain-0"
    (chain / "sweep-000000009.topoi").mkdir()  # nothing that could be a checkpoint
    LDA(**settings).fit(X, checkpoint=points)
    assert all(path.read_text() == "years of work" for path in mine)
    for path in chain.glob("sweep-00000000?.topoi"):
        path.rmdir() if path.is_dir() else path.unlink()
    LDA(**settings).fit(X, checkpoint=points)
    assert all(path.read_text() == "years of work" for path in mine)


SHORT = {"n_sweeps": 6, "n_samples": 2, "random_state": 0}
#: Fits whose runs have files of different names.
LEAVING = {
    **{
        name: lambda folder, name=name: LDA(2, **SHORT, engine="blocks", sampler=name).fit(X, checkpoint=folder)
        for name in ("auto", "delayed", "expected", "partial", "polya_urn")
    },
    "seeds": lambda folder: LDA(2, **SHORT, engine="blocks", seeds={"a": [0]}).fit(X, checkpoint=folder),
    "prevalence": lambda folder: LDA(2, **SHORT, engine="blocks").fit(
        X, covariates={"a": np.arange(len(X)) % 2.0}, checkpoint=folder
    ),
    "columns": lambda folder: MedLDAClassifier(2, **SHORT, engine="blocks", refit=False).fit(
        X, np.arange(len(X)) % 2, covariates={"a": np.arange(len(X)) % 2.0}, checkpoint=folder
    ),
}


@pytest.mark.parametrize("kind", LEAVING)
def test_blocks_leave_nothing_of_their_own(kind, tmp_path):
    """Every name that a run gives its files is among those that are removed."""
    LEAVING[kind](Checkpoints(tmp_path, every_sweeps=1))
    assert list(tmp_path.rglob("z-*"))
    clear(tmp_path, CHECKPOINT_NAMES)
    assert not tmp_path.exists()


@pytest.mark.parametrize("lie", ["no topics", "no shares", "shares of other documents"])
def test_a_block_that_lies(lie, tmp_path):
    """With the digest made to fit: kernels would write out of bounds (found by fuzz_models.py)."""
    settings = {"n_topics": 2, "n_sweeps": 6, "burn_in": 1, "n_samples": 5, "random_state": 0, "engine": "blocks"}
    points = Checkpoints(tmp_path, every_sweeps=1)
    with pytest.raises(Killed):
        LDA(**settings, callbacks=[kill]).fit(X, checkpoint=points)
    last = sorted(tmp_path.rglob("sweep-*.topoi"))[-1]
    point = store.load(last, CLASSES)
    number = 0 if lie == "no topics" else len(point.blocks) - 1
    name = point.blocks[number].split()[0]
    file = last.parent / "blocks" / name
    ((key, array),) = load_file(file).items()
    save_file({key: array[:0]} if lie == "shares of other documents" else {"other": array}, file)
    point.blocks[number] = f"{name} {hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()}"
    store.save(last, point, CLASSES)
    with pytest.raises(TopoiError, match=r"does not hold the shares|is damaged"):
        LDA(**settings).fit(X, checkpoint=points)


def test_negative_noise_is_refused(tmp_path):
    model = MedLDARegressor(2, n_sweeps=4, n_samples=2, random_state=0).fit(X, np.arange(4.0))
    model._noise.variance[:] = -1.0
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match="must not be negative"):
        topoi.load(tmp_path / "model")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_outputs_that_are_circles_of_links(tmp_path):
    """Links that lead nowhere are replaced by the file; `Path.resolve` raises a RuntimeError before Python 3.13."""
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    documents = tmp_path / "documents.txt"
    documents.write_text("one two\n")
    done("convert", documents, loop)
    assert loop.read_text().startswith("{")
    for path in (tmp_path / "model", tmp_path / "corpus"):
        path.symlink_to(path)
    assert call("fit", documents, "-o", tmp_path / "model").exit_code == 2
    with pytest.raises((CorpusError, OSError)):
        Corpus.from_counts(X).save(tmp_path / "corpus")


def test_a_nul_in_the_name_of_a_file(tmp_path):
    documents = tmp_path / "documents.txt"
    documents.write_text("one two\n")
    result = call("fit", documents, "--stop-words", "a\0b", "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert "is not the name of a file" in result.stderr

"""Files that change, vanish or are damaged while a fit reads them end in an error that says so, never in a crash."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from support.corpora import random_counts
from topoi import LDA, Corpus
from topoi.chain.engines.cluster import EngineError, _documents, _engine, _views, _words
from topoi.chain.engines.cluster._job import Layout, read_arrays, read_part, write_arrays
from topoi.chain.engines.cluster._seen import seen_kind
from topoi.errors import CorpusError
from topoi.predict import fold_in

X = random_counts(300, 200, 60, seed=2)
QUICK = {"n_topics": 6, "n_sweeps": 6, "n_samples": 2, "sampler": "partial", "random_state": 0}
mapped = pytest.mark.skipif(sys.platform == "win32", reason="Windows cuts no file short that is mapped")


@pytest.fixture
def folder(tmp_path):
    Corpus.from_counts(X).save(tmp_path / "corpus")
    return tmp_path / "corpus"


def at(sweep, do):
    """A callback that does something after a sweep."""
    return [lambda progress: do() if progress.sweep == sweep else None]


def cut(path, n_bytes=200):
    os.truncate(path, n_bytes)


# ---- The corpus ----------------------------------------------------------------------------------------------------


@mapped
@pytest.mark.parametrize("give", [str, Corpus.load])
def test_a_corpus_that_is_cut_short_under_a_fit_in_memory(give, folder):
    """The fit has read it all."""
    model = LDA(**QUICK, callbacks=at(2, lambda: cut(folder / "words.npy"))).fit(give(folder))
    np.testing.assert_array_equal(model.components_, LDA(**QUICK).fit(X).components_)


@mapped
@pytest.mark.parametrize("engine", [None, "blocks"])
def test_a_corpus_that_is_cut_short_before_a_fit(engine, folder):
    corpus = Corpus.load(folder)
    fitted = LDA(**QUICK).fit(X)
    cut(folder / "words.npy")
    for ask in (LDA(**QUICK, engine=engine).fit, fitted.transform):
        with pytest.raises(CorpusError, match=r"words\.npy has been cut short since the corpus was loaded"):
            ask(corpus)


@mapped
@pytest.mark.parametrize("method", ["gibbs", "mean_field"])
@pytest.mark.parametrize("give", [str, Corpus.load])
def test_a_corpus_that_is_cut_short_under_transform(give, method, folder, monkeypatch):
    """Documents are in memory before the first of them is looked at. (If not, this process ends with SIGBUS.)"""
    fitted = LDA(**QUICK, infer_method=method, infer_sweeps=2).fit(X)
    expected = fitted.transform(X)
    infer = fold_in.infer

    def cut_first(*given):
        cut(folder / "words.npy")
        return infer(*given)

    monkeypatch.setattr(fold_in, "infer", cut_first)
    np.testing.assert_array_equal(fitted.transform(give(folder)), expected)
    assert (folder / "words.npy").stat().st_size == 200


@mapped
def test_a_corpus_that_is_cut_short_under_partial_fit(folder):
    fitted = LDA(**QUICK).fit(X)
    fitted.set_params(callbacks=at(1, lambda: cut(folder / "words.npy"))).partial_fit(Corpus.load(folder))
    np.testing.assert_array_equal(fitted.components_, LDA(**QUICK).fit(X).partial_fit(X).components_)


@mapped
@pytest.mark.parametrize("ask", [lambda corpus: corpus.in_memory, lambda corpus: corpus.word_counts])
def test_a_corpus_that_is_cut_short_while_it_is_read(ask, folder, monkeypatch):
    """Between the look at the length of the file and the last of its words."""
    corpus = Corpus.load(folder)
    monkeypatch.setattr(Corpus, "check_file", lambda corpus: cut(folder / "words.npy"))
    with pytest.raises(CorpusError, match=r"words\.npy has been cut short since the corpus was loaded"):
        ask(corpus)


@mapped
@pytest.mark.parametrize("change", ["replaced", "gone"])
def test_a_corpus_that_is_replaced_stays_what_it_was(change, folder):
    corpus = Corpus.load(folder)
    other_words(folder) if change == "replaced" else shutil.rmtree(folder)
    np.testing.assert_array_equal(corpus.in_memory.to_counts().toarray(), X)
    np.testing.assert_array_equal(corpus.word_counts, X.sum(0))


def other_words(folder):
    """As many documents, each with as many words, but others."""
    Corpus.from_counts(X[:, ::-1]).save(folder)


CHANGES = {
    "words are cut": lambda folder: cut(folder / "words.npy"),
    "documents are cut": lambda folder: cut(folder / "doc_ptr.npy"),
    "the header is cut": lambda folder: cut(folder / "words.npy", 7),
    "empty": lambda folder: cut(folder / "words.npy", 0),
    "no array": lambda folder: (folder / "words.npy").write_bytes(b"x" * 10_000),
    "other numbers": lambda folder: np.save(folder / "words.npy", np.zeros(5_000)),
    "other words": other_words,
    "a file is gone": lambda folder: (folder / "words.npy").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_corpus_that_changes_under_blocks(change, folder, monkeypatch):
    monkeypatch.setattr(_views, "ROOM", 1)  # every group is opened anew, as in a corpus larger than memory
    model = LDA(**QUICK, engine="blocks", callbacks=at(2, lambda: CHANGES[change](folder)))
    with pytest.raises(
        EngineError, match=r"the corpus in .*corpus has changed since the fit began \(.*; begin the fit"
    ):
        model.fit(str(folder))


def test_a_corpus_that_is_gone(folder):
    model = LDA(**QUICK, engine="blocks", callbacks=at(2, lambda: shutil.rmtree(folder)))
    with pytest.raises(EngineError, match=r"corpus has gone: something has removed, renamed or unmounted it"):
        model.fit(str(folder))


def test_parts_of_a_file(tmp_path):
    values = np.arange(100, dtype=np.int32)
    np.save(tmp_path / "a.npy", values)
    np.testing.assert_array_equal(read_part(tmp_path / "a.npy", np.int32, 7, 30), values[7:30])
    assert len(read_part(tmp_path / "a.npy", np.int32, 100, 100)) == 0
    with pytest.raises(OSError, match="ends too early"):
        read_part(tmp_path / "a.npy", np.int32, 7, 101)


# ---- The folder of the run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("temporary", [True, False])
@pytest.mark.parametrize("sweep", [1, 5])
def test_a_run_whose_folder_is_removed(sweep, temporary, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = tmp_path / "run"

    def remove():
        found = list(tmp_path.rglob("blocks"))
        assert found
        for path in found:
            shutil.rmtree(path)

    model = LDA(**QUICK, engine="blocks", callbacks=at(sweep, remove))
    with pytest.raises(EngineError, match=r"has gone: .*begin the fit anew, with fit\(…, checkpoint=folder\)"):
        model.fit(X, checkpoint=None if temporary else run)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room on the disk of"),
        (errno.EROFS, "make the folder one that can be written again"),
        (errno.EACCES, "make the folder one that can be written again"),
        (errno.EIO, "see to the disk of"),
    ],
)
def test_the_driver_cannot_write(number, remedy, tmp_path, monkeypatch):
    def fail(path, arrays):
        if path.parent.name == "sweep-000000003":
            raise OSError(number, os.strerror(number))
        write_arrays(path, arrays)

    monkeypatch.setattr(_engine, "write_arrays", fail)
    with pytest.raises(
        EngineError, match=rf"sweep failed on .*{os.strerror(number)}; {remedy}.*; with .* goes on from"
    ):
        LDA(**QUICK, engine="blocks").fit(X, checkpoint=tmp_path)


def test_no_room_for_the_shares_of_documents(tmp_path, monkeypatch):
    """A mapped file without room for its pages would end the process, at the end of the fit; it can be called again."""

    def full(path, first, part):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(_engine, "write_shared", full)
        with pytest.raises(EngineError, match=r"doc_topic failed on .*No space left.*make room on the disk of"):
            LDA(**QUICK, engine="blocks").fit(X, checkpoint=tmp_path)
    model = LDA(**QUICK, engine="blocks").fit(X, checkpoint=tmp_path)
    np.testing.assert_array_equal(model.doc_topic_, LDA(**QUICK).fit(X).doc_topic_)


# ---- Files of the run ----------------------------------------------------------------------------------------------


def rewrite(path, change):
    arrays = read_arrays(path)
    for name in arrays:
        if change(name, arrays[name]):
            break
    else:
        raise AssertionError(f"{path} has nothing to change")
    write_arrays(path, arrays)


def high_topic(name, array):
    array[0] = 200
    return True


def table_of(path):
    """The table of the first shard."""
    return read_arrays(path)["table 0"]


def rewrite_counts(path, *arrays):
    """Other counts of the first shard."""
    others = {name: array for name, array in read_arrays(path).items() if not name.endswith(" 0")}
    write_arrays(path, others | {f"{name} 0": array for name, array in arrays})


BEYOND, ONCE = np.array([2**31], np.uint32), np.ones(1, np.uint8)
DAMAGES = {
    "topics that are none": ("z-00000", lambda path: rewrite(path, high_topic)),
    "counts beyond the table": (
        "counts-00000-00???",
        lambda path: rewrite_counts(path, ("place", BEYOND), ("times", ONCE)),
    ),
    "a place beyond the table": (
        "counts-00000-00???",
        lambda path: rewrite_counts(path, ("table", table_of(path)), ("full", BEYOND)),
    ),
    "a table of another size": (
        "counts-00000-00???",
        lambda path: rewrite_counts(path, ("table", ONCE), ("full", BEYOND[:0])),
    ),
    "places without times": (
        "counts-00000-00???",
        lambda path: rewrite_counts(path, ("place", BEYOND[:0]), ("times", ONCE)),
    ),
    "counts of no kind": ("counts-00000-00???", lambda path: rewrite_counts(path, ("times", ONCE))),
    "cut": ("z-00000", lambda path: cut(path, 40)),
    "empty": ("counts-00000-00???", lambda path: cut(path, 0)),
    "no arrays": ("z-00000", lambda path: path.write_bytes(b"x" * 500)),
    "fewer topics": ("z-00000", lambda path: write_arrays(path, {"z": np.zeros(3, np.uint8)})),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files(name, tmp_path):
    """Kernels would read and write beyond the ends of their arrays."""
    file, damage = DAMAGES[name]

    def do():
        (path,) = tmp_path.rglob(f"sweep-000000002/{file}")
        damage(path)

    model = LDA(**QUICK, engine="blocks", callbacks=at(2, do))
    said = file.replace("?", ".")
    with pytest.raises(EngineError, match=rf"failed on .*{said} is damaged \(.*with .*checkpoint=folder"):
        model.fit(X, checkpoint=tmp_path)


def test_a_table_that_is_cut_short(tmp_path, monkeypatch):
    true = _words.write_shared

    def write(path: Path, first, part):
        true(path, first, part)
        cut(path, 8)

    monkeypatch.setattr(_words, "write_shared", write)
    with pytest.raises(EngineError, match=r"table is damaged \(it has 8 bytes"):
        LDA(**QUICK, engine="blocks", n_jobs=1).fit(X, checkpoint=tmp_path)


SAID = {
    "a word of another shard": ("word 0", lambda array: array + 200),
    "a document that is none": ("row 0", lambda array: array - 100),
    "fewer topics": ("counts", lambda array: array[:, 1:]),
    "fewer words than times": ("word 0", lambda array: array[1:]),
    "numbers of another type": ("counts", lambda array: array.astype(np.int32)),
}


@pytest.mark.parametrize("name", SAID)
def test_damaged_files_of_what_documents_say(name, tmp_path, monkeypatch):
    true = _documents.write_seen
    array, change = SAID[name]

    def write(job, layout, sweep, number, group, seen):
        true(job, layout, sweep, number, group, seen)
        path = job.path(sweep, seen_kind(number), group)
        arrays = read_arrays(path)
        write_arrays(path, arrays | {array: change(arrays[array])})

    monkeypatch.setattr(_documents, "write_seen", write)
    with pytest.raises(EngineError, match=r"revise failed on .*seen0-00000 is damaged \("):
        LDA(**QUICK | {"sampler": "expected"}, engine="blocks", n_jobs=1).fit(X, checkpoint=tmp_path)


def test_files_of_rounds_go_with_them(tmp_path):
    """A table for every minibatch of a sweep would be much: there is never more than that of two."""
    most = []
    true = _documents.write_seen

    def write(*given):
        most.append(len(list(tmp_path.rglob("factor-table-*"))))
        true(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_documents, "write_seen", write)
        LDA(**QUICK | {"sampler": "expected"}, engine="blocks", n_jobs=1).fit(X, checkpoint=tmp_path)
    assert set(most) == {1}
    assert not list(tmp_path.rglob("seen*"))


def test_checksums_tell_groups_apart():
    layout = Layout.of(Corpus.from_counts(X), 6)
    assert layout.n_groups > 1
    assert len(set(layout.checksums.tolist())) == layout.n_groups
    assert layout.tokens[-1] == X.sum()

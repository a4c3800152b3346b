"""Corpora in object stores: published whole or not at all, copied to a cache, checked, and fitted as any other."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

from support.corpora import random_counts
from support.object_store import SECRET, change, objects
from topoi import LDA, Corpus, CorpusError
from topoi._disk import cache, published, remote
from topoi._disk.remote import locate
from topoi.errors import MissingObjectError, ParameterError, StorageError

TEXTS = ["the cat sat on the mat", "a dog and a cat", "", "dogs bark at cats"] * 3


def same(one, other):
    return (
        one.n_words == other.n_words
        and np.array_equal(one.words, other.words)
        and np.array_equal(one.doc_ptr, other.doc_ptr)
        and np.array_equal(one.vocabulary, other.vocabulary)
        and (one.preparation is None) == (other.preparation is None)
        and one.about.keys() == other.about.keys()
    )


@pytest.fixture
def corpus():
    return Corpus.from_texts(TEXTS, ngrams=2)


def copies(own_cache):
    return sorted(path.name for path in (own_cache / "objects").glob("corpus-*"))


def test_saved_and_loaded(store, corpus, own_cache):
    url = f"{store}/corpora/cats"
    corpus.save(url)
    loaded = Corpus.load(url)
    assert same(loaded, corpus)
    assert loaded.about["ngrams"].toarray().tolist() == corpus.about["ngrams"].toarray().tolist()
    assert loaded.origin == locate(url) / loaded.origin.name
    assert [loaded.folder.name] == copies(own_cache) == [f"corpus-{loaded.origin.name}"]
    assert objects(url)[-1] == published.MANIFEST
    assert {name.split("/")[0] for name in objects(url)[:-1]} == {loaded.origin.name}
    assert not any(SECRET.encode() in remote.read(locate(url) / name) for name in objects(url))


def test_what_is_in_the_cache_is_not_fetched_again(memory, corpus, monkeypatch):
    corpus.save(f"{memory}/a")
    first = Corpus.load(f"{memory}/a")
    monkeypatch.setattr(remote, "fetch", lambda *_: pytest.fail("it was fetched"))
    assert same(Corpus.load(f"{memory}/a"), first)
    corpus.save(f"{memory}/b")
    assert Corpus.load(f"{memory}/b").folder == first.folder, "equal content, whatever its URL"


def test_a_cache_that_was_removed(memory, corpus, own_cache):
    corpus.save(f"{memory}/a")
    Corpus.load(f"{memory}/a")
    shutil.rmtree(own_cache)
    assert same(Corpus.load(f"{memory}/a"), corpus)


def test_a_copy_that_was_damaged_is_made_again(memory, corpus):
    corpus.save(f"{memory}/a")
    folder = Corpus.load(f"{memory}/a").folder
    (folder / "words.npy").write_bytes(b"")
    (folder / "corpus.json").unlink()
    assert same(Corpus.load(f"{memory}/a"), corpus)


def test_fits_are_those_of_a_folder(store, tmp_path):
    corpus = Corpus.from_counts(random_counts(60, 40, 20, seed=2))
    corpus.save(tmp_path / "corpus")
    corpus.save(f"{store}/corpus")
    for engine in (None, "blocks"):
        settings = {"n_topics": 4, "n_sweeps": 3, "sampler": "partial", "random_state": 0, "engine": engine}
        fits = [LDA(**settings).fit(X) for X in (str(tmp_path / "corpus"), f"{store}/corpus", corpus)]
        assert all(np.array_equal(fit.components_, fits[0].components_) for fit in fits)
    assert np.array_equal(fits[0].transform(f"{store}/corpus"), fits[0].transform(corpus))


# ---- Replaced ------------------------------------------------------------------------------------------------------


def test_replaced(store, corpus):
    url = f"{store}/a"
    Corpus.from_texts(["one word", "two words"]).save(url)
    before = Corpus.load(url)
    corpus.save(url)
    assert same(Corpus.load(url), corpus)
    assert {name.split("/")[0] for name in objects(url)} == {Corpus.load(url).origin.name, published.MANIFEST}
    assert before.to_counts().sum() == 4, "who had loaded it keeps it"


@pytest.mark.parametrize("after", range(6))
def test_a_writer_that_stops_half_way(after, memory, corpus, monkeypatch):
    """Whoever loads finds the old corpus, or the new one: never something between. The next writer cleans up."""
    url, old = f"{memory}/a", Corpus.from_texts(["one word", "two words"])
    old.save(url)
    left = [after]

    def stop(put):
        def putting(*given):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            put(*given)

        return putting

    with monkeypatch.context() as patch:
        for name in ("put", "put_bytes"):
            patch.setattr(remote, name, stop(getattr(remote, name)))
        with pytest.raises(KeyboardInterrupt):
            corpus.save(url)
    assert same(Corpus.load(url), old)
    corpus.save(url)
    assert same(Corpus.load(url), corpus)
    assert {name.split("/")[0] for name in objects(url)} == {Corpus.load(url).origin.name, published.MANIFEST}


def test_a_first_writer_that_stops(memory, corpus, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(remote, "put_bytes", lambda *_: (_ for _ in ()).throw(StorageError("gone")))
        with pytest.raises(StorageError, match="gone"):
            corpus.save(f"{memory}/a")
    assert len(objects(f"{memory}/a")) > 3
    with pytest.raises(MissingObjectError, match=f"{memory}/a holds no whole corpus.*which is written last"):
        Corpus.load(f"{memory}/a")


def test_other_things_stay(memory, corpus):
    remote.put_bytes(locate(f"{memory}/a/mine"), b"x")
    remote.put_bytes(locate(f"{memory}/a/0123456789abcdef/deep/mine"), b"x")
    for texts in (["one"], ["two"]):
        Corpus.from_texts(texts).save(f"{memory}/a")
    assert {"mine", "0123456789abcdef/deep/mine"} < set(objects(f"{memory}/a"))
    remote.put_bytes(locate(f"{memory}/a") / published.MANIFEST, b'{"format": "other"}')
    with pytest.raises(CorpusError, match="is not of a corpus; choose another URL, or remove"):
        corpus.save(f"{memory}/a")


# ---- Not what was saved ----------------------------------------------------------------------------------------------


def test_no_corpus(store):
    for load in (Corpus.load, LDA(2).fit):
        with pytest.raises(MissingObjectError, match=f"{store}/a holds no whole corpus") as caught:
            load(f"{store}/a")
        assert "X is a string" not in str(caught.value)


@pytest.mark.parametrize(
    "how", [lambda raw: raw[:-1], lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), lambda raw: raw * 2]
)
def test_damaged(how, memory, corpus, own_cache):
    corpus.save(f"{memory}/a")
    version = objects(f"{memory}/a")[0].split("/")[0]
    change(f"{memory}/a/{version}/words.npy", how)
    with pytest.raises(CorpusError, match=f"{memory}/a/{version}/words.npy is damaged"):
        Corpus.load(f"{memory}/a")
    assert not list((own_cache / "objects").glob("*corpus-*")), "nothing is left of it"


def test_a_file_is_missing(memory, corpus):
    corpus.save(f"{memory}/a")
    version = objects(f"{memory}/a")[0].split("/")[0]
    remote.remove(locate(f"{memory}/a"), [f"{version}/words.npy"])
    with pytest.raises(CorpusError, match=r"words\.npy is missing: the corpus was replaced or removed"):
        Corpus.load(f"{memory}/a")


@pytest.mark.parametrize(
    ("change_it", "says"),
    [
        (lambda m: {**m, "version": 2}, "reads version 1"),
        (
            lambda m: {**m, "files": {**m["files"], "../../evil": [1, "0" * 32]}},
            r"a file '../../evil', which is not one",
        ),
        (lambda m: {**m, "files": {**m["files"], "words.npy": [-1, "0" * 32]}}, "is damaged"),
        (lambda m: {**m, "files": {**m["files"], "words.npy": [True, "0" * 32]}}, "is damaged"),
        (lambda m: {**m, "files": {**m["files"], "words.npy": [1, "../" * 10]}}, "is damaged"),
        (lambda m: {**m, "files": [1]}, "is damaged"),
        (lambda m: [m], "is not of a corpus"),
        (lambda m: {**m, "files": {}}, "is not a saved corpus"),
    ],
)
def test_a_forged_manifest(change_it, says, memory, corpus):
    corpus.save(f"{memory}/a")
    change(f"{memory}/a/{published.MANIFEST}", lambda raw: json.dumps(change_it(json.loads(raw))).encode())
    with pytest.raises(CorpusError, match=says):
        Corpus.load(f"{memory}/a")


def test_no_manifest_at_all(memory, corpus):
    corpus.save(f"{memory}/a")
    change(f"{memory}/a/{published.MANIFEST}", lambda raw: b"\xff" + raw)
    with pytest.raises(CorpusError, match=f"{memory}/a/{published.MANIFEST} is damaged"):
        Corpus.load(f"{memory}/a")


# ---- The cache -------------------------------------------------------------------------------------------------------


def test_the_oldest_copies_go(memory, monkeypatch, own_cache):
    monkeypatch.setenv("TOPOI_CACHE_GB", "0.000002")  # 2,000 bytes: two of these corpora
    made = []
    for n in range(4):
        Corpus.from_texts([f"word{letter}" for letter in "abc"[: n + 1] + "x" * n]).save(f"{memory}/{n}")
        made.append(Corpus.load(f"{memory}/{n}").folder)
        os.utime(made[-1], (n, n))
    assert made[-1].exists()
    assert not made[0].exists()
    assert same(Corpus.load(f"{memory}/0"), Corpus.from_texts(["worda"]))


def test_copies_in_use_stay(memory, monkeypatch):
    monkeypatch.setenv("TOPOI_CACHE_GB", "0")
    for n in range(3):
        Corpus.from_texts([f"word{'abc'[n]}"]).save(f"{memory}/{n}")
    loaded = [Corpus.load(f"{memory}/{n}").folder for n in range(3)]
    assert all(folder.exists() for folder in loaded)


def test_other_files_in_the_cache_stay(memory, monkeypatch, own_cache, corpus):
    monkeypatch.setattr(cache, "GRACE", -1.0)
    monkeypatch.setenv("TOPOI_CACHE_GB", "0")
    (own_cache / "objects").mkdir(parents=True, mode=0o700)
    (own_cache / "objects" / "mine").write_bytes(b"x")
    corpus.save(f"{memory}/a")
    with pytest.raises(CorpusError, match="is not a saved corpus"):  # removed at once
        Corpus.load(f"{memory}/a")
    assert (own_cache / "objects" / "mine").exists()


@pytest.mark.parametrize("given", ["much", "-1", "nan"])
def test_a_limit_that_is_none(given, memory, monkeypatch, corpus):
    monkeypatch.setenv("TOPOI_CACHE_GB", given)
    corpus.save(f"{memory}/a")
    with pytest.raises(ParameterError, match="TOPOI_CACHE_GB: must be a number of gigabytes"):
        Corpus.load(f"{memory}/a")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_a_cache_that_others_can_write_to_is_not_used(memory, monkeypatch, tmp_path, corpus):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("TOPOI_CACHE", str(tmp_path / "open"))
    corpus.save(f"{memory}/a")
    assert (tmp_path / "open") not in Corpus.load(f"{memory}/a").folder.parents

"""A corpus on disk: saved, memory-mapped, replaced whole or not at all, and refused where it is damaged."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from support.corpora import TABLE, WORDS, assert_same, random_corpus
from topoi.corpus import Corpus
from topoi.errors import CorpusError


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("vocabulary", [None, ["a", "line\nbreak", "\ud800", "ß"]])
@pytest.mark.parametrize("table", [TABLE, np.zeros((2, 4)), np.zeros((0, 4))])
def test_save_and_load(tmp_path, table, vocabulary, mmap):
    corpus = Corpus.from_counts(table, vocabulary, allow_empty=True)
    corpus.save(tmp_path / "new" / "corpus")
    loaded = Corpus.load(str(tmp_path / "new" / "corpus"), mmap=mmap)
    assert_same(loaded, corpus)
    assert type(loaded.words) is np.ndarray
    assert not loaded.words.flags.writeable
    np.testing.assert_array_equal(loaded.document_keys, corpus.document_keys)
    np.testing.assert_array_equal(loaded.by_word[0], corpus.by_word[0])
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["corpus"]


def test_mapped_tokens_stay_on_disk(tmp_path):
    random_corpus().save(tmp_path / "c")
    words = Corpus.load(tmp_path / "c").words
    bases = []
    while words is not None:
        words = getattr(words, "base", None)
        bases.append(type(words))
    assert np.memmap in bases


def test_save_replaces_a_corpus_only(tmp_path):
    folder = tmp_path / "c"
    Corpus.from_counts(TABLE, list("abcd")).save(folder)
    mapped = Corpus.load(folder)
    mapped.take([0]).save(folder)
    assert len(Corpus.load(folder)) == 1
    assert mapped.words.tolist() == WORDS
    Corpus.from_counts(TABLE).save(folder)
    assert not (folder / "vocabulary.json").exists()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(CorpusError, match="other things"):
        mapped.save(folder)
    with pytest.raises(CorpusError, match="other things"):
        mapped.save(folder / "thesis.txt")
    assert (folder / "thesis.txt").read_text() == "mine"


def test_failed_save_leaves_the_old_corpus(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    corpus = Corpus.from_counts(TABLE)
    corpus.save(folder)
    other = corpus.take([0])

    def full_disk(*args, **kwargs):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", full_disk)
        with pytest.raises(OSError, match="disk full"):
            other.save(folder)
    rename = type(folder).rename

    def rename_unless_new(path, target):
        if path.name == "new":
            raise OSError("no rename")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "rename", rename_unless_new)
        with pytest.raises(OSError, match="no rename"):
            other.save(folder)
    assert_same(Corpus.load(folder), corpus)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3])


DAMAGE = {
    "no header": lambda f: (f / "corpus.json").unlink(),
    "header is no JSON": lambda f: (f / "corpus.json").write_text("{"),
    "header is a list": lambda f: (f / "corpus.json").write_text("[]"),
    "header lacks n_words": lambda f: (f / "corpus.json").write_text('{"version": 1}'),
    "n_words is text": lambda f: (f / "corpus.json").write_text(
        '{"version": 1, "n_words": "4", "has_vocabulary": false}'
    ),
    "n_words too small": lambda f: (f / "corpus.json").write_text(
        '{"version": 1, "n_words": 3, "has_vocabulary": false}'
    ),
    "later version": lambda f: (f / "corpus.json").write_text('{"version": 2, "n_words": 4}'),
    "no words": lambda f: (f / "words.npy").unlink(),
    "words cut short": lambda f: truncate(f / "words.npy"),
    "words empty file": lambda f: (f / "words.npy").write_bytes(b""),
    "words of text": lambda f: (f / "words.npy").write_text("words"),
    "words int64": lambda f: np.save(f / "words.npy", np.zeros(7, np.int64)),
    "words 2-d": lambda f: np.save(f / "words.npy", np.zeros((7, 1), np.int32)),
    "words pickled": lambda f: np.save(f / "words.npy", np.array([None] * 7), allow_pickle=True),
    "words out of range": lambda f: np.save(f / "words.npy", np.full(7, 4, np.int32)),
    "words out of order": lambda f: np.save(f / "words.npy", np.array(WORDS[::-1], np.int32)),
    "too few words": lambda f: np.save(f / "words.npy", np.zeros(6, np.int32)),
    "words are an archive": lambda f: (
        np.savez(f / "x.npz", WORDS),
        (f / "x.npz").rename(f / "words.npy"),
    ),
    "doc_ptr falls": lambda f: np.save(f / "doc_ptr.npy", np.array([0, 5, 3, 7])),
    "doc_ptr int32": lambda f: np.save(f / "doc_ptr.npy", np.array([0, 3, 3, 7], np.int32)),
    "doc_ptr cut short": lambda f: truncate(f / "doc_ptr.npy"),
    "no vocabulary": lambda f: (f / "vocabulary.json").unlink(),
    "vocabulary too short": lambda f: (f / "vocabulary.json").write_text('["a"]'),
    "vocabulary of numbers": lambda f: (f / "vocabulary.json").write_text("[1, 2, 3, 4]"),
    "vocabulary of bytes": lambda f: (f / "vocabulary.json").write_bytes(b"\xff\xfe"),
    "no folder": lambda f: f.rename(f.with_name("elsewhere")),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("mmap", [True, False])
def test_damaged_folder(tmp_path, damage, mmap):
    folder = tmp_path / "c"
    Corpus.from_counts(TABLE, list("abcd")).save(folder)
    DAMAGE[damage](folder)
    with pytest.raises(CorpusError, match=re.escape(str(folder))):
        Corpus.load(folder, mmap=mmap)


def test_header_is_plain(tmp_path):
    Corpus.from_counts(TABLE).save(tmp_path / "c")
    header = json.loads((tmp_path / "c" / "corpus.json").read_text())
    assert header == {"version": 1, "n_words": 4, "has_vocabulary": False}

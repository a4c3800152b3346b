"""Readers of counts: SVMlight, UCI and npz."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse

from support.corpora import TABLE, assert_same
from support.reader_files import bag, npz, read
from topoi.corpus import Corpus
from topoi.errors import CorpusError, FileError, ParameterError
from topoi.readers import read_documents

COUNTS = Corpus.from_counts(TABLE)
UCI = "3\n4\n4\n1 2 2\n1 3 1\n3 1 3\n3 4 1\n"


def test_count_formats():
    assert_same(read(UCI, format="uci").corpus, COUNTS)
    assert_same(read("1 2:2 3:1\n2\n1 1:3 4:1\n", format="svmlight").corpus, COUNTS)
    assert_same(read("1 1:2 2:1\n2\n1 3:1.0 0:3e0 # x\n\n# y\n", format="svmlight", first_index=0).corpus, COUNTS)
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert_same(read(npz(make(TABLE)), format="npz").corpus, COUNTS)


def test_labels_of_svmlight():
    assert read("+1 1:1\n-1 2:1\n1.0 1:1", format="svmlight").labels.tolist() == [1, -1, 1]
    assert read("1,3 1:1\n2 qid:7 2:1\n 4:1", format="svmlight").labels == [[1, 3], [2], []]
    assert read("1 1:1\n2:1", format="svmlight").labels.tolist() == [1, None]
    assert read("1\t1:1\t2:2\n2:1", format="svmlight").corpus.n_tokens == 4
    assert read("1:1\n2:1", format="svmlight").labels is None
    assert read("1 1:1\n2:1", format="svmlight", label_separator=",").labels == [[1], []]


def test_a_repeated_index_is_summed():
    assert read("1 2:1 1:1 2:3", format="svmlight").corpus.words.tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["docword.x.txt", "docword.x.txt.gz", "x.svm.gz", "x.npz"])
def test_vocabulary_beside_the_counts(name, tmp_path):
    content = {"docw": UCI.encode(), "x.sv": b"1 2:2 3:1\n2\n1 1:3\n"}.get(name[:4]) or npz(sparse.csr_array(TABLE))
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    (tmp_path / ("vocab.x.txt" if name.startswith("doc") else "x.vocab.txt")).write_text("d\nc\nb\na\n", "utf-8")
    corpus = read_documents(path).corpus
    assert corpus.vocabulary.tolist() == ["d", "c", "b", "a"]
    assert bag(corpus)[0] == ["c", "c", "b"]
    known = read_documents(path, vocabulary=["b", "x", "c"]).corpus  # matched by word
    assert bag(known)[0] == ["b", "c", "c"]
    assert known.vocabulary.tolist() == ["b", "x", "c"]
    assert known.n_dropped == corpus.n_tokens - 3
    pruned = read_documents(path, stop_words=["c"], max_features=1).corpus
    assert pruned.vocabulary.tolist() == ["d"]
    (tmp_path / "other").write_text("e\nf\ng\nh\n", "utf-8")
    assert read_documents(path, vocabulary_file=tmp_path / "other").corpus.vocabulary.tolist() == list("efgh")


def test_counts_without_names():
    corpus = read("1 2:2", format="svmlight", vocabulary=["a", "b", "c"]).corpus
    assert bag(corpus) == [["b", "b"]]
    with pytest.raises(FileError, match="2 columns, but the vocabulary has 1"):
        read("1 2:2", format="svmlight", vocabulary=["a"])
    with pytest.raises(ParameterError, match="no vocabulary file"):
        read("1 2:2", format="svmlight", min_df=2)


def test_uci_blocks(monkeypatch):
    from topoi.readers import uci

    rng = np.random.default_rng(0)
    table = rng.poisson(0.3, (200, 50))
    table[3:7] = table[-3:] = 0
    cells = [f"{d + 1} {w + 1} {table[d, w]}\n" for d, w in np.argwhere(table)]
    content = f"200\n50\n{len(cells)}\n{''.join(cells)}"
    monkeypatch.setattr(uci, "BLOCK", 37)
    assert_same(read(content, format="uci").corpus, Corpus.from_counts(table))


def test_a_repr():
    assert repr(read("xx yy", format="txt")) == "Dataset(1 documents, 2 words, 2 tokens)"
    assert issubclass(FileError, CorpusError)

"""Writers: what is written is read back the same, and a file is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from support.corpora import assert_same
from topoi._disk.whole import writing_whole
from topoi.corpus import Corpus
from topoi.errors import FileError, ParameterError
from topoi.readers import Dataset, read_documents
from topoi.writers import DOCUMENT_FORMATS, TABLE_FORMATS, write_documents, write_table

SUFFIXES = ["", ".gz", ".xz", ".bz2", ".zst"]
TABLE = {
    "id": ["a", 'b "q"', "c,\nd"],
    "topic": np.array([3, 1, 2]),
    "p": np.array([0.1, np.nan, 1 / 3]),
    "sure": np.array([True, False, True]),
    "word": np.array(["wé", "x", None], object),
    "several": [["r", "g"], [], ["b"]],
}


def opened(path):
    from topoi.readers._source import Source

    with Source(path).opened() as stream:
        return stream.read()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", TABLE_FORMATS)
def test_tables(name, suffix, tmp_path):
    path = tmp_path / f"table.{name}{suffix}"
    write_table(TABLE, path)
    data = opened(path)
    stream = io.BytesIO()
    write_table(TABLE, stream, format=name)
    assert stream.getvalue() == data
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    if name == "parquet":
        table = pq.read_table(io.BytesIO(data)).to_pydict()
        assert np.isnan(table["p"].pop(1))
        assert table["p"] == [0.1, 1 / 3]
        assert {key: table[key] for key in ("id", "topic", "word", "several")} == {
            "id": TABLE["id"], "topic": [3, 1, 2], "word": ["wé", "x", None], "several": TABLE["several"]
        }  # fmt: skip
    elif name == "jsonl":
        rows = [json.loads(line) for line in data.decode().split("\n")[:-1]]
        assert [row["p"] for row in rows] == [0.1, None, 1 / 3]
        assert rows[0] == {"id": "a", "topic": 3, "p": 0.1, "sure": True, "word": "wé", "several": ["r", "g"]}
        assert rows[2]["id"] == "c,\nd"
    else:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter="\t" if name == "tsv" else ","))
        assert rows[0] == {"id": "a", "topic": "3", "p": "0.1", "sure": "true", "word": "wé", "several": "r;g"}
        assert rows[1]["id"] == 'b "q"'
        assert (rows[1]["p"], rows[2]["word"], rows[1]["several"]) == ("", "", "")
        assert float(rows[2]["p"]) == 1 / 3


def test_many_rows(tmp_path):
    column = np.random.default_rng(0).random(20_000)
    for name in TABLE_FORMATS:
        path = tmp_path / f"x.{name}"
        write_table({"x": column, "text": ["apple pear"] * 20_000}, path)
        np.testing.assert_array_equal(read_documents(path, target="x", max_df=1.0).labels, column)


def test_equal_tables_are_equal_files(tmp_path):
    for suffix in SUFFIXES:
        contents = []
        for i in range(2):
            path = tmp_path / str(i) / f"x.csv{suffix}"
            path.parent.mkdir(exist_ok=True)
            write_table(TABLE, path)
            contents.append(path.read_bytes())
        assert contents[0] == contents[1]


def test_standard_output(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    write_table({"x": [1]}, "-")
    write_table({"x": [2]}, "-", format="jsonl")
    assert out.buffer.getvalue() == b'x\n1\n{"x": 2}\n'


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({}, "there are none"),
        ({"a": [1], "b": [1, 2]}, "'b' has 2 rows, but 'a' has 1"),
        ({"a": np.zeros((2, 2))}, "'a' must be a list or a 1-d array"),
        ({"a": "text"}, "'a' must be a list"),
        ({"a": 3}, "'a' must be a list"),
    ],
)
def test_faults_of_tables(columns, what, tmp_path):
    with pytest.raises(ParameterError, match=what):
        write_table(columns, tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


def test_values_that_cannot_be_written(tmp_path):
    for name in TABLE_FORMATS:
        path = tmp_path / f"x.{name}"
        path.write_bytes(b"old")
        with pytest.raises((FileError, ParameterError)):
            write_table({"a": ["half \ud800 of a pair"]}, path)
        assert path.read_bytes() == b"old"
    with pytest.raises(ParameterError, match="list_separator"):
        write_table({"a": [["x;y"]]}, tmp_path / "x.csv")
    with pytest.raises(ParameterError, match="JSON"):
        write_table({"a": [float("inf")]}, tmp_path / "x.jsonl")
    with pytest.raises(FileError, match="Parquet"):
        write_table({"a": [1, "x"]}, tmp_path / "x.parquet")
    assert len(list(tmp_path.iterdir())) == len(TABLE_FORMATS)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="cannot be written: No such file"):
        write_table({"a": [1]}, tmp_path / "missing" / "x.csv")
    with pytest.raises(FileError, match="cannot be written"):
        write_table({"a": [1]}, tmp_path, format="csv")
    with pytest.raises(ParameterError, match=r"format.*x\.dat cannot be told"):
        write_table({"a": [1]}, tmp_path / "x.dat")
    with pytest.raises(ParameterError, match="must be one of 'csv', 'tsv', 'jsonl', 'parquet', not 'xls'"):
        write_table({"a": [1]}, tmp_path / "x.csv", format="xls")
    with pytest.raises(ParameterError, match="target"):
        write_table({"a": [1]}, io.StringIO())


def test_a_file_is_whole_or_the_old_one(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), writing_whole(path) as file:  # noqa: PT012
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    with writing_whole(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null here")
def test_devices_are_not_replaced():
    before = os.stat("/dev/null")
    write_table({"a": [1]}, "/dev/null", format="csv")
    assert os.stat("/dev/null").st_mode == before.st_mode


# Documents

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def datasets(draw, label, words=WORDS):
    vocabulary = draw(st.lists(words, min_size=1, max_size=6, unique=True))
    n = draw(st.integers(1, 6))
    table = draw(
        st.lists(
            st.lists(st.sampled_from([0, 0, 1, 3]), min_size=len(vocabulary), max_size=len(vocabulary)),
            min_size=n,
            max_size=n,
        )
    )
    table[0] = [max(count, 1) for count in table[0]]  # every word is used
    labels = [draw(label) for _ in range(n)]
    return Dataset(Corpus.from_counts(table, sorted(vocabulary)), None if labels[0] is None else labels)


QUICK = settings(max_examples=60)
NAME = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Cc", "Zl", "Zp"], exclude_characters="?,"), min_size=1, max_size=5
)
LINE = NAME.filter(lambda word: word.split() == [word] and not word.startswith("\ufeff"))


def with_array(data: Dataset) -> Dataset:
    array = np.empty(len(data), object)
    array[:] = data.labels
    return Dataset(data.corpus, array)


@QUICK
@given(datasets(label=st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_json_lines_hold_everything(tmp_path, data):
    data = with_array(data)
    data = Dataset(data.corpus, data.labels, np.arange(len(data)))
    write_documents(data, tmp_path / "x.jsonl.gz")
    back = read_documents(tmp_path / "x.jsonl.gz", label="label", id="id")
    assert_same(back.corpus, data.corpus)
    assert back.labels.tolist() == data.labels.tolist()
    assert back.ids.tolist() == data.ids.tolist()


@QUICK
@given(datasets(words=LINE, label=LINE))
def test_mallet(tmp_path, data):
    data = with_array(data)
    write_documents(data, tmp_path / "x.mallet")
    back = read_documents(tmp_path / "x.mallet", tokenized=True)
    assert_same(back.corpus, data.corpus)
    assert back.labels.tolist() == data.labels.tolist()
    assert back.ids.tolist() == [str(d) for d in range(len(data))]


@QUICK
@given(datasets(words=LINE, label=st.integers(-5, 5)), st.sampled_from(["svmlight", "uci", "npz"]))
def test_counts(tmp_path, data, name):
    data = Dataset(data.corpus, np.array(data.labels))
    path = tmp_path / f"x.{name}"
    write_documents(data, path, labels=name == "svmlight")
    back = read_documents(path)
    assert_same(back.corpus, data.corpus)
    if name == "svmlight":
        assert back.labels.tolist() == data.labels.tolist()


LABELS = [
    (np.array([0.5, -1.25, np.nan]), ("jsonl", "svmlight", "mallet"), {"target": True}),
    ([["1", "2"], ["1"], ["3"]], ("jsonl", "mallet"), {}),
    ([["1", "2"], [], None], ("jsonl",), {}),
    ([[1, 2], [], [3]], ("jsonl", "svmlight"), {}),
    (np.array(["a", None, "b"], object), ("jsonl", "mallet"), {}),
    (np.array([4, None, 2], object), ("jsonl", "svmlight"), {}),
    (np.array([True, False, True]), ("jsonl",), {}),
]


@pytest.mark.parametrize(("labels", "names", "options"), LABELS, ids=str)
def test_kinds_of_labels(labels, names, options, tmp_path):
    corpus = Corpus.from_tokens([["a", "b"], [], ["b", "c", "b"]])
    for name in names:
        path = tmp_path / f"x.{name}"
        write_documents(Dataset(corpus, labels), path)
        more = {"label": "label"} if name == "jsonl" and not options else {}
        more |= {"tokenized": True} if name == "mallet" else {}
        more |= {"label_separator": ","} if isinstance(labels, list) and name != "jsonl" else {}
        back = read_documents(path, **options, **more)
        assert_same(back.corpus, corpus)
        if isinstance(labels, list):
            assert back.labels == labels
        else:
            np.testing.assert_array_equal(back.labels, labels)


def test_counts_without_a_vocabulary(tmp_path):
    corpus = Corpus.from_counts([[0, 2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])  # the last words are not used
    for name in ("svmlight", "uci", "npz"):
        stream = io.BytesIO()
        write_documents(corpus, stream, name)
        stream.seek(0)
        assert_same(read_documents(stream, format=name).corpus, corpus)
    for name in ("jsonl", "mallet"):
        with pytest.raises(FileError, match="have no vocabulary; write svmlight, uci or npz"):
            write_documents(corpus, tmp_path / f"x.{name}")


def test_scikit_learn_reads_our_svmlight(tmp_path):
    corpus = Corpus.from_counts([[0, 2, 0], [0, 0, 0], [1, 0, 3]])
    write_documents(Dataset(corpus, np.array([3, 1, 2])), tmp_path / "x.svm")
    X, y = load_svmlight_file(str(tmp_path / "x.svm"))
    np.testing.assert_array_equal(X.toarray(), corpus.to_counts().toarray())
    assert y.tolist() == [3, 1, 2]


def test_uci_names(tmp_path):
    corpus = Corpus.from_tokens([["a", "b"], ["b"]])
    write_documents(corpus, tmp_path / "docword.x.txt.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docword.x.txt.gz", "vocab.x.txt"]
    assert_same(read_documents(tmp_path / "docword.x.txt.gz").corpus, corpus)
    write_documents(corpus, io.BytesIO(), "uci", vocabulary_file=tmp_path / "words.txt")
    assert (tmp_path / "words.txt").read_bytes() == b"a\nb\n"
    with pytest.raises(ParameterError, match="vocabulary_file"):
        write_documents(corpus, io.BytesIO(), "uci")


@pytest.mark.parametrize(
    ("name", "tokens", "labels", "what"),
    [
        ("svmlight", ["a"], ["cat"], "the label of document 0 is 'cat', but SVMlight holds numbers only"),
        ("uci", ["a"], ["cat"], "UCI cannot hold labels; write jsonl or mallet, or leave them out"),
        ("npz", ["a"], [1], "npz cannot hold labels"),
        ("mallet", ["New York"], None, "the word 'New York' has a blank"),
        ("mallet", [",x"], None, "begins with a comma"),
        ("mallet", ["a"], ["two words"], "the label of document 0 is 'two words'"),
        ("mallet", ["a"], ["?"], "the label of document 0 is"),
        ("svmlight", ["line\nbreak"], None, "cannot stand on a line of its own; write jsonl"),
        ("uci", [""], None, "cannot stand on a line of its own"),
    ],
)
def test_what_a_format_cannot_hold(name, tokens, labels, what, tmp_path):
    data = Dataset(Corpus.from_tokens([tokens]), None if labels is None else np.array(labels, object))
    with pytest.raises(FileError, match=what):
        write_documents(data, tmp_path / f"x.{name}")
    assert not list(tmp_path.iterdir())  # neither documents nor a vocabulary


def test_no_labels_at_all_in_mallet(tmp_path):
    data = Dataset(Corpus.from_tokens([["a"]]), [[]])
    with pytest.raises(FileError, match="document 0 has no labels"):
        write_documents(data, tmp_path / "x.mallet")


def test_document_formats_can_be_read():
    from topoi.readers import FORMATS

    assert set(DOCUMENT_FORMATS) <= set(FORMATS)
    assert all(DOCUMENT_FORMATS[name] == FORMATS[name].suffixes for name in DOCUMENT_FORMATS)

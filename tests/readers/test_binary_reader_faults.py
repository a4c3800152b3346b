"""Broken files of Parquet and of counts, vocabularies, options and sources: errors that say the place."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from support.reader_files import FILES, as_parquet, error_of, npz, read
from topoi.errors import FileError, ParameterError
from topoi.readers import read_documents

# Parquet


def test_types_of_parquet():
    content = as_parquet(
        n=[1, 2], x=[0.5, 1.5], text=["a b", "cc"], b=[b"1", b"2"], d=pa.array(["q", "r"]).dictionary_encode()
    )
    assert "the column 'n' has the type int64; text must be string" in error_of(content, format="parquet", text="n")
    assert "has the type binary" in error_of(content, format="parquet", text="b")
    assert "'x' has the type double; labels must be" in error_of(content, format="parquet", label="x")
    assert "'x' has the type double; ids" in error_of(content, format="parquet", id="x")
    assert "'b' has the type binary; a target" in error_of(content, format="parquet", target="b")
    assert read(content, format="parquet", target="x").labels.tolist() == [0.5, 1.5]
    assert read(content, format="parquet", text="d", label="n", token_pattern=r"\w").labels.tolist() == [1, 2]


def test_rows_of_parquet():
    content = as_parquet(text=["aa", None, "bb"], label=["x", "y", None], nr=[1, 2, None])
    assert "row 2: 'text' is null" in error_of(content, format="parquet")
    data = read(content, format="parquet", label="label", on_error="skip")
    assert data.labels.tolist() == ["x", None]
    assert "row 3: the id 'nr' is null" in read(content, format="parquet", id="nr", on_error="skip").skipped[1]
    table = pa.table({"text": pa.Array.from_buffers(pa.string(), 3, pa.array([b"aa", b"\xff\xfe", b"bb"]).buffers())})
    file = io.BytesIO()
    pq.write_table(table, file)
    assert "row 2: a string that is not UTF-8" in error_of(file.getvalue(), format="parquet")
    assert len(read(file.getvalue(), format="parquet", on_error="skip")) == 2


def test_broken_parquet():
    content, options = FILES["parquet"]
    assert "is not a Parquet file, or is damaged" in error_of(b"PAR1" + bytes(100) + b"PAR1", format="parquet")
    assert "is not a Parquet file, or is damaged" in error_of(content[:-20], format="parquet", **options)


# Counts


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 3:x", "'3:x': counts are whole numbers"),
        ("1 3:-1", "'3:-1': counts are"),
        ("1 3:0.5", "'3:0.5': counts are"),
        ("1 3:nan", "'3:nan': counts are"),
        ("1 3:99999999", "the count 99999999: counts are whole numbers up to 16777215"),
        ("1 3:1e99", "'3:1e99': counts are"),
        ("1 3", "expected index:count, not '3'"),
        ("1 -3:1", "expected index:count, not '-3:1'"),
        ("1 3:1:2", "'3:1:2': counts are"),
        ("1 1:00:1\t0:1", "'1:00:1': counts are"),
        ("1 x:1", "expected index:count, not 'x:1'"),
        ("1 0:1", "the index 0: indices count from 1. If they count from 0 in this file, give first_index=0."),
        ("1 4294967296:1", "the index 4294967296 is too large"),
        ("1.5 3:1", "the label is 1.5; labels are whole numbers. To predict numbers, give target=True."),
        ("cat 3:1", "the line begins with 'cat'; expected a whole number"),
        ("1,x 3:1", "the line begins with 'x'"),
        ("1 ٣:1", "expected index:count"),
    ],
)
def test_faults_of_svmlight(line, what):
    content = f"1 1:1\n{line}\n2 2:1\n"
    assert f"line 2: {what}" in error_of(content, format="svmlight")
    data = read(content, format="svmlight", on_error="skip")
    assert (len(data), data.n_skipped) == (2, 1)


def test_zero_counts_are_absent_words():
    assert read("1 1:0 2:1 3:0.0", format="svmlight").corpus.words.tolist() == [1]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("x\n4\n1\n1 1 1\n", "line 1: expected the number of documents, not b'x'. Is this a docword file?"),
        ("2\n\n1\n1 1 1\n", "line 2: expected the number of words"),
        ("2\n4\n-1\n1 1 1\n", "line 3: expected the number of lines"),
        ("2\n4\n3\n1 1 1\n2 1 1\n", "line 3 announces 3 lines, but 2 follow: the file is truncated"),
        ("2\n4\n1\n1 1 1\n2 1 1\n", "line 3 announces 1 lines, but 2 follow"),
        ("2\n4\n2\n1 1 1\n3 1 1\n", "line 5: document 3; line 1 says that there are 2"),
        ("2\n4\n2\n1 1 1\n0 1 1\n", "line 5: document 0"),
        ("2\n4\n2\n1 1 1\n2 5 1\n", "line 5: word 5; line 2 says that there are 4"),
        ("2\n4\n2\n1 1 1\n2 4 0\n", "line 5: the count 0"),
        ("2\n4\n2\n1 1 1\n2 4 99999999\n", "line 5: the count 99999999"),
        ("2\n4\n2\n2 1 1\n1 4 1\n", "line 5: document 1 comes too late; the lines must be in order of documents"),
        ("2\n4\n2\n1 1 1\n2 x 1\n", "line 5: expected three whole numbers, document word count, not b'2 x 1'"),
        ("2\n4\n2\n1 1 1\n2 1\n", "line 5: expected three whole numbers"),
        ("2\n4\n2\n1 1 1\n2 1 -1\n", "line 5: expected three whole numbers"),
        ("999999999999\n4\n1\n1 1 1\n", "claims 999999999999 documents, but holds only 1 counts"),
        ("1\n2147483646\n1\n1 1 1\n", "claims 2147483646 columns, but holds only 1 words"),
        ("999999999999\n4\n1\n99999999999 1 1\n", "documents, but holds only 1 counts"),
        ("2\n99999999999\n1\n1 1 1\n", "line 2: has 99999999999 words"),
        ("0\n4\n0\n", "has no documents"),
    ],
)
def test_faults_of_uci(content, what):
    assert what in error_of(content, format="uci")


def test_skipped_lines_of_uci():
    data = read("2\n4\n3\n1 1 1\n1 9 1\n2 4 2\n", format="uci", on_error="skip")
    assert data.n_skipped == 1
    assert data.corpus.words.tolist() == [0, 3, 3]


class Bad:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def test_faults_of_npz(tmp_path):
    assert "is not a sparse matrix" in error_of(b"PK\x03\x04 nothing", format="npz")
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    assert "is not a sparse matrix saved by scipy.sparse.save_npz" in error_of(file.getvalue(), format="npz")
    file = io.BytesIO()
    np.savez(file, a=np.array([Bad()], object), format=np.array(Bad(), object))
    assert "is not a sparse matrix" in error_of(file.getvalue(), format="npz")
    assert "is not a sparse matrix" in error_of(pickle.dumps(np.zeros(3)), format="npz")
    for table, what in (([[0.5]], "holds a fraction"), ([[-1]], "Negative"), ([[np.nan]], "NaN"), ([[1j]], "Complex")):
        assert what in error_of(npz(sparse.csr_array(np.array(table))), format="npz")
    whole = npz(sparse.csr_array(np.ones((3, 3))))
    for end in range(0, len(whole), 97):
        error_of(whole[:end], format="npz")
    bad = sparse.csr_array(np.ones((2, 3), int))
    bad.indices[:] = 7
    assert "well-formed" in error_of(npz(bad), format="npz")
    huge = sparse.coo_array(([1], ([0], [0])), shape=(2**40, 2))
    assert "claims 1099511627776 documents" in error_of(npz(huge), format="npz")


def test_an_npz_whose_header_asks_for_memory():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("indices", "indptr", "data", "shape", "format"):
            header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }"
            header += b" " * (117 - len(header)) + b"\n"
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64))
    error_of(file.getvalue(), format="npz")


@pytest.mark.parametrize("words", ["a\nb\na\n", "a\n\nb\n", "", "a\nb\n", "a\nb\nc\nd\ne\n"])
def test_vocabulary_files(words, tmp_path):
    (tmp_path / "docword.x.txt").write_text("1\n4\n1\n1 1 1\n", "utf-8")
    (tmp_path / "vocab.x.txt").write_text(words, "utf-8")
    with pytest.raises(FileError, match=r"vocab\.x\.txt|its vocabulary file has \d words"):
        read_documents(tmp_path / "docword.x.txt")
    (tmp_path / "vocab.x.txt").write_text("a\nb\nc\nd\n\n\n", "utf-8")
    assert read_documents(tmp_path / "docword.x.txt").corpus.n_words == 4


# Options


@pytest.mark.parametrize(
    "options",
    [
        {"format": None}, {"format": "word"}, {"on_error": "ignore"}, {"min_df": 0}, {"min_df": 1.5}, {"max_df": True},
        {"min_df": "2"}, {"max_features": 0}, {"max_features": 1.5}, {"stop_words": "klingon"}, {"stop_words": 3},
        {"token_pattern": "("}, {"token_pattern": "(a)(b)"}, {"token_pattern": b"x"}, {"label": "a", "target": "b"},
        {"clean": "soap"}, {"phrases": 3}, {"text": 3}, {"text": []}, {"text": ["a", "a"]},
        {"first_index": 2}, {"label_separator": ""}, {"min_df": 3, "max_df": 1},
    ],
    ids=str,
)  # fmt: skip
def test_options(options):
    with pytest.raises(ParameterError):
        read(b"one two", **({"format": "txt"} | options))


@pytest.mark.parametrize("source", [io.StringIO("text"), 3, None, [3]])
def test_sources(source):
    with pytest.raises(ParameterError, match="source"):
        read_documents(source, format="txt")


def test_a_stream_that_cannot_be_read():
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(FileError, match="Input/output error"):
        read_documents(Broken(), format="txt")

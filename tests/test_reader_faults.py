"""Broken files: an error says the file, the place and what to do; one broken document among many can be skipped."""

from __future__ import annotations

import builtins
import contextlib
import gzip
import io
import json
import pickle
import struct
import sys
import warnings
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from test_readers import COMPRESS, FILES, LABELS, TEXTS, as_csv, as_parquet, bag, jsonl, npz, read, write_folder, zstd

from topoi.errors import FileError, ParameterError, TopoiError
from topoi.readers import FORMATS, Dataset, _source, read_documents

QUICK = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def error_of(data: bytes | str, **options) -> str:
    with pytest.raises(FileError) as caught:
        read(data, **options)
    return str(caught.value)


# Paths and compression


def test_paths(tmp_path):
    with pytest.raises(FileError, match=r"missing\.csv: there is no such file; check the path"):
        read_documents(tmp_path / "missing.csv")
    with pytest.raises(FileError, match="there is no such file"):
        read_documents(tmp_path / "missing.csv", format="csv")
    with pytest.raises(FileError, match="is a folder, not a file"):
        read_documents(tmp_path, format="csv")
    with pytest.raises(FileError, match="has no documents"):
        read_documents(tmp_path)
    (tmp_path / "x.dat").write_bytes(b"hello")
    with pytest.raises(ParameterError, match=r"format.*x\.dat cannot be told.*'folder', 'txt', 'jsonl'"):
        read_documents(tmp_path / "x.dat")
    with pytest.raises(FileError, match="is not a folder"):
        read_documents(tmp_path / "x.dat", format="folder")
    with pytest.raises(FileError):
        read_documents("a\0b.txt", format="txt")


@pytest.mark.parametrize("suffix", [s for s in COMPRESS if s])
@pytest.mark.parametrize("name", ["txt", "csv", "jsonl", "parquet"])
def test_truncated_files(name, suffix, tmp_path):
    content, options = FILES[name]
    whole = COMPRESS[suffix](content * (1 if name == "parquet" else 50))
    for end in (len(whole) // 2, len(whole) - 1, 12, 3, 0):
        path = tmp_path / f"posts.{name}{suffix}"
        path.write_bytes(whole[:end])
        with pytest.raises(FileError, match=r"posts\.(txt|csv|jsonl|parquet)\.\w+: ") as caught:
            read_documents(path, on_error="skip", **(options if name == "parquet" else {}))
        if end > 12:
            assert "truncated after" in str(caught.value)
            assert "download it again" in str(caught.value)


@pytest.mark.parametrize("suffix", [s for s in COMPRESS if s])
def test_damaged_files(suffix):
    content = ("\n".join(TEXTS) * 200).encode()
    checked = {zstd.CompressionParameter.checksum_flag: 1}  # the others have a check sum anyway
    whole = bytearray(zstd.compress(content, options=checked) if suffix == ".zst" else COMPRESS[suffix](content))
    for at in range(12, len(whole), max(len(whole) // 15, 1)):
        damaged = whole.copy()
        damaged[at] ^= 0x55
        with pytest.raises(FileError, match=r"the stream: the \w+ data (are damaged|end in the middle)"):
            read(bytes(damaged), format="txt")


def test_zstandard_without_its_package(monkeypatch):
    if sys.version_info >= (3, 14):
        pytest.skip("part of Python")
    _block(monkeypatch, "backports")
    assert "pip install 'topoi[zstd]'" in error_of(COMPRESS[".zst"](b"text"), format="txt")


def test_parquet_without_its_package(monkeypatch):
    _block(monkeypatch, "pyarrow")
    assert "pip install 'topoi[arrow]'" in error_of(FILES["parquet"][0], format="parquet")


def _block(monkeypatch, package):
    real = builtins.__import__

    def refuse(name, *arguments, **more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_bomb_takes_no_memory(monkeypatch):
    monkeypatch.setattr(_source, "MAX_DOCUMENT", 2**16)
    bomb = gzip.compress(b"one two\n" + b"x" * 2**24 + b"\nthree four\n")
    assert "line 2: the line is longer than" in error_of(bomb, format="txt")
    data = read(bomb, format="txt", on_error="skip")
    assert bag(data.corpus) == [["one", "two"], ["four", "three"]]
    assert data.n_skipped == 1


def test_a_file_that_is_too_long(monkeypatch, tmp_path):
    monkeypatch.setattr(_source, "MAX_DOCUMENT", 2**10)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x" * 2**22))
    (tmp_path / "b").write_bytes(b"short")
    with pytest.raises(FileError, match="too long for one document"):
        read_documents(tmp_path)
    assert read_documents(tmp_path, on_error="skip").n_skipped == 1


# Encodings


@pytest.mark.parametrize("name", ["txt", "csv", "jsonl", "mallet"])
def test_other_encodings(name):
    text = {"txt": "abc\nné\n", "csv": "text\né\n", "jsonl": '{"text": "é"}\n', "mallet": "n1 A é\n"}[name]
    what = error_of(text.encode("latin-1"), format=name)
    assert "the byte 0xe9 is not valid UTF-8" in what
    assert "option encoding: 'latin-1'" in what
    if name == "txt":
        assert "line 2, byte 2" in what
    for encoding in ("utf-16", "utf-32"):
        for options in ({}, {"on_error": "skip"}):
            what = error_of(text.encode(encoding), format=name, **options)
            assert f"byte order mark of {encoding.upper()}; give encoding='{encoding}'" in what
    assert "give encoding='utf-16-le'" in error_of(text.replace("é", "e").encode("utf-16-le"), format=name)
    assert "is not valid UTF-16" in error_of(text.encode("utf-16")[:-1], format=name, encoding="utf-16")


def test_encodings_that_there_are_not():
    for encoding in ("latin-99", "base64", "a\0b", 3, ""):
        with pytest.raises(ParameterError, match="encoding"):
            read(b"text", format="txt", encoding=encoding)


def test_binary_files_in_a_folder(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "animal" / "cat.jpg").write_bytes(bytes(range(256)))
    with pytest.raises(FileError, match=r"cat\.jpg, byte \d+: "):
        read_documents(tmp_path)
    (tmp_path / "animal" / "nul.bin").write_bytes(b"abc\0def")
    data = read_documents(tmp_path, on_error="skip")
    assert data.n_skipped == 2
    assert len(data) == len(TEXTS)
    assert "cat.jpg" in data.skipped[0]


# Columns


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_missing_columns(name):
    content, _ = FILES[name]
    for option in ("text", "label", "id", "target"):
        what = error_of(content, format=name, **{option: "body"})
        assert "has no column 'body'; it has " in what
        assert "'nr'" in what
        assert "'text'" in what


def test_missing_keys():
    assert "line 1: the object has no key 'text'; it has 'a', 'b'. Name one: text=" in error_of(
        b'{"a": 1, "b": 2}', format="jsonl"
    )
    assert "line 2: the object has no key 'a'; it has 'b'" in error_of(
        b'{"a": "x"}\n{"b": 2}', format="jsonl", text="a"
    )
    assert "no object has the key 'y'; the first has 'text'" in error_of(b'{"text": "x"}', format="jsonl", label="y")
    assert "no object has the key 'y'" in error_of(b'{"text": "x"}', format="jsonl", target="y")
    assert "the id 'nr' is None" in error_of(b'{"text": "x"}', format="jsonl", id="nr")


def test_columns_that_come_twice():
    assert "'text' more than once" in error_of(b"text,text\na,b\n", format="csv")


def test_columns_of_formats_without():
    for name in ("txt", "uci", "npz", "mallet", "svmlight"):
        for option in ("text", "label", "id"):
            with pytest.raises(ParameterError, match=f"{option}: names the column 'x', but this format has no columns"):
                read(b"1 1:1", format=name, **{option: "x"})
    with pytest.raises(ParameterError, match="target: this format has none: one document a line"):
        read(b"text", format="txt", target=True)


def test_another_delimiter():
    what = error_of(b"title;text\na;b\n", format="csv", text="text")
    assert "Is the delimiter a semicolon? Then give delimiter=';'" in what
    with pytest.raises(ParameterError, match="delimiter: must be one character"):
        read(b"a,b\n", format="csv", delimiter="::")


# Lines


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[1, 2]", "line 2: this is an array; each line must be an object"),
        ("3", "line 2: this is 3; each line must be an object"),
        ("{", "line 2, column 2: the JSON goes on in the next line"),
        ('{"text": "x",}', "this is not JSON"),
        ('{"text": "x"', "line 2, column 13: this is not JSON"),
        ('{"text": null}', "line 2: 'text' is null; it must be a string"),
        ('{"text": 3.5}', "line 2: 'text' is 3.5, a float; it must be a string"),
        ('{"text": {"a": 1}}', "a dict; it must be a string"),
        ('{"text": ["a", 3]}', "a list with 3; words must be strings"),
        ('{"text": ["a", null]}', "a list with None; words must be strings"),
        ('{"text": "x", "label": 1.5}', "'label': the label is 1.5; labels are strings or whole numbers. To predict"),
        ('{"text": "x", "label": {}}', "'label': the label is a dict"),
        ('{"text": "x", "label": ["a", null]}', "the labels hold None"),
        ("[" * 100_000, "line 2: the JSON is nested too deeply"),
        ('{"text": "x", "n": ' + "9" * 5000 + "}", "line 2: this is not JSON"),
    ],
)
def test_faults_of_json_lines(line, what):
    lines = ['{"text": "one two", "label": "a"}', line, '{"text": "three", "label": "b"}']
    content = "\n".join(lines)
    assert what in error_of(content, format="jsonl", label="label")
    data = read(content, format="jsonl", label="label", on_error="skip")
    assert data.labels.tolist() == ["a", "b"]
    assert data.n_skipped == 1
    assert what in data.skipped[0]


def test_texts_and_lists_mixed():
    assert "some texts are strings, others lists" in error_of(b'{"text": "a"}\n{"text": ["a"]}', format="jsonl")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x", "line 3: the record has 1 fields; there are 2 columns"),
        ("x,y,z", "line 3: the record has 3 fields; there are 2 columns. A field with a comma"),
        ('"x,y', "line 3: "),
        ('"x"y,z', "line 3: a quoted field goes on after its quote. Close it, double a quote"),
        ("x\0y,z", "line 3, column 2: a NUL character"),
        ("x\ry,z", "line 3: a carriage return inside a field"),
    ],
)
@pytest.mark.parametrize("end", ['c,"d"\n', "e,f\n", ""])
def test_faults_of_csv(line, what, end):
    content = f"text,label\none,a\n{line}\n{end}" + "two,b\n" * (end != "")
    assert what in error_of(content, format="csv", label="label")
    data = read(content, format="csv", label="label", on_error="skip")
    assert data.n_skipped == 1
    assert what in data.skipped[0]
    assert data.labels.tolist() == ["a"] + (["d" if '"' in end else "f", "b"] if end else [])


def test_an_endless_quote(monkeypatch):
    from topoi.readers import delimited

    monkeypatch.setattr(delimited, "MAX_DOCUMENT", 2**12)
    content = 'text,label\none,a\n"open,b\n' + "two,c\n" * 2000
    assert "line 3: not CSV: the record is longer" in error_of(content, format="csv")
    data = read(content, format="csv", label="label", on_error="skip")
    assert (len(data), data.n_skipped) == (2001, 1)


@pytest.mark.parametrize("value", ["one", "1_0", "inf", "-Infinity", "0x1"])
def test_faults_of_targets(value):
    what = error_of(f"text,y\nx,{value}\n", format="csv", target="y")
    assert "line 2: 'y': the target is" in what
    assert "the target is" in error_of(f'{{"text": "x", "y": "{value}"}}', format="jsonl", target="y")
    assert error_of(f"{value} 1:1", format="svmlight", target=True)
    assert "the target is" in error_of(f"n {value} text", format="mallet", target=True)


def test_a_folder_of_targets(tmp_path):
    write_folder(tmp_path)
    with pytest.raises(FileError, match="the subfolder 'animal': the target is 'animal', not a number"):
        read_documents(tmp_path, target=True)


BROKEN = {
    "jsonl": '{"text": "x',
    "csv": "a,b,c,d",
    "tsv": '"open\t1\t2',
    "mallet": "alone",
    "txt": "bad \udcff byte",
    "svmlight": "1 3:x",
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_broken_line_among_thousands(name):
    good = {
        "jsonl": '{{"text": "word{0} x", "label": "l{0}"}}',
        "csv": '{0},"word{0} x",l{0}',
        "tsv": '{0}\t"word{0} x"\tl{0}',
        "mallet": "n{0} l{0} word{0} x",
        "txt": "word{0} x",
        "svmlight": "{0} {0}:1 7:2",
    }[name]
    header = {"csv": ["nr,text,label"], "tsv": ["nr\ttext\tlabel"]}.get(name, [])
    lines = header + [good.format(i + 1) for i in range(4000)]
    options = {"format": name} | ({"label": "label"} if name in ("jsonl", "csv", "tsv") else {})
    whole = read("\n".join(lines), **options)
    lines.insert(2345, BROKEN[name])
    content = "\n".join(lines).encode("utf-8", "surrogateescape")
    data = read(content, on_error="skip", **options)
    assert len(data) == 4000
    assert data.n_skipped == 1
    assert "line 2346" in data.skipped[0]
    np.testing.assert_array_equal(data.corpus.words, whole.corpus.words)
    with pytest.raises(FileError, match="the stream, line 2346") as caught:
        read(content, **options)
    assert caught.value.line == 2346


def test_mallet_lines():
    assert "line 2: expected a name, a label and a text" in error_of("a b c\nalone\n", format="mallet")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
def test_empty_files(name):
    for content in (b"", b"\n") if name != "txt" else (b"",):
        assert error_of(content, format=name).startswith("the stream")
    if name in ("csv", "tsv"):
        assert "has no documents" in error_of(b"text\n", format=name)


def test_nothing_but_broken_documents():
    what = error_of(b"1\n2\n3\n", format="jsonl", on_error="skip")
    assert "none of 3 documents could be read. The first: the stream, line 1: this is 1" in what


def test_no_words():
    assert "no word is left of 2 documents: see token_pattern" in error_of(b"a\nb\n", format="txt")


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
        {"min_df": "2"}, {"max_features": 0}, {"max_features": 1.5}, {"stop_words": "french"}, {"stop_words": 3},
        {"token_pattern": "("}, {"token_pattern": "(a)(b)"}, {"token_pattern": b"x"}, {"label": "a", "target": "b"},
        {"first_index": 2}, {"label_separator": ""}, {"min_df": 3, "max_df": 1},
    ],
    ids=str,
)  # fmt: skip
def test_options(options):
    with pytest.raises(ParameterError):
        read(b"one two", **({"format": "txt"} | options))


@pytest.mark.parametrize("source", [io.StringIO("text"), 3, None, ["a"]])
def test_sources(source):
    with pytest.raises(ParameterError, match="source"):
        read_documents(source, format="txt")


def test_a_stream_that_cannot_be_read():
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(FileError, match="Input/output error"):
        read_documents(Broken(), format="txt")


# Anything

BYTES = st.binary(max_size=200)
PIECES = st.sampled_from(
    [
        *[
            b"\n",
            b"\r\n",
            b"\t",
            b" ",
            b'"',
            b'"x""y"',
            b",",
            b";",
            b":",
            b"#",
            b"-",
            b"0",
            b"1",
            b"2",
            b"[",
            b"{",
            b"}",
        ],
        *[
            b'{"text": "one", "label": 1}',
            b'{"text": ["a"]}',
            b"text",
            b"label",
            b"text,label\n",
            b"one,two\n",
            b"\\ud800",
        ],
        *[
            b"1:2",
            b"1,2",
            b"1.5",
            b"1e999",
            b"nan",
            b"qid:1",
            b"99999999999999999",
            b"3\n4\n2\n",
            b"1 1 1\n",
            b"2 3 1\n",
        ],
        *[b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\xe9", b"n1 A words here\n", b"PAR1", b"PK\x03\x04"],
        *[b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY"],
    ]
)
MIXED = st.lists(PIECES | st.binary(max_size=8), max_size=25).map(b"".join)
WHOLE = st.sampled_from([content for content, _ in FILES.values()] + [npz(sparse.csr_array(np.eye(3)))])


@st.composite
def damaged(draw):
    content = bytearray(draw(WHOLE))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content) - 1))
        content[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        content = content or bytearray(b"x")
    return COMPRESS[draw(st.sampled_from(list(COMPRESS)))](bytes(content))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
@settings(QUICK, max_examples=100)
@given(
    content=BYTES | MIXED | damaged(),
    options=st.fixed_dictionaries(
        {"on_error": st.sampled_from(["raise", "skip"])},
        optional={
            "encoding": st.sampled_from(["latin-1", "utf-16", "cp037"]),
            "label": st.sampled_from(["label", "x"]),
            "id": st.just("nr"),
            "text": st.just("text"),
            "vocabulary": st.just(["one", "two"]),
            "label_separator": st.just(","),
            "min_df": st.just(2),
            "stop_words": st.just(["one"]),
            "header": st.just(False),
            "quotes": st.just(False),
            "tokenized": st.just(True),
            "first_index": st.just(0),
        },
    ),
)
def test_any_bytes_give_documents_or_a_typed_error(name, content, options):
    if "min_df" in options or "stop_words" in options:
        options.pop("vocabulary", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            data = read(content, format=name, **options)
        except TopoiError:
            return
    assert isinstance(data, Dataset)
    assert len(data) > 0
    assert data.ids is None or len(data.ids) == len(data)
    assert data.labels is None or len(data.labels) == len(data)


@settings(QUICK, max_examples=40)
@given(content=BYTES | MIXED, skip=st.booleans())
def test_any_bytes_in_a_folder(content, skip, tmp_path):
    (tmp_path / "good").write_bytes(b"a word")
    (tmp_path / "any").write_bytes(content)
    if skip:
        assert len(read_documents(tmp_path, on_error="skip")) >= 1
        return
    with contextlib.suppress(FileError):
        assert len(read_documents(tmp_path)) == 2


def test_the_files_of_the_tests_are_good():
    assert json.loads(jsonl([{"text": "x"}]))["text"] == "x"
    assert as_csv([["a", "b,c"]]) == b'a,"b,c"\r\n'
    assert len(LABELS) == len(TEXTS)

"""Broken files: an error says the file, the place and what to do; one broken document among many can be skipped."""

from __future__ import annotations

import builtins
import gzip
import sys

import numpy as np
import pytest

from support.reader_files import COMPRESS, FILES, TEXTS, bag, error_of, read, read_documents, write_folder, zstd
from topoi.errors import FileError, ParameterError
from topoi.readers import FORMATS, _source

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
    assert "pip install backports.zstd" in error_of(COMPRESS[".zst"](b"text"), format="txt")


def test_parquet_without_its_package(monkeypatch):
    _block(monkeypatch, "pyarrow")
    assert "pip install pyarrow" in error_of(FILES["parquet"][0], format="parquet")


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
    assert "give encoding='cp1252'; else name another, as encoding='latin-1'" in what
    word = "né" if name == "txt" else "é"
    assert f"Read as cp1252 it would be part of {word!r}: if that is right" in what
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


def test_bytes_that_are_no_letters():
    what = error_of(b"caf\xa9 \x8d\n", format="txt")
    assert "is not valid UTF-8. If it is Western European, give encoding='cp1252'" in what


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_another_delimiter_is_found(mark, quote):
    rows = [["title", "text", "kind"], ["a, b", "red cat", "x"], ["c", "blue, dog", "y"]]
    lines = [mark.join(f"{quote}{field}{quote}" for field in row) for row in rows]
    found = read("\n".join(["", *lines]).encode(), format="csv", text="text", label="kind")
    assert list(found.labels) == ["x", "y"]
    assert set(found.corpus.vocabulary) == {"red", "cat", "blue", "dog"}
    assert list(read("\n".join(lines).encode(), format="csv", label="kind").labels) == ["x", "y"]  # text by its name


def test_the_usual_delimiter_stays():
    assert read(b"a;text\nred;cat\n", format="csv", text="a;text").corpus.n_tokens == 2  # one column, by its name
    assert read(b"text,a;b\nred,cat\n", format="csv").corpus.n_tokens == 1
    assert read(b"text;a\nred;cat\n", format="csv", header=False).corpus.n_tokens == 3
    assert "it has 'title;text'" in error_of(b"title;text\na;b\n", format="csv", text="text", delimiter=",")


def test_the_text_is_found_whatever_its_case():
    found = read(b"Nr;Text;Kind\n1;red cat;x\n", format="csv", label="Kind")
    assert set(found.corpus.vocabulary) == {"red", "cat"}
    assert set(read(b"Text,text\nred,cat\n", format="csv").corpus.vocabulary) == {"cat"}
    assert "has no column 'TEXT'; it has 'Text'" in error_of(b"Text,a\nred,cat\n", format="csv", text="TEXT")


def test_another_delimiter():
    for options in ({"text": "text"}, {}):  # nor is the whole line taken for the text
        what = error_of(b"title;body\na;b\n", format="csv", **options)
        assert "has no column 'text'; it has 'title', 'body'." in what
    what = error_of(b"title;body\na;b\n", format="csv", text="text", delimiter=",")
    assert "it has 'title;body'. Is the delimiter a semicolon? Then give delimiter=';'" in what
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
        ("[" * 100_000, "line 2: the JSON is nested more than 100 deep"),
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


def test_a_spreadsheet(tmp_path):
    (tmp_path / "posts.XLSX").write_bytes(b"PK\x03\x04")
    with pytest.raises(FileError, match=r"posts\.XLSX: is a spreadsheet, which is not read\. Save it as CSV"):
        read_documents(tmp_path / "posts.XLSX")


def test_no_text_at_all():
    """What other programs write for a text that is missing is no word; within a text it is one."""
    found = read(b"id,text\n1,NULL\n2,n/a\n3,nan \n4,a null word\n5,none\n", format="csv", id="id")
    assert found.corpus.doc_lengths.tolist() == [0, 0, 0, 2, 0]
    assert read(b"a,b\nNaN,red\n", format="csv", text=["a", "b"]).corpus.vocabulary.tolist() == ["red"]

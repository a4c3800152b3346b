"""Hostile files cost no more than honest ones: lines without end, quotes without end, patterns that backtrack."""

from __future__ import annotations

import io

import pytest
from cli_files import call
from reader_files import error_of, read

from topoi.errors import FileError, ParameterError
from topoi.readers import _source, delimited, read_documents


class Endless(io.RawIOBase):
    """`head`, then one byte for ever; counts what is read."""

    def __init__(self, head: bytes, byte: bytes) -> None:
        self.head, self.byte, self.n_read = head, byte, 0

    def readable(self):
        return True

    def read(self, size=-1):
        assert size >= 0, "all of it was asked for"
        data = self.head[:size] or self.byte * size
        self.head = self.head[size:]
        self.n_read += len(data)
        return data


@pytest.mark.parametrize("name", ["txt", "jsonl", "csv", "mallet", "svmlight", "uci"])
def test_an_endless_line_is_read_up_to_the_limit(name, monkeypatch):
    monkeypatch.setattr(_source, "MAX_DOCUMENT", 2**20)
    stream = Endless({"csv": b"text\n", "uci": b"1\n1\n1\n"}.get(name, b""), b"7")
    with pytest.raises(FileError):
        read_documents(stream, format=name)
    assert stream.n_read < 2**21
    monkeypatch.setattr(_source, "MAX_SKIPPED", 2**22)
    if name != "uci":  # its lines are short: each piece of this one is a broken line
        stream = Endless({"csv": b"text\n"}.get(name, b""), b"7")
        with pytest.raises(FileError, match="the line has no end in 4 MiB"):
            read_documents(stream, format=name, on_error="skip")
        assert stream.n_read < 2**23


# Lines that open a quote and leave an open one open: a record from each of them runs to the end of the file.
STILL_OPEN = 'a","""'


@pytest.mark.parametrize("end", ["", '"\n', '"x\n', "good,line\n"])
@pytest.mark.parametrize("limit", [2**26, 2**12])
def test_no_line_of_csv_is_read_more_than_three_times(end, limit, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_DOCUMENT", limit)
    delivered = []
    real = delimited._Lines.__next__
    monkeypatch.setattr(delimited._Lines, "__next__", lambda self: delivered.append(1) or real(self))
    n = 3000
    lines = "text,label\none,a\n" + (STILL_OPEN + "\n") * n + end
    data = read(lines, format="csv", on_error="skip")
    assert len(data) >= 1
    assert data.n_skipped >= n - 1
    assert len(delivered) <= 4 * n  # calls, of which some end at a line that is not read


def test_a_good_record_after_swallowed_lines_is_kept():
    content = 'text,label\n"open,x\nplain,a\n"of two\nlines",b\nlast,c\n'
    data = read(content, format="csv", label="label", on_error="skip")
    assert data.labels.tolist() == ["a", "b", "c"]
    assert data.n_skipped == 1


def test_a_count_of_many_digits_is_refused_without_backtracking():
    # With `[0-9]+\\.?[0-9]*` a digit can be read in two ways, and this would take hours.
    assert "counts are whole numbers" in error_of("1 1:" + "1" * 2_000_000 + "x", format="svmlight")


def test_an_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one two", "utf-8")
    with pytest.raises(ParameterError, match="source: is an empty string"):
        read_documents("")
    with pytest.raises(ParameterError, match="source: is an empty string"):
        read_documents(tmp_path, vocabulary="")
    for command in (("fit", ""), ("convert", "", "x.jsonl"), ("fit", tmp_path, "-o", ""), ("resume", "")):
        result = call(*command)
        assert result.exit_code == 2, command
        assert len(result.stderr.splitlines()) == 1
    for command in (("info", ""), ("topics", ""), ("topics", "a\0b"), ("predict", "", "a.txt")):
        assert "is not the name of a folder" in call(*command).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_links_that_lead_out_of_a_folder_are_not_followed(tmp_path):
    folder, secret = tmp_path / "folder", tmp_path / "secret"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one two", "utf-8")
    secret.mkdir()
    (secret / "key").write_text("password", "utf-8")
    try:
        (folder / "sub" / "inside").symlink_to("../a.txt")
        (folder / "b.txt").symlink_to(secret / "key")
        (folder / "c.txt").symlink_to("../secret/key")
        (folder / "d").symlink_to(secret)
    except OSError:
        pytest.skip("links need a privilege here")
    with pytest.raises(FileError, match=r"b\.txt: is a link that leads out of the folder"):
        read_documents(folder)
    data = read_documents(folder, on_error="skip")
    assert (data.ids.tolist(), data.n_skipped) == (["a.txt", "sub/inside"], 2)
    assert "password" not in data.corpus.vocabulary
    through = tmp_path / "link to the folder"
    through.symlink_to(folder)  # what the user names is the user's choice
    assert len(read_documents(through, on_error="skip")) == 2

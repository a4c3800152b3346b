"""Seeds of guided topics from files: JSON, TOML, CSV and TSV say the same; what is none of them is refused."""

from __future__ import annotations

import re

import pytest

from topoi.errors import FileError
from topoi.readers import read_seeds

EXPECTED = {"sport": ["game", "team"], "outer space": ["größe", "orbit*"]}
FILES = {
    "a.json": '{"sport": ["game", "team"], "outer space": ["größe", "orbit*"]}',
    "a.toml": 'sport = ["game", "team"]\n"outer space" = ["größe", "orbit*"]\n',
    "words.csv": "topic,word\nsport,game\nsport,team\nouter space,größe\nouter space,orbit*\n",
    "topics.csv": "sport,game,team\r\n\r\nouter space, größe , orbit*,,\r\n",
    "head.CSV": '\ufeffTopic,Words\nsport,game,team\n"outer space",größe,orbit*\n',
    "topics.tsv": "sport\tgame\tteam\nouter space\tgröße\torbit*\n",
}


@pytest.mark.parametrize("name", FILES)
def test_formats(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name].encode("utf-8"))
    found = read_seeds(tmp_path / name)
    assert found == EXPECTED
    assert list(found) == list(EXPECTED)
    assert read_seeds(str(tmp_path / name)) == EXPECTED


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.json", b'{"a": ["x"], "a": ["y"]}', "the topic 'a' is there twice"),
        ("a.json", b'["a"]', "has no topics"),
        ("a.json", b"{}", "has no topics"),
        ("a.json", b'{"a": ', "cannot be read as seeds"),
        ("a.json", b"[" * 5000, "nested more than"),
        ("a.json", b"\xff\xfe", "cannot be read as seeds"),
        ("a.toml", b'a = ["x"]\na = ["y"]', "cannot be read as seeds"),
        ("a.toml", b"a = " + b"[" * 100_000, "cannot be read as seeds"),
        ("a.csv", b"sport\n", "row 1: the topic 'sport' has no word"),
        ("a.csv", b"sport,game\n,team\n", "row 2: the word 'team' has no topic"),
        ("a.csv", b"", "has no topics"),
        ("a.csv", b'sport,"game\n', "cannot be read as seeds"),
        ("a.txt", b"sport,game\n", "seeds are read from .json, .toml, .csv, .tsv"),
        ("a.csv", b"a,b\n" * 2**23, "bytes; that are no seeds"),
    ],
)
def test_refused(name, data, told, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match=re.escape(told)) as caught:
        read_seeds(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        read_seeds(tmp_path / "none.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match="there is no such file"):
        read_seeds(tmp_path / "folder.json")

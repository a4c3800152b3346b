"""docs/files.md: its examples can be read, its errors are the real ones, and it lists every format and option."""

from __future__ import annotations

import gzip
import inspect
import re
from pathlib import Path

import pytest

from support.places import ROOT
from topoi.errors import FileError
from topoi.readers import FORMATS, read_documents
from topoi.writers import DOCUMENT_FORMATS

PAGE = (ROOT / "docs" / "files.md").read_text("utf-8")
BLOCKS = [block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if not kind]

ERRORS = [
    ("posts.jsonl", b'{"text": "a cat"}\n{"text": null}\n', {}),
    ("posts.jsonl", b'{"text": "a cat"}\n{"text": dog}\n', {}),
    ("posts.csv", b"id,body,topic\n1,a cat,pets\n", {}),
    ("posts.csv", b"text,price\na cat,3\na dog,\n", {"covariates": ["price"]}),
    ("posts.csv", b'text,topic\na cat,pets\n"a dog,pets\n', {}),
    ("posts.csv", b"text,topic\na cat, black,pets\n", {}),
    ("posts.txt", "a café\n".encode("latin-1"), {}),
    ("posts.txt", "a café\n".encode("utf-16"), {}),
    ("posts.txt.gz", gzip.compress(b"a cat\n" * 100)[:-9], {}),
    ("counts.svm", b"1 0:2 4:1\n", {}),
    ("counts.svm", b"1 3:0.5\n", {}),
    ("docword.posts.txt", b"2\n4\n3\n1 2 1\n2 4 1\n", {}),
]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "content", "options"), ERRORS, ids=range(len(ERRORS)))
def test_errors_are_the_real_ones(name, content, options):
    Path(name).write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_documents(name, **options)
    message = str(caught.value)
    assert message in BLOCKS[-1].splitlines()


def test_the_page_shows_no_other_errors():
    assert len(BLOCKS[-1].splitlines()) == len(ERRORS)


def test_examples_can_be_read():
    json_lines, table, mallet, svmlight, uci = BLOCKS[:5]
    first, second = json_lines.splitlines()
    Path("a.jsonl").write_text(first, "utf-8")
    assert read_documents("a.jsonl", label="topic", id="id").labels.tolist() == ["pets"]
    Path("a.jsonl").write_text(second, "utf-8")
    data = read_documents("a.jsonl", label="topic", id="id")
    assert data.labels == [["travel", "cities"]]
    assert data.corpus.vocabulary.tolist() == ["New York", "big", "is"]
    Path("a.csv").write_text(table, "utf-8")
    assert read_documents("a.csv", text="body", label="topics", label_separator=";").labels == [
        ["pets"],
        ["travel", "cities"],
    ]
    Path("a.mallet").write_text(mallet, "utf-8")
    assert read_documents("a.mallet").ids.tolist() == ["doc7", "doc8"]
    Path("a.svm").write_text(svmlight, "utf-8")
    assert read_documents("a.svm").labels == [[1], [1, 4]]
    Path("docword.a.txt").write_text(uci, "utf-8")
    assert read_documents("docword.a.txt").corpus.n_words == 7


def test_every_format_and_option_is_there():
    for name in {*FORMATS, *DOCUMENT_FORMATS}:
        assert f"`{name}`" in PAGE
    for option in inspect.signature(read_documents).parameters:
        assert option == "source" or re.search(rf"`{option}\b", PAGE) or f"{option}=" in PAGE, option

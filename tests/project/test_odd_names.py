"""Names that are not UTF-8: of files, folders and columns, on the command line and in the C locale."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.cli_files import QUICK, write_csv
from support.places import TESTS
from support.variants import slow_but
from topoi.cli._folder import Model, read_about, save_about
from topoi.corpus import Corpus
from topoi.errors import FileError
from topoi.readers import Dataset, read_documents
from topoi.report.html import render, to_json
from topoi.writers import write_documents, write_table

LATIN = os.fsdecode(b"caf\xe9")  # in UTF-8 and in ASCII alike, the byte has no meaning
LOCALES = {
    "UTF-8": {"LC_ALL": "C.UTF-8"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture
def odd(tmp_path):
    """A folder with a name that is not UTF-8, if the disk takes it."""
    folder = tmp_path / LATIN
    try:
        folder.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("the file system takes no such names")
    return folder


KILLED = """
import pytest
from support.kills import kill_after
kill_after(pytest.MonkeyPatch(), 2)
"""


def topoi(locale, *arguments, before=""):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    command = [sys.executable, "-c", f"{before}\nfrom topoi.cli import main\nmain()", *arguments]
    return subprocess.run(command, capture_output=True, env=environment | LOCALES[locale], check=False,
                          cwd=TESTS)  # fmt: skip


@pytest.mark.parametrize(
    ("locale", "name"),
    slow_but([("ASCII", "café".encode())], [("UTF-8", b"caf\xe9"), ("ASCII", "café".encode())]),
)
def test_a_fit_is_saved_resumed_and_used(locale, name, odd):
    folder = os.path.join(os.fsencode(odd), name)
    os.mkdir(folder)
    posts, model = os.path.join(folder, b"posts\xe9.csv"), os.path.join(folder, b"m\xff")
    write_csv(os.fsdecode(posts))
    options = ("--text", "body", "--id", "key", *QUICK)
    done = topoi(locale, "fit", posts, *options, "-o", model, "--checkpoint-seconds", "0", before=KILLED)
    assert os.path.exists(os.path.join(model, b"unfinished.json")), done.stderr
    done = topoi(locale, "resume", model)
    assert done.returncode == 0, done.stderr
    about = read_about(odd / os.fsdecode(name) / os.fsdecode(b"m\xff"))
    assert os.fsencode(about["source"]) == posts
    for command in (
        ("info", model), ("info", model, "--json"), ("transform", model, posts),
        ("report", model, posts, "-o", os.path.join(folder, b"r\xe9.html"), "--title", b"title \xe9"),
    ):  # fmt: skip
        done = topoi(locale, *command)
        assert b"Traceback" not in done.stderr, command
        assert done.returncode == 0, (command, done.stderr)
    done = topoi(locale, "fit", posts, "--text", b"no \xe9 column", "-o", model + b"2")
    assert done.returncode == 2
    assert b"has no column" in done.stderr


def test_names_in_a_folder_of_texts(odd, tmp_path):
    label = os.fsencode(odd) + b"/l\xe9"
    os.mkdir(label)
    for name in (b"1.txt", b"\xe9.txt", "é.txt".encode()):
        with open(os.path.join(label, name), "wb") as file:
            file.write(b"one two")
    data = read_documents(odd)
    assert set(data.labels.tolist()) == {"l\\xe9"}
    assert data.ids.tolist() == ["l\\xe9/1.txt", "l\\xe9/\\xe9.txt", "l\\xe9/é.txt"]
    for name in ("x.csv", "x.jsonl", "x.parquet"):
        write_table({"id": data.ids, "label": data.labels}, tmp_path / name)
    assert read_documents(tmp_path / "x.jsonl", text="id").corpus.n_documents == 3


def test_about_a_model_reads_back(tmp_path):
    labels, counts = {"names": None}, dict.fromkeys(("documents", "learned_from", "words", "tokens"), 1)
    about = {"source": LATIN + " é \ud800", "reading": {"text": LATIN}, "settings": {"seed": 0}, "labels": labels,
             "counts": counts, "held_out": {"share": 0.0}}  # fmt: skip
    save_about(Model(tmp_path, None, about))
    assert read_about(tmp_path)["source"] == about["source"]
    assert "é".encode() in (tmp_path / "topoi.json").read_bytes()  # for people


def test_words_that_have_no_utf8(tmp_path):
    corpus = Corpus.from_tokens([["good", "half \ud800"[-1]]])
    corpus.save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").vocabulary.tolist() == corpus.vocabulary.tolist()
    for name in ("x.svm", "x.mallet", "x.jsonl"):  # where words would become others, an error says so
        with pytest.raises(FileError, match="is no character of Unicode"):
            write_documents(Dataset(corpus), tmp_path / name)
    assert b"<title>t?" in render("t\udce9", {"sections": {}})
    assert "\\udce9" in to_json(["\udce9"])

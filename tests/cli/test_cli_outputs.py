"""No command replaces what it reads, or a file of a model; other files that are there are replaced when it is done."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from support.cli_files import FILES, QUICK, call, done, write_csv

LINKS = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
COMMANDS = {
    "transform": lambda m, d, o: ("transform", m, d, "-o", o, "--to", "csv"),
    "predict": lambda m, d, o: ("predict", m, d, "-o", o, "--to", "csv"),
    "report": lambda m, d, o: ("report", m, d, "-o", o),
    "topics": lambda m, d, o: ("topics", m, "-o", o),
    "export": lambda m, d, o: ("export", m, d, "-f", "mallet-state", "-o", o),
    "convert": lambda m, d, o: ("convert", d, o, "--text", "body", "--to", "jsonl"),
}
READ_DOCUMENTS = [name for name in COMMANDS if name != "topics"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    posts = write_csv(folder / "posts.csv")
    done("fit", posts, "--text", "body", "--label", "subject", *QUICK, "-o", folder / "model")
    return folder


@pytest.fixture
def place(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "place"))


def refused(place, command):
    """The command fails at once, and nothing has changed."""
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    result = call(*command)
    assert result.exit_code == 2, result.output
    told = " ".join(result.output.split())
    assert "choose another name" in told
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    return told


@pytest.mark.parametrize("name", READ_DOCUMENTS)
def test_its_own_input(name, place, monkeypatch):
    told = refused(place, COMMANDS[name](place / "model", place / "posts.csv", place / "posts.csv"))
    assert "is read by this command" in told
    monkeypatch.chdir(place)
    refused(place, COMMANDS[name]("model", "posts.csv", "model/../posts.csv"))


@LINKS
@pytest.mark.parametrize("name", READ_DOCUMENTS)
def test_its_own_input_through_links(name, place):
    (place / "link.csv").symlink_to(place / "posts.csv")
    (place / "folder").symlink_to(place)
    for documents, output in (("posts.csv", "link.csv"), ("link.csv", "posts.csv"), ("posts.csv", "folder/posts.csv")):
        refused(place, COMMANDS[name](place / "model", place / documents, place / output))


@pytest.mark.parametrize("file", [*FILES, "unfinished.json", "checkpoints", "TOPOI.json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_of_the_model(name, file, place):
    told = refused(place, COMMANDS[name](place / "model", place / "posts.csv", place / "model" / file))
    assert "is a file of a model" in told


@LINKS
def test_a_file_of_another_model_through_a_link(place):
    shutil.copytree(place / "model", place / "other")
    (place / "out.csv").symlink_to(place / "other" / "topoi.json")
    refused(place, COMMANDS["predict"](place / "model", place / "posts.csv", place / "out.csv"))


def test_a_model_that_is_a_file(place):
    shutil.copy(place / "model" / "estimator.topoi", place / "single.topoi")
    refused(place, COMMANDS["topics"](place / "single.topoi", "", place / "single.topoi"))


def test_a_document_of_a_folder(place):
    texts = place / "texts"
    texts.mkdir()
    (texts / "a.csv").write_text("apple pear cherry")
    command = ("transform", place / "model", texts, "--format", "folder")
    refused(place, (*command, "-o", texts / "a.csv"))
    done(*command, "-o", texts / "new.csv")


def test_other_files_are_replaced(place):
    """Also in the folder of the model, where a report may well lie."""
    for output in (place / "shares.csv", place / "model" / "shares.csv"):
        output.write_text("old")
        done("transform", place / "model", place / "posts.csv", "-o", output)
        assert output.read_text("utf-8").startswith("document,topic_0")
    done("topics", place / "model")


def test_words_of_counts(place, monkeypatch):
    monkeypatch.chdir(place)
    done("convert", "posts.csv", "posts.svm", "--text", "body", "--no-labels")
    words = Path("posts.vocab.txt").read_bytes()
    done("convert", "posts.svm", "posts.npz", "--no-labels")  # the same words again
    assert Path("posts.vocab.txt").read_bytes() == words
    refused(place, ("convert", "posts.svm", "posts.npz", "--no-labels", "--min-df", "5"))
    refused(place, ("convert", "posts.svm", "x.npz", "--no-labels", "--words-to", "posts.svm"))
    refused(place, ("convert", "posts.svm", "posts.vocab.txt", "--to", "jsonl", "--no-labels"))
    done("convert", "posts.svm", "posts.npz", "--no-labels", "--min-df", "5", "--words-to", "few.txt")
    result = call("convert", "posts.svm", "y.npz", "--no-labels", "--words-to", "y.npz")
    assert result.exit_code == 2
    assert "same file as OUTPUT" in result.output


def test_a_fit_does_not_replace_what_it_reads(place):
    model = place / "model"
    before = (model / "topoi.json").read_bytes()
    result = call("fit", model / "topoi.json", "--format", "txt", *QUICK, "-o", model, "--force")
    assert result.exit_code == 2
    assert "is a file of the model that is to be replaced" in " ".join(result.output.split())
    assert (model / "topoi.json").read_bytes() == before

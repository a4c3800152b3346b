"""Models in object stores on the command line."""

from __future__ import annotations

import json

import pytest

from support.cli_files import QUICK, call, done, write_csv
from support.object_store import copy


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    posts = write_csv(folder / "posts.csv")
    done("fit", posts, "--text", "body", "--label", "subject", *QUICK, "-o", folder / "model")
    return folder


@pytest.fixture
def url(made, memory):
    copy(made / "model", f"{memory}/model")
    return f"{memory}/model"


def test_a_folder(made, url):
    for command in (["predict"], ["transform"]):
        answers = [done(*command, model, made / "posts.csv", "--to", "csv").stdout for model in (made / "model", url)]
        assert answers[0] == answers[1] != ""
    assert json.loads(done("topics", url, "--json").stdout)["model"] == url
    assert f"{url} (0." in done("info", url).stdout
    assert json.loads(done("info", url, "--json").stdout) == json.loads((made / "model" / "topoi.json").read_text())


def test_a_file(made, url):
    answers = [
        done("predict", f"{model}/estimator.topoi", made / "posts.csv", "--text", "body", "--to", "csv").stdout
        for model in (made / "model", url)
    ]
    assert answers[0] == answers[1] != ""


def test_s3(made, s3):
    copy(made / "model", f"{s3}/model")
    answers = [done("predict", m, made / "posts.csv", "--to", "csv").stdout for m in (made / "model", f"{s3}/model")]
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize("command", [["topics"], ["info"]])
def test_no_model(command, memory):
    failed = call(*command, f"{memory}/model")
    assert failed.exit_code == 2
    assert f"Error: {memory}/model: there is no such model" in failed.output


def test_models_are_made_in_folders(made, memory):
    failed = call("fit", made / "posts.csv", "--text", "body", *QUICK, "-o", f"{memory}/model")
    assert failed.exit_code == 2
    assert f"{memory}/model: is a URL, and models are made in folders" in failed.output

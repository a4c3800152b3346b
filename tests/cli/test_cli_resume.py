"""`topoi resume`: a fit that was stopped or killed ends as if it had not been."""

from __future__ import annotations

import json

import pytest

from support.cli_files import FILES, call, done, write_csv
from support.kills import Killed, kill_after

OPTIONS = ("--text", "body", "--topics", "4", "--sweeps", "20", "--jobs", "1", "--checkpoint-seconds", "0")
KINDS = {
    "lda": ("--keep-doc-topic",),
    "labels": ("--label", "subject", "--hold-out", "0.2", "--class-weight", "balanced"),
    "several": ("--label", "tags", "--label-separator", ";", "--chains", "2"),
    "target": ("--target", "stars", "--seed", "5"),
}


@pytest.fixture
def posts(tmp_path):
    return write_csv(tmp_path / "posts.csv")


@pytest.mark.parametrize("kind", KINDS)
def test_killed_and_resumed(kind, posts, tmp_path, monkeypatch):
    folder = tmp_path / "killed"
    done("fit", posts, *OPTIONS, *KINDS[kind], "-o", tmp_path / "through")
    with monkeypatch.context() as patch:
        kill_after(patch, 13)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, *KINDS[kind], "-o", folder)
    assert not (folder / "topoi.json").exists()
    assert list(folder.rglob("sweep-000000012.topoi"))
    again = call("fit", posts, *OPTIONS, *KINDS[kind], "-o", folder)
    assert again.exit_code == 2
    assert f"topoi resume {folder}" in again.output
    done("resume", folder)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert (folder / "estimator.topoi").read_bytes() == (tmp_path / "through" / "estimator.topoi").read_bytes()
    first, second = (json.loads((tmp_path / name / "topoi.json").read_text("utf-8")) for name in ("through", "killed"))
    for told in (first, second):
        del told["seconds"], told["tokens_per_second"]
    assert first == second


def test_time_is_up_and_resumed(posts, tmp_path):
    """A fit that had used up its time is finished, and says so."""
    done("fit", posts, *OPTIONS, "--max-seconds", "1e-9", "-o", tmp_path / "m")
    result = call("resume", tmp_path / "m")
    assert result.exit_code == 2
    assert "its fit is finished" in result.output
    assert "--sweeps 50" in result.output


def test_force_begins_anew(posts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        kill_after(patch, 5)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, "-o", tmp_path / "m")
    done("fit", posts, *OPTIONS, "--seed", "9", "--force", "-o", tmp_path / "m")
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == FILES


def test_from_another_folder(posts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        kill_after(patch, 5)
        with pytest.raises(Killed):
            call("fit", "posts.csv", *OPTIONS, "-o", "m")
    (tmp_path / "elsewhere").mkdir()
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path / "elsewhere")
        result = call("resume", tmp_path / "m")
        assert result.exit_code == 2
        assert f"the fit was started in {tmp_path}" in " ".join(result.output.split())
    done("resume", "m")


def test_a_folder_does_not_say_where_to_connect_to(posts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        kill_after(patch, 5)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, "-o", tmp_path / "m")
    path = tmp_path / "m" / "unfinished.json"
    order = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(order | {"settings": order["settings"] | {"dask": "tcp://stranger:1"}}), "utf-8")
    result = call("resume", tmp_path / "m")
    assert result.exit_code == 2
    assert "--dask tcp://stranger:1" in result.output


def test_documents_that_changed(posts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        kill_after(patch, 5)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, "-o", tmp_path / "m")
    with open(posts, "a", encoding="utf-8") as file:
        file.write("post-x,Apple pear cherry.,fruit,fruit,1\n")
    result = call("resume", tmp_path / "m")
    assert result.exit_code == 2
    assert "other documents" in result.output


DAMAGES = {
    "not JSON": lambda task: "{",
    "a list": lambda task: "[]",
    "no settings": lambda task: json.dumps({key: task[key] for key in task if key != "settings"}),
    "settings of another type": lambda task: json.dumps(task | {"settings": task["settings"] | {"topics": "x"}}),
    "unknown reading": lambda task: json.dumps(task | {"reading": task["reading"] | {"run": "rm"}}),
    "reading of another type": lambda task: json.dumps(task | {"reading": task["reading"] | {"text": 3}}),
    "source": lambda task: json.dumps(task | {"source": None}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_task(damage, posts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        kill_after(patch, 2)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, "-o", tmp_path / "m")
    path = tmp_path / "m" / "unfinished.json"
    path.write_text(DAMAGES[damage](json.loads(path.read_text("utf-8"))), encoding="utf-8")
    result = call("resume", tmp_path / "m")
    assert result.exit_code == 2
    assert "is damaged" in result.output


def test_nothing_to_resume(tmp_path):
    result = call("resume", tmp_path)
    assert result.exit_code == 2
    assert "there is no fit in it" in result.output


def test_standard_input_has_no_checkpoints(posts, tmp_path):
    with open(posts, encoding="utf-8") as file:
        done("fit", "-", "--format", "csv", *OPTIONS, "-o", tmp_path / "m", input=file.read())
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == FILES


def test_sampling_goes_on_from_an_edited_model(posts, tmp_path):
    """In the folder of the model, or in another: the same bytes; what was held out is scored anew."""
    done("fit", posts, *OPTIONS, "--hold-out", "0.2", "-o", tmp_path / "m")
    entries = [{"edit": "merge", "topics": [0, 2]}, {"edit": "name", "topic": 1, "name": "the weather"}]
    edits = {"format": "topoi edits", "version": 1, "edits": [*entries, {"edit": "split", "topic": 3}]}
    (tmp_path / "edits.json").write_text(json.dumps(edits), encoding="utf-8")
    done("apply", tmp_path / "m", tmp_path / "edits.json", "-o", tmp_path / "m2")
    before = (tmp_path / "m2" / "estimator.topoi").read_bytes()
    done("resume", tmp_path / "m2", "--sweeps", "10", "-o", tmp_path / "m3")
    assert (tmp_path / "m2" / "estimator.topoi").read_bytes() == before
    result = done("resume", tmp_path / "m2", posts, "--sweeps", "10")
    assert "30 sweeps" in result.output
    assert "the weather" in result.output
    files = [(tmp_path / name / "estimator.topoi").read_bytes() for name in ("m2", "m3")]
    assert files[0] == files[1] != before
    about = [json.loads((tmp_path / name / "topoi.json").read_text("utf-8")) for name in ("m", "m2")]
    assert about[1]["sweeps"] == 30
    assert len(about[1]["edits"]) == 3
    assert about[1]["held_out"]["perplexity"] != about[0]["held_out"]["perplexity"]
    assert sorted(path.name for path in (tmp_path / "m2").iterdir()) == FILES
    done("resume", tmp_path / "m2", "--sweeps", "2", "--quiet")


def test_what_cannot_go_on(posts, tmp_path):
    done("fit", posts, *OPTIONS, "--label", "subject", "-o", tmp_path / "labels")
    done("fit", posts, *OPTIONS, "-o", tmp_path / "m")
    for told, *arguments in (
        ("without labels and targets only", tmp_path / "labels", "--sweeps", "5"),
        ("is for --sweeps", tmp_path / "m", "-o", tmp_path / "new"),
        ("there is no such model", tmp_path / "none", "--sweeps", "5"),
        ("holds a model already", tmp_path / "m", "--sweeps", "5", "-o", tmp_path / "labels"),
        ("is not here; name them", tmp_path / "m", tmp_path / "gone.csv", "--sweeps", "5"),
        ("more sweeps are made in this process", tmp_path / "m", "--sweeps", "5", "--dask", "blocks"),
    ):
        result = call("resume", *arguments)
        assert result.exit_code == 2
        assert told in " ".join(result.output.split())

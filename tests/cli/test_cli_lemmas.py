"""`topoi fit --lemmas`, and what the commands after it need."""

import pytest

import topoi
from support.cli_files import call, done
from support.kills import Killed, kill_after
from support.spacy_pipelines import new_pipeline
from topoi.corpus.text import lemmas

pytest.importorskip("spacy", reason="its wheels may be late for a new Python")

OPTIONS = ("--text", "body", "--stop-words", "none", "--topics", "2", "--sweeps", "20", "--jobs", "1")


@pytest.fixture(autouse=True)
def _nothing_loaded(monkeypatch):
    """Commands are processes of their own: none knows what another has loaded."""
    monkeypatch.setattr(lemmas, "_loaded", {})


@pytest.fixture
def files(tmp_path):
    new_pipeline().to_disk(tmp_path / "pipeline")
    texts = ["We saw the cities", "The saws were in a city"]
    lines = ["body,label", *(f"{text},{label}" for text, label in zip(texts * 10, "ab" * 10, strict=True))]
    (tmp_path / "posts.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def test_from_fit_to_explain(files):
    posts, model, pipeline = files / "posts.csv", files / "model", files / "pipeline"
    fitted = done("fit", posts, *OPTIONS, "--label", "label", "--lemmas", pipeline, "-o", model)
    assert "Words are lemmas by the spaCy pipeline en_desk 1.2.3." in " ".join(fitted.output.split())
    assert {"see", "city", "be"} <= set(topoi.load(model / "estimator.topoi").vocabulary_)
    lemmas._loaded.clear()
    refused = call("predict", model, posts)
    assert refused.exit_code == 2
    assert "by the spaCy pipeline en_desk 1.2.3, which is not installed" in " ".join(refused.output.split())
    assert "--lemmas 'FOLDER'" in " ".join(refused.output.split())
    done("predict", model, posts, "--lemmas", pipeline, "-o", files / "predicted.csv")
    lemmas._loaded.clear()
    done("explain", model, "--text", "They saw a city", "--lemmas", pipeline)
    lemmas._loaded.clear()
    done("export", model, posts, "-f", "tables", "-o", files / "tables", "--lemmas", pipeline)
    lemmas._loaded.clear()
    done("report", model, posts, "-o", files / "report.html", "--lemmas", pipeline)


def test_more_sweeps(files):
    posts, model, pipeline = files / "posts.csv", files / "model", files / "pipeline"
    done("fit", posts, *OPTIONS, "--lemmas", pipeline, "-o", model)
    lemmas._loaded.clear()
    assert call("resume", model, "--sweeps", "5").exit_code == 2
    done("resume", model, "--sweeps", "5", "--lemmas", pipeline)


def test_a_folder_in_an_unfinished_fit_is_not_believed(files, monkeypatch):
    """Whoever made the folder of a fit does not choose which pipeline is loaded: a pipeline may run code."""
    posts, model, pipeline = files / "posts.csv", files / "model", files / "pipeline"
    done("fit", posts, *OPTIONS, "--lemmas", pipeline, "-o", files / "through")
    with monkeypatch.context() as patch:
        kill_after(patch, 13)
        with pytest.raises(Killed):
            call("fit", posts, *OPTIONS, "--checkpoint-seconds", "0", "--lemmas", pipeline, "-o", model)
    lemmas._loaded.clear()
    refused = call("resume", model)
    assert refused.exit_code == 2
    assert "--lemmas FOLDER" in refused.output
    done("resume", model, "--lemmas", pipeline)
    assert (model / "estimator.topoi").read_bytes() == (files / "through" / "estimator.topoi").read_bytes()

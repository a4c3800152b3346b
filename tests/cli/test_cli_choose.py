"""`topoi choose`: the table, the picture, what it recommends, what it refuses, and how it is stopped."""

from __future__ import annotations

import json
import signal

import pytest

from support.cli_files import as_json, call, done, table, write_csv
from topoi import LDA, MedLDARegressor, choose
from topoi.cli import choose as cli_choose
from topoi.readers import read_documents

FAST = ("--sweeps", "30", "--jobs", "1")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choose")
    write_csv(folder / "posts.csv")
    return folder


def test_it_is_that_of_the_library(place):
    told = as_json("choose", place / "posts.csv", "--text", "body", "-k", "6,2,3", *FAST, "--json")
    corpus = read_documents(place / "posts.csv", text="body", min_df=2, max_df=0.5).corpus
    found = choose(corpus, (2, 3, 6), estimator=LDA(doc_topic_prior="learn", n_sweeps=30))
    assert told["table"] == [pytest.approx(row) for row in found.table]
    assert told["best"] == found.best == 3  # there are three subjects
    assert told["reason"] == found.reason
    assert told["remarks"] == list(found.remarks)
    assert told["interrupted"] is False


def test_table_and_reason_are_printed(place):
    result = done("choose", place / "posts.csv", "--text", "body", "--topics", "2, 3", "--folds", 2, *FAST)
    assert [name in result.stdout for name in ("perplexity", "coherence", "stability")] == [True] * 3
    assert "topics: " in result.stdout
    assert "Warning: 3 is the largest number tried; a larger one may be better still." in result.stdout


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl.gz"])
def test_table_and_picture_are_written(place, tmp_path, name):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    done("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *FAST, "-o", tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name, "table.png"}
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    if name.endswith("csv"):
        rows = table((tmp_path / name).read_text("utf-8"))
        assert [row["n_topics"] for row in rows] == ["2", "3"]
        assert all(float(row["log_likelihood"]) < 0 for row in rows)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_pictures_are_the_same_bytes_each_time(place, tmp_path, kind):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    for name in ("a", "b"):
        picture = tmp_path / f"{name}.{kind}"
        done("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *FAST, "--folds", 2, "--picture", picture)
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_labels_and_numbers(place):
    arguments = ("choose", place / "posts.csv", "--text", "body", "-k", "2,3", "--sweeps", 12, "--folds", 2, "--json")
    labels = as_json(*arguments, "--label", "subject")
    assert labels["criterion"] == "score"
    assert "accuracy" in labels["reason"]
    several = as_json(*arguments, "--label", "tags", "--label-separator", ";")
    assert "all labels right" in several["reason"]
    told = as_json(*arguments, "--target", "stars", "--covariate", "tags")
    data = read_documents(place / "posts.csv", text="body", target="stars", covariates=["tags"], min_df=2, max_df=0.5)
    estimator = MedLDARegressor(n_sweeps=12)
    found = choose(data.corpus, (2, 3), y=data.labels, covariates=data.covariates, cv=2, estimator=estimator, n_jobs=1)
    assert told["table"] == [pytest.approx(row) for row in found.table]


def test_priors(place, tmp_path):
    """Topics that are guided and depend on columns, as those of a fit do."""
    (tmp_path / "seeds.json").write_text('{"first": ["iron"]}')
    options = ("--seeds", tmp_path / "seeds.json", "--covariate", "stars", "--prevalence", "~ stars", "--folds", 2)
    told = as_json("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *FAST, *options, "--json")
    data = read_documents(place / "posts.csv", text="body", covariates=["stars"], min_df=2, max_df=0.5)
    estimator = LDA(n_sweeps=30, seeds={"first": ["iron"]}, prevalence="~ stars")
    found = choose(data.corpus, (2, 3), covariates=data.covariates, cv=2, estimator=estimator)
    assert told["table"] == [pytest.approx(row) for row in found.table]


def test_topic_labels(place):
    options = ("--topic-labels", "subject", "--topics-per-label", 2, "--folds", 2)
    told = as_json("choose", place / "posts.csv", "--text", "body", "-k", "6,7", *FAST, *options, "--json")
    data = read_documents(place / "posts.csv", text="body", topic_labels="subject", min_df=2, max_df=0.5)
    estimator = LDA(n_sweeps=30, topics_per_label=2)
    found = choose(data.corpus, (6, 7), topic_labels=data.topic_labels, cv=2, estimator=estimator)
    assert told["table"] == [pytest.approx(row) for row in found.table]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", "0,3"), "--topics: must be a whole number of at least 1, not 0"),
        (("-k", "ten"), "--topics: must be whole numbers divided by commas, as 10,20,50; 'ten' is none"),
        (("-k", "3,,4"), "'' is none"),
        (("-k", "3,-4"), "'-4' is none"),
        (("-k", "³"), "'³' is none"),
        (("-k", "3,4,3"), "--topics: has 3 more than once"),
        (("-k", "3,100000"), "--topics: has 100000, but a fold leaves"),
        (("--folds", "61"), "--folds: is 61 folds, but 60 documents with words can be held out"),
        (("--loss", "hinge"), "--loss: is for models with labels"),
        (("--prevalence", "~ stars + s(age)"), "needs the columns that it names: --covariate stars --covariate age"),
        (("--seed-strength", "2"), "--seed-strength: is the weight of seed words; it needs --seeds"),
        (("--topics-per-label", "2"), "--topics-per-label: is the number of topics of each label; it needs"),
        (("--picture", "choose.gif"), "--picture: must end in .png, .svg, .pdf"),
        (("-o", "nowhere/choose.csv"), "there is no folder"),
    ],
)
def test_what_is_refused(place, options, message):
    result = call("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *options)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


def test_the_documents_are_not_replaced(place):
    result = call("choose", place / "posts.csv", "--text", "body", "-o", place / "posts.csv")
    assert result.exit_code == 2
    assert "is read by this command" in result.stderr


def pressing(number, monkeypatch, in_fit):
    """Let a signal come in the second sweep of a fit, counted from 0."""
    begun, new_estimator = [], cli_choose.new_estimator

    def press(progress):
        if progress.sweep == 1:
            begun.append(progress)
        if progress.sweep == 2 and len(begun) == in_fit + 1:
            signal.raise_signal(number)

    def new(kind, settings, callbacks, **more):
        return new_estimator(kind, settings, callbacks=[*callbacks, press], **more)

    monkeypatch.setattr(cli_choose, "new_estimator", new)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_half_way(place, tmp_path, monkeypatch, number):
    pressing(number, monkeypatch, in_fit=5)
    arguments = ("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *FAST, "--json")
    result = call(*arguments, "-o", tmp_path / "choose.csv")
    assert result.exit_code == 130
    told = json.loads(result.stdout)
    assert told["interrupted"] is True
    assert told["best"] == 3
    assert told["remarks"][-1] == "Stopped after 5 of 6 fits; compared on folds: 2."
    assert [row["folds"] for row in table((tmp_path / "choose.csv").read_text("utf-8"))] == ["2", "2"]
    assert result.stderr == ""  # the remark says it


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_before_anything_was_done(place, monkeypatch, number):
    pressing(number, monkeypatch, in_fit=0)
    result = call("choose", place / "posts.csv", "--text", "body", "-k", "2,3", *FAST)
    assert result.exit_code == 130
    assert result.stdout == ""

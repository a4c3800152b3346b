"""Names of topics in a column: read, fitted with, kept, and gone on with."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from topoi import ParameterError
from topoi.readers import read_documents

NAMES = (["rock"], ["jazz", "rock"], ["jazz"], [])
FIT = ("--text", "body", "--topic-labels", "tags", "--label-separator", ";", *QUICK)


def posts(n=60):
    return [row | {"tags": ";".join(NAMES[i % 4])} for i, row in enumerate(records(n))]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    write_csv(folder / "posts.csv", posts())
    done("fit", folder / "posts.csv", *FIT, "--topics", 4, "-o", folder / "model")
    return folder


def test_fit(place):
    model = topoi.load(place / "model" / "estimator.topoi")
    assert model.topic_names_ == ["jazz", "rock", "topic 2", "topic 3"]
    assert as_json("info", place / "model", "--json")["reading"]["topic_labels"] == "tags"
    assert "jazz" in done("topics", place / "model").stdout


def test_as_the_library_fits(place):
    data = read_documents(
        place / "posts.csv", text="body", topic_labels="tags", label_separator=";", min_df=2, max_df=0.5
    )
    assert data.topic_labels[:4] == [["rock"], ["jazz", "rock"], ["jazz"], None]
    assert data.take([2, 1]).topic_labels == [["jazz"], ["jazz", "rock"]]
    assert data.covariates is None
    ours = topoi.load(place / "model" / "estimator.topoi")
    again = topoi.LDA(**ours.get_params()).fit(data.corpus, topic_labels=data.topic_labels)
    np.testing.assert_array_equal(again.components_, ours.components_)
    has = np.array([[name in own or not own for name in ("jazz", "rock")] for own in NAMES * 15])
    assert not again.doc_topic_[:, :2][~has].any()
    assert (again.doc_topic_[:, :2][has] > 0).all(), "an empty field is not known: all topics"


def test_several_topics_and_labels_to_predict(place):
    more = ("--topics", 5, "--topics-per-label", 2, "--label", "subject", "-o", place / "more")
    done("fit", place / "posts.csv", *FIT, *more)
    assert topoi.load(place / "more" / "estimator.topoi").topic_names_ == [
        "jazz 1", "jazz 2", "rock 1", "rock 2", "topic 4"]  # fmt: skip
    done("predict", place / "more", place / "posts.csv", "-o", place / "predicted.csv")


def test_json_lines_and_parquet(place):
    rows = [row | {"tags": NAMES[i % 4] or None} for i, row in enumerate(records(12))]
    path = place / "posts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"body": "more words"}]), encoding="utf-8")
    found = read_documents(path, text="body", topic_labels="tags").topic_labels
    assert found[:4] == [["rock"], ["jazz", "rock"], ["jazz"], None]
    assert found[-1] is None
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.Table.from_pylist(rows), place / "posts.parquet")
    assert read_documents(place / "posts.parquet", text="body", topic_labels="tags").topic_labels == found[:-1]


def test_new_documents(place):
    for name, more in (("all", ()), ("own", ("--topic-labels", "tags"))):
        done("transform", place / "model", place / "posts.csv", *more, "-o", place / f"{name}.csv")
    found = {name: table((place / f"{name}.csv").read_text("utf-8")) for name in ("all", "own")}
    shares = {
        name: np.array([[float(row[k]) for k in ("jazz", "rock")] for row in rows]) for name, rows in found.items()
    }
    has = np.array([[name in own or not own for name in ("jazz", "rock")] for own in NAMES * 15])
    assert not shares["own"][~has].any()
    assert (shares["all"] > 0).all()
    model = topoi.load(place / "model" / "estimator.topoi")
    data = read_documents(
        place / "posts.csv", text="body", topic_labels="tags", label_separator=";", vocabulary=model.model_.vocabulary
    )
    expected = model.transform(model.with_topic_labels(data.corpus, data.topic_labels))
    np.testing.assert_allclose(shares["own"], expected[:, :2], rtol=1e-5)
    result = call("transform", place / "model", place / "posts.csv", "--topic-labels", "subject")
    assert "--topic-labels: row 0 has the label" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--topics", 1), "--topics: is 1, but there are 2 topic labels: 'jazz', 'rock'"),
        (("--topic-labels", "genre"), "has no column 'genre'"),
        (("--alpha", "learn"), "--alpha: is 'learn'; must be a positive number"),
        (("--sampler", "light"), "uses the same α for all documents"),
        (
            ("--covariate", "tags", "--label", "subject"),
            "--topic-labels: is 'tags'; name a column that is no covariate",
        ),
    ],
)
def test_errors(place, options, message, tmp_path):
    result = call("fit", place / "posts.csv", *FIT, *options, "-o", tmp_path / "model")
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())


def test_topics_of_no_label(place, tmp_path):
    result = call("fit", place / "posts.csv", "--text", "body", *QUICK, "--topics-per-label", 2, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "--topics-per-label: is the number of topics of each label; it needs --topic-labels" in result.stderr
    assert not (tmp_path / "m").exists()


def test_what_is_no_label(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"text": "some words", "tags": [1.5]}\n', encoding="utf-8")
    with pytest.raises(topoi.TopoiError, match=r"'tags': the labels hold 1\.5"):
        read_documents(path, topic_labels="tags")
    with pytest.raises(ParameterError, match="name a column"):
        read_documents(path, topic_labels=3)


def test_convert_refuses(place, tmp_path):
    result = call("convert", place / "posts.csv", tmp_path / "out.jsonl", "--text", "body", "--topic-labels", "tags")
    assert "--topic-labels: are not written by convert" in " ".join(result.stderr.split())

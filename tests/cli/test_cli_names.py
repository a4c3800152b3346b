"""Names of topics in what commands print and write."""

from __future__ import annotations

import json
import re

import pytest

import topoi
from support.cli_files import QUICK, as_json, done, records, table, write_csv
from topoi.chain.names import name_topics

LABELS = ["fruit", "topic 1", "metal", "topic 3"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with posts.csv, and a model with labels, two of whose topics have names."""
    folder = tmp_path_factory.mktemp("names")
    write_csv(folder / "posts.csv")
    done("fit", folder / "posts.csv", "--text", "body", "--label", "subject", *QUICK, "-o", folder / "model")
    path = folder / "model" / "estimator.topoi"
    model = topoi.load(path)
    name_topics(model.model_, ["fruit", "", "metal"])
    model.save(path)
    return folder


def test_topics(place, tmp_path):
    assert [row["name"] for row in as_json("topics", place / "model", "--json")["topics"]] == LABELS
    shown = done("topics", place / "model").stdout
    assert {line.split()[0] for line in shown.splitlines() if "%" in line} == {"fruit", "1", "metal", "3"}
    done("topics", place / "model", "-o", tmp_path / "topics.csv")
    rows = table((tmp_path / "topics.csv").read_text("utf-8"))
    assert list(rows[0]) == ["topic", "name", "share", "rank", "word", "probability"]
    assert {(row["topic"], row["name"]) for row in rows} == set(zip("0123", LABELS, strict=True))


def test_transform(place, tmp_path):
    columns = ["fruit", "topic_1", "metal", "topic_3"]
    rows = table(done("transform", place / "model", place / "posts.csv").stdout)
    assert list(rows[0]) == ["document", *columns]
    best = table(done("transform", place / "model", place / "posts.csv", "--top", 1).stdout)
    called = dict(zip(columns, LABELS, strict=True))
    for row, first in zip(rows, best, strict=True):
        assert first["topic1"] == called[max(columns, key=lambda name: float(row[name]))]


def test_export(place, tmp_path):
    done("export", place / "model", "-f", "topic-word", "-o", tmp_path / "words.csv")
    rows = table((tmp_path / "words.csv").read_text("utf-8"))
    assert list(rows[0]) == ["word", "fruit", "topic_1", "metal", "topic_3"]
    done("export", place / "model", place / "posts.csv", "-f", "doc-topic", "-o", tmp_path / "shares.csv")
    assert list(table((tmp_path / "shares.csv").read_text("utf-8"))[0])[1:] == ["fruit", "topic_1", "metal", "topic_3"]


def test_explain(place):
    text = records(1)[0]["body"]
    reason = as_json("explain", place / "model", "--text", text, "--json", "--topics", 4)["reasons"][0]
    assert all(part["name"] == LABELS[part["topic"]] for part in reason["topics"])
    shown = done("explain", place / "model", "--text", text, "--topics", 4).stdout
    assert re.search(r"^ +metal ", shown, re.MULTILINE)
    assert re.search(r"^ +topic 1 ", shown, re.MULTILINE)
    assert "topic 2" not in shown


def test_report(place, tmp_path):
    done("report", place / "model", "-o", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert [topic["name"] for topic in data["topics"]] == ["fruit", "", "metal", ""]

"""What is passed on with a model: its card, and tables for spreadsheets."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, call, done, records, write_csv
from topoi.chain.names import name_topics
from topoi.cli._tables import as_text, write_for_spreadsheet

NAMED = ["fruit", "topic 1", "topic 2", "topic 3"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Posts, a model with labels of which one topic has a name, and one whose topics depend on a column."""
    folder = tmp_path_factory.mktemp("sharing")
    write_csv(folder / "posts.csv")
    common = (folder / "posts.csv", "--text", "body", "--id", "key", *QUICK)
    done("fit", *common, "--label", "subject", "--hold-out", "0.2", "-o", folder / "model")
    done("fit", *common, "--covariate", "stars", "-o", folder / "plain")
    path = folder / "model" / "estimator.topoi"
    model = topoi.load(path)
    name_topics(model.model_, ["fruit"])
    model.save(path)
    return folder


def rows(path):
    """The rows of a table as a spreadsheet reads it."""
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(raw.decode("utf-8-sig").splitlines()))


def test_fit_writes_the_card(place):
    card = (place / "model" / "model_card.md").read_text("utf-8")
    assert card.startswith("# Model card: model\n")
    assert "| source | posts.csv |" in card  # where it lies on this disk is not told
    assert str(place) not in card
    assert "| columns | body, subject |" in card
    held_out = json.loads((place / "model" / "topoi.json").read_text("utf-8"))["held_out"]
    assert f"| accuracy (held out) | {held_out['accuracy']:,.4g} |" in card
    assert f"| documents held out | {held_out['documents']} |" in card
    assert 'topoi.load("model/estimator.topoi")' in card


def test_card_is_made_anew(place, tmp_path):
    printed = done("card", place / "model").stdout
    assert "| fruit |" in printed  # the topic had no name when the fit wrote it
    assert "| fruit |" not in (place / "model" / "model_card.md").read_text("utf-8")
    done("card", place / "model", "-o", tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text("utf-8") == printed
    assert "not replaced" in " ".join(
        call("card", place / "model", "-o", place / "model" / "topoi.json").stderr.split()
    )


def test_card_of_a_file(place, tmp_path):
    topoi.load(place / "model" / "estimator.topoi").save(tmp_path / "a.topoi")
    assert 'topoi.load("a.topoi")' in done("card", tmp_path / "a.topoi").stdout


def test_tables(place, tmp_path):
    told = done("export", place / "model", place / "posts.csv", "-f", "tables", "-o", tmp_path / "t").stderr
    names = {path.name for path in (tmp_path / "t").iterdir()}
    assert names == {"topics.csv", "words.csv", "documents.csv", "shares.csv", "model_card.md"}
    assert all(name in " ".join(told.split()) for name in names)
    model = topoi.load(place / "model" / "estimator.topoi")
    topics = rows(tmp_path / "t" / "topics.csv")
    assert [row["name"] for row in topics] == NAMED
    assert [row["words"].split() for row in topics] == model.top_words(10)
    assert sum(float(row["share"]) for row in topics) == pytest.approx(1)
    weights = [[float(row[f"weight of {label}"]) for label in model.classes_] for row in topics]
    np.testing.assert_allclose(weights, model.topic_weights_.T)
    words = rows(tmp_path / "t" / "words.csv")
    assert [row["word"] for row in words if row["topic"] == "1"][:10] == model.top_words(10)[1]


def test_documents_with_predictions_and_topics(place, tmp_path):
    done("export", place / "model", place / "posts.csv", "-f", "tables", "-o", tmp_path / "t")
    documents, shares = rows(tmp_path / "t" / "documents.csv"), rows(tmp_path / "t" / "shares.csv")
    assert [row["id"] for row in documents] == [row["key"] for row in records()]
    predicted = done("predict", place / "model", place / "posts.csv").stdout
    assert [row["label"] for row in documents] == [row["label"] for row in csv.DictReader(predicted.splitlines())]
    names = list(shares[0])[1:]
    assert names == ["fruit", "topic_1", "topic_2", "topic_3"]
    for row, all_shares in zip(documents, shares, strict=True):
        best = max(names, key=lambda name: float(all_shares[name]))
        assert row["topic1"] == dict(zip(names, NAMED, strict=True))[best]
        assert float(row["share1"]) == float(all_shares[best])


def test_tables_of_a_model_with_covariates(place, tmp_path):
    done("export", place / "plain", "-f", "tables", "-o", tmp_path / "t")
    assert {path.name for path in (tmp_path / "t").iterdir()} == {
        "topics.csv",
        "words.csv",
        "effects.csv",
        "model_card.md",
    }
    effects = rows(tmp_path / "t" / "effects.csv")
    assert list(effects[0]) == ["topic", "name", "covariate", "value", "mean", "low", "high"]
    done("effects", place / "plain", "-o", tmp_path / "effects.csv")
    expected = list(csv.DictReader((tmp_path / "effects.csv").read_text("utf-8").splitlines()))
    assert [row["mean"] for row in effects] == [row["mean"] for row in expected]
    done("export", place / "plain", place / "posts.csv", "-f", "tables", "-o", tmp_path / "t")
    shares = done("transform", place / "plain", place / "posts.csv").stdout
    assert rows(tmp_path / "t" / "shares.csv") == list(csv.DictReader(shares.splitlines()))


def test_where_tables_may_not_go(place, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for target, told in ((tmp_path / "file", "is a file"), (place / "plain", "is the folder of a model")):
        result = call("export", place / "model", "-f", "tables", "-o", target)
        assert result.exit_code == 2
        assert told in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@sum", "'@sum"),
        ("-apple", "'-apple"),
        ("-3.5", "-3.5"),
        ("apple", "apple"),
        (-3.5, -3.5),
        (["=a", "b"], ["'=a", "b"]),
        (None, None),
    ],
)
def test_no_cell_is_a_formula(given, expected, tmp_path):
    assert as_text(given) == expected
    write_for_spreadsheet({"=name": [given]}, tmp_path / "t.csv")
    assert list(rows(tmp_path / "t.csv")[0]) == ["'=name"]

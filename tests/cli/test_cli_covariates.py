"""Covariates on the command line: read with the documents, stored with the model, asked for again, explained."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from support.kills import Killed, kill_after
from topoi.readers import read_documents

BESIDE = ("--covariate", "price", "--covariate", "brand")
COMMON = ("--text", "body", "--id", "key", *BESIDE, *QUICK)


def posts(n=60, seed=0):
    """Posts with a price that goes with the subject, and a brand, one of which looks like a number."""
    rng = np.random.default_rng(seed)
    rows = records(n)
    for i, row in enumerate(rows):
        row["price"] = round(float(3 * (i % 3) + rng.normal(0, 0.5)), 3)
        row["brand"] = ["acme", "7", "zeta"][rng.integers(3)]
    return rows


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with posts.csv, new.csv whose brands are all numbers, and models."""
    folder = tmp_path_factory.mktemp("covariates")
    write_csv(folder / "posts.csv", posts())
    write_csv(folder / "new.csv", [row | {"brand": "7"} for row in posts(12, 1)])
    write_csv(folder / "lacks.csv", records(12))
    done("fit", folder / "posts.csv", *COMMON, "--label", "subject", "--hold-out", 0.2, "-o", folder / "one")
    done("fit", folder / "posts.csv", *COMMON, "--target", "stars", "-o", folder / "number")
    return folder


def library(place, name, path):
    """The model, and documents as the library reads them."""
    model = topoi.load(place / name / "estimator.topoi")
    kinds = {"price": "number", "brand": "category"}
    return model, read_documents(
        place / path, text="body", vocabulary=model.topic_models_[0].vocabulary, covariates=kinds
    )


def test_what_is_stored(place):
    about = as_json("info", place / "one", "--json")
    assert about["reading"]["covariate"] == ["price", "brand"]
    assert about["refit"] == topoi.load(place / "one" / "estimator.topoi").refit_settings_
    shown = done("info", place / "one").stdout
    assert "covariate price and brand" in shown
    assert "by weights fitted anew (power of the idf" in shown
    model = topoi.load(place / "one" / "estimator.topoi")
    assert model.covariates_ == {"price": "number", "brand": "category"}


def test_held_out_documents_have_theirs(place):
    """They are watched and scored with their covariates, and found again."""
    held_out = json.loads((place / "one" / "topoi.json").read_text("utf-8"))["held_out"]
    again = as_json("evaluate", place / "one", place / "posts.csv", "--held-out", "--json")
    assert again["scored_documents"] == held_out["scored_documents"] == 11
    assert again["log_loss"] == pytest.approx(held_out["log_loss"], rel=1e-12)
    assert len(topoi.load(place / "one" / "estimator.topoi").validation_traces_[0]) > 0


def test_predict_reads_the_columns_of_the_fit(place):
    model, data = library(place, "one", "new.csv")
    rows = table(done("predict", place / "one", place / "new.csv", "--proba", "--scores").stdout)
    given = data.covariates
    assert given["brand"].tolist() == ["7"] * 12  # a category, though it looks like a number here
    assert [row["label"] for row in rows] == model.predict(data.corpus, covariates=given).tolist()
    proba = np.array([[float(row[f"p:{label}"]) for label in model.classes_] for row in rows])
    np.testing.assert_array_equal(proba, model.predict_proba(data.corpus, covariates=given))
    scores = np.array([[float(row[f"score:{label}"]) for label in model.classes_] for row in rows])
    np.testing.assert_array_equal(scores, model.decision_function(data.corpus, covariates=given))
    dearer = given | {"price": given["price"] + 50}
    assert not np.array_equal(proba, model.predict_proba(data.corpus, covariates=dearer))


def test_numbers_and_their_intervals(place):
    model, data = library(place, "number", "new.csv")
    rows = table(done("predict", place / "number", place / "new.csv", "--interval", 0.8).stdout)
    found = np.array([[float(row[name]) for name in ("prediction", "lower", "upper")] for row in rows])
    np.testing.assert_array_equal(found[:, 0], model.predict(data.corpus, covariates=data.covariates))
    bounds = model.predict_interval(data.corpus, 0.8, covariates=data.covariates)
    np.testing.assert_array_equal(found[:, 1:], bounds)


@pytest.mark.parametrize(
    ("command", "more"), [("predict", ()), ("evaluate", ()), ("explain", ()), ("report", ("-o", "{}/r.html"))]
)
def test_a_file_without_them(place, command, more, tmp_path):
    result = call(command, place / "one", place / "lacks.csv", *(part.format(tmp_path) for part in more))
    assert result.exit_code == 2
    assert "has no column 'price'" in result.stderr
    assert "The fit had it as --covariate; predictions need it." in result.stderr


def test_what_needs_none_asks_for_none(place):
    """Topics come from words alone, and measures that predict nothing need no covariates."""
    rows = table(done("transform", place / "one", place / "lacks.csv", "--top", 1).stdout)
    assert len(rows) == 12
    assert "npmi" in as_json("evaluate", place / "one", place / "lacks.csv", "--measures", "npmi", "--json")
    assert "accuracy" not in as_json("evaluate", place / "one", place / "lacks.csv", "--label", "", "--json")


def test_other_formats(place, tmp_path):
    rows = [{"t": row["body"], "price": row["price"], "brand": 7} for row in posts(12, 1)]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = done("predict", place / "one", tmp_path / "new.jsonl", "--text", "t", "--id", "", "--proba").stdout
    expected = done("predict", place / "one", place / "new.csv", "--proba").stdout
    assert [list(row.values())[1:] for row in table(found)] == [list(row.values())[1:] for row in table(expected)]
    (tmp_path / "new.txt").write_text("apple pear\n", encoding="utf-8")
    result = call("predict", place / "one", tmp_path / "new.txt")
    assert "--covariate: the model needs the columns price, brand, but this format has no columns" in result.stderr
    (tmp_path / "bad.jsonl").write_text('{"t": "apple", "price": 1}\n', encoding="utf-8")
    result = call("predict", place / "one", tmp_path / "bad.jsonl", "--text", "t", "--id", "")
    assert "line 1: the object has no key 'brand'" in result.stderr
    assert "predictions need it" in result.stderr


def test_a_category_that_is_new_is_told_once(place, tmp_path):
    write_csv(tmp_path / "new.csv", [row | {"brand": "ohm"} for row in posts(3)])
    result = done("predict", place / "one", tmp_path / "new.csv", "--proba", "--scores")
    assert result.stderr.count("Warning: ") == 1
    assert "column 'brand' has 'ohm', which the training documents do not have" in result.stderr
    assert len(table(result.stdout)) == 3


def test_values_that_are_missing_or_wrong(place, tmp_path):
    rows = posts(6)
    rows[4] |= {"price": ""}
    write_csv(tmp_path / "gap.csv", rows)
    result = call("fit", tmp_path / "gap.csv", *COMMON, "--label", "subject", "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "gap.csv, line 6: the covariate 'price' has no value" in result.stderr
    assert "--on-error 'skip'" in result.stderr
    assert len(table(done("predict", place / "one", tmp_path / "gap.csv", "--on-error", "skip").stdout)) == 5
    rows[4] |= {"price": "cheap"}
    write_csv(tmp_path / "gap.csv", rows)
    result = call("predict", place / "one", tmp_path / "gap.csv")
    assert "line 6: the covariate 'price' is 'cheap'; it must be a number." in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "brand"), "--covariate: has 'brand', which is the label too"),
        (("--label", "subject", "--covariate", "price"), "--covariate: has the column 'price' more than once"),
        (("--label", "subject", "--covariate", "cost"), "has no column 'cost'"),
        (("--label", "subject", "--word-features", "idf"), '--word-features: must be "tfidf" or None'),
    ],
)
def test_fits_that_are_refused(place, options, message, tmp_path):
    result = call("fit", place / "posts.csv", *COMMON, *options, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "m").exists()


def test_settings_of_what_predicts(place, tmp_path):
    fit = ("fit", place / "posts.csv", "--text", "body", "--label", "subject", *QUICK)
    done(*fit, "--word-features", "none", "-o", tmp_path / "topics")
    done(*fit, "--no-refit", "-o", tmp_path / "chains")
    topics, chains = (topoi.load(tmp_path / name / "estimator.topoi") for name in ("topics", "chains"))
    assert topics.word_features is None
    assert topics.refitted_
    assert topics.word_weights_.size == 0
    assert not chains.refitted_
    assert "by the weights of the chains" in done("info", tmp_path / "chains").stdout
    result = call("fit", place / "posts.csv", "--text", "body", "--no-refit", *QUICK, "-o", tmp_path / "lda")
    assert "--refit: is for models with labels" in result.stderr
    result = call("convert", place / "posts.csv", tmp_path / "p.jsonl", "--text", "body", *BESIDE)
    assert "--covariate: are not written by convert" in result.stderr


@pytest.mark.parametrize("more", [("--hold-out", "0.2"), ("--no-refit",), ("--word-features", "none")])
def test_killed_and_resumed(place, more, tmp_path, monkeypatch):
    options = (*COMMON, "--label", "subject", "--checkpoint-seconds", "0", *more)
    done("fit", place / "posts.csv", *options, "-o", tmp_path / "through")
    folder = tmp_path / "killed"
    with monkeypatch.context() as patch:
        kill_after(patch, 7)
        with pytest.raises(Killed):
            call("fit", place / "posts.csv", *options, "-o", folder)
    order = json.loads((folder / "unfinished.json").read_text("utf-8"))
    assert order["reading"]["covariate"] == ["price", "brand"]
    done("resume", folder)
    assert (folder / "estimator.topoi").read_bytes() == (tmp_path / "through" / "estimator.topoi").read_bytes()


@pytest.mark.parametrize("wrong", [{"covariate": "price"}, {"covariate": [1]}])
def test_a_folder_from_a_stranger(place, wrong, tmp_path):
    about = json.loads((place / "one" / "topoi.json").read_text("utf-8"))
    (tmp_path / "topoi.json").write_text(json.dumps(about | {"reading": wrong}), encoding="utf-8")
    result = call("info", tmp_path)
    assert result.exit_code == 2
    assert "reading has 'covariate'" in result.stderr


def test_explain_divides_the_score(place):
    found = as_json("explain", place / "one", place / "new.csv", "--row", 3, "--json")
    model, data = library(place, "one", "new.csv")
    scores = model.decision_function(data.corpus, covariates=data.covariates)[3]
    for reason, score in zip(found["reasons"], scores, strict=True):
        assert list(reason["parts"]) == ["base", "topics", "words", "covariates"]
        assert sum(reason["parts"].values()) == pytest.approx(reason["score"], abs=1e-9)
        assert reason["score"] == pytest.approx(score, abs=1e-6)
        total = sum(entry["contribution"] for entry in reason["covariates"])
        assert total == pytest.approx(reason["parts"]["covariates"], abs=1e-9)
        assert {entry["covariate"] for entry in reason["covariates"]} <= {
            "price",
            "brand=7",
            "brand=acme",
            "brand=zeta",
        }
    shown = done("explain", place / "one", place / "new.csv", "--row", 3, "--label", "metal").stdout
    lines = [line.strip() for line in shown.splitlines()]
    places = [lines.index(title) for title in ("topics", "words through topics", "words by themselves", "covariates")]
    assert places == sorted(places)
    metal = next(reason for reason in found["reasons"] if reason["label"] == "metal")
    for name, part in (("base", "base"), ("words by themselves", "words"), ("covariates", "covariates")):
        (line,) = [line for line in lines[: places[0]] if line.startswith(name)]
        assert f"{metal['parts'][part]:+.2f}" in line


def test_explain_a_text_with_its_covariates(place):
    text = ("--text", "Rain and wind and snow")
    found = as_json("explain", place / "one", *text, "--covariate", "price=6.5", "--covariate", "brand=7", "--json")
    other = as_json("explain", place / "one", *text, "--covariate", "price=0", "--covariate", "brand=7", "--json")
    for one, two in zip(found["reasons"], other["reasons"], strict=True):
        assert one["parts"]["topics"] == two["parts"]["topics"]
        assert one["parts"]["covariates"] != two["parts"]["covariates"]
    needs = "--covariate: the model needs the value of brand too: --covariate brand=…"
    assert needs in call("explain", place / "one", *text, "--covariate", "price=1").stderr
    result = call("explain", place / "one", *text, "--covariate", "price=x", "--covariate", "brand=7")
    assert "--covariate: price is 'x'; it must be a number" in result.stderr
    result = call("explain", place / "one", *text, "--covariate", "cost=1")
    assert "--covariate: the model has no 'cost'; there are price, brand" in result.stderr
    result = call("explain", place / "one", place / "new.csv", "--covariate", "price=1")
    assert "--covariate: is for --text" in result.stderr


@pytest.mark.parametrize("name", ["one", "number"])
def test_report(place, tmp_path, name):
    done("report", place / name, place / "posts.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert '"covariates":{"names":["price","brand=7","brand=acme","brand=zeta"]' in page
    assert 'section("covariates"' in page
    done("report", place / name, "-o", tmp_path / "bare.html")  # effects need no documents
    assert 'section("covariates"' in (tmp_path / "bare.html").read_text("utf-8")

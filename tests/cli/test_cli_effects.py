"""Covariates of prevalence on the command line: topics that depend on columns, and their effects."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from topoi.evaluate import document_completion, topic_effects
from topoi.readers import read_documents


def speeches(n=60, seed=0):
    """Documents with a party and a year, which are their subjects' more or less."""
    rng = np.random.default_rng(seed)
    return [
        row
        | {"party": ["green", "red", "blue"][(i + int(rng.random() < 0.2)) % 3], "year": 1990 + int(rng.integers(9))}
        for i, row in enumerate(records(n))
    ]


def with_names(model, rows):
    """Effects as the command tells them."""
    return [row._asdict() | {"name": model.topic_names_[row.topic]} for row in rows]


COMMON = ("--text", "body", "--covariate", "party", "--covariate", "year", *QUICK)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("effects")
    write_csv(folder / "posts.csv", speeches())
    write_csv(folder / "new.csv", speeches(9, 1))
    write_csv(folder / "lacks.csv", records(9))
    done("fit", folder / "posts.csv", *COMMON, "-o", folder / "all")
    more = ("--prevalence", "~ party + C(year)", "--label", "subject")
    done("fit", folder / "posts.csv", *COMMON, *more, "-o", folder / "labels")
    done("fit", folder / "posts.csv", "--text", "body", *QUICK, "-o", folder / "none")
    return folder


def test_effects(place, tmp_path):
    model = topoi.load(place / "all" / "estimator.topoi")
    assert model.doc_topic_prior is None
    found = as_json("effects", place / "all", "--json")["effects"]
    assert found == with_names(model, model.effects())
    shown = done("effects", place / "all", "--covariate", "year", "--interval", 0.8).stdout
    assert "+1 sd" in shown
    assert "80% interval" in shown
    done("effects", place / "all", "-o", tmp_path / "e.csv", "--grid", 3)
    rows = table((tmp_path / "e.csv").read_text("utf-8"))
    assert list(rows[0]) == ["topic", "name", "covariate", "value", "mean", "low", "high"]
    assert len(rows) == model.n_topics * (3 + 3)


def test_effects_of_columns_that_the_fit_did_not_have(place, tmp_path):
    """As the library's regression tells them."""
    named = ("--covariate", "party", "--covariate", "year")
    model = topoi.load(place / "none" / "estimator.topoi")
    data = read_documents(place / "posts.csv", text="body", covariates=["party", "year"], vocabulary=model.vocabulary_)
    for formula in (None, "~ party"):
        more = () if formula is None else ("--prevalence", formula)
        found = as_json("effects", place / "none", place / "posts.csv", *named, *more, "--json")["effects"]
        expected = topic_effects(model, data.covariates, data.corpus, formula)
        assert found == with_names(model, expected)
    assert {row["covariate"] for row in found} == {"party"}
    done("effects", place / "none", place / "posts.csv", *named, "-o", tmp_path / "e.csv")
    assert {row["covariate"] for row in table((tmp_path / "e.csv").read_text("utf-8"))} == {"party", "year"}
    result = call("effects", place / "none", place / "lacks.csv", "--covariate", "year")
    assert "The fit had it" not in result.stderr


def test_topics_are_called_by_their_names(place, tmp_path):
    """Names of seeds and names that were edited, on the screen and in tables; a topic without one by its number."""
    (tmp_path / "seeds.json").write_text('{"the sky": ["rain", "wind"]}')
    done("fit", place / "posts.csv", *COMMON, "--seeds", tmp_path / "seeds.json", "-o", tmp_path / "model")
    edits = '{"format": "topoi edits", "version": 1, "edits": [{"edit": "name", "topic": 2, "name": "smithy"}]}'
    (tmp_path / "edits.json").write_text(edits)
    done("apply", tmp_path / "model", tmp_path / "edits.json", "-o", tmp_path / "named")
    names = ["the sky", "topic 1", "smithy", "topic 3"]
    done("effects", tmp_path / "named", "-o", tmp_path / "e.csv")
    rows = table((tmp_path / "e.csv").read_text("utf-8"))
    assert {(int(row["topic"]), row["name"]) for row in rows} == set(enumerate(names))
    told = as_json("effects", tmp_path / "named", place / "posts.csv", "--covariate", "year", "--json")["effects"]
    assert [row["name"] for row in told] == names
    shown = done("effects", tmp_path / "named", "--covariate", "year", "--words", 0).stdout
    assert [line.split("year")[0].strip() for line in lines_with(shown, "year")] == ["the sky", "1", "smithy", "3"]
    shown = done("shares", tmp_path / "named", place / "posts.csv", "--by", "party", "--words", 0).stdout
    first = {line.strip().split("  ")[0] for line in lines_with(shown, "%")}
    assert {"the sky", "1", "smithy", "3"} <= first


def lines_with(shown, text):
    return [line for line in shown.splitlines() if text in line]


def test_some_of_the_covariates_of_a_fit(place):
    rows = as_json("effects", place / "all", "--covariate", "year", "--covariate", "party", "--json")["effects"]
    assert rows == as_json("effects", place / "all", "--json")["effects"]


def test_with_labels(place):
    rows = as_json("effects", place / "labels", "--json")["effects"]
    years = {row["value"] for row in rows if row["covariate"] == "year"}
    assert years <= {str(1990 + i) for i in range(9)}
    assert len(table(done("predict", place / "labels", place / "new.csv").stdout)) == 9


@pytest.mark.parametrize("name", ["all", "labels"])
def test_topics_of_new_documents(place, name, recwarn):
    known = table(done("transform", place / name, place / "new.csv").stdout)
    unknown = table(done("transform", place / name, place / "new.csv", "--without-covariates").stdout)
    assert len(known) == len(unknown) == 9
    assert known != unknown
    assert len(table(done("transform", place / name, place / "lacks.csv", "--without-covariates").stdout)) == 9
    result = call("transform", place / name, place / "lacks.csv")
    assert result.exit_code == 2
    assert "has no column 'party'" in result.stderr
    assert "or take documents as average ones: --without-covariates" in result.stderr


@pytest.mark.parametrize("name", ["all", "labels"])
def test_held_out_likelihood(place, name):
    """That of documents with their columns, or of average ones."""
    measures = ("--measures", "document_completion,npmi", "--json")
    known = as_json("evaluate", place / name, place / "new.csv", *measures)
    average = as_json("evaluate", place / name, place / "new.csv", *measures, "--without-covariates")
    assert known["npmi"] == average["npmi"]
    model = topoi.load(place / name / "estimator.topoi")
    data = read_documents(
        place / "new.csv", text="body", covariates=list(model.prevalence_covariates_), vocabulary=model.vocabulary_
    )
    assert known["perplexity"] == document_completion(model, data.corpus, covariates=data.covariates).perplexity
    assert average["perplexity"] == document_completion(model, data.corpus).perplexity != known["perplexity"]
    result = call("evaluate", place / name, place / "lacks.csv", *measures)
    assert result.exit_code == 2
    assert "has no column 'party'" in result.stderr
    assert "or take documents as average ones: --without-covariates" in result.stderr
    done("evaluate", place / name, place / "lacks.csv", "--measures", "npmi")


def test_documents_held_out_have_covariates(place, tmp_path):
    fit = as_json("fit", place / "posts.csv", *COMMON, "--hold-out", 0.3, "-o", tmp_path / "m", "--json")
    again = as_json("evaluate", tmp_path / "m", place / "posts.csv", "--held-out", "--json")
    assert again["perplexity"] == fit["held_out"]["perplexity"]
    average = as_json("evaluate", tmp_path / "m", place / "posts.csv", "--held-out", "--without-covariates", "--json")
    assert again["perplexity"] != average["perplexity"]
    model = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert model.validation_traces_[0][-1, 1] == pytest.approx(again["perplexity"], rel=1e-12)


def test_a_fit_says_what_topics_depend_on(place, tmp_path):
    """A single text in a column of numbers makes categories of them: it must not go unseen."""
    rows = speeches()
    rows[7]["year"] = "soon"
    write_csv(tmp_path / "posts.csv", rows)
    told = done("fit", tmp_path / "posts.csv", *COMMON, "-o", tmp_path / "model").stdout
    assert "Topics depend on party (a category), year (a category)." in told
    assert f"topoi effects {tmp_path / 'model'}" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("effects", "{}/none"), "--covariate: that topics depend on were not given to fit"),
        (("effects", "{}/all", "--covariate", "colour"), "--covariate: the model has no 'colour', but party, year"),
        (("effects", "{}/all", "--prevalence", "~ party"), "--prevalence: is for columns of DOCUMENTS"),
        (("effects", "{}/none", "{}/posts.csv"), "--covariate: name the columns of"),
        (("effects", "{}/none", "{}/lacks.csv", "--covariate", "year"), "has no column 'year'"),
        (
            ("effects", "{}/none", "{}/posts.csv", "--covariate", "year", "--prevalence", "~ party"),
            "--prevalence: names a column 'party'",
        ),
        (
            ("effects", "{}/none", "{}/posts.csv", "--covariate", "year", "--prevalence", "~ year +"),
            "--prevalence: the end of",
        ),
        (("effects", "{}/all", "--interval", "2"), "--interval: must be a number between 0 and 1"),
        (
            ("fit", "{}/posts.csv", "--text", "body", "--prevalence", "~ party"),
            "--prevalence: needs the columns that it names: --covariate party",
        ),
        (("fit", "{}/posts.csv", *COMMON, "--prevalence", "~ party +"), "--prevalence: the end of"),
        (("fit", "{}/posts.csv", *COMMON, "--prevalence", "~ colour"), "--prevalence: names a column 'colour'"),
        (("fit", "{}/posts.csv", *COMMON, "--alpha", "learn"), "--alpha: is 'learn'"),
    ],
)
def test_what_is_wrong_is_said(place, arguments, message, tmp_path):
    output = ("-o", tmp_path / "m") if arguments[0] == "fit" else ()
    result = call(*(str(part).replace("{}", str(place)) for part in arguments), *output)
    assert result.exit_code == 2
    assert message in result.stderr

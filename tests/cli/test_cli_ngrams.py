"""N-grams on the command line: counted by the fit, asked for again by what predicts, shown by explain."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, table, write_csv
from support.kills import Killed, kill_after
from topoi import Corpus
from topoi.readers import read_documents

COMMON = ("--text", "body", "--label", "taste", "--max-df", "1.0", "--ngrams", "2", *QUICK)
OTHERS = [f"word{first}{second}" for first in "abcdef" for second in "abcdefgh"]
ORDERS = ("not good but bad", "not bad but good")


def reviews(n=90, seed=0):
    """Reviews whose words are the same, but not their order."""
    rng = np.random.default_rng(seed)
    others = np.array([f"word{i}" for i in range(15)])
    return [
        {
            "body": " ".join((*rng.choice(others, 5), ORDERS[i % 2], *rng.choice(others, 5))).capitalize() + ".",
            "taste": ["poor", "fine"][i % 2],
            "stars": round(1 + 3 * (i % 2) + rng.normal(0, 0.1), 3),
        }
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ngrams")
    write_csv(folder / "reviews.csv", reviews())
    write_csv(folder / "new.csv", reviews(20, 1))
    done("fit", folder / "reviews.csv", *COMMON, "--hold-out", 0.2, "-o", folder / "taste")
    return folder


def test_what_is_stored(place):
    about = as_json("info", place / "taste", "--json")
    assert about["reading"]["ngrams"] == 2
    assert about["refit"]["ngrams"] > 0
    assert about["held_out"]["accuracy"] > 0.9
    assert "n-grams by" in done("info", place / "taste").stdout
    assert topoi.load(place / "taste" / "estimator.topoi").ngrams_.largest == 2


def test_predict_counts_the_same(place):
    model = topoi.load(place / "taste" / "estimator.topoi")
    data = read_documents(place / "new.csv", text="body", like=model)
    rows = table(done("predict", place / "taste", place / "new.csv", "--proba").stdout)
    assert [row["label"] for row in rows] == model.predict(data.corpus).tolist() == ["poor", "fine"] * 10
    texts = [row["body"] for row in reviews(20, 1)]
    np.testing.assert_array_equal(
        model.predict_proba(Corpus.from_texts(texts, like=model)), model.predict_proba(data.corpus)
    )


def test_evaluate_report_and_what_needs_none(place, tmp_path):
    assert as_json("evaluate", place / "taste", place / "new.csv", "--json")["accuracy"] > 0.9
    held_out = as_json("evaluate", place / "taste", place / "reviews.csv", "--held-out", "--json")
    assert held_out["accuracy"] == as_json("info", place / "taste", "--json")["held_out"]["accuracy"]
    done("report", place / "taste", place / "new.csv", "-o", tmp_path / "r.html")
    assert "not good" in (tmp_path / "r.html").read_text("utf-8")
    assert len(table(done("transform", place / "taste", place / "new.csv").stdout)) == 20


def test_explain_shows_them(place):
    found = as_json("explain", place / "taste", "--text", "Not good but bad", "--json")
    assert found["predicted"] == "poor"
    (reason,) = found["reasons"]
    assert {"not good", "but bad"} <= {part["word"] for part in reason["own_words"]}
    assert sum(reason["parts"].values()) == pytest.approx(reason["score"])
    assert "not good" in done("explain", place / "taste", "--text", "Not good but bad").stdout
    row = as_json("explain", place / "taste", place / "new.csv", "--row", 1, "--json")
    assert row["predicted"] == "fine"


def test_numbers(place, tmp_path):
    options = [option if option not in ("--label", "taste") else {"--label": "--target"}.get(option, "stars")
               for option in COMMON]  # fmt: skip
    done("fit", place / "reviews.csv", *options, "-o", tmp_path / "stars")
    rows = table(done("predict", tmp_path / "stars", place / "new.csv").stdout)
    found = np.array([float(row["prediction"]) for row in rows])
    assert (found[::2] < 2.5).all()
    assert (found[1::2] > 2.5).all()


def test_files_of_counts_are_refused(place, tmp_path):
    done("convert", place / "new.csv", tmp_path / "new.svm", "--text", "body")
    result = call("predict", place / "taste", tmp_path / "new.svm")
    assert result.exit_code == 2
    assert "new.svm: has counts of words; the model predicts from n-grams too, and needs texts." in result.stderr
    result = call("fit", tmp_path / "new.svm", "--label", "yes", "--ngrams", 2, *QUICK, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "--ngrams: " in result.stderr
    assert "give texts" in result.stderr


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("fit", ("--ngrams", 2), "--ngrams: is for models with labels, topics are of single words"),
        ("fit", ("--ngrams", 2, "--label", "taste", "--no-refit"), "--no-refit leaves them out"),
        ("fit", ("--ngrams", 2, "--label", "taste", "--word-features", "none"), "--word-features leaves them out"),
        ("fit", ("--ngrams", 4, "--label", "taste"), "'4' is not 0, 1, 2 or 3, nor the fewest and the most words"),
        ("fit", ("--ngrams", "2,1", "--label", "taste"), "'2,1' is not 0, 1, 2 or 3"),
        ("fit", ("--ngrams", "many", "--label", "taste"), "'many' is not 0, 1, 2 or 3"),
        ("convert", ("--ngrams", 2), "--ngrams: are not written by convert"),
    ],
)
def test_what_is_refused(place, tmp_path, command, options, message):
    to = ("-o", tmp_path / "m", *QUICK) if command == "fit" else (tmp_path / "m.jsonl",)
    result = call(command, place / "reviews.csv", *to, "--text", "body", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "m").exists()


def test_killed_and_resumed(place, tmp_path, monkeypatch):
    options = (*COMMON, "--checkpoint-seconds", "0")
    done("fit", place / "reviews.csv", *options, "-o", tmp_path / "through")
    folder = tmp_path / "killed"
    with monkeypatch.context() as patch:
        kill_after(patch, 7)
        with pytest.raises(Killed):
            call("fit", place / "reviews.csv", *options, "-o", folder)
    assert json.loads((folder / "unfinished.json").read_text("utf-8"))["reading"]["ngrams"] == 2
    done("resume", folder)
    assert (folder / "estimator.topoi").read_bytes() == (tmp_path / "through" / "estimator.topoi").read_bytes()


@pytest.mark.parametrize("wrong", ["2", 2.0, True, [2], [1, "2"], [1, True], [1, 2, 3]])
def test_a_folder_from_a_stranger(place, wrong, tmp_path):
    about = json.loads((place / "taste" / "topoi.json").read_text("utf-8"))
    (tmp_path / "topoi.json").write_text(json.dumps(about | {"reading": {"ngrams": wrong}}), encoding="utf-8")
    result = call("predict", tmp_path, place / "new.csv")
    assert result.exit_code == 2
    assert "reading has 'ngrams'" in result.stderr


def test_other_words_of_texts_by_default(place, tmp_path):
    """ "not" is a stop word, and so is "but": only the order of the others tells these labels."""
    options = [option for option in COMMON if option not in ("--ngrams", "2")]
    told = as_json("fit", place / "reviews.csv", *options, "-o", tmp_path / "m", "--json")
    assert told["reading"]["ngrams"] == 1
    found = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert found.ngrams_ is None or found.ngrams_.largest == 1


def test_other_words_and_pairs_together(place, tmp_path):
    options = [option if option != "2" else "1,2" for option in COMMON] + ["--stop-words", "english"]
    told = as_json("fit", place / "reviews.csv", *options, "-o", tmp_path / "m", "--json")
    assert told["reading"]["ngrams"] == [1, 2]
    assert "ngrams 1 and 2" in " ".join(done("info", tmp_path / "m").stdout.split())
    model = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert model.ngrams_.sizes == (1, 2)
    assert {"not", "not good"} <= set(model.ngrams_.names)
    rows = table(done("predict", tmp_path / "m", place / "new.csv").stdout)
    assert [row["label"] for row in rows] == ["poor", "fine"] * 10
    found = as_json("explain", tmp_path / "m", "--text", "Not good but bad", "--json")
    (reason,) = found["reasons"]
    assert {"not good", "but bad"} <= {part["word"] for part in reason["own_words"]}
    assert sum(reason["parts"].values()) == pytest.approx(reason["score"])


@pytest.mark.parametrize("option", [("--ngrams", 0), ("--no-refit",), ("--word-features", "none")])
def test_no_other_words(place, tmp_path, option):
    options = [kept for kept in COMMON if kept not in ("--ngrams", "2")]
    told = as_json("fit", place / "reviews.csv", *options, *option, "-o", tmp_path / "m", "--json")
    assert told["reading"]["ngrams"] is None


def test_words_that_topics_leave_out_tell_labels(tmp_path):
    """Numbers are no words of topics; here they alone say what the label is."""
    rng = np.random.default_rng(5)
    rows = [{"body": " ".join(rng.choice(OTHERS, 12)) + f" 20{i % 2}", "taste": "ab"[i % 2]} for i in range(80)]
    write_csv(tmp_path / "rows.csv", rows)
    done("fit", tmp_path / "rows.csv", "--text", "body", "--label", "taste", *QUICK, "-o", tmp_path / "m")
    model = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert not {"200", "201"} & set(model.vocabulary_)
    assert {"200", "201"} <= set(model.ngrams_.names)
    told = table(done("predict", tmp_path / "m", tmp_path / "rows.csv").stdout)
    assert [row["label"] for row in told] == [row["taste"] for row in rows]
    assert "200" in done("explain", tmp_path / "m", tmp_path / "rows.csv").stdout  # of the first row

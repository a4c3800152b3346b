"""`topoi fit`: from files to the folder of a model."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import topoi
from support.cli_files import FILES, QUICK, as_json, call, done, records, write_csv
from topoi.readers import read_documents


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("posts") / "posts.csv")


def about(folder):
    return json.loads((folder / "topoi.json").read_text("utf-8"))


def test_lda_is_that_of_the_library(posts, tmp_path):
    result = done("fit", posts, "--text", "body", *QUICK, "--seed", 3, "-o", tmp_path / "m")
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == FILES
    data = read_documents(posts, text="body", min_df=2, max_df=0.5)
    expected = topoi.LDA(4, n_sweeps=12, doc_topic_prior="learn", random_state=3).fit(data.corpus)
    found = topoi.load(tmp_path / "m" / "estimator.topoi")
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert not hasattr(found, "doc_topic_")
    assert "60 documents, 900 tokens, 21 words." in result.stdout  # words of one document are left out
    assert f"log joint {expected.log_joint_[-1, 1]:,.0f}" in result.stdout
    assert f"\n  topoi transform {tmp_path / 'm'} NEW" in result.stdout


def test_classifier_is_that_of_the_library(posts, tmp_path):
    done("fit", posts, "--text", "body", "--label", "subject", *QUICK, "--loss", "logistic", "-o", tmp_path / "m")
    data = read_documents(posts, text="body", label="subject", min_df=2, max_df=0.5)
    expected = topoi.MedLDAClassifier(4, n_sweeps=12, loss="logistic", random_state=0)
    expected.fit(data.corpus, data.labels, unlabelled=data.unlabelled)
    found = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert found.classes_.tolist() == ["fruit", "metal", "weather"]
    np.testing.assert_array_equal(found.topic_weights_, expected.topic_weights_)
    assert about(tmp_path / "m")["labels"] == {"kind": "one", "names": None, "unlabelled": 5}


def test_several_labels_keep_their_names(posts, tmp_path):
    options = ("--text", "body", "--label", "tags", "--label-separator", ";")
    told = as_json("fit", posts, *options, *QUICK, "-o", tmp_path / "m", "--json")
    assert told["labels"] == {"kind": "several", "names": ["fruit", "metal", "weather"], "unlabelled": 0}
    assert topoi.load(tmp_path / "m" / "estimator.topoi")._labels.several
    assert {key: value for key, value in about(tmp_path / "m").items() if key in told} == {
        key: value for key, value in told.items() if key != "model"
    }


def test_hold_out_keeps_documents_with_labels_out(posts, tmp_path):
    told = as_json("fit", posts, "--text", "body", "--target", "stars", *QUICK, "--hold-out", 0.2, "-o", tmp_path / "m", "--json")  # fmt: skip # noqa: E501
    assert told["estimator"] == "MedLDARegressor"
    assert told["counts"]["documents"] == 60
    assert told["counts"]["learned_from"] == 48
    assert told["held_out"]["documents"] == told["held_out"]["scored_documents"] == 12
    assert told["held_out"]["r2"] > 0.5
    again = as_json("evaluate", tmp_path / "m", posts, "--held-out", "--json")
    assert again["documents"] == 12
    for score in ("r2", "rmse", "perplexity"):
        assert again[score] == pytest.approx(told["held_out"][score], rel=1e-12)


def test_what_was_asked_for_can_be_read_again(posts, tmp_path):
    """All that is needed to do the same once more is in topoi.json."""
    from topoi.cli._reading import Reading
    from topoi.cli._settings import Settings

    options = ("--text", "body", "--label", "subject", "--stop-words", "english", "--cost", 2, "--max-df", "0.9")
    done("fit", posts, *options, *QUICK, "-o", tmp_path / "m")
    told = about(tmp_path / "m")
    assert Reading(**told["reading"]) == Reading(
        text=["body"], label="subject", stop_words="english", max_df="0.9", format="csv", ngrams=1
    )
    assert Settings(**told["settings"]) == Settings(topics=4, sweeps=12, jobs=1, cost=2.0)
    assert told["source"] == posts


def test_hold_out_is_fixed_by_the_seed():
    from topoi.cli._hold_out import hold_out

    rows = np.arange(100, 1100)
    first = hold_out(rows, 0.1, 0)
    assert len(first) == 100
    assert set(first) <= set(rows)
    np.testing.assert_array_equal(first, hold_out(rows, 0.1, 0))
    assert len(np.intersect1d(first, hold_out(rows, 0.1, 1))) < 40
    assert len(hold_out(rows, 0.0, 0)) == 0
    with pytest.raises(topoi.ParameterError, match="keep out some, but not all"):
        hold_out(np.arange(3), 0.01, 0)


def test_formats_that_hold_the_same_words_give_the_same_model(posts, tmp_path):
    common = ("--min-df", 2, "--max-df", "0.5")  # those of the fit by default
    done("convert", posts, tmp_path / "posts.svm", "--text", "body", *common)
    done("convert", posts, tmp_path / "docword.posts.txt.gz", "--text", "body", *common)
    lines = [json.dumps({"text": row["body"], "id": row["key"]}) for row in records()]
    with gzip.open(tmp_path / "posts.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    topics = []
    for number, name in enumerate(("posts.svm", "docword.posts.txt.gz", "posts.jsonl.gz")):
        done("fit", tmp_path / name, *QUICK, "-o", tmp_path / f"m{number}")
        topics.append(as_json("topics", tmp_path / f"m{number}", "--json")["topics"])
    assert topics[0] == topics[1] == topics[2]


def test_labels_in_place_need_to_be_asked_for(posts, tmp_path):
    done("convert", posts, tmp_path / "posts.mallet", "--text", "body", "--label", "subject", "--id", "key")
    done("fit", tmp_path / "posts.mallet", *QUICK, "-o", tmp_path / "without")
    done("fit", tmp_path / "posts.mallet", "--label", "yes", *QUICK, "-o", tmp_path / "with")
    assert about(tmp_path / "without")["estimator"] == "LDA"
    assert about(tmp_path / "with")["labels"]["unlabelled"] == 5
    rows = done("predict", tmp_path / "with", tmp_path / "posts.mallet").stdout.splitlines()
    assert rows[0] == "id,label"
    assert rows[1] == "post-0,fruit"


def test_stop_words_from_a_file_and_skipped_lines(tmp_path):
    """The place of the first is told on one line, however long its path is."""
    posts = tmp_path / ("long " * 20 + "posts.csv")
    write_csv(posts)
    with posts.open("a", encoding="utf-8") as file:
        file.write("broken,too,many,fields,here,and,there\n")
    (tmp_path / "stop.txt").write_text("apple\npear\n", encoding="utf-8")
    options = ("--text", "body", "--stop-words", tmp_path / "stop.txt", "--on-error", "skip")
    result = done("fit", posts, *options, *QUICK, "-o", tmp_path / "m")
    assert f"1 documents could not be read; the first: {posts}, line 62" in result.stdout
    assert about(tmp_path / "m")["counts"]["words"] == 19
    assert call("fit", tmp_path / "posts.csv", "--text", "body", *QUICK, "-o", tmp_path / "n").exit_code == 2
    assert not (tmp_path / "n").exists()  # a folder that was made for nothing is removed


def test_a_model_is_not_overwritten_unless_forced(posts, tmp_path):
    folder = tmp_path / "m"
    done("fit", posts, "--text", "body", *QUICK, "-o", folder)
    before = (folder / "estimator.topoi").read_bytes()
    result = call("fit", "nothing.csv", "-o", folder)  # said before the file is looked at
    assert result.exit_code == 2
    assert "holds a model already" in result.stderr
    assert "--force" in result.stderr
    assert (folder / "estimator.topoi").read_bytes() == before
    done("fit", posts, "--text", "body", *QUICK, "--seed", 1, "-o", folder, "--force")
    assert (folder / "estimator.topoi").read_bytes() != before
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep", encoding="utf-8")
    assert "holds other things" in call("fit", posts, "--text", "body", "-o", tmp_path / "notes").stderr
    assert "is a file" in call("fit", posts, "--text", "body", "-o", posts).stderr


def test_quiet_prints_nothing(posts, tmp_path):
    result = done("fit", posts, "--text", "body", *QUICK, "-o", tmp_path / "m", "--quiet")
    assert result.output == ""


def test_max_seconds_stops_early(posts, tmp_path):
    options = ("--topics", 4, "--sweeps", 20, "--max-seconds", 1e-9)
    told = as_json("fit", posts, "--text", "body", *options, "-o", tmp_path / "m", "--json")
    assert told["stopped"] == "time"
    assert told["sweeps"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "has no column 'text'; it has 'key', 'body', 'subject', 'tags', 'stars'. Name one: --text …."),
        (("--text", "bodies"), "posts.csv: has no column 'bodies'"),
        (
            ("--text", "body", "--target", "subject"),
            "posts.csv, line 2: 'subject': the target is 'fruit'",
        ),
        (("--text", "body", "--label", "key", "--target", "stars"), "--target: and label were both given"),
        (("--text", "body", "--margin", "2"), "--margin: is for models with labels; it needs --label"),
        (("--text", "body", "--target", "stars", "--class-weight", "balanced"), "it needs --label"),
        (("--text", "body", "--label", "subject", "--class-weight", "even"), "--class-weight: "),
        (
            ("--text", "body", "--label", "tags", "--label-separator", ";", "--positive-weight", "0"),
            "--positive-weight",
        ),
        (("--text", "body", "--sampler", "magic"), "--sampler: unknown sampler 'magic'; choose one of auto"),
        (("--text", "body", "--alpha", "x"), "--alpha: must be a number or `learn` or `hdp`, not 'x'"),
        (("--text", "body", "--min-df", "x"), "--min-df: must be a number of documents"),
        (("--text", "body", "--min-df", "61"), "--max-df: words may be in 30 documents, but must be in 61"),
        (("--text", "body", "--burn-in", "300"), "--burn-in: must be from 0 to"),
        (("--text", "body", "--hold-out", "1"), "--hold-out: must be a share"),
        (
            ("--text", "body", "--stop-words", "none.txt"),
            "--stop-words: there is no list for 'none.txt', and no file of this name",
        ),
        (("--text", "body", "--format", "odt"), "--format: must be one of"),
        (("--text", "body", "--token-pattern", "[0-9]{9}"), "see --token-pattern, --stop-words and --min-df"),
        (("--text", "body", "--label", "subject", "--strategy", "all"), "--strategy"),
    ],
)
def test_errors_name_the_option_or_the_place(posts, tmp_path, options, message):
    result = call("fit", posts, *options, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_files_that_cannot_be_used(tmp_path):
    result = call("fit", tmp_path / "none.csv", "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "none.csv: there is no such file" in result.stderr
    rows = [row | {"subject": ""} for row in records(8)]
    path = write_csv(tmp_path / "posts.csv", rows)
    result = call("fit", path, "--text", "body", "--label", "subject", "-o", tmp_path / "m")
    assert "--label: not one document has one" in result.stderr
    assert "--format: of standard input is not known" in call("fit", "-", "-o", tmp_path / "m").stderr


def test_a_hint_about_function_words(posts, tmp_path):
    rows = [{"text": row["body"] + (" and in of to with for it as") * (i % 3)} for i, row in enumerate(records())]
    path = write_csv(tmp_path / "plain.csv", rows)
    options = (*QUICK, "--max-df", "1.0", "-o")
    assert "try --stop-words english" in done("fit", path, *options, tmp_path / "a", "--stop-words", "none").stdout
    assert "--stop-words" not in done("fit", path, *options, tmp_path / "b", "--stop-words", "english").stdout


def test_foreign_checkpoints_are_not_removed(posts, tmp_path):
    (tmp_path / "m" / "checkpoints").mkdir(parents=True)
    (tmp_path / "m" / "checkpoints" / "mine.pt").write_text("weeks of work")
    result = call("fit", posts, "--text", "body", *QUICK, "-o", tmp_path / "m", "--force")
    assert result.exit_code == 2
    assert "not of topoi's making" in result.stderr
    assert (tmp_path / "m" / "checkpoints" / "mine.pt").exists()


def test_the_number_of_topics_is_found(posts, tmp_path):
    """It is shown in the summary, noted, and shown again by `topoi info`."""
    options = ("--text", "body", "--topics", "auto", "--sweeps", 6, "-j", 1)
    printed = done("fit", posts, *options, "-o", tmp_path / "m")
    assert "Number of topics:" in printed.stdout
    found = about(tmp_path / "m")
    assert found["settings"]["topics"] == "auto"
    assert found["topics"]["low"] <= found["topics"]["mean"] <= found["topics"]["high"]
    assert "number of topics" in done("info", tmp_path / "m").stdout

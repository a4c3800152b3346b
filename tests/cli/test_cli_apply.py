"""`topoi apply`: a model with edited topics, in a folder of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, write_csv

NAME = {"edit": "name", "topic": 1, "name": "the weather"}
HIDE = {"edit": "hide", "topic": 0}
SPLIT = {"edit": "split", "topic": 2}


def write_edits(path, *entries):
    path.write_text(json.dumps({"format": "topoi edits", "version": 1, "edits": entries}), encoding="utf-8")
    return path


@pytest.fixture
def place(tmp_path):
    write_csv(tmp_path / "posts.csv")
    return tmp_path


def fit(place, *options):
    done("fit", place / "posts.csv", "--text", "body", *QUICK, "-o", place / "model", *options)
    return topoi.load(place / "model" / "estimator.topoi")


@pytest.mark.parametrize("labels", [(), ("--label", "subject"), ("--target", "stars")])
def test_names_merges_and_hidden_topics(place, labels):
    before = fit(place, *labels)
    edits = write_edits(place / "edits.json", NAME, HIDE, {"edit": "merge", "topics": [2, 3]})
    result = done("apply", place / "model", edits, "-o", place / "new")
    assert "4 topics have become 3, 1 of them hidden." in " ".join(result.stderr.split())
    assert "the weather" in result.stdout
    after = topoi.load(place / "new" / "estimator.topoi")
    old, new = before.model_.counts.toarray(), after.model_.counts.toarray()
    np.testing.assert_array_equal(new, np.column_stack((old[:, 0], old[:, 1], old[:, 2] + old[:, 3])))
    # Tables leave hidden topics out, unless they are asked for.
    rows = as_json("topics", place / "new", "--json")["topics"]
    assert [(row["topic"], row["name"]) for row in rows] == [(1, "the weather"), (2, "topic 2")]
    assert len(as_json("topics", place / "new", "--json", "--all")["topics"]) == 3
    assert "1 hidden" in done("topics", place / "new").stdout
    done("topics", place / "new", "-o", place / "topics.csv")
    assert "topic 0" not in (place / "topics.csv").read_text(encoding="utf-8")
    assert as_json("info", place / "new", "--json")["edits"] == [NAME, HIDE, {"edit": "merge", "topics": [2, 3]}]
    assert "3 edits of its topics" in done("info", place / "new").stdout
    # The model goes on as any other.
    done("transform", place / "new", place / "posts.csv", "-o", place / "shares.csv")
    assert "the weather" in (place / "shares.csv").read_text(encoding="utf-8").splitlines()[0]
    if labels:
        done("predict", place / "new", place / "posts.csv", "-o", place / "predictions.csv")
    # And stays, and can be edited again.
    assert topoi.load(place / "model" / "estimator.topoi").n_topics_ == 4
    edits = write_edits(place / "more.json", {"edit": "show", "topic": 0})
    done("apply", place / "new", edits, "-o", place / "newer", "--quiet")
    assert as_json("info", place / "newer", "--json")["edits"][-1] == {"edit": "show", "topic": 0}
    assert len(as_json("topics", place / "newer", "--json")["topics"]) == 3


def test_a_split_reads_the_documents_of_the_fit(place):
    before = fit(place, "--hold-out", 0.2)
    edits = write_edits(place / "edits.json", SPLIT)
    done("apply", place / "model", edits, "-o", place / "new")
    done("apply", place / "model", edits, place / "posts.csv", "-o", place / "same")
    files = [(place / name / "estimator.topoi").read_bytes() for name in ("new", "same")]
    assert files[0] == files[1]
    after = topoi.load(place / "new" / "estimator.topoi")
    new, old = after.model_.counts.toarray(), before.model_.counts.toarray()
    np.testing.assert_array_equal(new[:, 2] + new[:, 3], old[:, 2])
    (place / "posts.csv").rename(place / "moved.csv")
    result = call("apply", place / "model", edits, "-o", place / "third")
    assert result.exit_code == 2
    assert "are needed to split a topic" in " ".join(result.stderr.split())
    assert not (place / "third").exists()
    done("apply", place / "model", edits, place / "moved.csv", "-o", place / "third")
    assert (place / "third" / "estimator.topoi").read_bytes() == files[0]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([NAME, {"edit": "hide", "topic": 4}], "edits: entry 1 (hide): there is no topic 4; the model has 4"),
        ([{"edit": "fold", "topic": 0}], 'edits: entry 0: must have "edit", one of name, merge'),
    ],
)
def test_errors_name_the_entry(place, entries, message):
    fit(place)
    result = call("apply", place / "model", write_edits(place / "edits.json", *entries), "-o", place / "new")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (place / "new").exists()


def test_nothing_is_replaced_unasked(place):
    fit(place)
    edits = write_edits(place / "edits.json", NAME)
    for folder, words in (("model", "is the model that is edited"), ("other", "holds other things already")):
        (place / "other").mkdir(exist_ok=True)
        (place / "other" / "notes.txt").write_text("mine", encoding="utf-8")
        result = call("apply", place / "model", edits, "-o", place / folder)
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.split())
    result = call("apply", place / "model" / "estimator.topoi", edits, "-o", place / "new")
    assert "takes the folder" in " ".join(result.stderr.split())
    result = call("apply", place / "model", place / "none.json", "-o", place / "new")
    assert "there is no such file" in " ".join(result.stderr.split())

"""Files of edits: what they say, and which are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from topoi import LDA, FileError
from topoi.estimators.edits import EditError, as_edits, topics_fingerprint

X = np.kron(np.eye(3, dtype=int), np.full((4, 3), 2)) + 1


@pytest.fixture(scope="module")
def lda():
    return LDA(6, n_sweeps=6, n_samples=2, random_state=0, seeds={"a": [0], "b": [3]}).fit(X)


def edits(*entries, **more):
    return {"format": "topoi edits", "version": 1, "edits": list(entries), **more}


def name(topic, text):
    return {"edit": "name", "topic": topic, "name": text}


def merge(*topics):
    return {"edit": "merge", "topics": list(topics)}


def arranged(lda, *entries):
    (found,) = as_edits(edits(*entries)).arrangements(lda.topic_models_)
    return found.splits, found.number.tolist(), found.names, found.hidden


HIDE, SPLIT = {"edit": "hide", "topic": 2}, {"edit": "split", "topic": 2}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], ([], [0, 1, 2, 3, 4, 5], ["a", "b", "", "", "", ""], [])),
        ([name(0, ""), name(4, "ד")], ([], [0, 1, 2, 3, 4, 5], ["", "b", "", "", "ד", ""], [])),
        ([merge(3, 0, 5)], ([], [2, 0, 1, 2, 3, 2], ["b", "", "a", ""], [])),
        ([name(3, "c"), merge(3, 0, 5), HIDE], ([], [2, 0, 1, 2, 3, 2], ["b", "", "c", ""], [1])),
        ([SPLIT, HIDE], ([2], [0, 1, 2, 3, 4, 5, 6], ["a", "b", "", "", "", "", ""], [2, 3])),
        (
            [{"edit": "order", "topics": [4, 2]}, SPLIT, merge(0, 1), HIDE],
            ([2], [3, 3, 1, 2, 4, 0, 5], ["", "", "", "a", "", ""], [1, 2]),
        ),
    ],
)
def test_what_becomes_of_the_topics(lda, entries, expected):
    assert arranged(lda, *entries) == expected
    assert arranged(lda, *entries[::-1]) == expected  # whichever entry is read first


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([name(0, "x"), {"edit": "rename", "topic": 0}], 'entry 1: must have "edit", one of name, merge'),
        ([7], 'entry 0: must have "edit"'),
        ([{"edit": "hide"}], r"entry 0 \(hide\): no 'topic'"),
        ([{**HIDE, "why": 1}], r"entry 0 \(hide\): an unknown key 'why'; there are edit, topic"),
        ([{"edit": "hide", "topic": 1.0}], r"entry 0 \(hide\): topic must be the number of a topic, not 1.0"),
        ([{"edit": "hide", "topic": True}], "must be the number of a topic, not True"),
        ([{"edit": "hide", "topic": -1}], "must be the number of a topic, not -1"),
        ([HIDE, {"edit": "hide", "topic": 6}], r"entry 1 \(hide\): there is no topic 6; the model has 6"),
        ([merge(1)], r"entry 0 \(merge\): topics must be 2 or more"),
        ([merge(1, 1)], r"entry 0 \(merge\): topic 1 stands twice"),
        ([merge(1, 2), merge(2, 3)], r"entry 1 \(merge\): topic 2 is also in entry 0 \(merge\); say it once"),
        ([merge(1, 2), HIDE], r"entry 1 \(hide\): topic 2 is merged into topic 1; say it of that one"),
        ([HIDE, merge(1, 2)], r"entry 0 \(hide\): topic 2 is merged into topic 1"),
        ([{"edit": "order", "topics": [2]}, merge(1, 2)], r"entry 0 \(order\): topic 2 is merged into topic 1"),
        ([SPLIT, merge(2, 3)], r"entry 0 \(split\): topic 2 cannot be split and merged at once"),
        ([HIDE, {"edit": "show", "topic": 2}], r"entry 1 \(show\): topic 2 is also in entry 0"),
        ([{"edit": "order", "topics": [2]}, {"edit": "order", "topics": [1]}], r"entry 1 \(order\): there is another"),
        ([name(2, 5)], r"entry 0 \(name\): name must be a text of at most 200 characters, not 5"),
        ([name(2, "x" * 201)], "at most 200 characters"),
        ([name(2, " x")], r"entry 0 \(name\): ' x' cannot be the name of a topic"),
        ([name(2, "x\n")], "cannot be the name of a topic"),
        ([HIDE, name(2, "x"), name(3, "x")], r"entry [12] \(name\): two topics have the name 'x'"),
        ([name(2, "a")], r"entry 0 \(name\): two topics have the name 'a'"),  # which topic 0 has
    ],
)
def test_what_is_refused(lda, entries, message):
    with pytest.raises(EditError, match=message):
        lda.apply(edits(*entries), X=X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "must be a path, a list of entries, or a mapping"),
        ({"version": 1, "edits": []}, "have the format None"),
        ({"format": "topoi edits", "version": 2, "edits": []}, "have version 2; this topoi reads 1"),
        ({"format": "topoi edits", "version": True, "edits": []}, "have version True"),
        ({"format": "topoi edits", "version": 1}, "have no 'edits'"),
        (edits(more=1), "have an unknown key 'more'"),
        (edits() | {"edits": {}}, "edits must be a list of entries"),
        (edits(topics="6"), "topics must be the number of topics"),
        (edits(model=6), "model must be the fingerprint"),
        (edits(topics=7), "are for a model of 7 topics, but this one has 6"),
        (edits(model="0" * 16), 'remove "model" from the edits'),
    ],
)
def test_the_file_as_a_whole(lda, given, message):
    with pytest.raises(EditError, match=message):
        lda.apply(given)


def test_a_list_of_entries_is_enough_in_python(lda):
    entries = [name(2, "rain"), {"edit": "hide", "topic": 0}]
    found, expected = lda.apply(entries), lda.apply(edits(*entries))
    assert found.topic_names_ == expected.topic_names_
    assert found.hidden_topics_ == expected.hidden_topics_ == [0]
    assert lda.apply([]).topic_names_ == lda.topic_names_


def test_a_file(lda, tmp_path):
    path = tmp_path / "edits.json"
    whole = edits(name(2, "ג"), topics=6, model=topics_fingerprint(lda.topic_models_))
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert lda.apply(path).topic_names_[2] == "ג"
    assert lda.apply(str(path)).topic_names_[2] == "ג"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(FileError, match=r"edits.json: is not JSON"):
        lda.apply(path)
    path.write_text(json.dumps(whole["edits"]), encoding="utf-8")  # the list of the entries alone is enough
    assert lda.apply(path).topic_names_[2] == "ג"
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(EditError, match='must have "edit"'):
        lda.apply(path)
    path.write_text('"edits.json"', encoding="utf-8")  # which is no path of another file
    with pytest.raises(EditError, match="have the format"):
        lda.apply(path)
    with pytest.raises(FileError, match="there is no such file"):
        lda.apply(tmp_path / "other.json")


def test_the_fingerprint_tells_models_apart(lda):
    other = LDA(6, n_sweeps=6, n_samples=2, random_state=1).fit(X)
    assert topics_fingerprint(lda.topic_models_) != topics_fingerprint(other.topic_models_)
    assert topics_fingerprint(lda.topic_models_) != topics_fingerprint(lda.apply(edits(merge(0, 1))).topic_models_)
    assert topics_fingerprint(lda.topic_models_) == topics_fingerprint(lda.apply(edits(name(0, "x"))).topic_models_)

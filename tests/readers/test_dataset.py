"""What reading gives: labels of every kind, and some of the documents."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import Corpus, FileError, ParameterError
from topoi.corpus.target import Target
from topoi.readers import Dataset, read_documents

CORPUS = Corpus.from_counts(np.eye(4, dtype=int))
ONE = np.array(["b", None, "a", "b"], object)
NUMBERS = np.array([1.5, np.nan, 0.0, 2.0])


@pytest.mark.parametrize(
    ("labels", "target"),
    [
        (None, Target()),
        (ONE, Target("one", ["a", "b"], ["a", "b"])),
        (np.array([3, 1, 3, 2]), Target("one", [1, 2, 3], ["1", "2", "3"])),
        ([["x"], None, [], ["y", "x"]], Target("several", ["x", "y"], ["x", "y"])),
        (NUMBERS, Target("numbers", [0], ["target"])),
    ],
)
def test_target(labels, target):
    data = Dataset(CORPUS, labels)
    assert data.target == target
    assert data.label_kind == target.kind


@pytest.mark.parametrize("labels", [None, ONE, NUMBERS, [["x"], None, [], ["y", "x"]]])
def test_some_documents(labels):
    data = Dataset(CORPUS, labels, np.array(list("wxyz")), n_skipped=3)
    some = data.take([3, -4])
    assert some.corpus.words.tolist() == [3, 0]
    assert some.ids.tolist() == ["z", "w"]
    assert some.n_skipped == 3
    if labels is None:
        assert some.labels is None
    else:
        assert list(some.labels) == [labels[3], labels[0]]
        assert some.label_kind == data.label_kind
        assert some.unlabelled.tolist() == data.unlabelled[[3, 0]].tolist()
    assert len(data.take(np.array([], int))) == 0
    with pytest.raises(ParameterError, match="rows: there are documents 0 to 3"):
        data.take([4])


def test_texts_of_some_documents(tmp_path):
    path = tmp_path / "posts.txt"
    path.write_text("a cat\na dog\na bird\na fish\n", "utf-8")
    data = read_documents(path).take([3, 1, 2]).take([1, 0])
    assert data.texts([0, 1]) == ["a dog", "a fish"]
    assert data.texts([-1]) == ["a fish"]
    with path.open("rb") as stream:
        kept = read_documents(stream, format="txt", keep_texts=2)
    assert kept.take([1]).texts([0]) == ["a dog"]
    with pytest.raises(FileError, match="text of document 3 is gone"):
        kept.take([3]).texts([0])
    with pytest.raises(FileError, match="text of document 0 is gone"):
        Dataset(CORPUS).take([1]).texts([0])

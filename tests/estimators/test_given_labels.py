"""Labels as people have them: lists of several, and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from topoi import MedLDAClassifier, ParameterError, load
from topoi.estimators.given_labels import label_lists, read_given

X = np.tile([[4, 3, 0, 0], [0, 0, 4, 3], [2, 2, 2, 2], [3, 4, 0, 0], [0, 0, 3, 4]], (6, 1))
LISTS = [["salt"], ["rain"], ["salt", "rain"], ["salt"], []] * 6
MATRIX = np.array([["rain" in row, "salt" in row] for row in LISTS], int)


def quick(**more):
    return MedLDAClassifier(n_topics=2, n_sweeps=15, n_samples=2, random_state=0, n_jobs=1, **more)


def test_lists_are_an_indicator_matrix_with_names(tmp_path):
    of_lists, of_matrix = quick().fit(X, LISTS), quick().fit(X, MATRIX)
    assert of_lists.classes_.tolist() == of_lists.target_.values == ["rain", "salt"]
    np.testing.assert_array_equal(of_lists.components_, of_matrix.components_)
    np.testing.assert_array_equal(of_lists.predict(X), of_matrix.predict(X))
    assert of_lists.score(X, LISTS) == of_lists.score(X, MATRIX) == of_matrix.score(X, MATRIX)
    with pytest.raises(ParameterError, match="document 1 has the label 'snow', which the model does not know"):
        of_lists.score(X[:2], [["salt"], ["snow", "rain"]])
    of_lists.save(tmp_path / "m.topoi")
    other = load(tmp_path / "m.topoi")
    assert other.classes_.tolist() == ["rain", "salt"]
    np.testing.assert_array_equal(other.predict(X), of_lists.predict(X))


def test_lists_with_gaps():
    lists = [None if i % 5 == 4 else row for i, row in enumerate(LISTS)]
    mask = np.array([row is None for row in lists])
    masked = quick().fit(X, MATRIX, unlabelled=mask)
    np.testing.assert_array_equal(quick().fit(X, lists).components_, masked.components_)
    np.testing.assert_array_equal(quick().fit(X, pd.Series(lists)).components_, masked.components_)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_one_label_with_gaps(gap):
    y = np.array(["a", "b", "a", "a", "b"] * 6, object)
    mask = np.arange(30) % 7 == 3
    masked = quick().fit(X, y, unlabelled=mask)
    y[mask] = gap
    for given in (y, y.tolist(), pd.Series(y)):
        np.testing.assert_array_equal(quick().fit(X, given).components_, masked.components_)
    numbers = np.where(y == "a", 1.0, 2.0)
    numbers[mask] = np.nan
    np.testing.assert_array_equal(quick().fit(X, numbers).components_, masked.components_)


@pytest.mark.parametrize(
    ("y", "lists"),
    [
        ([["a"], ["b", "c"]], [["a"], ["b", "c"]]),
        ([("a", "b"), {"c"}], [["a", "b"], ["c"]]),
        ([["a", "b"], ["c", "d"]], [["a", "b"], ["c", "d"]]),
        ([[1], [2, 3], None], [[1], [2, 3], None]),
        ([[0, 1], [1, 0]], None),
        (["a", "b"], None),
        ([["a"], "b"], None),
        (np.eye(2), None),
        (None, None),
    ],
)
def test_what_is_a_list_of_labels(y, lists):
    assert label_lists(y) == lists


def test_faults():
    with pytest.raises(ParameterError, match="has not one label"):
        read_given([None, np.nan], 2)
    with pytest.raises(ParameterError, match="has 2 lists of labels, but there are 3 documents"):
        read_given([["a"], ["b", "c"]], 3)
    with pytest.raises(ParameterError, match="all strings or all whole numbers, not float"):
        read_given([[1.5], [2.5, 3.5]], 2)
    with pytest.raises(ParameterError, match="1 different label; two are needed"):
        read_given([["a"], []], 2)
    with pytest.raises(ParameterError, match="infinite"):
        read_given([1.0, np.inf, 2.0], 3)


def test_labels_to_score_by_must_be_known():
    """`fit` takes gaps; a score of them there is not, and the error does not name a parameter of `fit`."""
    y = ["a", "b", None, "a", "b"] * 6
    model = quick().fit(X, y)
    for gap in (None, np.nan):
        with pytest.raises(ParameterError, match="label 2 is NaN or infinite; score only documents whose"):
            model.score(X[:3], np.array(["a", "b", gap], object))

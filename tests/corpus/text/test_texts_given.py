"""Texts as people have them: lists, arrays and columns of data frames, with gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from topoi import Corpus
from topoi.corpus.text import as_texts

TEXTS = ["a cat here", "the dog there", "a bird up high"]
FORMS = {
    "list": list, "tuple": tuple, "array": np.array, "objects": lambda t: np.array(t, object),
    "column": lambda t: np.array(t, object)[:, None], "series": pd.Series, "index": lambda t: pd.Series(t, [5, 3, 9]),
    "category": lambda t: pd.Series(t, dtype="category"), "string": lambda t: pd.Series(t, dtype="string"),
    "frame": lambda t: pd.DataFrame({"body": t}), "strings": lambda t: np.array(t, np.dtypes.StringDType()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    assert as_texts(FORMS[form](TEXTS)) == TEXTS
    assert Corpus.from_texts(FORMS[form](TEXTS)).n_documents == 3


def test_polars():
    polars = pytest.importorskip("polars")
    assert as_texts(polars.Series(TEXTS)) == TEXTS
    assert as_texts(polars.DataFrame({"body": TEXTS})) == TEXTS
    with pytest.warns(UserWarning, match="1 text is missing"):
        assert Corpus.from_texts(polars.Series(["cat", None])).doc_lengths.tolist() == [1, 0]


@pytest.mark.parametrize("other", [
    [[1, 2]], np.ones((2, 3)), [1, 2], [None, None], [], pd.DataFrame({"a": ["x"], "b": ["y"]}),
    pd.DataFrame({"a": [1]}),     np.array([["a", "b"]]), [["a", "b"]], 3, None, pd.Series([1, 2]), "text",
])  # fmt: skip
def test_what_is_no_column_of_texts(other):
    assert as_texts(other) is None


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_gaps(gap):
    with pytest.warns(
        UserWarning, match=r"2 of 4 texts are missing \(None or NaN\); they are taken as empty documents"
    ):
        corpus = Corpus.from_texts([gap, "cat", "dog", gap])
    assert corpus.doc_lengths.tolist() == [0, 1, 1, 0]
    with pytest.warns(UserWarning, match="1 text is missing"):
        assert len(Corpus.from_texts(pd.Series(["cat", gap]))) == 2

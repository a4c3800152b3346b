"""Corpora that cannot be: every fault has a message that says where it is."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from support.corpora import FORMATS, TABLE
from topoi.corpus import Corpus, checks
from topoi.errors import CorpusError, TopoiError


@pytest.mark.parametrize("form", ["dense", *FORMATS])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"Input X contains NaN: .* is nan\."),
        (np.inf, r"Input X contains infinity: .* is inf\."),
        (-np.inf, r"Input X contains infinity: .* is -inf\."),
        (-2, r"Negative values in data passed to Corpus.from_counts: .* is -2(\.0)?\."),
        (0.5, r"fraction: .* is 0\.5\. .*CountVectorizer instead of TfidfVectorizer"),
        (2**24, r"huge count: .* is 16777216(\.0)?\. .*16777215"),
        (1e30, r"huge count: .* is 1e\+30"),
    ],
)
def test_bad_cell_is_named(value, message, form):
    table = np.array([[0, 2.0, 1, 0], [0, 0, 0, 0], [3, 0, value, 1], [value, 0, 0, 0]])
    X = table if form == "dense" else getattr(sparse, f"{form}_array")(table)
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.from_counts(X)
    assert (caught.value.row, caught.value.column) == (2, 2)
    assert "row 2, column 2 is" in str(caught.value)
    with pytest.raises(CorpusError, match=r"row 2, column 2 \(word 'c'\)"):
        Corpus.from_counts(X, list("abcd"))
    assert isinstance(caught.value, TopoiError)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8", "f4", "f8"])
def test_limits_of_a_count(dtype):
    if dtype == "f4":  # where the next whole number is still told apart, but the one after is not
        assert Corpus.from_counts(np.array([[0, 2**24 - 1]], dtype)).n_tokens == 2**24 - 1
    with pytest.raises(CorpusError, match="huge") as caught:
        Corpus.from_counts(np.array([[0, 2**24]]).astype(dtype))
    assert (caught.value.row, caught.value.column) == (0, 1)


def test_extreme_integers():
    for value, dtype in [(2**64 - 1, np.uint64), (2**63 - 1, np.int64), (-(2**63), np.int64), (-1, np.int8)]:
        table = np.array([[1, value]], dtype)
        with pytest.raises(CorpusError, match=rf"column 1 is {value}\."):
            Corpus.from_counts(table)
        with pytest.raises(CorpusError, match="column 1 is"):
            Corpus.from_counts(sparse.coo_array(table))


def test_half_float_infinity():
    with pytest.raises(CorpusError, match="infinity"):
        Corpus.from_counts(np.array([[1, np.inf]], np.float16))


def test_negatives_come_before_fractions():
    with pytest.raises(CorpusError, match="Negative values in data passed to") as caught:
        Corpus.from_counts([[0.5, 1], [0, -1.5]])
    assert (caught.value.row, caught.value.column) == (1, 1)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (sparse.csr_array((0, 3)), r"0 sample\(s\)"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\."),
        (sparse.csr_array((4, 0)), r"0 feature\(s\)"),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\)"),
        (np.zeros((3, 2)), "every document is empty"),
        (sparse.csr_array((3, 2)), "every document is empty"),
        (np.arange(3), "Expected 2D array, got 1D array instead.*Reshape your data"),
        (3, "Reshape your data"),
        (np.ones((2, 2, 2)), "Reshape your data"),
        (sparse.coo_array(np.arange(3)), "Reshape your data"),
        (np.ones((2, 2)) * 1j, "Complex data not supported"),
        (sparse.csr_array(np.eye(2) * 1j), "Complex data not supported"),
        (TABLE.astype(object), "dtype object"),
        (TABLE.astype(str), "from_texts"),
        (["a text", "another"], "from_texts"),
        (None, "dtype object"),
        ([["a", "b"], ["c"]], "from_tokens"),
        ([[1, 2], [3]], "equally long"),
        (np.array([["2020-01-01"]], "M8[D]"), "dtype datetime64"),
    ],
)
def test_bad_matrix(X, message):
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.from_counts(X)
    assert caught.value.row is None


def test_too_many_tokens(monkeypatch):
    monkeypatch.setattr(checks, "MAX_TOKENS", 6)
    with pytest.raises(CorpusError, match="7 tokens in all; at most 6"):
        Corpus.from_counts(TABLE)


def test_too_many_tokens_takes_no_memory():
    cells = 2**17
    data = np.full(cells, 2**24 - 1, np.int32)
    X = sparse.csr_array((data, np.arange(cells, dtype=np.int32), [0, cells]), shape=(1, cells))
    with pytest.raises(CorpusError, match="tokens in all"):
        Corpus.from_counts(X)


COMPRESSED = [sparse.csr_array, sparse.csc_array, lambda X: sparse.bsr_array(X, blocksize=(1, 1))]


@pytest.mark.parametrize("make", COMPRESSED)
@pytest.mark.parametrize("index", [-1, 99, 10**7])
def test_malformed_sparse(make, index):
    X = make(TABLE)
    X.indices[1] = index
    with pytest.raises(CorpusError, match="well-formed"):
        Corpus.from_counts(X)


@pytest.mark.parametrize("make", COMPRESSED)
@pytest.mark.parametrize(("place", "pointer"), [(0, 1), (1, -1), (1, 10**7), (-1, 10**7), (slice(1, -1), 10**7)])
@pytest.mark.parametrize("empty", [False, True])
def test_pointers_that_lead_elsewhere(make, place, pointer, empty):
    """SciPy's compiled code would read, and write, whatever is there; its own check trusts a last pointer of 0."""
    X = make(np.zeros_like(TABLE) if empty else TABLE)
    X.indptr[place] = pointer
    with pytest.raises(CorpusError, match="well-formed"):
        Corpus.from_counts(X)


@pytest.mark.parametrize(
    ("vocabulary", "message", "column"),
    [
        (["a", "b"], "vocabulary has 2 words, but there are 4 columns", None),
        (["a", "b", "a", "c"], "'a' twice, for columns 0 and 2", 2),
        (["a", "b", 3, "c"], r"vocabulary\[2\] is 3, a int", 2),
        ("abcd", "is a str", None),
        ({"a", "b", "c", "d"}, "is a set", None),
        ({"a": 0, "b": 1, "c": 1, "d": 3}, "mapping", None),
    ],
)
def test_bad_vocabulary(vocabulary, message, column):
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.from_counts(TABLE, vocabulary)
    assert caught.value.column == column


def test_vocabulary_kinds():
    for vocabulary in [
        np.array(list("abcd")),
        pd.Index(list("abcd")),
        {"d": 3, "a": 0, "b": 1, "c": 2},
        iter("abcd"),
    ]:
        found = Corpus.from_counts(TABLE, vocabulary).vocabulary
        assert found.tolist() == list("abcd")
        assert all(type(word) is str for word in found)
    odd = ["", "a", "a\0", "a\n"]  # a fixed-width string array would lose the zero
    assert Corpus.from_counts(TABLE, odd).vocabulary.tolist() == odd


@contextmanager
def counting_calls():
    """How often each function is called, those of Python and those of NumPy and SciPy."""
    calls = Counter()

    def note(frame, event, called):
        if event == "call":
            calls[frame.f_code.co_name] += 1
        elif event == "c_call":
            calls[called.__name__] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def test_faults_are_found_without_a_walk_over_the_cells():
    columns = np.arange(0, 5_000, 50) + np.random.default_rng(0).integers(50, size=(20_000, 1))
    X = sparse.csr_array((np.ones(columns.size), columns.ravel(), np.arange(20_001) * 100), (20_000, 5_000))
    X.data[-1] = 0.5
    with pytest.raises(CorpusError, match="fraction") as caught, counting_calls() as calls:
        Corpus.from_counts(X)
    assert sum(calls.values()) < 2_000, calls.most_common(5)  # for two million cells in twenty thousand rows
    assert (caught.value.row, caught.value.column) == (19_999, X.indices[-1])


@pytest.mark.parametrize("name", ["words", "doc_ptr", "doc_lengths", "word_counts", "block_ptr", "document_keys"])
def test_arrays_are_read_only(name):
    values = getattr(Corpus.from_counts(TABLE), name)
    assert type(values) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


@pytest.mark.parametrize(
    ("words", "doc_ptr", "message", "row"),
    [
        (np.array([0, 1], np.int64), [0, 2], "1-d int32", None),
        (np.zeros((1, 2), np.int32), [0, 2], "1-d int32", None),
        ([0, 1], np.array([0, 2], np.int32), "1-d int64", None),
        ([0, 1], [], "1-d int64", None),
        ([0, 1], [0, 1], "from 0 to 2", None),
        ([0, 1], [1, 2], "from 0 to 2", None),
        ([0, 1], [0, 2, 1, 2], "falls after document 1", 1),
        ([0, 4], [0, 1, 1, 2], "document 2 has word 4; words are 0 to 3", 2),
        ([-1, 2], [0, 2], "document 0 has word -1", 0),
        ([3, 2, 1], [0, 1, 3], "document 1 are not in ascending order", 1),
    ],
)
def test_bad_arrays(words, doc_ptr, message, row):
    words = words if isinstance(words, np.ndarray) else np.array(words, np.int32)
    doc_ptr = doc_ptr if isinstance(doc_ptr, np.ndarray) else np.array(doc_ptr, np.int64)
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus(words, doc_ptr, 4)
    assert caught.value.row == row

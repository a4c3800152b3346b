"""Corpus: every kind of input gives the same bag of words, every fault a message that says where it is."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from topoi import _rng, _validate
from topoi.corpus import Corpus
from topoi.errors import CorpusError, TopoiError

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g"]
TABLE = np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 1]])
WORDS = [1, 1, 2, 0, 0, 0, 3]
QUICK = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

tables = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([0, 0, 0, 1, 2, 5]),
)


def corpus_of(table) -> Corpus:
    return Corpus.from_counts(table, allow_empty=True)


def assert_same(a: Corpus, b: Corpus) -> None:
    np.testing.assert_array_equal(a.words, b.words)
    np.testing.assert_array_equal(a.doc_ptr, b.doc_ptr)
    assert a.n_words == b.n_words
    assert (a.vocabulary is None) == (b.vocabulary is None)
    if a.vocabulary is not None:
        assert a.vocabulary.tolist() == b.vocabulary.tolist()


def random_corpus(n_documents=300, n_words=400, mean=150, seed=0) -> Corpus:
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(rng.choice([0, mean, 3 * mean], n_documents))
    doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.zipf(1.3, doc_ptr[-1]) % n_words
    for start, end in pairwise(doc_ptr):
        words[start:end].sort()
    return Corpus(words.astype(np.int32), doc_ptr.astype(np.int64), n_words)


# --- from counts --------------------------------------------------------------------------------------------


def test_layout():
    corpus = Corpus.from_counts(TABLE, ["a", "b", "c", "d"])
    assert corpus.words.dtype == np.int32
    assert corpus.words.tolist() == WORDS
    assert corpus.doc_ptr.dtype == np.int64
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 7]
    assert (corpus.n_words, corpus.n_documents, corpus.n_tokens, len(corpus)) == (4, 3, 7, 3)
    assert corpus.doc_lengths.tolist() == [3, 0, 4]
    assert corpus.word_counts.tolist() == [3, 2, 1, 1]
    assert corpus.vocabulary.tolist() == ["a", "b", "c", "d"]
    assert corpus.document(0).tolist() == corpus.document(-3).tolist() == [1, 1, 2]
    assert np.shares_memory(corpus.document(2), corpus.words)
    assert repr(corpus) == "Corpus(3 documents, 4 words, 7 tokens)"
    with pytest.raises(IndexError):
        corpus.document(3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_and_dtype(form, kind, dtype):
    table = TABLE.astype(dtype)
    if dtype == "f2":
        table = table.astype("f4")  # scipy has no sparse half floats
    X = getattr(sparse, f"{form}_{kind}")(table)
    assert_same(Corpus.from_counts(X), Corpus.from_counts(table.astype(int)))


@pytest.mark.parametrize("dtype", [*DTYPES, ">i4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dense_dtype(dtype, order):
    table = np.asarray(TABLE.astype(dtype), order=order)
    table.flags.writeable = False
    assert_same(Corpus.from_counts(table), Corpus.from_counts(table.astype(int)))
    assert_same(Corpus.from_counts(table[::-1, ::2]), Corpus.from_counts(table.astype(int)[::-1, ::2].copy()))


def test_nested_list():
    assert_same(Corpus.from_counts(TABLE.tolist()), Corpus.from_counts(TABLE))


@QUICK
@given(tables)
def test_round_trip(table):
    counts = corpus_of(table).to_counts()
    assert isinstance(counts, sparse.csr_array)
    assert counts.dtype == np.int32
    assert counts.has_canonical_format
    assert (counts.data > 0).all()
    np.testing.assert_array_equal(counts.toarray(), table)


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 100)), max_size=30),
    st.sampled_from(FORMATS[:3]),
    st.sampled_from(["i1", "u1", "i4", "u8", "f4", "f8"]),
    st.sampled_from([np.int32, np.int64]),
)
def test_cells_in_any_order_and_more_than_once(cells, form, dtype, index_dtype):
    rows, columns, values = np.array(cells, index_dtype).reshape(-1, 3).T
    expected = np.zeros((5, 6), int)
    np.add.at(expected, (rows, columns), values)
    data = values.astype(dtype)
    if form == "coo":
        X = sparse.coo_array((data, (rows, columns)), shape=(5, 6))
        parts = [X.data, *X.coords]
    else:
        major, minor, size = (rows, columns, 5) if form == "csr" else (columns, rows, 6)
        by_major = np.argsort(major, kind="stable")
        indptr = np.searchsorted(major[by_major], np.arange(size + 1)).astype(index_dtype)
        X = getattr(sparse, f"{form}_array")((data[by_major], minor[by_major], indptr), shape=(5, 6))
        parts = [X.data, X.indices, X.indptr]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    np.testing.assert_array_equal(corpus_of(X).to_counts().toarray(), expected)
    for part, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, copy)


def test_64_bit_indices_and_explicit_zeros():
    X = sparse.csr_array(TABLE)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.data = X.data.copy()
    X.data[0] = 0
    assert Corpus.from_counts(X).words.tolist() == [2, 0, 0, 0, 3]
    assert X.indices.dtype == np.int64  # X is as it was
    assert X.nnz == 4


def test_stale_flags_are_not_believed():
    X = sparse.csr_array(TABLE)
    assert X.has_canonical_format
    X.indices[:] = [2, 1, 3, 0]
    assert Corpus.from_counts(X).words.tolist() == [1, 2, 2, 0, 3, 3, 3]


def test_data_frames():
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    expected = Corpus.from_counts(TABLE, list("abcd"))
    assert_same(Corpus.from_counts(frame), expected)
    assert_same(Corpus.from_counts(frame.astype({"a": float})), expected)
    assert_same(Corpus.from_counts(frame.astype("Int64")), expected)
    assert_same(Corpus.from_counts(frame.astype(pd.SparseDtype(int, 0))), expected)
    assert Corpus.from_counts(frame, list("wxyz")).vocabulary.tolist() == list("wxyz")
    assert Corpus.from_counts(pd.DataFrame(TABLE)).vocabulary is None
    frame = frame.astype("Int64")
    frame.loc[2, "b"] = pd.NA
    with pytest.raises(CorpusError, match=r"NaN.*\(word 'b'\)") as caught:
        Corpus.from_counts(frame)
    assert (caught.value.row, caught.value.column) == (2, 1)


def test_pieces_do_not_show(monkeypatch):
    corpus = random_corpus(n_documents=20)
    whole = corpus.to_counts()
    for module in (_validate, sys.modules["topoi.corpus"]):
        monkeypatch.setattr(module, "CHUNK", 7)
    assert_same(Corpus.from_counts(whole), corpus)
    np.testing.assert_array_equal(Corpus.from_counts(whole).word_counts, np.asarray(whole.sum(axis=0)))


def test_empty_allowed():
    assert Corpus.from_counts(np.zeros((3, 2)), allow_empty=True).doc_ptr.tolist() == [0, 0, 0, 0]
    assert len(Corpus.from_counts(sparse.csr_array((0, 2)), allow_empty=True)) == 0
    with pytest.raises(CorpusError, match="0 feature"):
        Corpus.from_counts(np.zeros((3, 0)), allow_empty=True)


# --- faults -------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(_validate, "MAX_TOKENS", 6)
    with pytest.raises(CorpusError, match="7 tokens in all; at most 6"):
        Corpus.from_counts(TABLE)


def test_too_many_tokens_takes_no_memory():
    cells = 2**17
    data = np.full(cells, 2**24 - 1, np.int32)
    X = sparse.csr_array((data, np.arange(cells, dtype=np.int32), [0, cells]), shape=(1, cells))
    with pytest.raises(CorpusError, match="tokens in all"):
        Corpus.from_counts(X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index", [-1, 99])
def test_malformed_sparse(form, index):
    X = getattr(sparse, f"{form}_array")(TABLE)
    X.indices[1] = index
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


def test_faults_are_found_quickly():
    X = sparse.random_array((20_000, 5_000), density=0.02, rng=np.random.default_rng(0), format="csr")
    X.data = np.ceil(X.data * 3)
    X.data[-1] = 0.5
    start = time.process_time()
    with pytest.raises(CorpusError, match="fraction") as caught:
        Corpus.from_counts(X)
    assert time.process_time() - start < 1
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


# --- orders, blocks and keys --------------------------------------------------------------------------------


@QUICK
@given(tables)
def test_by_word(table):
    corpus = corpus_of(table)
    order, word_ptr = corpus.by_word
    assert (order.dtype, word_ptr.dtype) == (np.int32, np.int64)
    np.testing.assert_array_equal(order, np.argsort(corpus.words, kind="stable"))
    np.testing.assert_array_equal(word_ptr, np.concatenate([[0], np.cumsum(table.sum(axis=0))]))
    np.testing.assert_array_equal(corpus.word_counts, table.sum(axis=0))


def naive_cut(costs, size):
    cuts, inside = [0], 0
    for i, cost in enumerate(costs):
        inside += cost
        if inside >= size:
            cuts.append(i + 1)
            inside = 0
    return cuts if cuts[-1] == len(costs) and len(cuts) > 1 else [*cuts, len(costs)]


@pytest.mark.parametrize(("n_documents", "mean", "size"), [(3, 100, 2**12), (1500, 100, 2**12), (4000, 250, None)])
def test_blocks(n_documents, mean, size):
    corpus = random_corpus(n_documents, 3000, mean)
    size = size or corpus.n_tokens // 64
    assert size >= 2**12
    assert corpus.block_ptr.dtype == corpus.word_block_ptr.dtype == np.int64
    assert corpus.block_ptr.tolist() == naive_cut(corpus.doc_lengths.tolist(), size)
    assert corpus.word_block_ptr.tolist() == naive_cut((corpus.word_counts + 16).tolist(), size)


def test_blocks_of_a_large_corpus_are_capped():
    corpus = Corpus(np.zeros(5_000_000, np.int32), np.arange(0, 5_000_001, 1000, dtype=np.int64), 1)
    assert (np.diff(corpus.block_ptr)[:-1] == 66).all()  # 66 000 tokens: the first number not below 2**16


def test_blocks_of_nothing():
    assert corpus_of(np.zeros((5, 2))).block_ptr.tolist() == [0, 5]
    assert corpus_of(np.zeros((0, 2))).block_ptr.tolist() == [0, 0]
    assert corpus_of(np.zeros((0, 2))).word_block_ptr.tolist() == [0, 2]


@QUICK
@given(tables, st.randoms(use_true_random=False))
def test_keys_follow_the_bag(table, random):
    corpus = corpus_of(table)
    keys = corpus.document_keys
    assert keys.dtype == np.uint64
    rows = list(range(len(table)))
    random.shuffle(rows)
    np.testing.assert_array_equal(corpus.take(rows).document_keys, keys[rows])
    same_bag = (table[:, None] == table[None]).all(axis=2)
    np.testing.assert_array_equal(keys[:, None] == keys[None], same_bag)


def test_keys_are_the_mix_of_rng():
    corpus = Corpus.from_counts(TABLE)
    with np.errstate(over="ignore"):
        for d, key in enumerate(corpus.document_keys):
            expected = _rng.GOLDEN
            for w in corpus.document(d):
                expected = np.uint64(_rng.mix((expected ^ np.uint64(w)) + _rng.GOLDEN))
            assert key == expected


def test_keys_never_change():
    keys = Corpus.from_counts([[1, 2], [0, 0]]).document_keys
    assert keys.tolist() == [7383581503616084783, 0x9E3779B97F4A7C15]


def test_many_keys_are_distinct():
    pairs = np.array([(a, b) for a in range(300) for b in range(a, 300)], np.int32)
    corpus = Corpus(pairs.ravel(), np.arange(0, pairs.size + 1, 2, dtype=np.int64), 300)
    assert len(np.unique(corpus.document_keys)) == len(pairs)


# --- subsets, files and the rest ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [2, 0, 2],
        np.array([-1], np.int8),
        [],
        slice(1, None),
        slice(None, None, -1),
        slice(0, 0),
        np.array([True, False, True]),
        [False, True, False],
    ],
)
def test_take(rows):
    corpus = Corpus.from_counts(TABLE, list("abcd"))
    expected = TABLE[np.asarray(rows, int) if isinstance(rows, list) and not rows else rows]
    part = corpus.take(rows)
    np.testing.assert_array_equal(part.to_counts().toarray(), expected)
    assert part.vocabulary.tolist() == list("abcd")


@pytest.mark.parametrize("rows", [[3], [0.5], [True], np.ones(4, bool)])
def test_take_what_is_not_there(rows):
    with pytest.raises(IndexError):
        Corpus.from_counts(TABLE).take(rows)


def test_take_needs_a_list():
    with pytest.raises(CorpusError, match=re.escape("use [d]")):
        Corpus.from_counts(TABLE).take(1)


def test_pickle_leaves_caches_behind():
    corpus = Corpus.from_tokens([["a", "b"], ["x"]], ["a", "b"])
    _ = corpus.by_word, corpus.document_keys
    copy = pickle.loads(pickle.dumps(corpus))
    assert_same(copy, corpus)
    assert copy.n_dropped == 1
    assert "by_word" not in vars(copy)


def test_import_is_light():
    code = (
        "import sys; from topoi.corpus import Corpus;"
        "c = Corpus.from_counts([[1, 2]]); c.block_ptr; c.to_counts();"
        "print(sorted({'numba', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

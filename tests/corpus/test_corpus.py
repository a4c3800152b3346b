"""Corpus: every kind of input gives the same bag of words, every fault a message that says where it is."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from support.corpora import FORMATS, TABLE, WORDS, assert_same, random_corpus
from topoi._machine import rng
from topoi.corpus import Corpus, checks
from topoi.errors import CorpusError

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g"]
QUICK = settings(max_examples=40)

tables = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([0, 0, 0, 1, 2, 5]),
)


def corpus_of(table) -> Corpus:
    return Corpus.from_counts(table, allow_empty=True)


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
    for module in (checks, sys.modules["topoi.corpus.corpus"]):
        monkeypatch.setattr(module, "CHUNK", 7)
    assert_same(Corpus.from_counts(whole), corpus)
    np.testing.assert_array_equal(Corpus.from_counts(whole).word_counts, np.asarray(whole.sum(axis=0)))


def test_empty_allowed():
    assert Corpus.from_counts(np.zeros((3, 2)), allow_empty=True).doc_ptr.tolist() == [0, 0, 0, 0]
    assert len(Corpus.from_counts(sparse.csr_array((0, 2)), allow_empty=True)) == 0
    with pytest.raises(CorpusError, match="0 feature"):
        Corpus.from_counts(np.zeros((3, 0)), allow_empty=True)


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
            expected = rng.GOLDEN
            for w in corpus.document(d):
                expected = np.uint64(rng.mix((expected ^ np.uint64(w)) + rng.GOLDEN))
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
        "import sys; from topoi.corpus.corpus import Corpus;"
        "c = Corpus.from_counts([[1, 2]]); c.block_ptr; c.to_counts();"
        "print(sorted({'numba', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

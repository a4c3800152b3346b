"""Readers: every format gives the same corpus, words are those of CountVectorizer, and memory holds no texts."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from support.corpora import assert_same
from support.reader_files import (
    COMPRESS,
    FILES,
    LABELS,
    RECORDS,
    TEXTS,
    WITHOUT_IDS,
    as_parquet,
    bag,
    expected,
    jsonl,
    read,
    read_documents,
    write_folder,
)
from topoi.corpus import Corpus
from topoi.corpus.text import tokens
from topoi.errors import FileError, ParameterError
from topoi.readers import FORMATS, format_of

QUICK = settings(max_examples=60)

SUFFIXES = [(name, suffix) for name in FILES for suffix in COMPRESS]


@pytest.mark.parametrize(("name", "suffix"), SUFFIXES)
def test_every_text_format_from_a_path_and_a_stream(name, suffix, tmp_path):
    content, options = FILES[name]
    path = tmp_path / f"posts{FORMATS[name].suffixes[0]}{suffix}"
    path.write_bytes(COMPRESS[suffix](content))
    for data in (read_documents(path, **options), read(COMPRESS[suffix](content), format=name, **options)):
        assert_same(data.corpus, expected())
        assert data.n_skipped == 0
        assert data.labels.tolist() == LABELS if FORMATS[name].labels else data.labels is None
        assert data.ids is None if name in WITHOUT_IDS else [int(nr) for nr in data.ids] == list(range(6))


def test_a_folder(tmp_path):
    data = read_documents(write_folder(tmp_path / "posts"))
    order = [0, 2, 5, 1, 4, 3]  # by path
    assert_same(data.corpus, expected().take(order))
    assert data.labels.tolist() == [LABELS[i] for i in order]
    assert data.ids.tolist()[:2] == ["animal/0.txt", "animal/2.txt"]
    flat = tmp_path / "flat"
    flat.mkdir()
    (flat / "b.txt.gz").write_bytes(gzip.compress(b"two three"))
    (flat / "a").write_bytes(b"one two")
    data = read_documents(str(flat))
    assert data.labels is None
    assert bag(data.corpus) == [["one", "two"], ["three", "two"]]


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(FILES["txt"][0])))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert_same(read_documents("-", format="txt").corpus, expected())


def test_a_pipe_that_gives_a_byte_at_a_time():
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, buffer):
            piece = self.data.read(1)
            buffer[: len(piece)] = piece
            return len(piece)

    for compress in COMPRESS.values():
        assert_same(read_documents(Slow(compress(FILES["txt"][0])), format="txt").corpus, expected())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["txt", "parquet"])
def test_a_pipe_with_a_name(name, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(FILES[name][0]))
    writer.start()
    data = read_documents(path, format=name)
    writer.join()
    assert_same(data.corpus, expected())
    with pytest.raises(FileError, match="keep_texts"):
        data.texts([0])


def test_formats_by_name():
    names = {
        "a.txt": "txt",
        "A.JSONL.GZ": "jsonl",
        "a.json.zst": "jsonl",
        "docword.kos.txt.gz": "uci",
        "x.svm": "svmlight",
    }
    assert {name: format_of(name) for name in names} == names
    assert format_of("a.dat") is None
    assert format_of("gz") is None
    assert all(kind.summary for kind in FORMATS.values())
    for format in ("jsonl", "json", ".ndjson"):
        read(b'{"text": "one two"}', format=format)


# Words

OPTIONS = [
    {},
    {"lowercase": False},
    {"stop_words": sorted(ENGLISH_STOP_WORDS)},
    {"stop_words": ["mat", "42", "a"]},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"(?u)(\w)\w*", "lowercase": False},
    {"token_pattern": r"\S+", "stop_words": ["mat."]},
    {"min_df": 2},
    {"max_df": 1},
    {"min_df": 0.3, "max_df": 0.9},
    {"max_features": 2},
    {"max_features": 1, "min_df": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_are_those_of_countvectorizer(options):
    assert_same(read(FILES["txt"][0], format="txt", **options).corpus, expected(**options))


letters = st.sampled_from("aAbBzZ_09 .,-'\tİIıſßÄäéΣσςЖ日本\u0301\u200d\u2028\x1c\x85K’")
texts = st.lists(
    st.text(letters | st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=30),
    min_size=1,
    max_size=6,
)


@QUICK
@given(texts, st.sampled_from(OPTIONS[:7]), st.booleans())
def test_words_of_random_texts_are_those_of_countvectorizer(texts, options, keep_case):
    options = options | ({"lowercase": False} if keep_case else {})
    analyze = CountVectorizer(**options).build_analyzer()
    words = [sorted(analyze(text)) for text in texts]
    if not any(words):
        with pytest.raises(FileError, match="no word is left"):
            read(jsonl({"text": text} for text in texts), format="jsonl", **options)
        return
    data = read(jsonl({"text": text} for text in texts), format="jsonl", **options)
    assert bag(data.corpus) == words
    assert data.corpus.vocabulary.tolist() == sorted({word for line in words for word in line})


@QUICK
@given(texts, st.integers(1, 3), st.sampled_from([1, 2, 0.5, 1.0]))
def test_limits_are_those_of_countvectorizer(texts, min_df, max_df):
    options = {"min_df": min_df, "max_df": max_df, "token_pattern": r"\w+"}
    data = jsonl({"text": text} for text in texts)
    try:
        vectorizer = CountVectorizer(**options)
        X = vectorizer.fit_transform(texts)
    except ValueError:
        with pytest.raises((FileError, ParameterError)):
            read(data, format="jsonl", **options)
        return
    assert_same(read(data, format="jsonl", **options).corpus, Corpus.from_counts(X, vectorizer.get_feature_names_out()))


def test_many_pieces_give_the_same_corpus(monkeypatch):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in rng.zipf(1.5, n) % 300) for n in rng.integers(0, 40, 500)]
    options = {"min_df": 3, "max_features": 100, "stop_words": ["w1"]}
    whole = read("\n".join(texts), format="txt", **options).corpus
    monkeypatch.setattr(tokens, "PIECE", 64)
    assert_same(read("\n".join(texts), format="txt", **options).corpus, whole)
    vectorizer = CountVectorizer(min_df=3, stop_words=["w1"])
    X = vectorizer.fit_transform(texts)
    assert_same(read("\n".join(texts), format="txt", min_df=3, stop_words=["w1"]).corpus,
                Corpus.from_counts(X, vectorizer.get_feature_names_out()))  # fmt: skip
    frequent = np.sort(np.asarray(X.sum(0)).ravel())[::-1][:100]
    assert np.sort(whole.word_counts)[::-1].tolist() == frequent.tolist()


def test_a_given_vocabulary(tmp_path):
    (tmp_path / "words.txt").write_text("zebra\ncat\nmat\na\n", "utf-8")
    for vocabulary in (["zebra", "cat", "mat", "a"], tmp_path / "words.txt"):
        corpus = read(FILES["txt"][0], format="txt", vocabulary=vocabulary, min_df=2).corpus
        assert bag(corpus) == [["cat", "mat"], [], [], [], [], ["cat", "mat", "mat"]]  # "a" is no word of the pattern
        assert corpus.vocabulary.tolist() == ["zebra", "cat", "mat", "a"]
        assert corpus.n_dropped == expected().n_tokens - 5
    corpus = read(b"only strange words", format="txt", vocabulary=["cat"]).corpus
    assert (corpus.n_documents, corpus.n_tokens) == (1, 0)
    corpus = read(b"cat on mat", format="txt", vocabulary=["mat", "cat"], stop_words=["cat"]).corpus
    assert bag(corpus) == [["mat"]]
    assert corpus.n_dropped == 1


def test_order_of_documents_does_not_change_the_vocabulary():
    a = read("\n".join(TEXTS), format="txt", min_df=2, max_features=2).corpus
    b = read("\n".join(TEXTS[::-1]), format="txt", min_df=2, max_features=2).corpus
    assert_same(a, b.take(slice(None, None, -1)))


def test_words_that_are_cut_already():
    records = [{"tokens": ["New York", "a", "The"], "text": 3}, {"tokens": []}, {"tokens": ["a", "a"]}]
    data = read(jsonl(records), format="jsonl", text="tokens")
    assert bag(data.corpus) == [["New York", "The", "a"], [], ["a", "a"]]
    assert bag(read(jsonl(records), format="jsonl", text="tokens", stop_words=["a"]).corpus)[0] == ["New York", "The"]
    data = read(as_parquet(tokens=[["x", "Y z"], []]), format="parquet")
    assert bag(data.corpus) == [["Y z", "x"], []]
    assert bag(read(b"The-End a\nb", format="txt", tokenized=True).corpus) == [["The-End", "a"], ["b"]]


# Labels, targets, ids


def test_several_labels():
    records = [{"text": "x1", "label": ["b", "a", "b"]}, {"text": "x2", "label": []}, {"text": "x3"}]
    data = read(jsonl(records), format="jsonl", label="label")
    assert data.labels == [["b", "a"], [], None]
    assert data.label_kind == "several"
    assert data.unlabelled.tolist() == [False, False, True]
    data = read(b"text,label\nx1,red; green\nx2,\nx3,red\n", format="csv", label="label", label_separator=";")
    assert data.labels == [["red", "green"], [], ["red"]]
    table = as_parquet(text=["x1", "x2"], label=[[1, 2], None])
    assert read(table, format="parquet", label="label").labels == [[1, 2], None]


def test_blanks_around_a_label():
    """In a table they are no part of it, and a label of nothing else is not known; JSON has what it says."""
    data = read(b"text,label\nx1,sport\nx2, sport \nx3,  \n", format="csv", label="label")
    assert data.labels.tolist() == ["sport", "sport", None]
    data = read(jsonl([{"text": "x1", "label": "sport "}]), format="jsonl", label="label")
    assert data.labels.tolist() == ["sport "]


@pytest.mark.parametrize(
    ("values", "labels", "dtype"),
    [
        ([1, 2, 1], [1, 2, 1], np.int64),
        ([True, False, True], [True, False, True], np.bool_),
        (["a", None, "b"], ["a", None, "b"], object),
        ([1, None, 2], [1, None, 2], object),
        ([1, "1", True], ["1", "1", "True"], object),
        ([2**70, 1, 1], [str(2**70), "1", "1"], object),
        ([None, None, None], [None, None, None], object),
    ],
)
def test_kinds_of_labels(values, labels, dtype):
    data = read(jsonl({"text": "xx", "label": value} for value in values), format="jsonl", label="label")
    assert data.labels.tolist() == labels
    assert data.labels.dtype == dtype
    assert data.label_kind == "one"
    assert data.unlabelled.tolist() == [label is None for label in labels]


def test_targets():
    data = read(b"text,y\nx1,1.5\nx2,\nx3,-2e3\n", format="csv", target="y")
    np.testing.assert_array_equal(data.labels, [1.5, np.nan, -2000])
    assert data.label_kind == "numbers"
    assert data.unlabelled.tolist() == [False, True, False]
    data = read(b'{"text": "x1", "y": 3}\n{"text": "x2", "y": "4.5"}\n', format="jsonl", target="y")
    np.testing.assert_array_equal(data.labels, [3, 4.5])
    np.testing.assert_array_equal(read(b"n1 0.5 text\nn2 ? text", format="mallet", target=True).labels, [0.5, np.nan])
    np.testing.assert_array_equal(read(b"0.5 1:1\n-1 2:1", format="svmlight", target=True).labels, [0.5, -1])


def test_unknown_labels_of_mallet():
    assert read(b"n1 ? text\nn2 A text", format="mallet").labels.tolist() == [None, "A"]
    assert read(b"n1 ? text\nn2 ? text", format="mallet").labels is None
    data = read(b"n1 A\nn2, B, some, text", format="mallet")
    assert data.ids.tolist() == ["n1", "n2,"]
    assert bag(data.corpus) == [[], ["some", "text"]]


def test_csv_variants():
    assert read(b"one two\nthree\n", format="csv").corpus.n_documents == 1  # the only column
    data = read(b'3,"a title","the text"\n4,"b","more"\n', format="csv", header=False, text="3", label="1")
    assert data.labels.tolist() == ["3", "4"]
    assert bag(data.corpus) == [["text", "the"], ["more"]]
    data = read(b'text;label\n"one;two";x\n', format="csv", delimiter=";", label="label")
    assert bag(data.corpus) == [["one", "two"]]
    data = read(b'text\tlabel\n"quoted\tx\n', format="tsv", quotes=False, label="label")
    assert bag(data.corpus) == [["quoted"]]
    data = read(b'text,label\r\n"one\r\ntwo",x\r\n\r\nthree,y\r\n', format="csv", label="label")
    assert bag(data.corpus) == [["one", "two"], ["three"]]
    giant = "word " * 1_000_000
    assert read(f'text,label\n"{giant}",x\n', format="csv").corpus.n_tokens == 1_000_000


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-be", "utf-32", "cp037"]
)
def test_encodings(encoding):
    text = '{"text": "größer\\u00e9"}\n{"text": "kätzchen"}\n'
    corpus = read(text.encode(encoding), format="jsonl", encoding=encoding).corpus
    assert corpus.vocabulary.tolist() == ["größeré", "kätzchen"]


def test_byte_order_marks(tmp_path):
    mark = "\ufeff".encode()
    for name in ("csv", "jsonl", "txt"):
        content, options = FILES[name]
        assert_same(read(mark + content, format=name, **options).corpus, expected())
    assert read(mark + b"1\n2\n1\n1 2 1\n", format="uci").corpus.n_tokens == 1
    (tmp_path / "a.txt").write_bytes(mark + b"word")
    assert read_documents(tmp_path).corpus.vocabulary.tolist() == ["word"]
    (tmp_path / "words.txt").write_bytes(mark + b"cat\r\ndog\r\n")
    assert read(b"dog", format="txt", vocabulary=tmp_path / "words.txt").corpus.vocabulary.tolist() == ["cat", "dog"]


def test_halves_of_surrogate_pairs():
    data = read(
        b'{"text": "\\ud83d\\ude00 x\\ud83d", "label": "\\ud800"}', format="jsonl", token_pattern=r"\S+", label="label"
    )
    assert data.corpus.vocabulary.tolist() == ["x\ufffd", "\U0001f600"]
    assert data.labels.tolist() == ["\ufffd"]


# Texts later


def test_texts_are_read_again(tmp_path):
    path = tmp_path / "posts.jsonl.gz"
    path.write_bytes(gzip.compress(b"broken\n" + jsonl(RECORDS)))
    data = read_documents(path, on_error="skip")
    assert data.n_skipped == 1
    assert data.texts([5, 0, -2]) == [TEXTS[5], TEXTS[0], TEXTS[4]]
    assert data.texts([]) == []
    with pytest.raises(ParameterError, match="documents 0 to 5"):
        data.texts([6])
    path.write_bytes(gzip.compress(jsonl(RECORDS)))
    with pytest.raises(FileError, match="has changed"):
        data.texts([5])
    folder = read_documents(write_folder(tmp_path / "posts"))
    assert folder.texts([3]) == [TEXTS[1]]


def test_texts_of_a_stream():
    data = read(FILES["txt"][0], format="txt", keep_texts=2)
    assert data.texts([1, 0]) == [TEXTS[1], TEXTS[0]]
    with pytest.raises(FileError, match="keep_texts"):
        data.texts([2])


def test_memory_is_that_of_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(tokens, "PIECE", 2**13)
    rng = np.random.default_rng(0)
    words = np.array([f"a_rather_long_word_{i}" for i in range(300)])
    path = tmp_path / "posts.jsonl"
    with path.open("wb") as file:
        for _ in range(600):
            file.write(jsonl([{"text": " ".join(words[rng.integers(0, 300, 400)])}]))
    read_documents(path)  # imports
    tracemalloc.start()
    try:
        corpus = read_documents(path).corpus
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert corpus.n_tokens == 240_000
    assert path.stat().st_size > 5e6
    assert peak < 1.2 * corpus.words.nbytes + 1e6  # the rest: a piece, buffers, the vocabulary

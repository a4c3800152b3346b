"""A corpus from token lists and from texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError

QUICK = settings(max_examples=40)


def test_tokens():
    corpus = Corpus.from_tokens(tokens for tokens in [["b", "a", "b"], [], ("c", "a")])
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(corpus.to_counts().toarray(), [[1, 2, 0], [0, 0, 0], [1, 0, 1]])
    assert corpus.document(0).tolist() == [0, 1, 1]
    assert corpus.n_dropped == 0


def test_tokens_with_a_vocabulary():
    corpus = Corpus.from_tokens([["b", "x", "a", "b"], ["x", "x"]], vocabulary=["b", "unused", "a"])
    np.testing.assert_array_equal(corpus.to_counts().toarray(), [[2, 0, 1], [0, 0, 0]])
    assert corpus.n_dropped == 3
    assert corpus.vocabulary.tolist() == ["b", "unused", "a"]
    assert len(Corpus.from_tokens([], ["a"], allow_empty=True)) == 0
    assert len(Corpus.from_tokens([["x"]], ["a"], allow_empty=True)) == 1


@QUICK
@given(st.lists(st.lists(st.sampled_from(["a", "b", "ß", "", "a\0", "\ud800"]), max_size=6), min_size=1))
def test_tokens_are_counted(documents):
    if not any(documents):
        documents.append(["a"])
    corpus = Corpus.from_tokens(documents)
    assert corpus.vocabulary.tolist() == sorted(set().union(*documents))
    for d, document in enumerate(documents):
        assert [corpus.vocabulary[w] for w in corpus.document(d)] == sorted(document)


@pytest.mark.parametrize(
    ("documents", "message", "row"),
    [
        ("abc", "single string", None),
        ([["a"], "some text"], "document 1 is a string", 1),
        ([["a"], ["b", 3]], "document 1 .* holds 3, a int", 1),
        ([["a"], ["b", ["c"]]], "document 1 ", 1),
        ([["a"], None], "document 1 ", 1),
        ([["a", float("nan")]], "document 0 .* holds nan, a float", 0),
        ([], r"0 sample\(s\)", None),
        ([[], []], r"0 feature\(s\)", None),
    ],
)
def test_bad_tokens(documents, message, row):
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.from_tokens(documents)
    assert caught.value.row == row


def test_bad_tokens_with_a_vocabulary():
    with pytest.raises(CorpusError, match="every document is empty"):
        Corpus.from_tokens([["x"]], ["a"])
    with pytest.raises(CorpusError, match="holds 1, a int"):
        Corpus.from_tokens([[1]], ["a"])
    with pytest.raises(CorpusError, match="twice"):
        Corpus.from_tokens([["a"]], ["a", "a"])


def test_texts():
    texts = ["The cat sat, the cat!", "", "A dog and a cat"]
    corpus = Corpus.from_texts((text for text in texts), stop_words="english")
    assert corpus.vocabulary.tolist() == ["cat", "dog", "sat"]
    np.testing.assert_array_equal(corpus.to_counts().toarray(), [[2, 0, 1], [0, 0, 0], [1, 1, 0]])
    many = Corpus.from_texts(
        [f"{'common' if i % 2 else 'usual'} {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(50)]
    )
    assert many.vocabulary.tolist() == ["common", "usual"]


def test_texts_with_a_vectorizer():
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    vectorizer = CountVectorizer()
    first = Corpus.from_texts(["one two", "two three"], vectorizer)
    second = Corpus.from_texts(["four three three"], vectorizer)
    assert first.vocabulary.tolist() == second.vocabulary.tolist() == ["one", "three", "two"]
    assert second.words.tolist() == [1, 1]
    assert len(Corpus.from_texts(["four"], vectorizer, allow_empty=True)) == 1
    fixed = CountVectorizer(vocabulary=["two", "one"])
    assert Corpus.from_texts(["one one"], fixed).words.tolist() == [1, 1]
    hashed = HashingVectorizer(n_features=16, norm=None, alternate_sign=False)
    assert Corpus.from_texts(["one two"], hashed).vocabulary is None
    with pytest.raises(CorpusError, match="CountVectorizer instead of Tfidf"):
        Corpus.from_texts(["one two", "two three"], TfidfVectorizer())
    for bad in (CountVectorizer, "word", len):
        with pytest.raises(ParameterError, match="vectorizer"):
            Corpus.from_texts(["one"], bad)


@pytest.mark.parametrize(
    ("texts", "message", "row"),
    [
        ("one long text", r"texts is a single string; .*\[text\]", None),
        ([], r"0 sample\(s\)", None),
        (["a cat", 3], "text 1 is 3, a int", 1),
        (["a cat", b"a dog"], "text 1 is b'a dog', a bytes; texts must be str. Decode", 1),
        (["a", "1 2"], "every document is empty: no word is left of 2", None),
    ],
)
def test_bad_texts(texts, message, row):
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.from_texts(texts)
    assert caught.value.row == row

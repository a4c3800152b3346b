"""N-grams are counted while texts are read, alike from every format, and alike by scikit-learn's way of cutting."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from support.reader_files import read_documents
from topoi import Corpus, FileError, ParameterError

TEXTS = [
    "I don't like it: not good, not good at all. A B c",
    "It is NOT good; I like à la carte",
    "Not a good idea, and à la mode",
    "é not à good",
    "We don't like a b at all",
    "",
]


def lines(texts=TEXTS):
    return io.BytesIO("".join(json.dumps({"text": text}) + "\n" for text in texts).encode())


def read(**options):
    return read_documents(lines(), format="jsonl", **options).corpus


@pytest.mark.parametrize("options", [
    {}, {"stop_words": sorted(ENGLISH_STOP_WORDS)}, {"min_df": 2}, {"max_df": 4}, {"lowercase": False},
    {"token_pattern": r"(?u)\b\w+\b"},
])  # fmt: skip
@pytest.mark.parametrize("ngrams", [2, 3])
def test_as_from_texts(options, ngrams):
    found = read(ngrams=ngrams, **options)
    expected = Corpus.from_texts(TEXTS, CountVectorizer(**options), ngrams=ngrams)
    assert found.vocabulary.tolist() == expected.vocabulary.tolist()
    assert found.ngrams.names.tolist() == expected.ngrams.names.tolist()
    assert "not good" in " ".join(found.ngrams.names).lower()
    assert ("don like" in found.ngrams.names) == ("token_pattern" not in options)  # the letter t is no word
    np.testing.assert_array_equal(found.about["ngrams"].toarray(), expected.about["ngrams"].toarray())


def test_like_another(tmp_path):
    corpus = read(ngrams=2, stop_words="english")
    for options in ({"like": corpus}, {"vocabulary": corpus.vocabulary, "ngrams": corpus.ngrams}):
        again = read(**options)
        assert again.ngrams is corpus.ngrams
        np.testing.assert_array_equal(again.about["ngrams"].toarray(), corpus.about["ngrams"].toarray())
        np.testing.assert_array_equal(again.words, corpus.words)


def test_lists_of_words_are_not_cut():
    stream = io.BytesIO(b'{"text": ["a", "b", "New York"]}\n' * 2)
    found = read_documents(stream, format="jsonl", ngrams=2).corpus
    assert found.ngrams.names.tolist() == ["a b", "b New York"]


def test_skipped_documents_have_none():
    stream = io.BytesIO(b'{"text": "not good"}\nnonsense\n{"text": "not good"}\n')
    found = read_documents(stream, format="jsonl", ngrams=2, on_error="skip").corpus
    assert found.about["ngrams"].toarray().tolist() == [[1], [1]]


def test_taken_with_the_documents(tmp_path):
    found = read_documents(lines(), format="jsonl", ngrams=2).take([1, 0])
    assert found.corpus.ngrams is not None
    assert found.corpus.about["ngrams"].shape[0] == 2


def test_counts_have_none(tmp_path):
    (tmp_path / "x.svm").write_text("1 1:2 2:1\n")
    with pytest.raises(ParameterError, match=r"^ngrams: .*x\.svm has counts of words, which do not tell n-grams"):
        read_documents(tmp_path / "x.svm", ngrams=2)
    with pytest.raises(ParameterError, match=r"^ngrams: must be None, 1 to 3 words"):
        read(ngrams=5)


def test_memory_is_asked_for():
    """Words that the vocabulary leaves out are kept for n-grams while the file is read, and count."""
    text = " ".join(f"w{i}" for i in range(3000))
    small = {"vocabulary": ["w1"], "max_memory": 100_000}
    read_documents(lines([text]), format="jsonl", **small)
    with pytest.raises(FileError, match="max_memory"):
        read_documents(lines([text] * 3), format="jsonl", ngrams=2, **small)

"""Phrases: which pairs they are by the formula, and new texts are joined as those that they were found in."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from topoi import Corpus
from topoi.corpus.text.phrases import FEWEST, SCORE

WORDS = ("river", "stone", "cloud", "tree", "bird", "grass", "hill", "sand", "leaf", "moon")


def texts(n=120, seed=0):
    """Random words, among them `machine learning` and `new york times`."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        words = list(rng.choice(WORDS, 8))
        words[2:2] = ["machine", "learning"] if i % 2 else ["new", "york", "times"] if i % 3 else ["new", "york"]
        out.append(" ".join(words))
    return out


def naive(texts):
    """Phrases of two words by the formula."""
    documents = [text.split() for text in texts]
    words = Counter(word for document in documents for word in document)
    pairs = Counter(pair for document in documents for pair in pairwise(document))
    total = sum(words.values())
    return {
        f"{a} {b}"
        for (a, b), n in pairs.items()
        if n >= FEWEST and a != b and math.log(n * total / (words[a] * words[b])) / -math.log(n / total) >= SCORE
    }


def test_phrases_are_those_of_the_formula():
    corpus = Corpus.from_texts(texts(), phrases=True, stop_words=None)
    first = {pair for pair in corpus.preparation.pairs if "_" not in pair}
    assert first == naive(texts())
    assert {"machine learning", "new york"} <= first
    assert {"machine_learning", "new_york_times"} <= set(corpus.vocabulary)
    assert "machine" not in corpus.vocabulary  # it has no other use
    assert "rare words" not in corpus.preparation.removed  # nor is it rare
    corpus.preparation.sentences()
    counts = corpus.to_counts().sum(0)
    assert counts[corpus.vocabulary.tolist().index("machine_learning")] == 60
    assert not Corpus.from_texts(texts(), stop_words=None).preparation.pairs.size


def test_new_texts_are_joined_as_before():
    corpus = Corpus.from_texts(texts(), phrases=True)
    again = Corpus.from_texts(texts(), like=corpus)
    np.testing.assert_array_equal(again.to_counts().toarray(), corpus.to_counts().toarray())
    new = Corpus.from_texts(["machine learning learning. New York! machine or learning"], like=corpus)
    found = [corpus.vocabulary[word] for word in new.document(0)]
    assert found == ["machine_learning", "new_york"]


def test_stop_words_end_a_phrase():
    rows = [f"the king of spain {word}" for word in WORDS] * 4
    corpus = Corpus.from_texts(rows, phrases=True, stop_words=["the", "of"])
    assert not [pair for pair in corpus.preparation.pairs if {"the", "of"} & set(pair.split())]
    assert "king" in corpus.vocabulary


def test_phrases_do_not_cross_documents():
    rows = ["alpha", "omega"] * 30
    assert Corpus.from_texts(rows, phrases=True).vocabulary.tolist() == ["alpha", "omega"]


def test_a_word_is_in_one_phrase():
    """Of "a b c", where both pairs are phrases, the first is taken."""
    filler = [" ".join(WORDS)] * 3
    rows = ["xx yy zz"] * 30 + filler
    corpus = Corpus.from_texts(rows, phrases=True)
    assert "xx_yy_zz" in corpus.vocabulary or {"xx_yy", "zz"} <= set(corpus.vocabulary)
    np.testing.assert_array_equal(
        Corpus.from_texts(rows, like=corpus).to_counts().toarray(), corpus.to_counts().toarray()
    )


@pytest.mark.parametrize("bad", [3, "yes", None])
def test_bad_values(bad):
    from topoi.errors import ParameterError

    with pytest.raises(ParameterError, match="phrases: must be True or False"):
        Corpus.from_texts(texts(), phrases=bad)

"""How texts became words goes with the corpus, and says what was left out."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from support.corpora import assert_same
from topoi import Corpus
from topoi.corpus.text import Preparation
from topoi.errors import CorpusError, ParameterError
from topoi.readers import read_documents

TEXTS = [
    "The cat sat on the mat with the other cat, and it was not what they had wanted.",
    "The dog ran over the road; see http://example.org, and it was fast.",
    "the cat sat on the mat with the other cat AND it was not what they had wanted",
    "A bird flew over the house, and nobody had seen it before.",
    "",
    "",
]


def same(one, other):
    assert one.to_json() == other.to_json()


def test_one_way_for_files_and_lists(tmp_path):
    """The same words, counts and report from a file and from a list, with any options."""
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 20), "utf-8")
    for options in ({}, {"stop_words": None}, {"min_df": 3, "max_df": 0.9}, {"phrases": True}, {"clean": "none"},
                    {"max_features": 5}, {"lowercase": False}, {"token_pattern": r"\w+"}):  # fmt: skip
        one, other = Corpus.from_texts(TEXTS * 20, **options), read_documents(path, **options).corpus
        assert_same(one, other)
        same(one.preparation, other.preparation)


def test_what_was_left_out():
    made = Corpus.from_texts(TEXTS).preparation
    assert made.language == "english"
    assert made.removed["copies"] == 1  # the case and the stops do not matter, and empty documents are no copies
    assert made.copies.tolist() == [[2, 0]]
    words, junk = made.sentences()
    assert words.startswith("Left out: ")
    assert "stop words of English" in words
    assert junk == "Cleaned: 1 addresses. 1 document is a copy of another: document 3 (of 1)."


def test_limits_suit_the_number_of_documents():
    rare = [f"common{'x' * (i % 3)} word {'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}" for i in range(60)]
    few = Corpus.from_texts(rare[:49], stop_words=None)
    assert few.n_words == 4 + 49
    many = Corpus.from_texts(rare, stop_words=None)
    assert set(many.vocabulary) == {"common", "commonx", "commonxx"}  # "word" is in all of them
    assert many.preparation.removed["common words"] == 1
    assert many.preparation.removed["rare words"] == 60
    assert Corpus.from_texts(rare, stop_words=None, min_df=1, max_df=1.0).n_words == 64


def test_it_goes_where_the_corpus_goes(tmp_path):
    corpus = Corpus.from_texts(TEXTS, phrases=True, ngrams=2)
    corpus.save(tmp_path / "corpus")
    for other in (Corpus.load(tmp_path / "corpus"), corpus.take([1, 3]), pickle.loads(pickle.dumps(corpus))):
        same(other.preparation, corpus.preparation)
    assert Corpus.load(tmp_path / "corpus").in_memory.preparation is not None
    assert Corpus.from_counts([[1, 2]]).preparation is None
    again = Corpus.from_texts(["Cats and a cat: www.example.org"], like=Corpus.load(tmp_path / "corpus"))
    assert [corpus.vocabulary[word] for word in again.document(0)] == ["cat"]


def test_a_corpus_of_version_0_1_0_loads(tmp_path):
    """It does not say how its texts were cut: new ones are cut as they were then."""
    Corpus.from_tokens([["cat_1", "42"]]).save(tmp_path / "corpus")
    header = json.loads((tmp_path / "corpus" / "corpus.json").read_text("utf-8"))
    assert "preparation" not in header
    old = Corpus.load(tmp_path / "corpus")
    assert Corpus.from_texts(["cat_1 in 42 x"], like=old).n_tokens == 2


@pytest.mark.parametrize(
    "change",
    [
        {"clean": "soap"}, {"clean": 3}, {"token_pattern": "("}, {"removed": {"a": "b"}}, {"removed": {"a": True}},
        {"copies": [[1]]}, {"copies": ["x"]}, {"copies": [[2**80, 1]]}, {"pairs": ["one"]}, {"pairs": [1]},
        {"pairs": ["a b", "a b"]}, {"tokenized": 1}, {"language": None}, {"more": 1},
        {"stem": "klingon"}, {"stem": True}, {"held": "x"}, {"held": [1]},
        {"lemmas": True}, {"lemmas": "a name without version"},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_files(change, tmp_path):
    Corpus.from_texts(TEXTS).save(tmp_path / "corpus")
    path = tmp_path / "corpus" / "corpus.json"
    header = json.loads(path.read_text("utf-8"))
    header["preparation"] |= change
    path.write_text(json.dumps(header), "utf-8")
    with pytest.raises(CorpusError, match="not a saved corpus, or is damaged"):
        Corpus.load(tmp_path / "corpus")


def test_a_pattern_that_may_take_for_ever_is_not_believed():
    """Whoever made the corpus chose it; whoever reads it may say the same."""
    pattern = r"(?:\w+\s?)+!"
    corpus = Corpus.from_texts(["one two!", "three!"], token_pattern=pattern, stop_words=None)
    with pytest.raises(ParameterError, match="could take for ever"):
        Corpus.from_texts(["one two!"], like=corpus)
    assert Corpus.from_texts(["one two!"], like=corpus, token_pattern=pattern).n_tokens == 1


def test_texts_that_are_cut_already(tmp_path):
    """Nothing is left out of lists of words by default, not even the letters that texts lose."""
    path = tmp_path / "words.jsonl"
    path.write_text('{"text": ["the", "a", "The End", "x@y.org"]}\n', "utf-8")
    corpus = read_documents(path).corpus
    assert corpus.n_tokens == 4
    assert corpus.preparation.tokenized
    assert read_documents(path, stop_words="english").corpus.n_tokens == 2
    assert np.array_equal(Preparation(tokenized=True).cut(["A-b c"]), [["A-b", "c"]])


def test_one_word_is_one_word():
    made = Preparation(language="german", removed={"stop words": 1, "common words": 1, "common tokens": 1425})
    assert made.sentences() == ["Left out: 1 stop word of German, 1 common word (1,425 times)."]
    made = Preparation(language="german", removed={"rare words": 2, "rare tokens": 1})
    assert made.sentences() == ["Left out: 2 rare words (1 time)."]

"""Words that topics do not count are counted beside them, as one would by hand, and found again in new texts."""

from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from topoi import Corpus, CorpusError, MedLDAClassifier
from topoi.corpus import other_words
from topoi.corpus.other_words import OtherWords

POSTS = [
    "From: ann@example.com (Ann)\nSubject: engines\n\nThe engine of my car has 16 valves.\n> The engine is old.\n",
    "From: bob@example.com (Bob)\nSubject: engines\n\nThis car has 16 valves, and an engine.\n",
    "From: ann@example.com (Ann)\nSubject: keys\n\nThe key is secret, so is the engine. R2D2 knows the key.\n",
    "",
]


def counts_of(corpus):
    table = corpus.about["ngrams"].toarray()
    return [{corpus.ngrams.names[j]: int(n) for j, n in enumerate(row) if n} for row in table]


def by_hand(documents, removed, topical, fewest=2):
    counts = [
        Counter(word for word in document if word not in topical) + Counter(gone)
        for document, gone in zip(documents, removed, strict=True)
    ]
    n_with = Counter(word for one in counts for word in one)
    kept = sorted(word for word, n in n_with.items() if n >= fewest)
    return kept, [[one[word] for word in kept] for one in counts]


def random_documents(seed, n=50, most=20):
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.integers(0, 30, rng.integers(0, most))] for _ in range(n)]


@pytest.mark.parametrize("topical", [{"w1", "w2", "w3", "w29"}, {f"w{i}" for i in range(30)}, set()])
def test_counts_are_those_by_hand(topical):
    documents, removed = random_documents(0), random_documents(1, most=4)
    counter = OtherWords()
    for document, gone in zip(documents, removed, strict=True):
        counter.add(document, gone)
    names, counts = counter.finish(topical)
    kept, expected = by_hand(documents, removed, topical)
    assert names.tolist() == kept
    np.testing.assert_array_equal(counts.toarray(), np.array(expected).reshape(counts.shape))
    assert counts.has_sorted_indices
    assert counts.count_nonzero() == counts.nnz
    again = OtherWords(names)
    for document, gone in zip(documents, removed, strict=True):
        again.add(document, gone)
    found, same = again.finish(topical)
    assert found.tolist() == kept
    np.testing.assert_array_equal(same.toarray(), counts.toarray())


def test_the_words_in_most_documents_stay(monkeypatch):
    monkeypatch.setattr(other_words, "MOST", 2)
    counter = OtherWords()
    for document in (["b", "c", "d"], ["b", "c", "d", "a"], ["d", "a"]):
        counter.add(document)
    names, counts = counter.finish(())
    assert names.tolist() == ["a", "d"]  # a, b and c are in two documents each
    np.testing.assert_array_equal(counts.toarray(), [[0, 1], [1, 1], [1, 1]])


def test_what_topics_leave_out_of_posts():
    """Stop words, numbers, and what stands in headers and quotations only."""
    corpus = Corpus.from_texts(POSTS, ngrams=1, clean="email", stop_words="english", min_df=1, max_df=1.0)
    assert {"engine", "car", "valves"} <= set(corpus.vocabulary)
    assert not {"from", "16", "the", "example"} & set(corpus.vocabulary)
    first, second, third, empty = counts_of(corpus)
    assert first["16"] == second["16"] == 1
    assert first["ann"] == third["ann"] == 2
    assert "bob" not in corpus.ngrams.names  # one document has it
    assert first["the"] == 2  # one of them in a quotation
    assert empty == {}


def test_topical_words_of_removed_parts_have_a_column_of_their_own():
    texts = [*POSTS, "From: bob@example.com\nSubject: car\n\nMine is slow.\n> The engine is old.\n"]
    corpus = Corpus.from_texts(texts, ngrams=1, clean="email", stop_words="english", min_df=1, max_df=1.0)
    found = counts_of(corpus)
    engine = corpus.vocabulary.tolist().index("engine")
    own = corpus.to_counts()[:, [engine]].toarray().ravel().tolist()
    assert own == [1, 1, 1, 0, 0]
    assert [row.get("engine", 0) for row in found] == [1, 0, 0, 0, 1]  # quoted


@pytest.mark.parametrize("clean", ["email", "none"])
def test_new_texts_like_a_corpus(clean):
    corpus = Corpus.from_texts(POSTS, ngrams=1, clean=clean)
    same = Corpus.from_texts(POSTS, like=corpus)
    np.testing.assert_array_equal(same.about["ngrams"].toarray(), corpus.about["ngrams"].toarray())
    np.testing.assert_array_equal(same.to_counts().toarray(), corpus.to_counts().toarray())


def test_saved_and_loaded(tmp_path):
    corpus = Corpus.from_texts(POSTS, ngrams=1, clean="email")
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    assert loaded.ngrams.largest == 1
    assert counts_of(loaded) == counts_of(corpus)
    np.testing.assert_array_equal(
        Corpus.from_texts(POSTS, like=loaded).about["ngrams"].toarray(), corpus.about["ngrams"].toarray()
    )


def test_lists_of_words():
    documents = random_documents(3)
    corpus = Corpus.from_tokens(documents, ["w1", "w5"], ngrams=1)
    kept, expected = by_hand(documents, [[]] * len(documents), {"w1", "w5"})
    assert corpus.ngrams.names.tolist() == kept
    np.testing.assert_array_equal(corpus.about["ngrams"].toarray(), expected)
    assert len(Corpus.from_tokens(documents, ngrams=1).ngrams) == 0  # topics count every word


def test_a_pattern_of_ones_own_cuts_the_whole_text_too():
    texts = ["I don't know. I can't say.", "We don't know. We can't say.", "They know and say nothing."]
    corpus = Corpus.from_texts(texts, ngrams=1, token_pattern=r"[\w']+", stop_words=["we", "i", "they"])
    assert "don't" in corpus.vocabulary
    assert not {"dont", "cant", "don", "can"} & set(corpus.ngrams.names)


def test_counts_are_refused_where_other_words_have_a_say():
    rng = np.random.default_rng(0)
    letters = [f"word{first}{second}" for first in "abcdef" for second in "abcdef"]
    texts = [" ".join(rng.choice(letters, 15)) + f" 20{i % 2}" for i in range(60)]
    labels = [i % 2 for i in range(60)]
    model = MedLDAClassifier(3, n_sweeps=6, random_state=0).fit(texts, labels)
    assert set(model.ngrams_.names) == {"200", "201"}
    assert model.score(texts, labels) == 1.0
    counts = Corpus.from_texts(texts, vectorizer=CountVectorizer(vocabulary=model.vocabulary_)).to_counts()
    with pytest.raises(CorpusError, match="predicts from words that topics leave out as well; X has counts"):
        model.predict(counts)

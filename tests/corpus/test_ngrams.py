"""N-grams are counted as one would by hand, go where the documents go, and are found again in new ones."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from itertools import product

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from topoi import Corpus, CorpusError, ParameterError
from topoi.corpus import Ngrams, ngrams
from topoi.corpus.ngrams import NewNgrams

TEXTS = [
    "The food was not good, not good at all.",
    "Not good food. The waiter was good.",
    "The waiter was rude and the food was cold.",
    "",
]


def random_documents(n=60, words=12, seed=0):
    rng = np.random.default_rng(seed)
    names = np.array([f"w{i}" for i in range(words)])
    return [names[rng.integers(0, words, rng.integers(0, 15))].tolist() for _ in range(n)]


def by_hand(documents, largest, vocabulary, fewest=2):
    """Counts of every document, by name: the definition."""
    counts = [
        Counter(" ".join(d[i : i + n]) for n in range(2, largest + 1) for i in range(len(d) - n + 1)) for d in documents
    ]
    n_with = Counter(name for one in counts for name in one)
    kept = sorted(
        name for name, n in n_with.items() if n >= fewest and any(word in vocabulary for word in name.split())
    )
    return kept, np.array([[one[name] for name in kept] for one in counts]).reshape(len(documents), len(kept))


@pytest.mark.parametrize(("largest", "piece", "bucket"), [*product([2, 3], [2**19, 7], [2**22, 10])])
def test_counts_are_those_by_hand(monkeypatch, largest, piece, bucket):
    monkeypatch.setattr(ngrams, "PIECE", piece)
    monkeypatch.setattr(ngrams, "BUCKET", bucket)
    documents = random_documents()
    words = {"w1", "w2", "w3", "w4"}
    corpus = Corpus.from_tokens(documents, sorted(words), ngrams=largest)
    kept, counts = by_hand(documents, largest, words)
    assert any(len(name.split()) == largest for name in kept)
    assert corpus.ngrams.names.tolist() == kept
    np.testing.assert_array_equal(corpus.about["ngrams"].toarray(), counts)


@pytest.mark.parametrize("largest", [2, 3])
def test_known_ngrams_are_counted_alike(largest):
    documents = random_documents()
    corpus = Corpus.from_tokens(documents, ngrams=largest)
    again = Corpus.from_tokens(documents, like=corpus)
    assert (corpus.about["ngrams"] != again.about["ngrams"]).nnz == 0
    assert again.ngrams is corpus.ngrams
    np.testing.assert_array_equal(corpus.words, again.words)
    new = Corpus.from_tokens([["w1", "never"], []], like=corpus)
    assert new.about["ngrams"].shape == (2, len(corpus.ngrams))
    assert new.n_dropped == 1


def test_the_most_frequent_ones_stay():
    counter = NewNgrams(3, most=5)
    documents = random_documents()
    for document in documents:
        counter.add(document)
    found, counts = counter.finish()
    kept, by_name = by_hand(documents, 3, {f"w{i}" for i in range(12)})
    n_with = np.sort((by_name > 0).sum(0))[::-1]
    assert len(found) == counts.shape[1] == 5
    assert sorted((counts.toarray() > 0).sum(0))[::-1] == n_with[:5].tolist()
    for name, column in zip(found.names, counts.toarray().T, strict=True):
        np.testing.assert_array_equal(column, by_name[:, kept.index(name)])


def test_stop_words_are_words_of_an_ngram():
    corpus = Corpus.from_texts(TEXTS, CountVectorizer(stop_words="english"), ngrams=2)
    assert "not" not in corpus.vocabulary
    assert corpus.ngrams.names.tolist() == ["food was", "not good", "the food", "the waiter", "waiter was"]
    assert corpus.about["ngrams"].toarray().tolist() == [
        [1, 2, 1, 0, 0], [0, 1, 0, 1, 1], [1, 0, 1, 1, 1], [0, 0, 0, 0, 0],
    ]  # fmt: skip


def test_new_texts_like_a_corpus():
    corpus = Corpus.from_texts(TEXTS, ngrams=2)
    new = Corpus.from_texts(["Is the food not good?", "nothing known"], like=corpus)
    assert new.vocabulary.tolist() == corpus.vocabulary.tolist()
    found = new.ngrams.names[new.about["ngrams"][[0]].indices].tolist()
    assert found == ["not good", "the food"]
    assert new.about["ngrams"][[1]].nnz == 0
    bare = Corpus.from_texts(TEXTS)
    assert Corpus.from_texts(["good food"], like=bare).ngrams is None


def test_words_with_blanks_that_make_the_same_name_are_one():
    documents = [["New York", "city", "New", "York", "city"]] * 2
    corpus = Corpus.from_tokens(documents, ngrams=3)
    assert len(set(corpus.ngrams.names)) == len(corpus.ngrams)
    column = corpus.ngrams.names.tolist().index("New York city")
    assert corpus.about["ngrams"].toarray()[0, column] == 2
    again = Corpus.from_tokens(documents, like=corpus)
    assert (again.about["ngrams"] != corpus.about["ngrams"]).nnz == 0


def test_where_there_are_none():
    for documents in ([["a"], ["b"]], [["a", "b"], []], [["a"]]):
        corpus = Corpus.from_tokens(documents, ngrams=3)
        assert len(corpus.ngrams) == 0
        assert corpus.about["ngrams"].shape == (len(documents), 0)


@pytest.mark.parametrize("chosen", [[2, 0], slice(1, 3), [False, True, True, False], []])
def test_take_and_pickle(chosen):
    corpus = Corpus.from_texts(TEXTS, ngrams=2)
    some = pickle.loads(pickle.dumps(corpus.take(chosen)))
    assert some.ngrams.names.tolist() == corpus.ngrams.names.tolist()
    np.testing.assert_array_equal(some.about["ngrams"].toarray(), corpus.about["ngrams"].toarray()[chosen])


def test_single_words_and_pairs_together():
    """(1, 2) counts what 1 and 2 count, each in its column; single ones are those that topics leave out."""
    options = {"stop_words": "english", "min_df": 1, "max_df": 1.0}
    both, singles, pairs = (Corpus.from_texts(TEXTS, ngrams=n, **options) for n in ((1, 2), 1, 2))
    assert "not" in singles.ngrams.names
    assert "not good" in pairs.ngrams.names
    assert both.ngrams.names.tolist() == sorted([*singles.ngrams.names, *pairs.ngrams.names])
    assert both.ngrams.sizes == (1, 2)
    for some in (singles, pairs):
        columns = np.searchsorted(both.ngrams.names, some.ngrams.names)
        np.testing.assert_array_equal(both.about["ngrams"][:, columns].toarray(), some.about["ngrams"].toarray())
    np.testing.assert_array_equal(both.words, pairs.words)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3)])
def test_ranges_are_those_by_hand_and_counted_again(sizes, tmp_path):
    documents, words = random_documents(), ["w1", "w2", "w3", "w4"]
    corpus = Corpus.from_tokens(documents, words, ngrams=sizes)
    kept, counts = by_hand(documents, sizes[1], words)
    if sizes[0] == 1:
        others = Corpus.from_tokens(documents, words, ngrams=1)
        assert others.ngrams.names.tolist() == [f"w{i}" for i in sorted(map(str, {0, *range(5, 12)}))]
        kept, counts = kept + others.ngrams.names.tolist(), np.hstack((counts, others.about["ngrams"].toarray()))
    wanted = [i for i in np.argsort(kept) if len(kept[i].split()) >= sizes[0]]
    assert {len(kept[i].split()) for i in wanted} == set(range(sizes[0], sizes[1] + 1))
    assert corpus.ngrams.names.tolist() == [kept[i] for i in wanted]
    np.testing.assert_array_equal(corpus.about["ngrams"].toarray(), counts[:, wanted])
    corpus.save(tmp_path / "c")
    loaded = Corpus.load(tmp_path / "c")
    assert loaded.ngrams.sizes == sizes
    for like in (corpus, loaded):
        again = Corpus.from_tokens(documents, like=like)
        assert again.ngrams is like.ngrams
        np.testing.assert_array_equal(again.about["ngrams"].toarray(), corpus.about["ngrams"].toarray())


def test_a_word_with_a_blank_and_the_pair_of_the_same_name_are_one():
    documents = [["New York", "city", "New", "York", "city"]] * 2
    corpus = Corpus.from_tokens(documents, ["New", "city"], ngrams=(1, 2))
    names = corpus.ngrams.names.tolist()
    assert names.count("New York") == 1
    assert corpus.about["ngrams"].toarray()[0, names.index("New York")] == 2
    again = Corpus.from_tokens(documents, like=corpus)
    assert (again.about["ngrams"] != corpus.about["ngrams"]).nnz == 0


@pytest.mark.parametrize("wrong", [0, 4, True, 2.0, "2", [2], (0, 2), (2, 1), (1, 4), (1, 2, 3), (True, 2), "12"])
def test_what_cannot_be_asked_for(wrong):
    for make in (lambda: Corpus.from_texts(TEXTS, ngrams=wrong), lambda: Corpus.from_tokens([["a"]], ngrams=wrong)):
        with pytest.raises(ParameterError, match=r"ngrams: must be None, 1 to 3 words"):
            make()


@pytest.mark.parametrize("vectorizer", [CountVectorizer(analyzer="char"), CountVectorizer(analyzer=str.split)])
def test_a_vectoriser_that_cuts_no_words(vectorizer):
    with pytest.raises(ParameterError, match="ngrams: need a vectoriser that cuts texts into words"):
        Corpus.from_texts(TEXTS, vectorizer, ngrams=2)


def test_words_without_names():
    hashed = HashingVectorizer(n_features=64, norm=None, alternate_sign=False)
    corpus = Corpus.from_texts(TEXTS, hashed, ngrams=2)
    assert "not good" in corpus.ngrams.names
    with pytest.raises(ParameterError, match="like: knows columns by number"):
        Corpus.from_texts(TEXTS, hashed, like=corpus)


def test_like_is_a_corpus_or_an_estimator():
    with pytest.raises(ParameterError, match="like: must be a fitted estimator or a Corpus, not dict"):
        Corpus.from_texts(TEXTS, like={})


@pytest.mark.parametrize("wrong", ["text", [1, 2], 3])
def test_documents_that_are_no_lists_are_told_of_as_ever(wrong):
    with pytest.raises((CorpusError, TypeError)) as bare:
        Corpus.from_tokens([["a"], wrong])
    with pytest.raises(type(bare.value)) as counted:
        Corpus.from_tokens([["a"], wrong], ngrams=2)
    assert str(counted.value) == str(bare.value)


@pytest.mark.parametrize("mmap", [True, False])
def test_saved_with_the_corpus(tmp_path, mmap):
    corpus = Corpus.from_texts(TEXTS, ngrams=3)
    corpus.save(tmp_path / "c")
    for found in (Corpus.load(tmp_path / "c", mmap=mmap), Corpus.load(tmp_path / "c", mmap=mmap).in_memory):
        assert found.ngrams.largest == 3
        assert found.ngrams.names.tolist() == corpus.ngrams.names.tolist()
        np.testing.assert_array_equal(found.about["ngrams"].toarray(), corpus.about["ngrams"].toarray())
    Corpus.from_texts(TEXTS).save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").ngrams is None
    assert not list((tmp_path / "c").glob("ngrams*"))


def edit_header(folder, **values):
    header = json.loads((folder / "corpus.json").read_text())
    (folder / "corpus.json").write_text(json.dumps(header | values))


N_CELLS = 10  # of the counts that are damaged
DAMAGE = {
    "largest": lambda f: edit_header(f, ngrams=4),
    "largest is text": lambda f: edit_header(f, ngrams="2"),
    "largest is true": lambda f: edit_header(f, ngrams=True),
    "sizes fall": lambda f: edit_header(f, ngrams=[3, 2]),
    "no words": lambda f: edit_header(f, ngrams=[-1, 2]),
    "three sizes": lambda f: edit_header(f, ngrams=[1, 2, 3]),
    "sizes are text": lambda f: edit_header(f, ngrams=["1", 2]),
    "no names": lambda f: (f / "ngrams.json").unlink(),
    "names are numbers": lambda f: (f / "ngrams.json").write_text("[1, 2, 3, 4, 5]"),
    "names are a number": lambda f: (f / "ngrams.json").write_text("5"),
    "a name twice": lambda f: (f / "ngrams.json").write_text(json.dumps(["a b"] * 5)),
    "too few names": lambda f: (f / "ngrams.json").write_text('["a b"]'),
    "no counts": lambda f: (f / "ngrams_data.npy").unlink(),
    "counts of 0": lambda f: np.save(f / "ngrams_data.npy", np.zeros(N_CELLS, np.int32)),
    "counts below 0": lambda f: np.save(f / "ngrams_data.npy", np.full(N_CELLS, -1, np.int32)),
    "huge counts": lambda f: np.save(f / "ngrams_data.npy", np.full(N_CELLS, 2**25, np.int32)),
    "fractions": lambda f: np.save(f / "ngrams_data.npy", np.full(N_CELLS, 0.5)),
    "counts of text": lambda f: np.save(f / "ngrams_data.npy", np.full(N_CELLS, "a")),
    "too few counts": lambda f: np.save(f / "ngrams_data.npy", np.ones(3, np.int32)),
    "a single count": lambda f: np.save(f / "ngrams_data.npy", np.int32(1)),
    "pickled": lambda f: np.save(f / "ngrams_data.npy", np.array([None] * N_CELLS), allow_pickle=True),
    "columns beyond": lambda f: np.save(f / "ngrams_indices.npy", np.full(N_CELLS, 5, np.int32)),
    "columns below": lambda f: np.save(f / "ngrams_indices.npy", np.full(N_CELLS, -1, np.int32)),
    "columns fall": lambda f: np.save(f / "ngrams_indices.npy", np.zeros(N_CELLS, np.int32)),
    "columns are floats": lambda f: np.save(f / "ngrams_indices.npy", np.zeros(9)),
    "rows fall": lambda f: np.save(f / "ngrams_indptr.npy", np.array([0, 6, 3, 10, 10])),
    "rows beyond": lambda f: np.save(f / "ngrams_indptr.npy", np.array([0, 3, 6, 10, 90])),
    "too few rows": lambda f: np.save(f / "ngrams_indptr.npy", np.array([0, 10])),
    "cut short": lambda f: (f / "ngrams_indptr.npy").write_bytes((f / "ngrams_indptr.npy").read_bytes()[:-3]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_of(tmp_path, damage):
    corpus = Corpus.from_texts(TEXTS, CountVectorizer(stop_words="english"), ngrams=2)
    corpus.save(tmp_path / "c")
    assert corpus.about["ngrams"].nnz == N_CELLS
    DAMAGE[damage](tmp_path / "c")
    with pytest.raises(CorpusError, match="is not a saved corpus, or is damaged"):
        Corpus.load(tmp_path / "c")


def test_random_bytes_in_the_files_are_told_of_or_harmless(tmp_path):
    corpus = Corpus.from_texts(TEXTS, ngrams=2)
    corpus.save(tmp_path / "c")
    rng = np.random.default_rng(0)
    for path in sorted((tmp_path / "c").glob("ngrams*")):
        good = path.read_bytes()
        for _ in range(60):
            bad = bytearray(good)
            for place in rng.integers(0, len(good), rng.integers(1, 4)):
                bad[place] = rng.integers(256)
            path.write_bytes(bytes(bad))
            try:
                found = Corpus.load(tmp_path / "c")
            except CorpusError:
                continue
            assert found.about["ngrams"].shape == (4, len(found.ngrams))
            assert found.about["ngrams"].sum() > 0
        path.write_bytes(good)


def test_counts_must_fit():
    corpus = Corpus.from_texts(TEXTS)
    names = np.array(["a b", "b c"], object)
    with pytest.raises(CorpusError, match=r"counts of n-grams must be \(4, 2\), not \(4, 3\)"):
        corpus.with_ngrams(Ngrams(names, 2), np.ones((4, 3), int))
    with pytest.raises(CorpusError, match="n-grams have 1 to 3 words, not 9"):
        corpus.with_ngrams(Ngrams(names, 9), np.ones((4, 2), int))
    with pytest.raises(CorpusError, match="whole numbers"):
        corpus.with_ngrams(Ngrams(names, 2), np.full((4, 2), 0.5))

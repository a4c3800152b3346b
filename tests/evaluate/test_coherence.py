"""Coherence, diversity and exclusivity: by hand, by counting windows one by one, and against gensim's values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from topoi import LDA, Corpus, CorpusError, MedLDAClassifier, ParameterError, TopicModel
from topoi.chain.priors import fixed_priors
from topoi.evaluate import c_v, diversity, exclusivity, npmi, top_columns, topic_names, topic_shares, u_mass
from topoi.evaluate.cooccurrence import together_in_windows

TOPICS = [["w0", "w5", "w4", "w6", "w3"], ["w12", "w13", "w11", "w14", "w10"], ["w1", "w20", "w9", "w16", "w23"]]


def bags():
    """Texts with words many times over."""
    rng = np.random.default_rng(3)
    texts = []
    for d in range(60):
        n = int(rng.integers(1, 60)) if d % 6 else int(rng.integers(120, 300))
        shift = 0 if rng.random() < 0.5 else 8
        texts.append([f"w{(int(x) + shift) % 24}" for x in rng.poisson(5, n)])
    return texts


def permutations():
    """Texts without a word twice."""
    rng = np.random.default_rng(4)
    texts = []
    for d in range(60):
        n = int(rng.integers(2, 24)) if d % 6 else int(rng.integers(115, 140))
        words = [f"w{x}" for x in rng.permutation(24)[:n]] + [f"f{x}" for x in rng.permutation(150)[: max(n - 24, 0)]]
        texts.append([words[i] for i in rng.permutation(len(words))])
    return texts


# ---- By hand ---------------------------------------------------------------------------------------------------------

# Documents with a and b, a and b, a, c, none: D(a) = 3, D(b) = 2, D(c) = 1, D(a, b) = 2.
X = np.array([[2, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 5], [0, 0, 0]])


def test_u_mass_by_hand():
    log = np.log
    found = u_mass([[0, 1], [1, 0], [0, 1, 2], [2]], X)
    expected = [log(3 / 3), log(3 / 2), (log(3 / 3) + log(1 / 3) + log(1 / 2)) / 3, np.nan]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(u_mass([[0, 1]], X, smoothing=0.5), log(2.5 / 3))


def test_npmi_by_hand():
    """Of four documents with words: p(a) = 3/4, p(b) = p(a, b) = 1/2, p(c) = 1/4."""
    together = np.log((1 / 2) / (3 / 4 * 1 / 2)) / -np.log(1 / 2)
    np.testing.assert_allclose(npmi([[0, 1], [1, 0]], X), together, rtol=1e-9)
    np.testing.assert_allclose(npmi([[0, 1, 2], [0, 2]], X, epsilon=0), [(together - 2) / 3, -1])
    never = np.log(1e-12 / (3 / 16)) / -np.log(1e-12)
    np.testing.assert_allclose(npmi([[0, 2]], X), never)
    everywhere = npmi([[0, 1]], [[1, 1], [2, 1]])
    assert everywhere == [1.0]


def test_c_v_by_hand():
    """Two words that are always together are one vector; with one apart it is (1, m)·(1 + m, 1 + m) over lengths."""
    assert c_v([["a", "b"]], [["a", "b"], ["x"], ["b", "a", "x"]], epsilon=0) == pytest.approx([1.0])
    m = np.log(0.5 / (0.75 * 0.5)) / -np.log(0.5)
    found = c_v([["a", "b"]], [["a", "b"], ["a", "x", "b"], ["a"], ["x"], []], epsilon=0)
    assert found == pytest.approx([(1 + m) / np.sqrt(2 * (1 + m * m))])


@pytest.mark.parametrize("window", [1, 2, 7, 50, 110, 1000])
def test_windows_one_by_one(window, monkeypatch):
    monkeypatch.setattr("topoi.evaluate.cooccurrence.CELLS", 5000)  # more pieces than one
    texts = [*bags(), [], ["w1"]]
    words = sorted({word for topic in TOPICS for word in topic})
    windows = [
        set(text[i : i + window]) for text in texts if text for i in range(max(len(text) - window + 1, 1))
    ]  # fmt: skip
    found = together_in_windows(TOPICS, texts, window)
    assert found.n == len(windows)
    for a in words:
        for b in words:
            count = sum(a in here and b in here for here in windows)
            assert found.pairs[found.place[a], found.place[b]] == count


def test_documents_are_windows_that_hold_them():
    texts = bags()
    np.testing.assert_allclose(npmi(TOPICS, Corpus.from_tokens(texts)), npmi(TOPICS, texts, window=10_000))


# ---- Against gensim 4.4.0 --------------------------------------------------------------------------------------------
# CoherenceModel(topics=TOPICS, texts=texts, corpus=[dictionary.doc2bow(text) for text in texts], dictionary=dictionary,
# coherence=…, window_size=…, processes=1).get_coherence_per_topic() with dictionary = Dictionary(texts).
# Its windows lose a word when its first occurrence leaves, even if it is in the window once more
# (WordOccurrenceAccumulator._slide_window), so the texts of windows have no word twice. With that method replaced by
# `self._uniq_words[:] = False; self._uniq_words[np.unique(window)] = True` gensim gives the values marked "repaired".


def test_gensim_documents():
    texts = bags()
    found = u_mass(TOPICS, Corpus.from_tokens(texts), smoothing=1e-12 * len(texts))
    np.testing.assert_allclose(found, [-0.042163004492043785, -0.1452677177401787, -11.222439952056401], rtol=1e-12)
    found = npmi(TOPICS, Corpus.from_tokens(texts))  # c_npmi with a window of 10**6
    np.testing.assert_allclose(found, [0.6937379490010805, 0.48154897160138094, -0.23242131477869848], rtol=1e-12)


@pytest.mark.parametrize(
    ("measure", "window", "texts", "expected"),
    [
        (npmi, 10, permutations, [0.18006562498844794, 0.17245114625089666, 0.10802533703911213]),
        (npmi, 3, permutations, [-0.005459729436083189, 0.04257429887702655, -0.0747967171169012]),
        (c_v, 110, permutations, [0.6022617040279258, 0.6592412229001454, 0.6303320643950124]),
        (c_v, 20, permutations, [0.6500330787636223, 0.6736217872531459, 0.5728684117835476]),
        (npmi, 10, bags, [0.42176518211650543, 0.41730364376433665, -0.33831153914675216]),  # repaired
        (c_v, 110, bags, [0.9599460857977062, 0.741359757370452, 0.32883522097210605]),  # repaired
    ],
)
def test_gensim_windows(measure, window, texts, expected):
    np.testing.assert_allclose(measure(TOPICS, texts(), window=window), expected, rtol=1e-10)
    if measure is c_v and window == 110:
        np.testing.assert_allclose(c_v(TOPICS, texts()), expected, rtol=1e-10)  # the default


# ---- Odd and bad input -----------------------------------------------------------------------------------------------


def test_words_that_do_not_occur_are_left_out():
    counts = np.column_stack((X, np.zeros(5, int)))
    for measure in (u_mass, npmi):
        np.testing.assert_array_equal(measure([[0, 3, 1], [0, 1]], counts)[0], measure([[0, 1]], counts)[0])
        np.testing.assert_array_equal(measure([[0, 3], [3], []], counts), [np.nan] * 3)
    assert np.isnan(c_v([["a", "z"]], [["a", "b"]])).all()
    assert np.isnan(npmi([[0, 1]], np.zeros((2, 2), int))).all()
    assert len(npmi([], X)) == 0
    assert npmi([[0, 1]], [[1, 1]]) == [1.0]  # one document


@pytest.mark.parametrize("documents", [Corpus.from_counts(X), X, sparse.csr_array(X)], ids=["corpus", "array", "csr"])
def test_counts_have_no_windows(documents):
    with pytest.raises(CorpusError, match=r"order of the words.*u_mass.*npmi"):
        c_v([["a", "b"]], documents)
    with pytest.raises(CorpusError, match="order of the words"):
        npmi([["a", "b"]], documents, window=10)


def test_bad_input():
    named = Corpus.from_counts(X, ["a", "b", "c"])
    np.testing.assert_array_equal(npmi([["a", "b"]], named), npmi([[0, 1]], X))
    for topics, message in (
        ([["a", "z"]], "'z'.*vocabulary"), ([[0, 3]], "column 3.*3 columns"),
        ([[0, 0]], "topic 0 has 0 more than once"), ("ab", "list of lists"), (["ab"], "topic 0 is 'ab'"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"^topics: .*{message}"):
            u_mass(topics, named)
    with pytest.raises(ParameterError, match="knows no words"):
        u_mass([["a", "b"]], X)
    with pytest.raises(ParameterError, match="must be str"):
        c_v([[0, 1]], [["a"]])
    with pytest.raises(CorpusError, match="document 1 is a str") as caught:
        c_v([["a", "b"]], [["a"], "a b"])
    assert caught.value.row == 1
    with pytest.raises(CorpusError, match="document 0 has 3"):
        c_v([["a", "b"]], [["a", 3]])
    for call in (lambda: u_mass([[0, 1]], X, smoothing=0), lambda: npmi([[0, 1]], X, epsilon=1)):
        with pytest.raises(ParameterError, match="must be a"):
            call()
    with pytest.raises(ParameterError, match="window"):
        c_v([["a", "b"]], [["a"]], window=0)


# ---- Topics by themselves --------------------------------------------------------------------------------------------

# Three topics over five words; the last has no tokens.
COUNTS = np.array([[8, 0, 0], [4, 4, 0], [0, 2, 0], [1, 1, 0], [0, 0, 0]])
MODEL = TopicModel(
    sparse.csr_array(2 * COUNTS), sparse.csr_array(COUNTS), 2, fixed_priors(np.full(3, 0.1), 0.01),
    np.array(["a", "b", "c", "d", "e"], dtype=object),
)  # fmt: skip


def test_top_words():
    assert top_columns(MODEL, 2, "probability") == [[0, 1], [1, 2], []]
    assert topic_names(MODEL, order="probability") == [["a", "b", "d"], ["b", "c", "d"], []]
    assert top_columns(MODEL, 2) == MODEL.top_columns(2)
    assert topic_names(MODEL) == MODEL.top_words()
    np.testing.assert_allclose(topic_shares(MODEL), [13 / 20, 7 / 20, 0])


def test_diversity_by_hand():
    assert diversity(MODEL, 1) == 1.0
    assert diversity(MODEL, 2) == 3 / 4
    assert diversity(MODEL) == 4 / 6
    nothing = TopicModel(*(sparse.csr_array((5, 2), dtype=np.int64),) * 2, 1, fixed_priors(np.full(2, 0.1), 0.01))
    assert np.isnan(diversity(nothing))
    assert np.isnan(exclusivity(nothing)).all()


def test_exclusivity_by_hand():
    phi = MODEL.topic_word()
    share = phi / phi.sum(0)
    found = exclusivity(MODEL, 2)
    np.testing.assert_allclose(found[:2], [(share[0, 0] + share[0, 1]) / 2, (share[1, 1] + share[1, 2]) / 2])
    assert np.isnan(found[2])
    assert exclusivity(LDA(1, n_sweeps=2, random_state=0).fit(X[:4])) == pytest.approx([1.0])


def test_topics_of_several_models_stand_side_by_side(train):
    model = MedLDAClassifier(3, strategy="ovr", n_sweeps=2, random_state=0).fit(train.X, train.many)
    tops = top_columns(model, 4)
    assert [[str(w) for w in words] for words in tops] == model.top_words(4)
    share = model.components_ / model.components_.sum(0)
    probable = top_columns(model, 4, "probability")
    expected = [share[k, words].mean() if words else np.nan for k, words in enumerate(probable)]
    np.testing.assert_allclose(exclusivity(model, 4), expected)
    assert len(u_mass(tops, train.X)) == 15
    with pytest.raises(ParameterError, match="knows no words"):
        topic_names(model)

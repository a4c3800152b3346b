"""What the LDA estimator is given: bad input, every form of good input, parameters, and edges."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import topoi.chain.engines.choose
import topoi.estimators.lda
from support.corpora import random_counts
from support.unlabelled import ALL, fitted_bytes, quick
from topoi import Corpus, CorpusError, ParameterError
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state, topic_dtype


@pytest.fixture(scope="module")
def few():
    """A table of counts that takes no time."""
    return random_counts(20, 12, 15, seed=5, n_topics=2)


# ---- Bad input ---------------------------------------------------------------------------------------------


def spoilt(value):
    X = np.ones((3, 4))
    X[1, 2] = value
    return X


BAD_CELLS = [(np.nan, "NaN"), (np.inf, "infinity"), (-1.0, "Negative"), (0.5, "fraction"), (1e9, "huge")]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array], ids=str)
@pytest.mark.parametrize(("value", "message"), BAD_CELLS, ids=[message for _, message in BAD_CELLS])
def test_bad_cell(value, message, form):
    """The cell is named, wherever it is met."""
    lda = quick().fit(np.ones((3, 4), int))
    before = fitted_bytes(lda, np.ones((3, 4)))
    for method in (quick().fit, quick().fit_transform, lda.transform, lda.score, lda.perplexity, lda.partial_fit):
        with pytest.raises(CorpusError, match=rf"{message}.*row 1, column 2") as caught:
            method(form(spoilt(value)))
        assert (caught.value.row, caught.value.column) == (1, 2)
        assert isinstance(caught.value, ValueError)
    assert fitted_bytes(lda, np.ones((3, 4))) == before


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 4)), r"0 sample\(s\).*no documents"),
        (np.zeros((3, 0)), r"0 feature\(s\).*no words"),
        (np.zeros((3, 4)), "every document is empty"),
        (sparse.csr_array((3, 4)), "every document is empty"),
        (sparse.csr_array((0, 4)), "no documents"),
        (np.ones(4), "Expected 2D array"),
        (np.ones((2, 2, 2)), "Expected 2D array"),
        (np.ones((2, 2)) * 1j, "Complex"),
        (["1", "2 3"], "every document is empty: no word is left of 2"),
        ([["a", "b"], ["c", "d"]], "from_tokens"),
        ([[1, 2], [3]], "equally long"),
    ],
)
def test_bad_matrix(X, message):
    for method in (quick().fit, quick().partial_fit, quick().fit_transform):
        with pytest.raises(CorpusError, match=message):
            method(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, Corpus.from_counts], ids=["dense", "csr", "corpus"])
def test_wrong_number_of_columns(form, few):
    lda = quick().fit(few)
    for wrong in (few[:, :-1], np.hstack([few, few])):
        for method in (lda.transform, lda.score, lda.perplexity, lda.partial_fit):
            with pytest.raises(CorpusError, match=rf"{wrong.shape[1]} (features|words).*12"):
                method(form(wrong))


def variants(X):
    """The same counts in every form that is accepted."""
    canonical = sparse.csr_array(X)
    yield "csr_matrix", sparse.csr_matrix(X)
    yield "csc", sparse.csc_array(X)
    yield "coo", sparse.coo_array(X)
    yield "float", X.astype(float)
    yield "float32, Fortran order", np.asfortranarray(X.astype(np.float32))
    yield "list", X.tolist()
    read_only = X.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    frozen = canonical.copy()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    yield "read-only csr", frozen
    wide = canonical.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "int64 indices", wide
    backwards = [np.s_[canonical.indptr[d] : canonical.indptr[d + 1]] for d in range(len(X))]
    indices = np.concatenate([canonical.indices[row][::-1] for row in backwards])
    data = np.concatenate([canonical.data[row][::-1] for row in backwards])
    yield "unsorted", sparse.csr_array((data, indices, canonical.indptr), shape=X.shape)
    # Every count is one less, and one more comes at the end of its row.
    twice = [np.concatenate((canonical.indices[row], canonical.indices[row][::-1])) for row in backwards]
    parts = [np.concatenate((canonical.data[row] - 1, np.ones_like(canonical.data[row]))) for row in backwards]
    duplicates = (np.concatenate(parts), np.concatenate(twice), 2 * canonical.indptr)
    yield "duplicates", sparse.csr_array(duplicates, shape=X.shape)


def test_any_form_gives_the_same_bytes(few):
    expected = fitted_bytes(quick().fit(sparse.csr_array(few)), few)
    tried = []
    for form, X in variants(few):
        before = pickle.dumps(X)
        lda = quick().fit(X)
        assert fitted_bytes(lda, X) == expected, form
        assert pickle.dumps(X) == before, f"{form}: the input was changed"
        tried.append(form)
    assert len(tried) == 11


@pytest.mark.parametrize("prior", [None, [0.5, 0.2, 0.3], "learn"], ids=["default", "asymmetric", "learn"])
def test_empty_documents_are_kept(prior, few):
    """Rows out are rows in, each sums to 1, and a document without known words gets the prior's mean."""
    X = np.vstack([np.zeros_like(few[:1]), few, np.zeros_like(few[:2])])
    lda = quick(doc_topic_prior=prior, n_sweeps=20).fit(X)
    mean = lda.doc_topic_prior_ / lda.doc_topic_prior_.sum()
    empty = X.sum(1) == 0
    assert empty.sum() >= 3
    assert lda.doc_topic_.shape == (len(X), 3)
    np.testing.assert_allclose(lda.doc_topic_.sum(1), 1, atol=1e-5)
    if prior != "learn":  # else the mean was another at each sample
        np.testing.assert_allclose(lda.doc_topic_[empty], np.tile(mean, (empty.sum(), 1)), rtol=1e-6)
    for form in (np.asarray, sparse.csr_array, Corpus.from_counts):
        theta = lda.transform(form(X))
        assert theta.shape == (len(X), 3)
        assert theta.dtype == np.float64
        assert np.abs(theta.sum(1) - 1).max() < 1e-9
        assert theta.min() > 0
        np.testing.assert_allclose(theta[empty], np.tile(mean, (empty.sum(), 1)), rtol=1e-12)
        assert np.abs(theta[~empty] - mean).max() > 0.1
    nothing = lda.transform(np.zeros((2, few.shape[1])))
    np.testing.assert_allclose(nothing, [mean, mean], rtol=1e-12)
    assert lda.transform(sparse.csr_array((0, few.shape[1]))).shape == (0, 3)


def test_words_of_no_training_document(few):
    """A word that training never saw says nothing: every topic gives it the same small probability."""
    X = np.hstack([few, np.zeros((len(few), 1), int)])
    lda = quick(n_topics=2).fit(X)
    unseen = lda.components_[:, -1]
    assert (unseen > 0).all()
    theta = lda.transform(np.eye(len(X[0]), dtype=int)[-1:])
    assert np.abs(theta.sum() - 1) < 1e-9


# ---- Parameters --------------------------------------------------------------------------------------------

WHOLE = [0, -1, 2.5, True, "3", None, np.nan]
BAD_PARAMETERS = [
    *[("n_topics", value) for value in WHOLE],
    *[("n_chains", value) for value in WHOLE],
    *[("infer_sweeps", value) for value in WHOLE],
    *[("n_sweeps", value) for value in WHOLE if value is not None],
    *[("n_samples", value) for value in WHOLE],
    *[("burn_in", value) for value in (10, 11, -1, 2.5, True, "3", np.nan)],
    *[("doc_topic_prior", value) for value in (0, -0.1, np.nan, np.inf, "learned", True, [0.1, 0.2], [0.1] * 4)],
    *[("doc_topic_prior", value) for value in ([0.1, 0, 0.1], [0.1, np.nan, 0.1], [0.1, -1, 0.1], [[0.1] * 3])],
    *[("topic_word_prior", value) for value in (0, -0.1, np.nan, np.inf, "learned", True, [0.1, 0.2])],
    *[("sampler", value) for value in ("gibbs", "", None, 3, "Auto", ["auto"])],
    *[("n_jobs", value) for value in (0, 1.5, "2", np.nan)],
    *[("max_seconds", value) for value in (0, -1, np.nan, "60")],
    *[("tol", value) for value in (0, -1e-3, np.nan, "small")],
    *[("random_state", value) for value in (-1, 2**32, "seed", 0.5)],
    *[("callbacks", value) for value in (print, ["no function"], 3)],
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS, ids=[f"{n}={v!r}" for n, v in BAD_PARAMETERS])
def test_bad_parameter(name, value, few, monkeypatch):
    """An error that begins with the name, before any sampling."""

    def no_sampling(*arguments, **more):
        raise AssertionError("sampling began")

    monkeypatch.setattr(topoi.chain.engines.choose, "new_state", no_sampling)
    with pytest.raises(ParameterError, match=rf"^{name}: ") as caught:
        quick(**{name: value}).fit(few)
    assert caught.value.parameter == name
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("name", "value"), [("infer_sweeps", 0), ("infer_sweeps", 2.5), ("n_jobs", 0), ("n_jobs", "2")]
)
def test_bad_parameter_set_after_fit(name, value, few):
    lda = quick().fit(few).set_params(**{name: value})
    with pytest.raises(ParameterError, match=rf"^{name}: "):
        lda.transform(few)
    with pytest.raises(ParameterError, match=rf"^{name}: "):
        lda.partial_fit(few)


def test_number_of_topics_cannot_change_in_partial_fit(few):
    lda = quick().fit(few).set_params(n_topics=4)
    with pytest.raises(ParameterError, match=r"^n_topics: .*3"):
        lda.partial_fit(few)


def test_good_parameters(few):
    for parameters in [
        {"n_topics": np.int64(2), "n_sweeps": np.int32(5), "n_samples": np.int64(2), "burn_in": np.int64(1)},
        {"doc_topic_prior": np.float32(0.5), "topic_word_prior": 1},
        {"doc_topic_prior": np.array([0.1, 0.2, 0.3])},
        {"random_state": np.random.RandomState(0), "n_jobs": -1},
        {"random_state": None, "n_jobs": np.int64(2), "max_seconds": 10, "tol": np.float64(1e-9)},
        {"burn_in": 0, "callbacks": ()},
    ]:
        theta = quick(**parameters).fit(few).transform(few)
        assert np.abs(theta.sum(1) - 1).max() < 1e-9
    np.testing.assert_allclose(quick(doc_topic_prior=[0.1, 0.2, 0.3]).fit(few).doc_topic_prior_, [0.1, 0.2, 0.3])


def test_bad_top_words(few):
    lda = quick().fit(few)
    with pytest.raises(ParameterError, match=r"^vocabulary: .*2 words.*12"):
        lda.top_words(3, ["a", "b"])
    for n in (-1, 2.5, "3"):
        with pytest.raises(ParameterError, match=r"^n: "):
            lda.top_words(n)


# ---- Edges -------------------------------------------------------------------------------------------------

EDGES = {
    "one topic": (1, [[3, 2, 0], [0, 1, 1]]),
    "more topics than tokens": (40, [[1, 0, 2], [0, 0, 0], [0, 1, 0]]),
    "one document": (3, [[4, 1, 2, 5]]),
    "one word": (3, [[4], [0], [1]]),
    "one token": (2, [[0, 1, 0]]),
    "one of each": (1, [[1]]),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("sampler", ALL)
def test_edges(sampler, edge):
    n_topics, X = EDGES[edge]
    X = np.array(X)
    lda = quick(n_topics=n_topics, sampler=sampler).fit(X)
    assert lda.components_.shape == (n_topics, X.shape[1])
    np.testing.assert_allclose(lda.components_.sum(1), 1, atol=1e-9)
    np.testing.assert_array_equal(lda.model_.last_counts.toarray().sum(1), X.sum(0))
    np.testing.assert_array_equal(lda.model_.counts.toarray().sum(1), 2 * X.sum(0))
    np.testing.assert_allclose(lda.doc_topic_.sum(1), 1, atol=1e-5)
    theta = lda.transform(X)
    assert theta.shape == (len(X), n_topics)
    assert np.abs(theta.sum(1) - 1).max() < 1e-9
    assert np.isfinite(lda.log_joint_).all()
    assert np.isfinite(lda.score(X))
    assert len(lda.top_words(2)) == n_topics
    lda.partial_fit(X)
    np.testing.assert_array_equal(lda.model_.last_counts.toarray().sum(1), 2 * X.sum(0))


def test_one_topic_is_the_unigram(few):
    """With one topic nothing is random: φ is the share of each word, with β added."""
    lda = quick(n_topics=1, topic_word_prior=0.5).fit(few)
    n_w = few.sum(0)
    np.testing.assert_allclose(lda.components_[0], (n_w + 0.5) / (n_w.sum() + 0.5 * len(n_w)), rtol=1e-12)
    np.testing.assert_array_equal(lda.transform(few), 1)


def test_memory_per_token(few):
    """Words and topics together take at most 6 bytes per token up to 65,536 topics, 8 above."""
    states = {}
    for n_topics, size in [(1, 2), (2**16, 2), (2**16 + 1, 4)]:
        assert np.dtype(topic_dtype(n_topics)).itemsize == size
        corpus = Corpus.from_counts(few)
        states[n_topics] = new_state(corpus, fixed_priors(np.full(n_topics, 0.01), 0.01), 0)
        assert states[n_topics].corpus.words.nbytes + states[n_topics].z.nbytes == (4 + size) * corpus.n_tokens
        assert states[n_topics].z.max() < n_topics
    assert states[2**16].z.dtype == np.uint16
    assert states[2**16].z.max() > 2**15  # all two bytes are used
    assert states[2**16 + 1].z.dtype == np.uint32


@pytest.mark.slow  # every kernel is compiled anew for topics of four bytes
def test_more_topics_than_two_bytes():
    lda = quick(n_topics=2**16 + 2, n_sweeps=2, n_samples=1).fit([[2, 1], [0, 3]])
    assert lda.transform([[1, 0]]).shape == (1, 2**16 + 2)
    assert lda.model_.last_counts.sum() == 6

"""`n_topics="auto"`: how many topics are found, with every engine, for every estimator, and in files."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier, MedLDARegressor
from topoi.chain.loop import Schedule
from topoi.errors import ParameterError
from topoi.estimators.number_of_topics import LEAST_FIRST, MOST_FIRST, first_number, posterior


def documents(n_topics, n_documents, seed, n_words=60, length=40):
    """Counts of documents with few topics each, of words that few topics share; and the most frequent topic of each."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.15), n_documents)
    return np.array([rng.multinomial(length, row @ phi) for row in theta]), theta.argmax(1)


X, MAIN = documents(6, 200, seed=2)
SETTINGS = {"n_sweeps": 120, "n_samples": 4, "random_state": 0, "sampler": "partial"}


def said(model):
    """All that a fit says."""
    found = [model.model_.counts.toarray(), model.doc_topic_, model.components_, model.transform(X[:20])]
    found += [model.doc_topic_prior_, model.n_topics_trace_, model.concentrations_, model.log_joint_]
    return [array.tobytes() for array in found]


@pytest.fixture(scope="module")
def fitted():
    return LDA("auto", **SETTINGS).fit(X)


def test_topics_are_found(fitted):
    assert abs(fitted.n_topics_posterior_.mean - 6) <= 1.5
    mean, low, high = fitted.n_topics_posterior_  # the mean of a few sweeps with 7 topics is beyond 6 to 6
    assert low <= round(mean) <= high
    assert fitted.n_topics_trace_[0, 1] == LEAST_FIRST  # it began with more


def test_all_parts_have_as_many_topics(fitted):
    n = fitted.n_topics_
    assert fitted.components_.shape == (n, X.shape[1])
    assert fitted.doc_topic_.shape == (len(X), n)
    assert fitted.transform(X[:3]).shape == (3, n)
    assert len(fitted.doc_topic_prior_) == len(fitted.model_.alpha) == n
    assert fitted.model_.counts.shape == fitted.model_.last_counts.shape == (X.shape[1], n)
    np.testing.assert_allclose(fitted.doc_topic_.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(fitted.components_.sum(1), 1)


def test_no_token_is_lost(fitted):
    """Those of topics that are too small to count are counted with others."""
    assert fitted.model_.topic_counts.sum() == X.sum()
    assert fitted.model_.topic_counts.min() >= 0.001 * X.sum() - 1
    assert fitted.model_.last_counts.sum() == X.sum()


def test_traces(fitted):
    assert fitted.n_topics_trace_[:, 0].tolist() == list(range(1, 121))
    assert fitted.concentrations_.shape == (120, 3)
    assert (fitted.concentrations_[:, 1:] > 0).all()


@pytest.mark.parametrize("more", [{"n_jobs": 2}, {"n_jobs": 4}, {"engine": "blocks"}], ids=str)
def test_the_same_bytes_everywhere(fitted, more):
    assert said(LDA("auto", **SETTINGS, **more).fit(X)) == said(fitted)


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(fitted, engine, tmp_path):
    """While topics are joined and added, and after."""
    for stop in (7, 30, 36, 59, 90):
        stopped = LDA("auto", **SETTINGS, engine=engine, callbacks=[lambda progress, stop=stop: progress.sweep == stop])
        stopped.fit(X, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    assert said(LDA("auto", **SETTINGS, engine=engine).fit(X, checkpoint=tmp_path)) == said(fitted)


def test_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = topoi.load(tmp_path / "model")
    assert said(loaded) == said(fitted)
    assert loaded.n_topics == "auto"
    assert loaded.n_topics_posterior_ == fitted.n_topics_posterior_


def test_new_documents_get_the_topics_that_are_there(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    other = topoi.load(tmp_path / "model")
    n = other.n_topics_
    other.partial_fit(X[:50])
    assert other.n_topics_ == n


def test_callbacks_hear_of_it():
    heard = []
    LDA("auto", n_sweeps=3, random_state=0, callbacks=[lambda progress: heard.append(progress.info["n_topics"])]).fit(X)
    assert len(heard) == 3


@pytest.mark.parametrize("refit", [True, False])
def test_classes(refit):
    model = MedLDAClassifier("auto", refit=refit, **SETTINGS).fit(X[:150], MAIN[:150])
    assert model.topic_weights_.shape[1] == model.n_topics_
    assert model.score(X[150:], MAIN[150:]) > 0.6
    # No claim of six: the labels pull topics apart, and joins do not look at them.
    assert 6 <= model.n_topics_posterior_.mean < LEAST_FIRST / 2


def test_classes_one_by_one():
    model = MedLDAClassifier("auto", strategy="ovr", n_sweeps=30, random_state=0).fit(X, MAIN % 3)
    assert model.n_topics_ == sum(one.n_topics_ for one in model.estimators_) == len(model.components_)


def test_classes_in_blocks():
    one, other = (
        MedLDAClassifier("auto", engine=engine, refit=False, **SETTINGS).fit(X, MAIN % 2) for engine in (None, "blocks")
    )
    assert said(one) == said(other)
    assert one.topic_weights_.tobytes() == other.topic_weights_.tobytes()


def test_numbers():
    model = MedLDARegressor("auto", **SETTINGS).fit(X, MAIN.astype(float))
    assert np.isfinite(model.predict_interval(X[:5])).all()
    assert np.isfinite(model.predict(X[:5])).all()


# ---- Errors, and rules -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["foo", "", 0, 2.5, None, True])
def test_what_is_no_number_of_topics(wrong):
    with pytest.raises(ParameterError, match="n_topics"):
        LDA(wrong).fit(X)


@pytest.mark.parametrize("alpha", [0.1, "learn", [0.1, 0.2]])
def test_a_prior_besides(alpha):
    with pytest.raises(ParameterError, match="doc_topic_prior") as caught:
        LDA("auto", doc_topic_prior=alpha).fit(X)
    assert "leave it out with n_topics=" in str(caught.value)


def test_a_number_that_was_given_has_no_posterior():
    model = LDA(3, n_sweeps=2, random_state=0).fit(X)
    assert model.n_topics_ == 3
    with pytest.raises(AttributeError, match="auto"):
        _ = model.n_topics_posterior_


def test_a_given_number_is_kept_by_the_same_prior():
    """`doc_topic_prior="hdp"` with a number: topics that the corpus does not need stay, empty."""
    model = LDA(12, doc_topic_prior="hdp", n_sweeps=20, random_state=0).fit(X)
    assert model.n_topics_ == 12


def test_the_first_number():
    def of(n_tokens):
        return first_number(Corpus(np.zeros(n_tokens, np.int32), np.array([0, n_tokens]), 1))

    assert of(10) == LEAST_FIRST
    assert of(60_000) == 120
    assert of(9_000_000) == MOST_FIRST


def test_the_posterior_is_of_sweeps_after_the_burn_in():
    trace = np.column_stack((np.arange(1, 11), [90, 80, 70, 60, 50, 5, 6, 7, 6, 6])).astype(float)
    found = posterior(trace, Schedule(10))
    assert found == (6.0, 5, 7)
    assert posterior(trace[:3], Schedule(10)) == (70.0, 70, 70)  # stopped before


# ---- Recovery --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("n_documents", "seed", "first"), [(1000, 5, 200), (2500, 6, 500)])
def test_thirty_topics(n_documents, seed, first):
    """From documents drawn from the model, with default settings; `first` is the number that the chain begins with."""
    counts, _ = documents(30, n_documents, seed, n_words=1000, length=100)
    model = LDA("auto", random_state=0).fit(counts)
    assert model.n_topics_trace_[0, 1] == first
    assert abs(model.n_topics_posterior_.mean - 30) <= 3


def test_beta_is_learned_unless_given():
    learned, given = (LDA("auto", n_sweeps=12, random_state=0, topic_word_prior=beta).fit(X) for beta in (None, 0.3))
    assert learned.model_.priors.words.name == "learned"
    assert given.topic_word_prior_ == 0.3
    assert LDA(3, n_sweeps=2, random_state=0).fit(X).topic_word_prior_ == 0.01

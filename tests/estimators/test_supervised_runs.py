"""Runs of the supervised estimators: the same bytes, chains, callbacks, Ctrl-C."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from support.labelled import LOSSES, REGRESSION_LOSSES, Documents, fitted_bytes, quick, quick_regressor
from topoi import Corpus, InterruptedFitWarning


@pytest.fixture(scope="module")
def blocks():
    """Documents in several blocks, so that threads share the work."""
    documents = Documents(500, seed=3)
    assert len(Corpus.from_counts(documents.X).block_ptr) > 4
    return documents


@pytest.mark.parametrize("kind", ["two", "several", "numbers"])
@pytest.mark.parametrize("n_gibbs", [0, 2])
def test_same_bytes_for_any_number_of_threads(n_gibbs, kind, blocks):
    losses = REGRESSION_LOSSES if kind == "numbers" else LOSSES
    make = quick_regressor if kind == "numbers" else quick
    for loss in losses:
        results = []
        for n_jobs in (1, 2, 4):
            model = make(loss=loss, n_gibbs=n_gibbs, n_jobs=n_jobs).fit(blocks.X, getattr(blocks, kind))
            results.append([*fitted_bytes(model, blocks.X), model.predict(blocks.X).tobytes()])
        assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("make", [quick, quick_regressor])
def test_random_state(make, train, test):
    y = train.many if make is quick else train.number
    first = fitted_bytes(make(random_state=7).fit(train.X, y), test.X)
    assert fitted_bytes(make(random_state=7).fit(train.X, y), test.X) == first
    assert fitted_bytes(make(random_state=8).fit(train.X, y), test.X) != first
    again = make(random_state=7).fit(train.X, y[::-1]).fit(train.X, y)  # a second fit starts from nothing
    assert fitted_bytes(again, test.X) == first


def test_documents_are_scored_each_by_itself(fitted, test):
    for model in fitted.values():
        together = model.decision_function(test.X[:20])
        for d in (0, 7, 19):
            np.testing.assert_allclose(model.decision_function(test.X[d : d + 1])[0], together[d], rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_chains(loss, train, test):
    """Scores are averaged over chains; chain 0 is what one chain would be; the best chain is the model."""
    alone = quick(loss=loss, n_sweeps=12).fit(train.X, train.many)
    results = []
    for n_jobs in (1, 2):
        model = quick(loss=loss, n_sweeps=12, n_chains=2, n_jobs=n_jobs).fit(train.X, train.many)
        results.append([*fitted_bytes(model, test.X), model.predict(test.X).tobytes()])
    assert results[0] == results[1]
    assert len(model.chains_) == 2
    np.testing.assert_array_equal(model.chains_[0].counts.toarray(), alone.model_.counts.toarray())
    assert any(model.model_ is chain for chain in model.chains_)
    both, first = (fitted._samples(test.X, None)[0][0].mean(0) for fitted in (model, alone))
    second = 2 * both - first  # the mean of the two: what remains must be the second chain's
    assert np.abs(second - first).max() > 1e-3
    shown = np.array([[reason.score for reason in document] for document in model.explain(test.X)])
    np.testing.assert_allclose(shown, second if model.model_ is model.chains_[1] else first, atol=1e-6)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("at", [1, 5])
@pytest.mark.parametrize("n_chains", [1, 2])
def test_interrupt(n_chains, at, train, test):
    """The model so far, which predicts, before the first sample was due and after it."""

    def press(progress):
        if progress.sweep == at and progress.chain == 0:
            os.kill(os.getpid(), signal.SIGINT)  # as the terminal does

    for model, y in [(quick(n_chains=n_chains), train.many), (quick_regressor(n_chains=n_chains), train.number)]:
        model.set_params(callbacks=[press], n_sweeps=2000, burn_in=3, n_samples=1997)
        before = signal.getsignal(signal.SIGINT)
        with pytest.warns(InterruptedFitWarning, match="of 2000 sweeps"):
            model.fit(train.X, y)
        assert signal.getsignal(signal.SIGINT) is before
        assert model.stopped_ == "interrupted"
        assert at <= model.n_sweeps_ < 2000
        assert model.predict(test.X).shape == (len(test.X),)
        assert np.isfinite(model.topic_weights_).all()
        assert model.topic_weights_.any()
        assert len(model.explain(test.X[:2])) == 2


def test_stopped_by_a_callback(train, test):
    """The bytes of a run of so many sweeps."""
    stopped = quick(n_sweeps=50, burn_in=0, n_samples=50, callbacks=[lambda progress: progress.sweep == 6])
    whole = quick(n_sweeps=6, burn_in=0, n_samples=6)
    first, second = (model.fit(train.X, train.many) for model in (stopped, whole))
    assert (first.stopped_, second.stopped_) == ("callback", "finished")
    assert first.decision_function(test.X).tobytes() == second.decision_function(test.X).tobytes()

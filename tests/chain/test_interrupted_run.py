"""Ctrl-C while the loop runs: the sweep in hand is finished, and the model so far is there."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from support.corpora import random_counts
from support.running import Record, fresh
from topoi import LDA, Corpus, InterruptedFitWarning
from topoi._machine.interrupt import Interrupt
from topoi.chain.loop import Schedule, run
from topoi.chain.plan import Plan
from topoi.chain.state import topic_counts


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_counts(random_counts(60, 40, 30, seed=6))


@pytest.fixture
def handler():
    """A SIGINT handler of our own, which counts; what was there before comes back at the end."""
    calls = []

    def mine(number, frame):
        calls.append(number)

    mine.calls = calls
    before = signal.signal(signal.SIGINT, mine)
    yield mine
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("at", [1, 7, 14])
@pytest.mark.parametrize("sampler", ["auto", "collapsed", "polya_urn"])
def test_interrupt(sampler, at, corpus, handler):
    """The sweep in hand is finished and the model so far is returned, with a warning."""

    def press(progress):
        if progress.sweep == at:
            signal.raise_signal(signal.SIGINT)

    lda = LDA(4, sampler=sampler, n_sweeps=20, n_samples=5, random_state=0, n_jobs=2, callbacks=[press])
    with pytest.warns(InterruptedFitWarning, match=rf"after {at} of 20 sweeps") as caught:
        lda.fit(corpus)
    assert caught[0].filename == __file__
    assert signal.getsignal(signal.SIGINT) is handler
    assert handler.calls == []
    assert (lda.stopped_, lda.n_sweeps_) == ("interrupted", at)
    same = LDA(4, sampler=sampler, n_sweeps=20, n_samples=5, random_state=0, callbacks=[Record(at)]).fit(corpus)
    assert lda.components_.tobytes() == same.components_.tobytes()
    assert lda.doc_topic_.tobytes() == same.doc_topic_.tobytes()
    np.testing.assert_array_equal(lda.model_.last_counts.toarray().sum(1), corpus.word_counts)
    np.testing.assert_array_equal(lda.model_.counts.toarray().sum(1), lda.model_.n_samples * corpus.word_counts)
    assert np.abs(lda.transform(corpus).sum(1) - 1).max() < 1e-9


def test_interrupted_state_is_consistent(corpus):
    pressed = Record()
    found = run(
        fresh(corpus), Plan("sparse", "sparse"), Schedule(20, 3), callbacks=[pressed],
        interrupted=lambda: len(pressed.seen) >= 6,
    )  # fmt: skip
    assert (found.stopped, found.n_sweeps, found.state.sweep) == ("interrupted", 6, 6)
    np.testing.assert_array_equal(found.model.last_counts.toarray(), topic_counts(found.state)[0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_of_chains(n_jobs, corpus, handler):
    """Every chain stops, also those that run in other threads."""

    def press(progress):
        if progress.sweep == 5 and progress.chain == 0:
            os.kill(os.getpid(), signal.SIGINT)  # as the terminal does: to the process, not to a thread

    lda = LDA(4, n_sweeps=5000, n_chains=2, n_jobs=n_jobs, random_state=0, callbacks=[press])
    with pytest.warns(InterruptedFitWarning):
        lda.fit(corpus)
    assert lda.stopped_ == "interrupted"
    assert lda.n_sweeps_ < 5000
    assert len(lda.chains_) == 2
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_two_interrupts_raise(n_jobs, corpus, handler):
    def press(progress):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    lda = LDA(4, n_sweeps=20, random_state=0, n_jobs=n_jobs, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        lda.fit(corpus)
    assert signal.getsignal(signal.SIGINT) is handler
    assert not hasattr(lda, "model_")


def test_interrupt_of_partial_fit(corpus, handler):
    lda = LDA(4, n_sweeps=20, random_state=0).fit(corpus)
    lda.set_params(callbacks=[lambda progress: signal.raise_signal(signal.SIGINT)])
    with pytest.warns(InterruptedFitWarning, match="after 1 of 20"):
        lda.partial_fit(corpus)
    np.testing.assert_array_equal(lda.model_.last_counts.toarray().sum(1), 2 * corpus.word_counts)


def test_ignored_interrupts_stay_ignored(handler):
    """Where the user said that Ctrl-C is not for this process (nohup, background jobs), it is not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert not interrupt.requested
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_fit_in_another_thread(corpus, handler):
    """Only the main thread may listen to signals; a fit elsewhere works and leaves them alone."""
    result = []

    def work():
        lda = LDA(4, n_sweeps=10, random_state=0, n_jobs=2, callbacks=[lambda p: seen.append(signal.getsignal(2))])
        result.append(lda.fit(corpus))

    seen: list[object] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert set(seen) == {handler}
    assert result[0].components_.tobytes() == LDA(4, n_sweeps=10, random_state=0).fit(corpus).components_.tobytes()

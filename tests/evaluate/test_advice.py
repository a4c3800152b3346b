"""Whether more sweeps would help, in words."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import LDA
from topoi.evaluate import convergence_in_words
from topoi.evaluate.advice import gain_at_the_end

X = np.kron(np.eye(3, dtype=int), np.full((4, 3), 2)) + 1
SWEEPS = np.arange(10, 101, 10)


@pytest.fixture
def lda():
    return LDA(2, n_sweeps=100, n_samples=2, random_state=0).fit(X)


def with_traces(lda, *values, rhat=np.nan):
    lda.traces_ = [np.column_stack((SWEEPS, value)) for value in values]
    lda.rhat_ = rhat
    return convergence_in_words(lda)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.01, "More sweeps would help: at the end the log joint still gained 1.0% in 10 sweeps. Try 200 sweeps."),
        (0.0005, "More sweeps may help a little: at the end the log joint gained 0.05% in 10 sweeps"),
        (0.0001, "More sweeps would change little: the log joint has levelled off."),
        (-0.01, "More sweeps would change little"),
    ],
)
def test_by_the_gain_at_the_end(lda, gain, words):
    values = -1000.0 + 1000.0 * gain * (np.arange(10) - 9)
    assert gain_at_the_end(np.column_stack((SWEEPS, values))) == pytest.approx(gain)
    assert with_traces(lda, values).startswith(words)
    level = np.full(10, -1000.0)
    assert with_traces(lda, level, values).startswith(words)  # the worst chain counts
    early = np.concatenate((np.linspace(-5000, -1000, 6), np.full(4, -1000.0)))
    assert "levelled off" in with_traces(lda, early)  # how it got there does not


def test_chains(lda):
    level = np.full(10, -1000.0)
    assert with_traces(lda, level, rhat=1.02).endswith("The chains agree (R-hat 1.02).")
    assert "The chains differ (R-hat 1.40)" in with_traces(lda, level, rhat=1.4)
    assert "chain" not in with_traces(lda, level)


def test_too_few_sweeps_to_tell(lda):
    lda.traces_ = [np.zeros((0, 2))]
    assert convergence_in_words(lda) == "There were too few sweeps to tell whether more would help."
    lda.traces_ = [np.array([[10.0, -5.0]])]
    assert "too few" in convergence_in_words(lda)

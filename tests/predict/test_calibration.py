"""Probabilities from scores: true ones are recovered, thresholds maximise micro-F1, rare labels stay near others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import f1_score

from topoi._disk.store import ModelError
from topoi.predict.calibration import (
    Calibration,
    best_threshold,
    calibrate_each,
    calibrate_one_of_many,
    to_probabilities,
    usual_calibration,
)


def test_one_of_many_is_recovered():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 4))
    intercept = np.array([0.5, -0.5, 0.3, -0.3])
    p = softmax(3.0 * scores + intercept, axis=1)
    right = (rng.random((len(p), 1)) > p.cumsum(1)).sum(1)
    found, loss = calibrate_one_of_many(scores, right, np.ones(len(p)))
    np.testing.assert_allclose(found.slope, 3.0, atol=0.15)
    np.testing.assert_allclose(found.intercept - found.intercept.mean(), intercept, atol=0.1)
    assert loss == pytest.approx(-np.log(p[np.arange(len(p)), right]).mean(), abs=0.002)
    np.testing.assert_allclose(to_probabilities(found.log_odds(scores), True).sum(1), 1)


def test_each_label_is_recovered():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20_000, 3))
    slope, intercept = np.array([1.0, 2.0, 4.0]), np.array([-1.0, 0.0, 1.0])
    p = expit(slope * scores + intercept)
    targets = np.where(rng.random(p.shape) < p, 1.0, -1.0)
    targets[:50, 1] = np.nan
    found, loss = calibrate_each(scores, targets, np.ones_like(p))
    np.testing.assert_allclose(found.slope, slope, rtol=0.08)
    np.testing.assert_allclose(found.intercept, intercept, atol=0.12)
    known = ~np.isnan(targets)
    assert loss == pytest.approx(-np.log(np.where(targets > 0, p, 1 - p))[known].mean(), abs=0.002)


def test_a_label_that_few_have_stays_near_the_others():
    """Two documents cannot say that it is certain."""
    scores = np.array([[0.5, 0.5], [-0.5, -0.5]] * 500)
    targets = np.array([[1.0, np.nan], [-1.0, np.nan]] * 500)
    targets[:2, 1] = 1.0, -1.0
    targets[::10, 0] *= -1
    found, _ = calibrate_each(scores, targets, np.ones_like(scores))
    assert abs(np.log(found.slope[1] / found.slope[0])) < 0.2
    assert np.isfinite(found.slope).all()


def test_weights_count_as_copies():
    rng = np.random.default_rng(2)
    scores, weight = rng.normal(size=(300, 1)), np.ones((300, 1))
    targets = np.where(rng.random((300, 1)) < expit(2 * scores), 1.0, -1.0)
    twice = np.concatenate([np.arange(300), np.arange(100)])
    weight[:100] = 2.0
    a, _ = calibrate_each(scores, targets, weight)
    b, _ = calibrate_each(scores[twice], targets[twice], np.ones((400, 1)))
    np.testing.assert_allclose([a.slope, a.intercept], [b.slope, b.intercept], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("at_least_one", [False, True])
def test_threshold_maximises_micro_f1(at_least_one):
    rng = np.random.default_rng(3)
    log_odds = rng.normal(-1.5, 1.2, (400, 6))
    has = rng.random(log_odds.shape) < expit(log_odds)

    def f1(threshold):
        said = log_odds > threshold
        if at_least_one:
            said |= log_odds >= log_odds.max(1, keepdims=True)
        return f1_score(has, said, average="micro")

    found = best_threshold(log_odds, has, at_least_one)
    assert f1(found) == pytest.approx(max(f1(t) for t in np.linspace(-3, 1, 81)))
    assert f1(found) > f1(0.0)


@pytest.mark.parametrize("wrong", [
    Calibration(np.ones(2), np.zeros(3)), Calibration(np.array([1.0, np.nan, 1.0]), np.zeros(3)),
    Calibration(np.ones(3), np.zeros(3), np.inf),
])  # fmt: skip
def test_files_are_checked(wrong):
    usual_calibration(3).check_fits(3)
    with pytest.raises(ModelError):
        wrong.check_fits(3)

"""Costs, margins and weights of every size: a finite model, or an error that names the parameter and its limit."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from support.variants import slow_but
from topoi import MedLDAClassifier, MedLDARegressor, ParameterError
from topoi._machine.polya_gamma import polya_gamma
from topoi._machine.rng import new_stream
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.settings import STRONGEST

rng = np.random.default_rng(5)
X = rng.poisson(0.5, (24, 12)) + (np.arange(12) == 0)
LOSSES = {
    name: (*kind.setting_names(), *(["class_weight"] if kind.predicts == "labels" and not kind.ordered else []))
    for name, kind in RESPONSES.items()
}
SIZES = (1e-300, 1e-30, 1e-6, 1e6, STRONGEST)
PRIORS = (1 / STRONGEST, 1.0, STRONGEST)


def fitted(loss, n_gibbs=2, y=None, **settings):
    short = {"n_sweeps": 4, "n_samples": 2, "random_state": 0, "n_gibbs": n_gibbs}
    if "class_weight" in settings:
        settings["class_weight"] = {0: settings["class_weight"], 1: 1.0}
        settings.setdefault("cost", 1.0)
    if RESPONSES[loss].predicts == "labels":
        return MedLDAClassifier(3, loss=loss, **short, **settings).fit(X, np.arange(24) % 2 if y is None else y)
    return MedLDARegressor(3, loss=loss, **short, **settings).fit(X, np.arange(24.0))


def assert_finite(model):
    for name in ("topic_weights_", "topic_weights_std_", "doc_topic_"):
        assert np.isfinite(getattr(model, name)).all(), name
    answers = model.decision_function(X) if hasattr(model, "classes_") else model.predict_interval(X)
    assert np.isfinite(answers).all()


@pytest.mark.parametrize(
    ("loss", "n_gibbs"),
    slow_but(
        [("squared", 0), *((loss, 2) for loss in LOSSES)], [(loss, n_gibbs) for loss in LOSSES for n_gibbs in (0, 2)]
    ),
)
def test_sizes_that_work(loss, n_gibbs):
    """Each alone, and all at once at either end."""
    names = LOSSES[loss]
    alike = [name for name in names if name != "class_weight"]
    cases = [{name: size} for name in names for size in SIZES]
    cases += [dict.fromkeys(alike, size) | {"weight_prior": prior} for size in SIZES for prior in PRIORS]
    with np.errstate(over="raise"):
        for case in cases:
            assert_finite(fitted(loss, n_gibbs, **case))


@pytest.mark.parametrize("size", [2 * STRONGEST, 1e18, 1e30, 1e300])
@pytest.mark.parametrize(("loss", "name"), [(loss, name) for loss, names in LOSSES.items() for name in names])
def test_sizes_that_are_refused(loss, name, size):
    with pytest.raises(ParameterError, match=rf"^{name}: .*must be at most 1e\+12"):
        fitted(loss, **{name: size})


@pytest.mark.parametrize("size", [1e-300, 0.5 / STRONGEST, 2 * STRONGEST, 1e300])
@pytest.mark.parametrize("loss", LOSSES)
def test_priors_that_are_refused(loss, size):
    with pytest.raises(ParameterError, match=r"^weight_prior: must be from 1e-12 to 1e\+12"):
        fitted(loss, weight_prior=size)


def test_a_cost_times_a_weight():
    with pytest.raises(ParameterError, match=re.escape("cost: 1e+07 times the largest weight of a document, 1e+07")):
        fitted("logistic", cost=1e7, class_weight=1e7)
    with pytest.raises(ParameterError, match=r"^positive_weight: must be at most"):
        fitted("hinge", y=np.arange(24) % 3, positive_weight=1e30)


@pytest.mark.parametrize("tilt", [0.0, 3.0, 20.0])
@pytest.mark.parametrize("shape", [1e6, 1e9, STRONGEST])
def test_polya_gamma_of_the_largest_shape(shape, tilt):
    """Its normal limit, within the error of Berry and Esseen (below 1e-3 here): Kolmogorov–Smirnov, level 1e-4."""
    stream = new_stream(3, 1, 0, 0)
    draws = np.array([polya_gamma(stream, shape, tilt) for _ in range(2000)])
    v = tilt / 2
    mean = shape / 4 * (math.tanh(v) / v if v else 1.0)
    spread = math.sqrt(shape / 16 * ((math.tanh(v) / v - 1 / math.cosh(v) ** 2) / v**2 if v else 2 / 3))
    assert stats.kstest((draws - mean) / spread, "norm").pvalue > 1e-4

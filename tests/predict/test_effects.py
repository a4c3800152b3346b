"""Effects by regression: the weights of other people's solvers, errors that cover, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from topoi._disk.store import ModelError
from topoi.errors import ParameterError
from topoi.predict import effects
from topoi.predict.effects import FAMILIES, Effects, estimate_effects, regress

N, K = 500, 4
FIRST = 0.8  # the true effect of the first column


def documents(family, seed, n=N, hetero=False):
    """Shares, two columns and targets."""
    rng = np.random.default_rng(seed)
    theta, columns = rng.dirichlet(np.full(K, 0.5), n), rng.normal(0, 1, (n, 2))
    f = theta @ np.array([1.0, -1.0, 0.5, 0.0]) + FIRST * columns[:, 0] - 0.3 * columns[:, 1]
    if family == "linear":
        y = f + rng.standard_t(5, n) * (0.3 + hetero * np.abs(columns[:, 0]))
    elif family == "log_odds":
        y = (rng.random(n) < 1 / (1 + np.exp(-f))).astype(float)
    else:
        y = rng.negative_binomial(2, 2 / (2 + np.exp(f))).astype(float)
    return theta, columns, y


def estimated(family, theta, columns, y):
    return estimate_effects(family, [theta], sparse.csr_array(columns), y[:, None], lambda weights: weights)


SOLVERS = {
    "linear": lambda: Ridge(alpha=1e-3, solver="cholesky"),
    "log_odds": lambda: LogisticRegression(C=1e3, tol=1e-10, max_iter=10_000),
    "log_ratio": lambda: PoissonRegressor(alpha=1e-3 / N, tol=1e-10, max_iter=10_000),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_weights_as_scikit_learn(family):
    theta, columns, y = documents(family, 0)
    table = np.column_stack((columns, theta[:, 1:]))
    precision = np.append(np.full(K + 1, 1e-3), 0.0)
    found, _ = regress(FAMILIES[family], np.column_stack((table, np.ones(N))), y, precision, K + 1)
    np.testing.assert_allclose(found, SOLVERS[family]().fit(table, y).coef_.ravel(), atol=2e-4)


def test_the_errors_of_mackinnon_and_white():
    """HC3, as it is written in their paper."""
    theta, columns, y = documents("linear", 1, 60, hetero=True)
    table = np.column_stack((columns, theta[:, 1:], np.ones(60)))
    _, root = regress(FAMILIES["linear"], table, y, np.zeros(table.shape[1]), 2)
    inverse = np.linalg.inv(table.T @ table)
    hat = table @ inverse @ table.T
    error = (y - hat @ y) / (1 - np.diag(hat))
    expected = inverse @ (table.T * error**2) @ table @ inverse
    np.testing.assert_allclose(root.T @ root, expected[:2, :2], rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover(family):
    """Of 200 samples with errors that are neither normal nor equal; 3.3 standard deviations of a share of 0.9."""
    inside = []
    for seed in range(200):
        found = estimated(family, *documents(family, seed, 300, hetero=True))
        effect = found.listed(["y"], ["a", "b"], 0.9)[0]
        inside.append(effect.low <= FIRST <= effect.high)
    assert abs(np.mean(inside) - 0.9) < 3.3 * np.sqrt(0.09 / 200)


def test_labels_that_topics_tell_apart_entirely():
    theta, columns, _ = documents("log_odds", 2)
    found = estimated("log_odds", theta, columns, (theta[:, 0] > 0.3).astype(float))
    assert np.isfinite(found.mean).all()
    assert (np.abs(found.mean) < 3 * found.error + 0.1).all()
    found = estimated("log_odds", theta, columns, (columns[:, 0] > 0).astype(float))
    assert np.isfinite(found.error).all()
    assert found.mean[0, 0] > 3


@pytest.mark.parametrize(("family", "y"), [("log_ratio", 0.0), ("log_odds", 1.0), ("linear", 7.0)])
def test_targets_that_are_all_the_same(family, y):
    theta, columns, _ = documents(family, 3)
    found = estimated(family, theta, columns, np.full(N, y))
    assert np.isfinite(found.mean).all()
    assert np.abs(found.mean).max() < 0.3


def test_unknown_targets_and_several_tasks():
    theta, columns, y = documents("linear", 4)
    half = np.where(np.arange(N) % 2 == 0, y, np.nan)
    both = estimate_effects("linear", [theta], sparse.csr_array(columns), np.column_stack((y, half)), lambda w: w)
    alone = estimated("linear", theta[::2], columns[::2], y[::2])
    assert both.mean.shape == (2, 2)
    np.testing.assert_allclose(both.mean[1], alone.mean[0], rtol=1e-2)
    assert (both.error[1] > both.error[0]).all()


def test_many_documents_are_thinned_out(monkeypatch):
    theta, columns, y = documents("linear", 5)
    whole = estimated("linear", theta, columns, y)
    monkeypatch.setattr(effects, "MOST_DOCUMENTS", N // 4)
    some = estimated("linear", theta, columns, y)
    np.testing.assert_allclose(some.error / whole.error, 2, rtol=0.3)


def test_too_many_columns_have_none(monkeypatch):
    monkeypatch.setattr(effects, "MOST_COLUMNS", 1)
    assert estimated("linear", *documents("linear", 6)) is None


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2])
def test_level(level):
    with pytest.raises(ParameterError, match="level"):
        Effects(np.zeros((1, 1)), np.ones((1, 1))).listed(["y"], ["a"], level)


@pytest.mark.parametrize("wrong", [
    Effects(np.zeros((1, 3)), np.ones((1, 3))), Effects(np.zeros((1, 2)), np.ones((2, 2))),
    Effects(np.full((1, 2), np.nan), np.ones((1, 2))), Effects(np.zeros((1, 2)), np.array([[1.0, -1.0]])),
])  # fmt: skip
def test_effects_of_a_damaged_file(wrong):
    Effects(np.zeros((1, 2)), np.ones((1, 2))).check_fits(1, 2)
    with pytest.raises(ModelError, match="effect"):
        wrong.check_fits(1, 2)

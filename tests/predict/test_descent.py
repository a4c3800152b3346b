"""The convex fit of weights: as scikit-learn has it, with weights and missing targets, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from topoi._machine.pool import Pool
from topoi.predict.descent import Table, fit_weights

N, V, J, TASKS = 120, 30, 4, 20


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    words = rng.random((N, V)) * (rng.random((N, V)) < 0.3)
    rest = rng.random((N, J))
    rest[:, -1] = 1.0
    return Table(sparse.csr_array(words.astype(np.float32)), rest.astype(np.float32))


@pytest.fixture(scope="module")
def both(table):
    return np.hstack([table.words.toarray(), table.rest])


@pytest.fixture(scope="module")
def labels(both):
    rng = np.random.default_rng(1)
    return np.sign(both @ rng.normal(size=(V + J, TASKS)) - 0.5 + 0.5 * rng.normal(size=(N, TASKS)))


def together(weights):
    return np.vstack([weights.words, weights.rest])


@pytest.mark.parametrize("strength", [0.05, 0.8, 3.0])
def test_labels_as_a_support_vector_machine(table, both, labels, strength):
    """The squared hinge loss of LinearSVC, whose columns have a constant among them already."""
    found = together(fit_weights(table, labels, np.ones_like(labels), strength, True, 0, Pool(1), 2000))
    for task in range(TASKS):
        svc = LinearSVC(C=strength, fit_intercept=False, tol=1e-7, max_iter=100_000).fit(both, labels[:, task])
        np.testing.assert_allclose(found[:, task], svc.coef_[0], atol=0.01 * max(np.abs(svc.coef_).max(), 0.1))


@pytest.mark.parametrize("strength", [0.05, 0.8])
def test_numbers_as_ridge_regression(table, both, strength):
    y = both @ np.random.default_rng(2).normal(size=(V + J, 3))
    found = together(fit_weights(table, y, np.ones_like(y), strength, False, 0, Pool(1), 2000))
    ridge = Ridge(alpha=1 / (2 * strength), fit_intercept=False).fit(both, y)
    np.testing.assert_allclose(found, ridge.coef_.T, atol=0.01 * np.abs(ridge.coef_).max())


def test_weights_of_documents_count_as_copies(table, labels):
    """A document of weight 2 is the same as two of weight 1."""
    twice = np.concatenate([np.arange(N), np.arange(10)])
    copied = Table(table.words[twice], table.rest[twice])
    weight = np.ones_like(labels)
    weight[:10] = 2.0
    a = together(fit_weights(table, labels, weight, 0.8, True, 0, Pool(1), 2000))
    b = together(fit_weights(copied, labels[twice], np.ones((N + 10, TASKS)), 0.8, True, 0, Pool(1), 2000))
    c = together(fit_weights(table, labels, np.ones_like(labels), 0.8, True, 0, Pool(1), 2000))
    assert np.abs(a - c).max() > 0.05
    np.testing.assert_allclose(a, b, atol=0.01)


def test_unknown_targets_and_weights_of_zero_have_no_say(table, labels):
    kept = np.arange(20, N)
    few = Table(table.words[kept], table.rest[kept])
    expected = together(fit_weights(few, labels[kept], np.ones((N - 20, TASKS)), 0.8, True, 0, Pool(1), 2000))
    unknown = labels.copy()
    unknown[:20] = np.nan
    weight = np.ones_like(labels)
    weight[:20] = 0.0
    for given in ((unknown, np.ones_like(labels)), (labels, weight)):
        found = together(fit_weights(table, *given, 0.8, True, 0, Pool(1), 2000))
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_same_bytes_for_any_number_of_threads(table, labels):
    one, four = (together(fit_weights(table, labels, np.ones_like(labels), 0.8, True, 5, Pool(n), 5)) for n in (1, 4))
    assert one.tobytes() == four.tobytes()

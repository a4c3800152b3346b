"""Any input at all: an estimator is fitted and answers in rows that can be used, or raises an error of topoi's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from support.any_input import ESTIMATORS, check_case
from support.strategies import Case, cases
from topoi import LDA, MedLDAClassifier, MedLDARegressor
from topoi.errors import TopoiError

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")


QUICK = settings(max_examples=100)


@QUICK
@given(cases(LDA))
def test_lda(case):
    check_case(case)


@QUICK
@given(cases(MedLDAClassifier))
def test_classifier(case):
    check_case(case)


@QUICK
@given(cases(MedLDARegressor))
def test_regressor(case):
    check_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_most_plain_cases_are_fitted(kind):
    """The strategies reach what they are for: of the cases a good part is fitted, and a good part refused."""
    outcomes = []

    @settings(QUICK, max_examples=60)
    @given(cases(kind))
    def collect(case):
        outcomes.append(check_case(case))

    collect()
    fitted = sum(outcome != "refused" for outcome in outcomes)
    assert 0.15 < fitted / len(outcomes) < 0.9


COUNTS = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
NEVER = np.datetime64("NaT", "D")
DAY = np.datetime64("2020-01-01")


@pytest.mark.parametrize(
    ("kind", "X", "y", "message"),
    [
        (MedLDAClassifier, COUNTS, [b"a", b"b", b"a"], "y: .*bytes"),
        (MedLDAClassifier, COUNTS, np.array([DAY, NEVER, DAY + np.timedelta64(1, "D")]), "y: label 1 is NaN"),
        (MedLDAClassifier, COUNTS, [1, (1, 2), "a"], "y: must be one label per document"),
        (MedLDARegressor, COUNTS, [1.0, 1e300, -1.0], r"y: target 1 is beyond ±1e\+100"),
        (LDA, np.array([1, 2, 3], object), None, "Expected 2D array"),
        (LDA, sparse.dia_array(np.eye(3, 2)).astype(object), None, "X has dtype object"),
        (LDA, COUNTS.astype(object).view(np.matrix), None, "X has dtype object"),
        (LDA, np.ma.masked_array(COUNTS.astype(object)), None, "X has dtype object"),
    ],
)
def test_what_the_search_has_found(kind, X, y, message):
    with pytest.raises(TopoiError, match=message):
        kind(2, n_sweeps=2).fit(X, y)


def test_a_prior_lost_in_rounding():
    """A weight's precision of 1e-6 beside sums of 1e12: the exact draw found no Cholesky factor."""
    case = Case(
        MedLDAClassifier,
        {"n_topics": 2, "n_sweeps": 1, "n_samples": 1, "infer_sweeps": 1, "random_state": 0, "weight_prior": 1e-6,
         "n_gibbs": 0, "margin": 1e-6, "positive_weight": 1e6},
        np.array([[0], [255], [0]]), ["a", "b", "c"], None, np.array([[1]]),
    )  # fmt: skip
    assert check_case(case) == "fitted, and new documents"

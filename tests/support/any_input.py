"""Fit an estimator to any input and ask it everything: what must hold of the answers."""

from __future__ import annotations

import warnings

import numpy as np

from support.strategies import Case
from topoi import LDA, MedLDAClassifier, MedLDARegressor
from topoi.errors import TopoiError


def check_case(case: Case) -> str:
    """Fit and ask for everything; "fitted", or "refused" where the documents or labels cannot be used."""
    model = case.kind(**case.settings)
    more = {} if case.kind is LDA else {"y": case.y}
    if case.unlabelled is not None:
        more["unlabelled"] = case.unlabelled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)  # numbers that overflow, or are none
        try:
            model.fit(case.X, **more)
        except TopoiError:
            return "refused"
        n = (
            case.X.n_documents
            if hasattr(case.X, "n_documents")
            else case.X.shape[0]
            if hasattr(case.X, "shape")
            else len(case.X)
        )
        check_shares(model.components_)
        if hasattr(model, "doc_topic_"):
            for shares in by_model(model, model.doc_topic_):
                check_shares(shares, n, tolerance=1e-5)
        check_answers(model, case.X, n)
        try:
            n_new = len(model.transform(case.new))
        except TopoiError:
            return "fitted"
        check_answers(model, case.new, n_new)
    return "fitted, and new documents"


def check_shares(shares, n=None, tolerance=1e-9):
    """Rows of probabilities."""
    assert n is None or len(shares) == n
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=tolerance)


def by_model(model, shares):
    """Where classes have models of their own, the topics of all stand side by side."""
    return np.split(shares, len(getattr(model, "estimators_", [model])), axis=1)


def check_answers(model, X, n):
    """Every method gives a row for each of n documents, and its numbers can be used."""
    for shares in by_model(model, model.transform(X)):
        check_shares(shares, n)
    if isinstance(model, MedLDAClassifier):
        predicted, scores, proba = model.predict(X), model.decision_function(X), model.predict_proba(X)
        assert len(predicted) == len(scores) == len(proba) == n
        assert np.isfinite(scores).all()
        if model._labels.several:
            assert predicted.shape == proba.shape == (n, len(model.classes_))
            assert np.isin(predicted, (0, 1)).all()
            assert ((proba >= 0) & (proba <= 1)).all()
        else:
            assert np.isin(predicted, model.classes_).all()
            check_shares(proba, n)
    if isinstance(model, MedLDARegressor):
        predicted, bounds = model.predict(X), model.predict_interval(X)
        assert len(predicted) == len(bounds) == n
        assert np.isfinite(predicted).all()
        assert (bounds[..., 0] <= bounds[..., 1]).all()


ESTIMATORS = (LDA, MedLDAClassifier, MedLDARegressor)

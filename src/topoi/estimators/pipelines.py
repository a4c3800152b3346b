"""A fitted scikit-learn `Pipeline` that ends with an estimator of topoi, taken apart for those who look at models."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted, is_ours


class Opened(NamedTuple):
    """An estimator of topoi, and documents as it takes them."""

    estimator: Any
    documents: Any


def open_pipeline(estimator: Any, documents: Any = None) -> Opened:
    """The last step of a Pipeline with the words that the steps before it name, and what those make of the documents.

    Whatever is no Pipeline is returned as it is, and so are documents that are a `Corpus`: their words are counted.
    """
    words: list[str] | None = None
    while isinstance(estimator, Pipeline):
        before, (name, last) = estimator[:-1], estimator.steps[-1]
        if not isinstance(last, Pipeline):
            _check_last(estimator, name, last)
        if before.steps:
            if documents is not None and not isinstance(documents, Corpus):
                documents = before.transform(documents)
            words = _columns(before, words)
        estimator = last
    if words is not None and estimator.vocabulary_ is None:
        estimator = estimator.with_vocabulary(words)
    return Opened(estimator, documents)


def _check_last(pipeline: Pipeline, name: str, last: Any) -> None:
    """Raise unless the last step is ours and fitted."""
    if is_ours(last):
        check_fitted(last)
        return
    what = f"is a Pipeline whose last step, {name!r}, is {last if isinstance(last, str) else type(last).__name__}"
    places = [place for place, (_, step) in enumerate(pipeline.steps) if is_ours(step)]
    if places:
        advice = f"give the steps up to {pipeline.steps[places[-1]][0]!r} alone: pipeline[:{places[-1] + 1}]"
    else:
        advice = "it must be a fitted LDA, MedLDAClassifier or MedLDARegressor"
    raise ParameterError("estimator", f"{what}; {advice}")


def _columns(steps: Pipeline, given: list[str] | None) -> list[str] | None:
    """The names of the columns that steps make of those given; None if they do not tell, as those that hash words."""
    try:
        found = steps.get_feature_names_out(given)
    except (AttributeError, ValueError):  # a step has no names to give, or needs some
        return None
    return None if found is None else [str(name) for name in found]

"""Several models as one: the binary classifiers of "ovr" and "ovo", each with topics of its own, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from topoi._disk.store import ModelError
from topoi.estimators.base import OF_THE_INPUT
from topoi.estimators.shares_of_documents import why_missing


class Several:
    """Fitted binary classifiers, in the order of the strategy that has made them, and what they are together."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = models

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes that models have in common; weights are 0 for the topics of other models."""
        ended = [model.stopped_ for model in self.models if model.stopped_ != "finished"]
        n_sweeps = min(model.n_sweeps_ for model in self.models)
        return {
            "topic_weights_": block_diag(*(model.topic_weights_ for model in self.models)),
            "topic_weights_std_": block_diag(*(model.topic_weights_std_ for model in self.models)),
            "rhat_": float(np.max([model.rhat_ for model in self.models])),
            "n_sweeps_": n_sweeps,
            "n_iter_": n_sweeps,
            "stopped_": ended[0] if ended else "finished",
        }

    def doc_topic(self) -> NDArray[np.float32]:
        """Topic shares of the training documents, where every model has learned from all of them."""
        return np.concatenate([model.doc_topic_ for model in self.models], axis=1)

    def check(self, n_words: int) -> None:
        """Raise unless all are binary models of so many words."""
        for number, model in enumerate(self.models):
            if not model.target_.binary or model.n_features_in_ != n_words:
                raise ModelError(f"model {number} is no binary model of {n_words} words")


def several_models(estimator: Any, each: list[dict[str, Any]]) -> dict[str, Any]:
    """Fitted attributes of several models of an estimator together, from those of each."""
    parameters = estimator.get_params(deep=False) | {"strategy": "multitask"}
    of_input = {name: value for name, value in vars(estimator).items() if name in OF_THE_INPUT}
    models = [type(estimator)(**parameters) for _ in each]
    for model, attributes in zip(models, each, strict=True):
        model.__dict__.update(of_input | attributes)
    return Several(models).attributes() | {"_several": models}


class OfOneModel:
    """In place of an attribute that one model has: where there are several, it says whose it is.

    An attribute of the object itself comes first, so that this is asked only where there is none.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name  # for people, if it is another

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = self.name or name

    def __get__(self, fitted: Any, owner: type[Any] | None = None) -> Any:
        if fitted is None:
            return self
        models = fitted.estimators_
        if len(models) == 1:
            raise AttributeError(f"{type(fitted).__name__!r} object has no attribute {self.name!r}")
        strategy = fitted.target_.strategy
        raise AttributeError(
            f"{self.name} belongs to one model, but strategy={strategy!r} has made {len(models)}: "
            f"see estimators_[i].{self.name}"
        )


class SideBySide(OfOneModel):
    """In place of topic shares: those of the models of "ovr" are side by side; for "ovo" a model has seen only some."""

    def __get__(self, fitted: Any, owner: type[Any] | None = None) -> Any:
        if fitted is None:
            return self
        if not fitted.__sklearn_is_fitted__() or len(fitted.estimators_) == 1:
            raise AttributeError(why_missing(fitted))
        if fitted.target_.strategy == "ovr":
            return Several(fitted.estimators_).doc_topic()
        return super().__get__(fitted, owner)

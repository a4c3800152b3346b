"""Fitted estimators in files: their parameters, and what they have learned."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi import model, store
from topoi.intervals import Noise
from topoi.labels import Labels
from topoi.model import TopicModel
from topoi.responses import RESPONSES
from topoi.schema import FLAG, MAPPING, NUMBER, TEXT, WHOLE, Field, array_of, instance_of, list_of
from topoi.scores import Chain
from topoi.store import ModelError, Stored

#: What an estimator is made of.
PARTS = {
    **model.CLASSES,
    "Chain": Stored(Chain, {"model": instance_of(TopicModel), "weights": array_of("float32")}),
    "Labels": Stored(Labels, {"classes": array_of(), "several": FLAG}),
    "Noise": Stored(
        Noise, {"variance": array_of("float64"), "scale": array_of("float64"), "errors": list_of(array_of("float64"))}
    ),
    # The settings of a loss are numbers.
    **{cls.__name__: Stored(cls, {field.name: NUMBER for field in fields(cls)}) for cls in RESPONSES.values()},
}


class Savable:
    """An estimator that can be written to a file and read again."""

    #: Attributes of a fitted estimator that are saved, where it has them, and what they hold.
    _fitted: ClassVar[dict[str, Field]] = {
        "n_features_in_": WHOLE,
        "feature_names_in_": array_of(),
        "_seed": WHOLE,
        "_learn_alpha": FLAG,
        "_learn_beta": FLAG,
        "model_": instance_of(TopicModel),
        "chains_": list_of(instance_of(TopicModel)),
        "doc_topic_": array_of("float32"),
        "doc_topic_prior_": array_of("float64"),
        "topic_word_prior_": NUMBER,
        "log_joint_": array_of("float64"),
        "traces_": list_of(array_of("float64")),
        "validation_traces_": list_of(array_of("float64")),
        "validation_measure_": TEXT,
        "rhat_": NUMBER,
        "n_sweeps_": WHOLE,
        "n_iter_": WHOLE,
        "stopped_": TEXT,
    }

    def save(self, path: str | Path, documents: bool = True) -> None:
        """Write the fitted estimator to one file: safetensors and JSON, nothing that could run, whole or not at all.

        Without `documents` the topic shares of the training documents (`doc_topic_`) are left out, which are most of
        the file where there are many. Callbacks and the engine are left out, and a random state that is not a number.
        """
        check_is_fitted(self)
        store.save(path, self, known_classes(documents))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an estimator that `save` wrote; anything else is a ModelError, and nothing in the file is run."""
        found = store.load(path, known_classes())
        if not isinstance(found, cls):
            raise ModelError(f"{path}: holds a {type(found).__name__}, not a {cls.__name__}")
        return found

    def _check_fitted(self) -> None:
        """Raise unless the parts of a loaded estimator fit together."""
        for part, _ in self._parts():  # type: ignore[attr-defined]
            if part.n_words != self.n_features_in_:  # type: ignore[attr-defined]
                raise ModelError("the model has other words than the estimator")
        for trace in getattr(self, "validation_traces_", []):
            if trace.ndim != 2 or trace.shape[1] != 2 or not hasattr(self, "validation_measure_"):
                raise ModelError("validation_traces_ must be pairs of sweep and score, with the name of the score")


class StoredEstimator(Stored):
    """How an estimator is written."""

    def __init__(self, cls: type[Any], documents: bool = True) -> None:
        super().__init__(cls, {"parameters": MAPPING, "fitted": MAPPING})
        self.documents = documents

    def values(self, thing: Any) -> dict[str, Any]:
        """Parameters and fitted attributes."""
        parameters = thing.get_params(deep=False) | {"callbacks": None, "engine": None}
        if not isinstance(thing.random_state, int | np.integer):
            parameters["random_state"] = None
        names = [name for name in self.cls._fitted if name in vars(thing) and (self.documents or name != "doc_topic_")]
        return {"parameters": parameters, "fitted": {name: vars(thing)[name] for name in names}}

    def make(self, values: dict[str, Any]) -> Any:
        """An estimator with these."""
        if values["parameters"].get("engine") is not None:  # a file does not say where to connect to
            raise ModelError(f"{self.cls.__name__} has an engine")
        thing = self.cls(**values["parameters"])
        thing._check_parameters()
        for name, value in values["fitted"].items():
            if name not in self.cls._fitted:
                raise ModelError(f"{self.cls.__name__} has no {name!r}")
            if not self.cls._fitted[name].holds(value):
                raise ModelError(f"{name} is a {type(value).__name__}, not {self.cls._fitted[name].name}")
            setattr(thing, name, value)
        thing._components = None
        check_is_fitted(thing)
        thing._check_fitted()
        return thing


def known_classes(documents: bool = True) -> dict[str, Stored]:
    """Everything that a file may hold: the estimators that have been imported, and their parts."""
    found, todo = dict(PARTS), [Savable]
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if cls.__module__.startswith("topoi.") and "fit" in vars(cls):
            found[cls.__name__] = StoredEstimator(cls, documents)
    return found

"""Fitted estimators in files: their parameters, and what they have learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi._disk import store
from topoi._disk.remote import Location, shown
from topoi._disk.schema import (
    FLAG,
    MAPPING,
    NUMBER,
    TEXT,
    WHOLE,
    Field,
    array_of,
    either,
    instance_of,
    list_of,
    mapping_of,
)
from topoi._disk.store import Classes, ModelError, Stored, StoredMembers, known
from topoi._registry import Registry
from topoi.chain import model
from topoi.chain.model import TopicModel
from topoi.chain.priors import TOPIC_PRIORS, WORD_PRIORS, Priors
from topoi.chain.responses import RESPONSES
from topoi.corpus import Ngrams
from topoi.corpus.text import Preparation
from topoi.errors import CorpusError
from topoi.estimators.covariates import Covariates
from topoi.estimators.labels import Labels
from topoi.estimators.prevalent import check_terms
from topoi.estimators.terms import Terms, Variable
from topoi.estimators.topics_of_labels import TopicLabels, check_topic_labels
from topoi.predict.calibration import Calibration
from topoi.predict.effects import Effects
from topoi.predict.intervals import Noise
from topoi.predict.link import Link
from topoi.predict.refit import Head, Settings
from topoi.predict.scores import Chain

#: What an estimator is made of.
PARTS = known(
    {
        "Chain": Stored(
            Chain,
            {"model": instance_of(TopicModel), "weights": array_of("float32"), "beside": mapping_of(array_of())},
            spare=("beside",),
        ),
        "Labels": Stored(Labels, {"classes": array_of(), "several": FLAG}),
        "Settings": Stored(Settings, {field.name: NUMBER for field in fields(Settings)}, spare=("ngrams", "ratio")),
        "Head": Stored(
            Head,
            {
                "settings": instance_of(Settings),
                "idf": array_of("float64"),
                "words": array_of("float32"),
                "topics": array_of("float64"),
                "covariates": array_of("float64"),
                "constant": array_of("float64"),
                "n_ngrams": WHOLE,
                "ratios": array_of("float64"),
            },
            spare=("n_ngrams", "ratios"),
        ),
        "Preparation": Stored(
            Preparation,
            {
                "clean": TEXT,
                "lowercase": FLAG,
                "token_pattern": TEXT,
                "tokenized": FLAG,
                "language": TEXT,
                "removed": mapping_of(WHOLE),
                "copies": array_of("int64"),
                "pairs": array_of(),
                "stem": TEXT,
                "held": array_of(),
                "lemmas": TEXT,
            },
            spare=("stem", "held", "lemmas"),
        ),
        "Ngrams": Stored(Ngrams, {"names": array_of(), "largest": WHOLE, "smallest": WHOLE}, spare=("smallest",)),
        "Effects": Stored(Effects, {"mean": array_of("float64"), "error": array_of("float64")}),
        "Link": Stored(Link, {"slope": array_of("float64"), "own": array_of("float64")}),
        "Calibration": Stored(
            Calibration, {"slope": array_of("float64"), "intercept": array_of("float64"), "threshold": NUMBER}
        ),
        "Covariates": Stored(
            Covariates,
            {
                "names": list_of(TEXT),
                "categories": list_of(array_of()),
                "centre": array_of("float64"),
                "scale": array_of("float64"),
                "basis": array_of("float64"),
                "is_sparse": FLAG,
            },
        ),
        "TopicLabels": Stored(TopicLabels, {"names": list_of(TEXT), "topics_per_label": WHOLE}),
        "Variable": Stored(
            Variable,
            {
                "name": TEXT,
                "kind": TEXT,
                "categories": array_of(),
                "knots": array_of("float64"),
                "centre": NUMBER,
                "scale": NUMBER,
                "average": array_of("float64"),
            },
        ),
        "Terms": Stored(
            Terms,
            {
                "variables": list_of(instance_of(Variable)),
                "products": list_of(array_of("int64")),
                "kept": array_of("float64"),
            },
        ),
        "Noise": Stored(
            Noise,
            {"variance": array_of("float64"), "scale": array_of("float64"), "errors": list_of(array_of("float64"))},
        ),
    },
    StoredMembers(RESPONSES, lambda cls: Stored(cls, {field.name: NUMBER for field in fields(cls)})),  # settings
    model.CLASSES,
)

#: All estimators, by the names that files have.
ESTIMATORS: Registry[type[Savable]] = Registry(
    "topoi.estimators",
    {
        "LDA": "lda:LDA",
        "MedLDAClassifier": "classifier:MedLDAClassifier",
        "MedLDARegressor": "regressor:MedLDARegressor",
    },
)


# The largest numbers that are believed from a file, whoever wrote it: beyond, an answer to one document takes hours, or
# a fit needs more memory than there is before its first sweep. The sweeps of a fit are not among them: Ctrl-C ends it,
# and a bar shows how far it is.
BELIEVED: dict[str, int] = {
    "n_topics": 100_000,
    "n_chains": 1_000,
    "n_samples": 100_000,
    "n_gibbs": 1_000,
    "infer_sweeps": 10_000,
    "topics_per_label": 100_000,
}
MOST_OF_OPTION = 1_000  # a number of `sampler_options`, as n_mh


def check_believed(parameters: Mapping[str, Any]) -> None:
    """Raise if numbers from a file are beyond what is believed of one."""
    options = parameters.get("sampler_options")
    numbers = [(name, parameters.get(name), most) for name, most in BELIEVED.items()]
    numbers += [(str(name), value, MOST_OF_OPTION) for name, value in (options or {}).items()]
    for name, value, most in numbers:
        if isinstance(value, int | float) and not value <= most:
            raise ModelError(f"{name} is {value!r}; more than {most:,} is not believed from a file")


def mark_learned(models: list[TopicModel], alpha: bool, beta: bool) -> None:
    """Make the priors of models learned ones, so that they go on being learned."""
    for found in models:
        topics, words = found.priors.topics, found.priors.words
        found.priors = Priors(
            TOPIC_PRIORS["learned"](topics.alpha) if alpha else topics,
            WORD_PRIORS["learned"](words.beta) if beta else words,
        )


class Savable:
    """An estimator that can be written to a file and read again."""

    #: Attributes of a fitted estimator that are saved, where it has them, and what they hold.
    saved_attributes: ClassVar[dict[str, Field]] = {
        "n_features_in_": WHOLE,
        "feature_names_in_": array_of(),
        "_seed": WHOLE,
        "model_": instance_of(TopicModel),
        "chains_": list_of(instance_of(TopicModel)),
        "doc_topic_": array_of("float32"),
        "doc_topic_prior_": array_of("float64"),
        "topic_word_prior_": either(NUMBER, array_of("float64")),
        "log_joint_": array_of("float64"),
        "traces_": list_of(array_of("float64")),
        "validation_traces_": list_of(array_of("float64")),
        "validation_measure_": TEXT,
        "n_topics_trace_": array_of("float64"),
        "concentrations_": array_of("float64"),
        "rhat_": NUMBER,
        "n_sweeps_": WHOLE,
        "n_iter_": WHOLE,
        "stopped_": TEXT,
        "_preparation": instance_of(Preparation),
        "_topic_labels": instance_of(TopicLabels),
        "_terms": instance_of(Terms),
    }

    def save(self, path: str | Location, documents: bool = True) -> None:
        """Write the fitted estimator to one file: safetensors and JSON, nothing that could run, whole or not at all.

        The path may be a URL, as "s3://bucket/model.topoi": see docs/howto/object_storage.md.
        Without `documents` the topic shares of the training documents (`doc_topic_`) are left out, which are most of
        the file where there are many. Callbacks and the engine are left out, and a random state that is not a number.
        """
        check_is_fitted(self)
        store.save(path, self, known_classes(documents))

    @classmethod
    def load(cls, path: str | Location, trusted: bool = False) -> Self:
        """Read an estimator that `save` wrote; anything else is a ModelError, and nothing in the file is run.

        The path may be a URL, as "s3://bucket/model.topoi".
        Numbers of parameters that would take hours or all memory (10,001 sweeps over a new document, 100,001 topics)
        are refused unless the file is `trusted`. Counts of words in topics of 256 MB or more stay in the file, and are
        read from there as they are needed.
        """
        found = store.load(path, known_classes(trusted=trusted), mapped=True)
        if not isinstance(found, cls):
            raise ModelError(f"{shown(path)}: holds a {type(found).__name__}, not a {cls.__name__}")
        return found

    def restore(self, fitted: Mapping[str, Any], trusted: bool) -> None:
        """Become what a file says that was learned, each attribute checked; `load` does it."""
        self._check_parameters()  # type: ignore[attr-defined]
        if not trusted:
            try:
                check_believed(self.get_params(deep=False))  # type: ignore[attr-defined]
            except ModelError as error:
                raise ModelError(f"{error}. If you trust whoever wrote it: topoi.load(path, trusted=True)") from error
        fitted = dict(fitted)
        # In files of version 0.1.0 the estimator says whether priors were learned, not the priors.
        learned = [fitted.pop(name, False) is True for name in ("_learn_alpha", "_learn_beta")]
        for name, value in fitted.items():
            if name not in self.saved_attributes:
                raise ModelError(f"{type(self).__name__} has no {name!r}")
            if not self.saved_attributes[name].holds(value):
                raise ModelError(f"{name} is a {type(value).__name__}, not {self.saved_attributes[name].name}")
            setattr(self, name, value)
        check_is_fitted(self)
        if any(learned):
            mark_learned([*fitted.get("chains_", []), *([fitted["model_"]] if "model_" in fitted else [])], *learned)
        self._check_fitted()

    def _check_fitted(self) -> None:
        """Raise unless the parts of a loaded estimator fit together."""
        for part in [*self.topic_models_, *vars(self).get("chains_", [])]:  # type: ignore[attr-defined]
            if part.n_words != self.n_features_in_:  # type: ignore[attr-defined]
                raise ModelError("the model has other words than the estimator")
        check_topic_labels(vars(self).get("_topic_labels"), self.topic_models_)  # type: ignore[attr-defined]
        check_terms(vars(self).get("_terms"), self.topic_models_)  # type: ignore[attr-defined]
        if (prepared := vars(self).get("_preparation")) is not None:
            try:
                prepared.check()
            except CorpusError as error:
                raise ModelError(str(error)) from error
        for name, width in (("n_topics_trace_", 2), ("concentrations_", 3)):
            if hasattr(self, name) and getattr(self, name).shape[1:] != (width,):
                raise ModelError(f"{name} must have {width} columns")
        for trace in getattr(self, "validation_traces_", []):
            if trace.ndim != 2 or trace.shape[1] != 2 or not hasattr(self, "validation_measure_"):
                raise ModelError("validation_traces_ must be pairs of sweep and score, with the name of the score")


class StoredEstimator(Stored):
    """How an estimator is written."""

    def __init__(self, cls: type[Any], documents: bool = True, trusted: bool = False) -> None:
        super().__init__(cls, {"parameters": MAPPING, "fitted": MAPPING})
        self.documents = documents
        self.trusted = trusted

    def values(self, thing: Any) -> dict[str, Any]:
        """Parameters and fitted attributes."""
        parameters = thing.get_params(deep=False) | {"callbacks": None, "engine": None}
        if not isinstance(thing.random_state, int | np.integer):
            parameters["random_state"] = None
        there = vars(thing)
        names = [name for name in self.cls.saved_attributes if name in there]
        fitted = {name: there[name] for name in names if self.documents or name != "doc_topic_"}
        return {"parameters": parameters, "fitted": fitted}

    def make(self, values: dict[str, Any]) -> Any:
        """An estimator with these."""
        if values["parameters"].get("engine") is not None:  # a file does not say where to connect to
            raise ModelError(f"{self.cls.__name__} has an engine")
        thing = self.cls(**values["parameters"])
        thing.restore(values["fitted"], self.trusted)
        return thing


def known_classes(documents: bool = True, trusted: bool = False) -> Classes:
    """Everything that a file may hold: estimators and their parts."""
    estimators = StoredMembers(ESTIMATORS, lambda cls: StoredEstimator(cls, documents, trusted))
    return known({}, estimators, model.believing(PARTS) if trusted else PARTS)

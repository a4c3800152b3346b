"""What a report is about: the estimator, the documents given, and what several sections need, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.model import TopicModel, check_whole
from topoi.corpus import Corpus
from topoi.corpus.target import Target
from topoi.corpus.text import as_texts, is_missing
from topoi.errors import ParameterError
from topoi.estimators.edits import topics_fingerprint
from topoi.estimators.fitted import check_fitted
from topoi.estimators.pipelines import open_pipeline
from topoi.report.distances import js_divergence
from topoi.report.predictions import Predictions, predictions
from topoi.report.relevance import shown_topics
from topoi.report.words import WordTable


@dataclass
class Subject:
    """A fitted estimator and the documents that it is shown with; every section takes what it needs from here.

    The fields are those parameters of `write_report` that are not of the file. Of a Pipeline, the estimator becomes its
    last step, and X what the steps before make of it.
    """

    estimator: Any
    X: Any = None
    y: Any = None
    texts: Sequence[str] | None = None
    ids: Sequence[Any] | None = None
    held_out: bool | None = None
    label_names: Sequence[Any] | None = None
    held_out_trace: Any = None
    max_documents: int = 2000
    covariates: Any = None
    by: Any = None
    words: WordTable = field(default_factory=WordTable, init=False)  # data has words as numbers into it

    def __post_init__(self) -> None:
        """Check what was given."""
        if self.texts is None and (given_texts := as_texts(self.X)) is not None:
            self.texts = ["" if is_missing(text) else text for text in given_texts]
        self.estimator, self.X = open_pipeline(self.estimator, self.X)
        check_fitted(self.estimator)
        check_whole("max_documents", self.max_documents, 0)
        if self.X is None:
            given = {"y": self.y, "texts": self.texts, "ids": self.ids, "covariates": self.covariates, "by": self.by}
            for name, value in given.items():
                if value is not None:
                    raise ParameterError(name, "needs the documents as well: give their counts or corpus as X")
        if hasattr(self.by, "columns"):  # a data frame
            self.by = {str(name): self.by[name] for name in self.by.columns}
        if self.by is not None and not isinstance(self.by, Mapping):
            raise ParameterError("by", f"must be columns by name, as {{'date': dates}}, not {type(self.by).__name__}")
        self.texts = self._for_each("texts", self.texts)
        self.ids = self._for_each("ids", self.ids)

    def _for_each(self, name: str, values: Sequence[Any] | None) -> list[Any] | None:
        """One for each document, by position: a series of pandas has an index of its own."""
        if values is None or self.corpus is None:
            return None
        if isinstance(values, str):
            raise ParameterError(name, "is a single string; give a list, one for each document")
        if len(values) != self.corpus.n_documents:
            n_documents = self.corpus.n_documents
            raise ParameterError(name, f"has {len(values)} entries, but there are {n_documents} documents")
        return list(values)

    @cached_property
    def corpus(self) -> Corpus | None:
        """The documents given."""
        if self.X is None:
            return None
        corpus: Corpus = self.estimator.as_corpus(self.X)
        return corpus

    @cached_property
    def target(self) -> Target:
        """What the estimator predicts."""
        target: Target = self.estimator.target_
        return target.named(self.label_names)

    @cached_property
    def models(self) -> list[TopicModel]:
        """The estimator's models: one, or one for each class or pair of classes."""
        models: list[TopicModel] = self.estimator.topic_models_
        return models

    @cached_property
    def model_names(self) -> list[str]:
        """What each of several models tells apart; no names where there is one."""
        return self.target.models

    @cached_property
    def topics(self) -> list[dict[str, Any]]:
        """The topics of all models side by side, with their words."""
        return shown_topics(self.models, self.words)

    @cached_property
    def visible(self) -> NDArray[np.int64]:
        """The topics that were not hidden, by number; all of them if every one was."""
        hidden = self.estimator.hidden_topics_
        every = np.arange(len(self.topics))
        return every if len(hidden) == len(every) else np.setdiff1d(every, hidden)

    @cached_property
    def divergence(self) -> NDArray[np.float64]:
        """Jensen–Shannon divergences of the words of the visible topics."""
        return js_divergence([model.counts for model in self.models], self.visible)

    @cached_property
    def predictions(self) -> Predictions | None:
        """Of all documents given; None without documents, or where nothing is predicted."""
        if self.corpus is None:
            return None
        return predictions(self.estimator, self.target, self.corpus, self.y, self.covariates)

    @property
    def refitted(self) -> bool:
        """Whether predictions are made by weights that were fitted anew, whose scores have reasons for every label."""
        return bool(getattr(self.estimator, "refitted_", False))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The documents that are shown, evenly spaced over those given."""
        n_documents = 0 if self.corpus is None else self.corpus.n_documents
        n = min(self.max_documents, n_documents)
        return np.arange(n, dtype=np.int64) * n_documents // max(n, 1)

    def data(self) -> dict[str, Any]:
        """What all sections share: the topics, the models that they are of, and the names of the labels."""
        return {
            "estimator": type(self.estimator).__name__,
            "held_out": self.held_out,
            "fingerprint": topics_fingerprint(self.models),
            "hidden": self.estimator.hidden_topics_,
            "models": [
                {
                    "name": self.model_names[number] if self.model_names else "",
                    "n_samples": model.n_samples,
                    "n_words": model.n_words,
                    "tokens": float(model.topic_counts.sum()),
                    "beta": None if isinstance(model.beta, np.ndarray) else model.beta,
                    "beta_sum": model.priors.words.total(model.n_words),
                    "n_bound": model.priors.topics.n_bound,
                }
                for number, model in enumerate(self.models)
            ],
            "topics": self.topics,
            "target": {
                "kind": self.target.kind,
                "names": self.target.names if self.predictions is None else self.predictions.names,
                "binary": self.target.binary,
                "votes": bool(self.target.pairs) and not self.refitted,
                "pairs": bool(self.target.pairs),
                "refitted": self.refitted,
            },
        }

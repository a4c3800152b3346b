"""Labels that say which topics a document may have: from what users give to a table that goes with the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.store import ModelError
from topoi.chain.model import TopicModel, check_whole
from topoi.chain.names import fault_of_names
from topoi.chain.priors.allowed import Allowed
from topoi.corpus import Corpus
from topoi.errors import ParameterError

PARAMETER = "topic_labels"
#: Labels of a document: their names, or None where they are not known.
Names = list[str] | None


@dataclass(frozen=True)
class TopicLabels:
    """The labels of a fit: their `names`, and how many topics each has. The first topics are theirs, in this order."""

    names: list[str]
    topics_per_label: int

    @property
    def n_topics(self) -> int:
        """Topics that belong to labels."""
        return len(self.names) * self.topics_per_label

    @property
    def topic_names(self) -> list[str]:
        """Names of these topics: those of the labels, numbered from 1 where a label has several."""
        if self.topics_per_label == 1:
            return list(self.names)
        return [f"{name} {number + 1}" for name in self.names for number in range(self.topics_per_label)]

    def beside(self, corpus: Corpus, given: Any, n_topics: int) -> Corpus:
        """Documents with the table of the topics that they may have, of `n_topics` in all."""
        rows, _ = read_topic_labels(given, corpus.n_documents)
        return corpus.with_about(**{Allowed.about: self.table(rows, n_topics)})

    def table(self, rows: Sequence[Names], n_topics: int) -> sparse.csr_array:
        """A column for each topic of a label, and one that says that the labels of a document are known."""
        number = {name: j for j, name in enumerate(self.names)}
        columns: list[int] = []
        start = [0]
        for d, labels in enumerate(rows):
            if labels is not None:
                for name in sorted(set(labels)):
                    if name not in number:
                        raise ParameterError(
                            PARAMETER, f"row {d} has the label {name!r}, which the fit did not have: {_few(self.names)}"
                        )
                    first = number[name] * self.topics_per_label
                    columns += range(first, first + self.topics_per_label)
                columns.append(self.n_topics)
                if not labels and n_topics == self.n_topics:
                    raise ParameterError(
                        PARAMETER,
                        f"row {d} has no label, and all {n_topics} topics belong to labels, so that it may have none. "
                        "Give it None if its labels are not known, or fit with more topics: those beyond the labels "
                        "are shared by all documents",
                    )
            start.append(len(columns))
        table = sparse.csr_array(
            (np.ones(len(columns), np.float64), columns, start), shape=(len(rows), self.n_topics + 1)
        )
        table.sort_indices()
        return table

    def check(self) -> None:
        """Raise unless the parts, which may come from a file, fit together."""
        if (
            self.topics_per_label < 1
            or not self.names
            or (fault_of_names(self.names, len(self.names)) or "" in self.names)
        ):
            raise ModelError("topic labels must have names, each another one, and at least one topic each")


def learn_topic_labels(given: Any, topics_per_label: int, n_topics: int, corpus: Corpus) -> tuple[TopicLabels, Corpus]:
    """What the labels of documents to learn from are; and the documents with the topics that they may have."""
    check_whole("topics_per_label", topics_per_label)
    rows, names = read_topic_labels(given, corpus.n_documents)
    if names is None:
        names = sorted({name for labels in rows for name in labels or ()})
    if not names:
        raise ParameterError(PARAMETER, "has no label at all: not one document has one")
    labels = TopicLabels(names, int(topics_per_label))
    fault = fault_of_names(labels.topic_names, labels.n_topics)
    if fault is not None:
        raise ParameterError(PARAMETER, f"{fault}; labels become the names of topics")
    if labels.n_topics > n_topics:
        each = "" if topics_per_label == 1 else f" with {topics_per_label} topics each"
        raise ParameterError(
            "n_topics",
            f"is {n_topics}, but there are {len(names)} topic labels{each}: {_few(names)}. It must be at least "
            f"{labels.n_topics}; topics beyond that are shared by all documents",
        )
    return labels, corpus.with_about(**{Allowed.about: labels.table(rows, n_topics)})


def read_topic_labels(given: Any, n_documents: int) -> tuple[list[Names], list[str] | None]:
    """Labels of every document; and the names of all in their order, if what is given has columns."""
    if sparse.issparse(given) or isinstance(given, Mapping) or hasattr(given, "columns") or np.ndim(_peek(given)) == 2:
        return _from_columns(given, n_documents)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(
            PARAMETER, f"must be a list with the labels of each document, or a table of 0 and 1, not {given!r}"
        )
    rows = list(given.tolist() if hasattr(given, "tolist") else given)
    _check_length(len(rows), n_documents)
    return [_names(labels, d) for d, labels in enumerate(rows)], None


def _peek(given: Any) -> Any:
    """An array as it is; what else there may be is a list."""
    return given if isinstance(given, np.ndarray) else []


def _names(labels: Any, d: int) -> Names:
    """The labels of one document."""
    if labels is None or (isinstance(labels, float) and labels != labels):
        return None
    if isinstance(labels, str):
        labels = [labels]
    if not isinstance(labels, Iterable):
        raise ParameterError(PARAMETER, f"row {d} is {labels!r}; must be a list of names, one name, or None")
    found = [str(name) if isinstance(name, str) else name for name in labels]
    for name in found:
        if not isinstance(name, str):
            raise ParameterError(PARAMETER, f"row {d} has the label {name!r}, a {type(name).__name__}; must be a text")
        if not name or name != name.strip() or not name.isprintable():
            raise ParameterError(
                PARAMETER, f"row {d} has the label {name!r}: it is empty, has spaces around it or cannot be printed"
            )
    return found


def _from_columns(given: Any, n_documents: int) -> tuple[list[Names], list[str]]:
    """Labels from a table with a column for each: 1 where a document has the label, NaN in a row that is not known."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        names = [str(name) for name in (given if isinstance(given, Mapping) else given.columns)]
        columns = [np.asarray(given[name]) for name in (given if isinstance(given, Mapping) else given.columns)]
        for name, column in zip(names, columns, strict=True):
            if column.ndim != 1:
                raise ParameterError(PARAMETER, f"the column {name!r} must be numbers 0 and 1, one for each document")
            _check_length(len(column), n_documents)
        matrix: Any = np.column_stack(columns) if columns else np.zeros((n_documents, 0))
    else:
        matrix = given.toarray() if sparse.issparse(given) else np.asarray(given)
        names = [str(j) for j in range(matrix.shape[1])]
        _check_length(len(matrix), n_documents)
    try:
        numbers: NDArray[np.float64] = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            PARAMETER, "is a table; it must hold 0 and 1, or NaN where labels are not known"
        ) from error
    unknown = np.isnan(numbers)
    wrong = ~(unknown | (numbers == 0) | (numbers == 1)) | (unknown & ~unknown.all(1, keepdims=True))
    if wrong.any():
        d, j = (int(i) for i in np.argwhere(wrong)[0])
        what = "in a row that is known otherwise" if unknown[d, j] else "which is not 0 or 1"
        raise ParameterError(PARAMETER, f"row {d} has {numbers[d, j]:g} in the column {names[j]!r}, {what}")
    given_names = np.array(names, object)
    return [None if unknown[d].any() else given_names[numbers[d] > 0].tolist() for d in range(n_documents)], names


def _check_length(n: int, n_documents: int) -> None:
    if n != n_documents:
        raise ParameterError(PARAMETER, f"has {n} rows, but there are {n_documents} documents")


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


class HasTopicLabels:
    """An estimator whose documents may have labels that say which topics they may have."""

    topics_per_label: int
    _topic_labels: TopicLabels  # only if the fit had some

    @property
    def topic_models_(self) -> list[TopicModel]:
        """The topic models of the estimator."""
        raise NotImplementedError

    def as_corpus(self, X: Any) -> Corpus:
        """New documents as a corpus."""
        raise NotImplementedError

    @property
    def topic_labels_(self) -> list[str]:
        """The labels of the fit, in the order of their topics; empty without any."""
        return list(self._topic_labels.names) if "_topic_labels" in vars(self) else []

    def _with_topic_labels(self, corpus: Corpus, given: Any, n_topics: int | str) -> tuple[Corpus, dict[str, Any]]:
        """Documents to learn from with the topics that they may have, and what is to be remembered of the labels."""
        if given is None:
            if Allowed.about in corpus.about:
                raise ParameterError(PARAMETER, "must be given to fit: those that X has are labels of another model")
            return corpus, {}
        if isinstance(n_topics, str):
            raise ParameterError("n_topics", f"must be a number with topic_labels, not {n_topics!r}")
        labels, corpus = learn_topic_labels(given, self.topics_per_label, n_topics, corpus)
        return corpus, {"_topic_labels": labels}

    @property
    def _topic_labels_so_far(self) -> dict[str, Any]:
        """What a fit has remembered."""
        return {"_topic_labels": self._topic_labels} if "_topic_labels" in vars(self) else {}

    def with_topic_labels(self, X: Any, topic_labels: Any) -> Corpus:
        """New documents with the topics that they may have: a `Corpus` that every method takes in place of X.

        `topic_labels` of `transform`, `predict` and the others do the same for one call.
        """
        return self._label(self.as_corpus(X), topic_labels)

    def _beside_topic_labels(self, X: Any, given: Any) -> Any:
        """New documents with the topics that they may have; X as it is if that is not known."""
        return X if given is None else self.with_topic_labels(X, given)

    def _label(self, corpus: Corpus, given: Any) -> Corpus:
        """Documents with the topics that they may have."""
        if given is None:
            return corpus
        if "_topic_labels" not in vars(self):
            raise ParameterError(PARAMETER, "were not given to fit, so all documents may have all topics")
        return self._topic_labels.beside(corpus, given, self.topic_models_[0].n_topics)


def first_names(of_labels: Mapping[str, Any]) -> list[str]:
    """Names of the first topics, by what is remembered of the labels."""
    return of_labels["_topic_labels"].topic_names if of_labels else []


def check_topic_labels(labels: TopicLabels | None, models: Sequence[TopicModel]) -> None:
    """Raise unless models, which may come from a file, are those of these labels, or of none."""
    if labels is not None:
        labels.check()
    for model in models:
        prior = model.priors.topics
        n_own = prior.n_own if isinstance(prior, Allowed) else None
        if n_own != (None if labels is None else labels.n_topics):
            raise ModelError("a model has topics of labels, but not which these are, or the other way round")

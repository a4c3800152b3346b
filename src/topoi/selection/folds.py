"""Documents to choose by, with labels or numbers if they have some, and their folds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from topoi._machine.rng import FOLDS, bits, new_stream
from topoi.corpus import Corpus
from topoi.corpus.text import as_texts
from topoi.errors import ParameterError
from topoi.estimators.topics_of_labels import PARAMETER as TOPIC_LABELS
from topoi.estimators.topics_of_labels import read_topic_labels

#: The fold of documents that are never held out.
ALWAYS_LEARNED = -1


@dataclass(frozen=True)
class Documents:
    """Documents; with `y` also what is to be predicted of them, and what else `fit` is told of documents by row."""

    corpus: Corpus
    y: NDArray[Any] | None
    by_row: dict[str, Any]  # covariates, unlabelled, topic_labels: those that were given

    def known_to(self, fitted: Any) -> dict[str, Any]:
        """What methods of a fitted estimator are told of them: covariates and topic labels, those that were given.

        Labels of a document with one that the fit did not have count as not known.
        """
        told = {name: value for name, value in self.by_row.items() if name == "covariates"}
        if TOPIC_LABELS in self.by_row:
            names = set(fitted.topic_labels_)
            told[TOPIC_LABELS] = [
                labels if labels is not None and names.issuperset(labels) else None
                for labels in self.by_row[TOPIC_LABELS]
            ]
        return told

    def score_name(self, estimator: Any) -> str:
        """What `score` of an estimator of them is."""
        if not is_classifier(estimator):
            return "R²"
        return "accuracy" if self.y is not None and self.y.ndim == 1 else "share of documents with all labels right"

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Some of the documents."""
        return replace(
            self,
            corpus=self.corpus.take(rows),
            y=None if self.y is None else self.y[rows],
            by_row={name: _rows_of(value, rows) for name, value in self.by_row.items()},
        )

    def fit(self, estimator: Any) -> Any:
        """The estimator, which learns from them."""
        return estimator.fit(self.corpus, **({} if self.y is None else {"y": self.y}), **self.by_row)


def _rows_of(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a data frame (pandas or polars), a mapping of columns, an array or a sparse matrix."""
    if isinstance(table, Mapping):
        return {name: np.asarray(column)[rows] for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return (table if hasattr(table, "__getitem__") and hasattr(table, "shape") else np.asarray(table))[rows]


def as_documents(
    X: Any, estimator: Any, y: Any, unlabelled: Any = None, covariates: Any = None, topic_labels: Any = None
) -> Documents:
    """What a user means by documents and what is known of them; an error if the estimator cannot use it."""
    corpus = Corpus.load(X) if isinstance(X, str | os.PathLike) else X
    if not isinstance(corpus, Corpus):
        texts, ngrams = as_texts(corpus), estimator.ngrams_of_texts
        corpus = Corpus.from_counts(corpus) if texts is None else Corpus.from_texts(texts, ngrams=ngrams)
    corpus = corpus.in_memory
    supervised = get_tags(estimator).target_tags.required
    if supervised != (y is not None):
        name = type(estimator).__name__
        needs = "learns labels or numbers; give them" if supervised else "learns from words alone"
        more = "" if supervised else "; with y, give estimator=MedLDAClassifier() or MedLDARegressor()"
        raise ParameterError("y", f"{name} {needs}{more}")
    given = {"unlabelled": unlabelled, "covariates": covariates}
    by_row = {name: value for name, value in given.items() if value is not None}
    if unlabelled is not None:
        by_row["unlabelled"] = np.asarray(unlabelled)
    if topic_labels is not None:
        by_row[TOPIC_LABELS] = np.empty(corpus.n_documents, object)
        by_row[TOPIC_LABELS][:] = read_topic_labels(topic_labels, corpus.n_documents)[0]
    targets = None if y is None else np.asarray(y)
    for name, rows in (("y", targets), ("unlabelled", by_row.get("unlabelled"))):
        if rows is not None and (rows.ndim == 0 or len(rows) != corpus.n_documents):
            n = "no" if rows.ndim == 0 else len(rows)
            raise ParameterError(name, f"has {n} rows, but there are {corpus.n_documents} documents")
    return Documents(corpus, targets, by_row)


def fold_numbers(documents: Documents, estimator: Any, n_folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every document; `ALWAYS_LEARNED` for those that cannot be scored.

    These have no words, no label or target, or a label of fewer documents than folds, which some fit would not know.
    Documents are shuffled, and every label is spread evenly over the folds.
    """
    mask, label = _scored(documents, estimator, n_folds)
    rows = np.flatnonzero(mask)
    if len(rows) < n_folds:
        with_y = "" if documents.y is None else " and a label of at least as many documents, or a target,"
        raise ParameterError("cv", f"is {n_folds} folds, but {len(rows)} documents with words{with_y} can be held out")
    stream = new_stream(seed, FOLDS)
    drawn = np.array([bits(stream) for _ in rows], np.uint64)
    order = rows[np.lexsort((drawn, label[rows]))]
    out = np.full(documents.corpus.n_documents, ALWAYS_LEARNED, np.int64)
    out[order] = np.arange(len(order)) % n_folds
    return out


def _scored(documents: Documents, estimator: Any, n_folds: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which documents can be held out, and the number of the label of each; 0 where there is not one for each."""
    mask, y = documents.corpus.doc_lengths > 0, documents.y
    label = np.zeros(len(mask), np.int64)
    if "unlabelled" in documents.by_row:
        mask &= ~documents.by_row["unlabelled"].astype(bool)
    if y is None:
        return mask, label
    if not is_classifier(estimator):
        return mask & ~np.isnan(y.astype(np.float64).reshape(len(y), -1)).any(1), label
    if y.ndim == 1:
        numbers: dict[Any, int] = {}
        for row in np.flatnonzero(mask).tolist():
            label[row] = numbers.setdefault(y[row], len(numbers))
        counts = np.bincount(label[mask], minlength=1)
        mask &= counts[label] >= n_folds
    return mask, label

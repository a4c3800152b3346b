"""Why documents are predicted as they are: `explain` of the estimator, for the labels that matter most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus import Corpus
from topoi.corpus.target import Target
from topoi.report.predictions import NOT_KNOWN, Predictions

MOST_LABELS = 3  # of a document
N_TOPICS = 5
N_WORDS = 8


def reasons_of(
    estimator: Any,
    target: Target,
    corpus: Corpus,
    found: Predictions | None,
    rows: NDArray[np.int64],
    chosen: NDArray[np.int64],
    first: list[int],
    covariates: Any = None,
    refitted: bool = False,
) -> list[list[dict[str, Any]]]:
    """For every document of `corpus`, which are `rows` of those predicted, the reasons for its labels.

    `chosen` is the model that each is shown with, `first` the first topic of every model, `covariates` are those of
    these documents. Where the model was `refitted` pairs of labels have no votes, and every label has reasons.
    """
    if found is None:
        return [[] for _ in rows]
    if target.pairs and not refitted:
        return _of_pairs(estimator, target, corpus, chosen, first)
    explained = estimator.explain(corpus, n_topics=N_TOPICS, n_words=N_WORDS, covariates=covariates)
    out = []
    for row, document in zip(rows.tolist(), explained, strict=True):
        if target.ordered:
            out.append([_plain(document[0], target.tasks[0])])
            continue
        labels = _labels_that_matter(target, found, row)
        out.append([_plain(document[0 if target.binary else label], target.names[label]) for label in labels])
    return out


def _labels_that_matter(target: Target, found: Predictions, row: int) -> list[int]:
    """The predicted labels, then the true ones, then those of the highest scores."""
    if target.kind == "numbers":
        return list(range(min(len(target.names), MOST_LABELS)))
    if target.binary:
        return [1]
    if target.kind == "several":
        said = np.flatnonzero(found.predicted[row]).tolist()
        true = [] if found.truth is None else np.flatnonzero(found.truth[row] == 1).tolist()
    else:
        said = [int(found.predicted[row])]
        true = [] if found.truth is None or found.truth[row] == NOT_KNOWN else [int(found.truth[row])]
    by_score = np.argsort(-found.scores[row], kind="stable").tolist()
    known = [label for label in (*said, *true, *by_score) if label < len(target.names)]
    return list(dict.fromkeys(known))[:MOST_LABELS]


def _of_pairs(
    estimator: Any, target: Target, corpus: Corpus, chosen: NDArray[np.int64], first: list[int]
) -> list[list[dict[str, Any]]]:
    """Votes have no reasons, but a pair of classes does: that of the two highest scores."""
    out: list[list[dict[str, Any]]] = [[] for _ in range(corpus.n_documents)]
    for pair in np.unique(chosen).tolist():
        here = np.flatnonzero(chosen == pair)
        model = estimator.estimators_[pair]
        explained = model.explain(corpus.take(here), n_topics=N_TOPICS, n_words=N_WORDS)
        for d, document in zip(here.tolist(), explained, strict=True):
            out[d] = [_plain(document[0], target.tasks[pair], first[pair])]
    return out


def _plain(reason: Any, name: str, first: int = 0) -> dict[str, Any]:
    return {
        "label": name,
        "score": reason.score,
        "topics": [[first + k, part] for k, part, _ in reason.topics if part],
        "words": [[word, part] for word, part in reason.words if part],
        "own_words": [[word, part] for word, part in reason.own_words],
        "covariates": [[name, part] for name, part in reason.covariates],
        "parts": [[name, part] for name, part in reason.parts.items() if part],
    }

"""`write_report`: from a fitted estimator to a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from topoi._disk.whole import write_whole
from topoi.chain.model import check_whole
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.report.convergence import convergence
from topoi.report.documents import documents
from topoi.report.html import render
from topoi.report.predictions import predictions
from topoi.report.quality import quality
from topoi.report.settings import settings
from topoi.report.target import target_of, weights
from topoi.report.topics import N_SHOWN, N_STEPS, model_names, models_of, topics
from topoi.report.words import WordTable


def write_report(
    path: str | Path,
    estimator: Any,
    *,
    X: Any = None,
    y: Any = None,
    texts: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    held_out: bool | None = None,
    label_names: Sequence[Any] | None = None,
    held_out_trace: Any = None,
    title: str | None = None,
    max_documents: int = 2000,
) -> None:
    """Write what a fitted model has learned as one HTML page, which opens from disk and fetches nothing.

    The same arguments give the same bytes. The file is written whole or not at all.

    Parameters
    ----------
    path : path
        The file to write.
    estimator : LDA, MedLDAClassifier or MedLDARegressor
        Fitted.
    X : Corpus, counts or None
        Documents to show, and to be scored on if `y` is given.
    y : labels or targets of X, or None
        As in `fit`; None or NaN where one is not known. A label that the model does not know counts as missed.
    texts : sequence of str or None
        The texts behind the rows of X, to be shown with their words in the colours of their topics. Without them a
        document is shown as a bag of words.
    ids : sequence or None
        Names of the documents; their numbers by default.
    held_out : bool or None
        Whether X are documents that the model has not learned from. The page says so beside every score; None says that
        it is not known.
    label_names : sequence or None
        Names of the labels (in the order of `classes_`) or outputs, for instance of the columns of an indicator matrix.
    held_out_trace : array (n, 2), dict of such arrays, or None
        Sweeps and scores of held-out documents, by the name of the score.
    title : str or None
        Title of the page.
    max_documents : int
        How many documents are shown, evenly spaced over X. Scores are of all.
    """
    data = report_data(
        estimator,
        X=X,
        y=y,
        texts=texts,
        ids=ids,
        held_out=held_out,
        label_names=label_names,
        held_out_trace=held_out_trace,
        max_documents=max_documents,
    )
    name = f"Topics of {data['estimator']}" if title is None else str(title)
    data["title"] = name
    write_whole(path, render(name, data))


def report_data(
    estimator: Any,
    *,
    X: Any = None,
    y: Any = None,
    texts: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    held_out: bool | None = None,
    label_names: Sequence[Any] | None = None,
    held_out_trace: Any = None,
    max_documents: int = 2000,
) -> dict[str, Any]:
    """All that the page shows, as plain lists and dicts; the parameters are those of `write_report`."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(estimator, "_parts"):
        raise ParameterError("estimator", f"must be an estimator of topoi, not {type(estimator).__name__}")
    check_is_fitted(estimator)
    check_whole("max_documents", max_documents, 0)
    corpus = _corpus(X)
    if corpus is None:
        for name, value in (("y", y), ("texts", texts), ("ids", ids)):
            if value is not None:
                raise ParameterError(name, "needs the documents as well: give their counts or corpus as X")
    target = target_of(estimator, label_names)
    words = WordTable()
    models = models_of(estimator)
    names = model_names(estimator, target.names)
    all_topics = topics(models, words)
    shown: list[dict[str, Any]] = []
    found = None
    if corpus is not None:
        found = predictions(estimator, target, corpus, y)
        n = min(max_documents, corpus.n_documents)
        rows = np.arange(n, dtype=np.int64) * corpus.n_documents // max(n, 1)
        shown = documents(estimator, target, corpus, found, rows, texts, ids, words)
    return {
        "estimator": type(estimator).__name__,
        "held_out": held_out,
        "models": [
            {
                "name": names[number] if names else "",
                "n_samples": model.n_samples,
                "n_words": model.n_words,
                "tokens": float(model.topic_counts.sum()),
                "beta": model.beta,
            }
            for number, model in enumerate(models)
        ],
        "n_shown": N_SHOWN,
        "n_steps": N_STEPS,
        "topics": all_topics,
        "target": {
            "kind": target.kind,
            "names": target.names if found is None else found.names,
            "binary": target.binary,
            "votes": target.votes,
        },
        "weights": weights(estimator, target),
        "documents": shown,
        "n_documents": None if corpus is None else corpus.n_documents,
        "convergence": convergence(estimator, names, held_out_trace),
        "quality": quality(target, found),
        "settings": settings(estimator, corpus, len(shown)),
        "words": words.names,
    }


def _corpus(X: Any) -> Corpus | None:
    if X is None or isinstance(X, Corpus):
        return X
    return Corpus.from_counts(X, allow_empty=True)

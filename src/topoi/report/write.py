"""`write_report`: from a fitted estimator to a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topoi._disk.whole import write_whole
from topoi.report.html import render
from topoi.report.sections import SECTIONS
from topoi.report.subject import Subject


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
    covariates: Any = None,
    by: Any = None,
) -> None:
    """Write what a fitted model has learned as one HTML page, which opens from disk and fetches nothing.

    The same arguments give the same bytes. The file is written whole or not at all.

    Parameters
    ----------
    path : path
        The file to write.
    estimator : LDA, MedLDAClassifier, MedLDARegressor or Pipeline
        Fitted. Of a scikit-learn `Pipeline` the last step must be one of ours: X passes through the steps before it,
        which also name the words.
    X : Corpus, counts, texts or None
        Documents to show, and to be scored on if `y` is given: what `transform` takes.
    y : labels or targets of X, or None
        As in `fit`; None or NaN where one is not known. A label that the model does not know counts as missed.
    texts : sequence of str or None
        The texts behind the rows of X, to be shown with their words in the colours of their topics. None: X, if it has
        texts; else a document is shown as a bag of words.
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
    covariates : data frame, mapping, array or sparse matrix
        Those of X, as in `fit`: a model that was fitted with covariates needs them to predict.
    by : dict of str and columns, data frame, or None
        Columns of X, by name, to show topics over time and by group: what `topoi.topics_by` takes as `groups`.
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
        covariates=covariates,
        by=by,
    )
    write_whole(path, as_page(data, title))


def as_page(data: dict[str, Any], title: str | None = None) -> bytes:
    """The page that shows these data, which get its title."""
    data["title"] = f"Topics of {data['estimator']}" if title is None else str(title)
    return render(data["title"], data)


def report_data(estimator: Any, **given: Any) -> dict[str, Any]:
    """All that the page shows, as plain lists and dicts; `given` are parameters of `write_report`."""
    subject = Subject(estimator, **given)
    shared = subject.data()
    found = {name: data(subject) for name, data in SECTIONS.items()}
    there = {name: part for name, part in found.items() if part is not None}
    return {**shared, "sections": there, "words": subject.words.names}  # all that any section has asked for

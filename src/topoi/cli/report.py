"""`topoi report`: a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoi.cli._app import note, told_warnings, waiting
from topoi.cli._by import Grouping
from topoi.cli._documents import Given, HeldOut, NewLabel, NewTarget, open_with_labels
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading
from topoi.cli.predict import say_skipped
from topoi.errors import FileError, ParameterError


def report(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    reading: NewReading,
    grouping: Grouping,
    documents: Annotated[
        str | None, typer.Argument(metavar="DOCUMENTS", help="Documents to show, and to score if they have labels.")
    ] = None,
    label: NewLabel = None,
    target: NewTarget = None,
    held_out: HeldOut = False,
    output: Annotated[str, typer.Option("--output", "-o", help="The page to write.")] = "report.html",
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    max_documents: Annotated[int, typer.Option("--max-documents", min=0, help="Documents on the page.")] = 2000,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write one HTML page about the topics, their labels, and documents with their reasons; it fetches nothing.

    \b
      topoi report model -o report.html --open
      topoi report model posts.csv --held-out -o report.html
      topoi report model posts.csv --by date --by section -o report.html
    """
    check_output(output, model, documents)
    grouping.check()
    with waiting("loading …"):
        more: dict[str, Any] = {}
        if documents is None:
            if held_out:
                raise ParameterError("held_out", "needs the file of the fit; name it after the model")
            if grouping.by:
                raise ParameterError("by", "needs documents with the column; name their file after the model")
            opened = open_model(model)
        else:
            given = open_with_labels(model, documents, reading, label, target, held_out, True, True, groups=grouping.by)
            say_skipped(given.data)
            opened = given.model
            more = _documents(given, max_documents)
    if documents is not None and given.data.groups:
        with told_warnings():
            more["by"] = {one.name: one for one in grouping.groups(given.data.groups)}
    from topoi.report import write_report

    with told_warnings(), waiting("writing the page …"):
        write_report(
            output,
            opened.estimator,
            held_out=True if held_out else None,
            label_names=opened.target.names,
            title=title or (None if documents in (None, "-") else f"Topics of {Path(documents).name}"),
            max_documents=max_documents,
            **more,
        )
    note(f"Written: {output}")
    if open_page:
        import webbrowser

        webbrowser.open(Path(output).resolve().as_uri())


def _documents(given: Given, max_documents: int) -> dict[str, Any]:
    """Documents, labels and texts as the page takes them."""
    import numpy as np

    data = given.data
    n, every = len(data), len(data)
    shown = np.arange(min(n, max_documents), dtype=np.int64) * every // max(min(n, max_documents), 1)
    texts: list[str] | None = [""] * every  # those that are not shown need not be in memory
    try:
        for row, text in zip(shown.tolist(), given.texts(shown), strict=True):
            texts[row] = text  # type: ignore[index]
    except FileError:  # counts have no texts
        texts = None
    ids = None if data.ids is None else data.ids.tolist()
    return {"X": data.corpus, "y": _labels(given), "texts": texts, "ids": ids, "covariates": data.covariates}


def _labels(given: Given) -> Any:
    """Labels for the page, where those that are not known have a place."""
    import numpy as np

    from topoi.cli._labels import as_lists, by_text, indicators, plain_list, to_compare

    model, data = given.model, given.data
    if to_compare(model.target, data) is None:
        return None
    if model.target.kind == "numbers":
        return data.labels
    if model.target.kind == "one":
        known = by_text(model.target.values)  # a label that the model does not know stays, and counts as missed
        labels = np.empty(len(data), object)
        labels[:] = [None if label is None else known.get(str(label), label) for label in plain_list(data.labels)]
        return labels
    matrix = indicators(as_lists(data.labels), model.target.values).astype(np.float64)
    matrix[data.unlabelled] = np.nan
    return matrix

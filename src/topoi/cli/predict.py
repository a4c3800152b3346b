"""`topoi predict`: labels or numbers for new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import note, told_warnings, waiting
from topoi.cli._documents import allowed
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading, read_new
from topoi.errors import FileError, ParameterError

if TYPE_CHECKING:
    from topoi.cli._folder import Model
    from topoi.readers import Dataset


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    reading: NewReading,
    output: Annotated[
        str, typer.Option("--output", "-o", help=".csv, .tsv, .jsonl or .parquet, also .gz; - is standard output.")
    ] = "-",
    to: Annotated[str | None, typer.Option("--to", help="Format of the output, if its name does not tell.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each label.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add the decision score of each label.")] = False,
    interval: Annotated[
        float | None, typer.Option("--interval", help="Numbers: add bounds that hold the truth with this chance.")
    ] = None,
) -> None:
    """Predict the labels, or the numbers, of new documents.

    Columns are those of the fit unless given; `--id ''` says that the new file has no ids.

    \b
      topoi predict model new.csv -o predictions.csv --proba
      cat new.jsonl | topoi predict model - --format jsonl --to jsonl > predictions.jsonl
      topoi predict stars new.csv --interval 0.9
    """
    check_output(output, model, documents)
    with waiting("loading …"):
        opened = open_model(model)
        check_predicts(opened)
        needed = {"covariates": opened.covariates, "ngrams": opened.ngrams}
        data = allowed(opened, read_new(documents, reading, opened.reading, opened, **needed))
    say_skipped(data)
    say_empty(data)
    from topoi.writers import write_table

    separator = opened.reading.get("label_separator") or ";"
    with told_warnings(), waiting("predicting …"):
        columns = prediction_columns(opened, data, proba, scores, interval)
    write_table(columns, output, to, list_separator=separator)


def check_predicts(model: Model) -> None:
    """Raise if the model is one that predicts nothing."""
    if model.target.kind is None:
        what = "predicts nothing: it was fitted without labels. See topoi transform, or fit it with --label."
        raise FileError(f"{model.path}: {what}", str(model.path))


def say_skipped(data: Dataset) -> None:
    """Say how many documents could not be read."""
    if data.n_skipped:
        note(f"{data.n_skipped:,} documents could not be read and are left out; the first: {data.skipped[0]}")


def say_empty(data: Dataset) -> None:
    """Say how many documents have nothing that topics are told by: they get the same topics, whatever they are."""
    if n := int((data.corpus.doc_lengths == 0).sum()):
        has = "has" if n == 1 else "have"
        note(
            f"{n:,} of {len(data):,} documents {has} no word of the model's topics; what is predicted there is hardly "
            "a finding."
        )


def names_of(data: Dataset) -> dict[str, Any]:
    """The first column of a table about documents: their ids, or else their numbers."""
    if data.ids is not None:
        return {"id": data.ids}
    return {"document": list(range(len(data)))}


def prediction_columns(
    model: Model, data: Dataset, proba: bool, scores: bool, interval: float | None
) -> dict[str, Any]:
    """Predictions as the columns of a table."""
    import numpy as np

    estimator, corpus, target = model.estimator, data.corpus, model.target
    beside = data.covariates
    columns = names_of(data)
    if target.kind == "numbers":
        if proba or scores:
            raise ParameterError("proba" if proba else "scores", "is for labels; this model predicts numbers")
        found = np.asarray(estimator.predict(corpus, covariates=beside)).reshape(len(data), -1)
        names = ["prediction"] if found.shape[1] == 1 else [f"prediction_{j}" for j in range(found.shape[1])]
        columns |= {name: found[:, j] for j, name in enumerate(names)}
        if interval is not None:
            found = estimator.predict_interval(corpus, interval, covariates=beside)
            bounds = np.asarray(found).reshape(len(data), -1, 2)
            for j in range(bounds.shape[1]):
                after = "" if bounds.shape[1] == 1 else f"_{j}"
                columns |= {f"lower{after}": bounds[:, j, 0], f"upper{after}": bounds[:, j, 1]}
        return columns
    if interval is not None:
        raise ParameterError("interval", "is for numbers; this model predicts labels")
    found = estimator.predict(corpus, covariates=beside)
    if target.kind == "several":
        columns["labels"] = [[target.values[j] for j in np.flatnonzero(row)] for row in np.asarray(found)]
    else:
        columns["label"] = found.tolist()
    if proba:
        probabilities = estimator.predict_proba(corpus, covariates=beside)
        columns |= {f"p:{label}": values for label, values in zip(target.names, probabilities.T, strict=True)}
    if scores:
        decided = estimator.decision_function(corpus, covariates=beside)
        if target.ordered:
            return columns | {"score": decided}
        if decided.ndim == 1:
            decided = np.column_stack((-decided, decided))
        columns |= {f"score:{label}": values for label, values in zip(target.names, decided.T, strict=True)}
    return columns

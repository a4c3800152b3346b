"""`topoi transform`: the topics of new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import told_warnings, waiting
from topoi.cli._documents import OR_AVERAGE, WithoutCovariates, allowed
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading, read_new
from topoi.cli.predict import names_of, say_skipped

if TYPE_CHECKING:
    from topoi.cli._folder import Model


def transform(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    reading: NewReading,
    output: Annotated[
        str, typer.Option("--output", "-o", help=".csv, .tsv, .jsonl or .parquet, also .gz; - is standard output.")
    ] = "-",
    to: Annotated[str | None, typer.Option("--to", help="Format of the output, if its name does not tell.")] = None,
    without_covariates: WithoutCovariates = False,
    top: Annotated[int | None, typer.Option("--top", min=1, help="Only so many topics, the strongest first.")] = None,
) -> None:
    """Write the shares of the topics in each document; a row sums to 1 (for each model of --strategy ovr or ovo).

    Where topics depend on covariates, the columns of the fit are read, unless --without-covariates.

    \b
      topoi transform model docs.csv -o shares.csv
      topoi transform model docs.csv --top 3 | head
    """
    check_output(output, model, documents)
    with waiting("loading …"):
        opened = open_model(model)
        needed = None if without_covariates else opened.topic_covariates
        new = read_new(documents, reading, opened.reading, opened, covariates=needed, otherwise=OR_AVERAGE)
        data = allowed(opened, new)
    say_skipped(data)
    from topoi.writers import write_table

    with waiting("finding topics …"), told_warnings():
        shares = opened.estimator.transform(data.corpus, covariates=data.covariates)
    write_table(with_shares(names_of(data), opened, shares, top), output, to)


def with_shares(columns: dict[str, Any], model: Model, shares: Any, top: int | None) -> dict[str, Any]:
    """To columns about documents, a column per topic; or topic and share of the strongest, in pairs of columns."""
    import numpy as np

    from topoi.chain.names import AS_COLUMN, have_names, topic_labels

    models = model.estimator.topic_models_
    if top is None:
        return columns | dict(zip(topic_labels(models, AS_COLUMN, columns), shares.T, strict=True))
    labels = np.array(topic_labels(models), object) if have_names(models) else np.arange(shares.shape[1])
    order = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    best = np.take_along_axis(shares, order, 1)
    columns = dict(columns)
    for rank in range(order.shape[1]):
        columns[f"topic{rank + 1}"] = labels[order[:, rank]]
        columns[f"share{rank + 1}"] = best[:, rank]
    return columns

"""`topoi transform`: the topics of new documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from topoi.cli._app import waiting
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading, read_new
from topoi.cli.predict import names_of, say_skipped


def transform(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    reading: NewReading,
    output: Annotated[
        str, typer.Option("--output", "-o", help=".csv, .tsv, .jsonl or .parquet, also .gz; - is standard output.")
    ] = "-",
    to: Annotated[str | None, typer.Option("--to", help="Format of the output, if its name does not tell.")] = None,
    top: Annotated[int | None, typer.Option("--top", min=1, help="Only so many topics, the strongest first.")] = None,
) -> None:
    """Write the shares of the topics in each document; a row sums to 1 (for each model of --strategy ovr or ovo).

    \b
      topoi transform model docs.csv -o shares.csv
      topoi transform model docs.csv --top 3 | head
    """
    check_output(output, model, documents)
    with waiting("loading …"):
        opened = open_model(model)
        data = read_new(documents, reading, opened.reading, opened.words)
    say_skipped(data)
    from topoi.writers import write_table

    with waiting("finding topics …"):
        shares = opened.estimator.transform(data.corpus)
    write_table(names_of(data) | share_columns(shares, top), output, to)


def share_columns(shares: Any, top: int | None) -> dict[str, Any]:
    """A column per topic; or topic and share of the strongest, in pairs of columns."""
    import numpy as np

    if top is None:
        return {f"topic_{k}": shares[:, k] for k in range(shares.shape[1])}
    order = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    best = np.take_along_axis(shares, order, 1)
    columns: dict[str, Any] = {}
    for rank in range(order.shape[1]):
        columns[f"topic{rank + 1}"] = order[:, rank]
        columns[f"share{rank + 1}"] = best[:, rank]
    return columns

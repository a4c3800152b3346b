"""`topoi effects`: how topics vary with the covariates of a fit, or with columns of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import console, print_json, told_warnings, waiting
from topoi.cli._documents import allowed
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading, read_new
from topoi.cli.predict import say_skipped
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from topoi.cli._folder import Model

FIELDS = ("topic", "name", "covariate", "value", "mean", "low", "high")


def effects(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    reading: NewReading,
    documents: Annotated[
        str | None,
        typer.Argument(metavar="DOCUMENTS", help="Documents with columns that the model was fitted without."),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            "--covariate",
            help="Only of this covariate of the fit, by default of all; or a column of DOCUMENTS. May be given several "
            "times.",
        ),
    ] = None,
    prevalence: Annotated[
        str | None,
        typer.Option("--prevalence", help='With DOCUMENTS: how topics depend on the columns, as "~ party + s(year)".'),
    ] = None,
    interval: Annotated[float, typer.Option("--interval", help="Probability that intervals have.")] = 0.9,
    grid: Annotated[
        int | None,
        typer.Option("--grid", min=2, help="Tell effects of numbers at so many values, not of one deviation more."),
    ] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=0, help="Words of a topic.")] = 4,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table (.csv, .tsv, .jsonl, .parquet).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how the share of every topic changes with the covariates of a fit, with intervals.

    Of a category it is the share if all documents had it, minus the share that there is; of a number, if it were one
    standard deviation higher; of a spline, if all documents had a value. See docs/howto/covariates.md.

    Of a model that was fitted without covariates, the shares of topics in DOCUMENTS are regressed on their columns.
    This underestimates effects, the more so the shorter documents are; a fit with --covariate does not.

    \b
      topoi fit speeches.csv --text speech --covariate party --covariate year --prevalence "~ party + s(year)"
      topoi effects model --covariate party
      topoi effects model -o effects.csv
      topoi effects plain speeches.csv --covariate party --covariate year
    """
    if output is not None:
        check_output(output, model, *([] if documents is None else [documents]))
    with waiting("loading …"):
        opened = open_model(model)
    if documents is None:
        found = _of_fit(opened, covariate, prevalence, interval, grid)
    else:
        found = _of_columns(opened, documents, reading, covariate, prevalence, interval, grid)
    if output is not None:
        from topoi.writers import write_table

        write_table(effect_columns(opened, found), output)
    if json:
        columns = effect_columns(opened, found)
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        print_json({"model": model, "interval": interval, "effects": rows})
    elif output is None:
        from topoi.chain.names import topic_labels

        labels = topic_labels(opened.estimator.topic_models_, "{}")
        console().print(_table(found, labels, opened.estimator.top_words(words), interval))


def effect_columns(model: Model, found: list[Any]) -> dict[str, list[Any]]:
    """Effects as the columns of a table, with what their topics are called."""
    labels = model.estimator.topic_names_
    return {field: [labels[row.topic] if field == "name" else getattr(row, field) for row in found] for field in FIELDS}


def _of_fit(
    model: Model, covariates: list[str] | None, prevalence: str | None, level: float, grid: int | None
) -> list[Any]:
    """Effects of the covariates of the fit, or of some of them."""
    if prevalence is not None:
        raise ParameterError("prevalence", "is for columns of DOCUMENTS; effects of the fit are by its own formula")
    found: list[Any] = model.estimator.topic_effects(level, grid)
    there = list(dict.fromkeys(row.covariate for row in found))
    for name in covariates or ():
        if name not in there:
            raise ParameterError("covariates", f"the model has no {name!r}, but {', '.join(there)}")
    return [row for row in found if not covariates or row.covariate in covariates]


def _of_columns(
    model: Model, documents: str, reading: NewReading, covariates: list[str] | None, prevalence: str | None,
    level: float, grid: int | None,
) -> list[Any]:  # fmt: skip
    """Effects of columns of documents, which the fit need not have had, by a regression of topic shares."""
    if not covariates:
        raise ParameterError("covariates", f"name the columns of {documents} to tell the effects of: --covariate year")
    from topoi.evaluate import topic_effects

    with waiting("reading …"):
        columns = dict.fromkeys(covariates)
        data = allowed(model, read_new(documents, reading, model.reading, model, covariates=columns))
    say_skipped(data)
    with told_warnings(), waiting("finding topics …"):
        return topic_effects(model.estimator, data.covariates, data.corpus, prevalence, level=level, grid=grid)


def _table(found: list[Any], labels: list[str], words: list[list[str]], level: float) -> Table:
    """Effects as a table for people: of every topic one line, or more, after the other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("topic", justify="right", style="cyan")
    for name in ("words", "covariate", "value"):
        table.add_column(name)
    table.add_column("change", justify="right")
    table.add_column(f"{level:.0%} interval", justify="right")
    before = None
    for row in found:
        first = row.topic != before
        before = row.topic
        value = row.value if isinstance(row.value, str) else f"{row.value:g}"
        bounds = f"{row.low:+.3f} … {row.high:+.3f}"
        topic = (labels[row.topic], " ".join(words[row.topic])) if first else ("", "")
        table.add_row(*topic, row.covariate, value, f"{row.mean:+.3f}", bounds)
    return table

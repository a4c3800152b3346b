"""`topoi evaluate`: how good a model is on documents."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from topoi.cli._app import console, note, print_json, told_warnings, waiting
from topoi.cli._documents import HeldOut, NewLabel, NewTarget, WithoutCovariates, is_source_of_fit, open_with_labels
from topoi.cli._reading import NewReading
from topoi.cli.predict import say_skipped
from topoi.errors import ParameterError

IN_ORDER = ("c_npmi", "c_v")  # measures that look at the order of words
LIKELIHOODS = ("document_completion", "left_to_right")  # measures that look at what topics depend on


def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    reading: NewReading,
    label: NewLabel = None,
    target: NewTarget = None,
    held_out: HeldOut = False,
    without_covariates: WithoutCovariates = False,
    measures: Annotated[
        str | None,
        typer.Option(
            "--measures",
            help="Names, divided by commas: document_completion, left_to_right, u_mass, npmi, c_npmi, c_v, diversity, "
            "exclusivity, predictions, chains, topic_agreement. All quick ones by default.",
        ),
    ] = None,
    words: Annotated[int, typer.Option("--words", min=2, help="Words of a topic for coherence.")] = 10,
    interval: Annotated[float, typer.Option("--interval", help="Level of the intervals of predicted numbers.")] = 0.9,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with scores of each label.")] = False,
) -> None:
    """Measure a model on documents, best on those that it has not seen: likelihood, topics, predictions, chains.

    docs/evaluation.md says what each number means. Where topics depend on covariates, likelihoods use the columns of
    the fit, unless --without-covariates.

    \b
      topoi evaluate model test.csv
      topoi evaluate model posts.csv --held-out --json
      topoi evaluate model test.csv --measures c_v,npmi
    """
    wanted = None if measures is None else [name.strip() for name in measures.split(",") if name.strip()]
    with waiting("loading …"):
        in_order = wanted is not None and any(name in IN_ORDER for name in wanted)
        predicts = None if wanted is None or "predictions" in wanted else False
        of_topics = not without_covariates and (wanted is None or any(name in LIKELIHOODS for name in wanted))
        given = open_with_labels(model, documents, reading, label, target, held_out, in_order, predicts, of_topics)
    say_skipped(given.data)
    from topoi.cli._scores import prediction_scores
    from topoi.evaluate import evaluate as measure

    estimator, data = given.model.estimator, given.data
    with waiting("measuring …"):
        tokens = given.tokens() if in_order else None
        names = None if wanted is None else [name for name in wanted if name != "predictions"]
        found: dict[str, Any] = {}
        if names is None or names:
            beside = data.covariates if of_topics else None
            with told_warnings():
                found = measure(
                    estimator, data.corpus, measures=names, documents=tokens, n_words=words, level=interval,
                    covariates=beside,
                )  # fmt: skip
        if wanted is None or "predictions" in wanted:
            found |= prediction_scores(given.model, data, interval)
    if wanted is not None and "predictions" in wanted and "scored_documents" not in found:
        raise ParameterError("measures", "predictions: the right labels are needed; name their column by --label")
    if foreign := found.get("documents_with_unknown_labels"):
        note(f"{foreign:,} documents have labels that the model does not know; such labels are not scored.")
    if not held_out and is_source_of_fit(given.model, documents):
        note(
            f"{documents} is what the model has learned from, so that it scores too well. Evaluate other documents, or "
            "fit with --hold-out and evaluate with --held-out."
        )
    if json:
        print_json({"model": model, "documents": len(data), **found})
        return
    _print(found, len(data))


def _print(found: dict[str, Any], n_documents: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = console()
    grid = Table.grid(padding=(0, 2))
    grid.add_row("documents", f"{n_documents:,}")
    for name, value in found.items():
        told = isinstance(value, int | float) and not math.isnan(value)
        if told and name != "documents_with_unknown_labels":
            grid.add_row(name, f"{value:,}" if isinstance(value, int) else f"{value:.4g}")
    out.print(grid)
    for name in ("per_label", "per_output"):
        rows = found.get(name)
        if not rows:
            continue
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for number, column in enumerate(rows[0]):
            table.add_column(column, justify="right" if number else "left")
        for row in rows:
            table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row.values()))
        out.print(table)

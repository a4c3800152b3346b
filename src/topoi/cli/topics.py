"""`topoi topics`: what the topics of a model are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import console, print_json, waiting
from topoi.cli._folder import open_model
from topoi.cli._output import check_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from topoi.cli._folder import Model


def topics(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of a topic.")] = 10,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table (.csv, .tsv, .jsonl, .parquet), a row a word.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show topics that were hidden as well.")] = False,
) -> None:
    """Show the topics: share of the tokens, most telling words, and the labels they speak for.

    If the model has several chains (fit --chains 4), also in how many of them each topic was found (from half of the
    probability of its words in common on) and its agreement, the mean of what it has in common: docs/evaluation.md.

    \b
      topoi topics model --words 15
      topoi topics model --json | jq '.topics[0].words'
      topoi topics model -o topics.csv
    """
    if output is not None:
        check_output(output, model)
    with waiting("loading …"):
        opened = open_model(model)
        rows = topic_rows(opened, words, every)
    if output is not None:
        from topoi.chain.names import have_names
        from topoi.estimators.described import TRUST
        from topoi.writers import write_table

        flat = [{**row, "rank": rank, **word} for row in rows for rank, word in enumerate(row["words"], 1)]
        named = ("name",) if have_names(opened.estimator.topic_models_) else ()
        found = TRUST if any("found_in" in row for row in rows) else ()
        names = ("topic", *named, "share", *found, "rank", "word", "probability")
        write_table({name: [entry[name] for entry in flat] for name in names}, output)
    if json or output is None:
        print_topics(opened, words, json, every)


def print_topics(model: Model, n_words: int, json: bool, every: bool = False) -> None:
    """Print the topics, for people or as JSON; those that were hidden if `every` one is asked for."""
    rows = topic_rows(model, n_words, every)
    if json:
        print_json({"model": str(model.path), "topics": rows})
        return
    out = console()
    out.print(topic_table(model, sorted(rows, key=lambda row: -row["share"]), out))
    if left := model.estimator.n_topics_ - len(rows):
        out.print(f"{left} hidden: see them by topoi topics {model.path} --all.", style="dim")


def topic_rows(model: Model, n_words: int, every: bool = False) -> list[dict[str, Any]]:
    """The topics in the order of their numbers: name, share, words with probabilities, weights for labels, trust.

    Those that were hidden are left out unless `every` one is asked for.
    """
    from topoi.estimators.described import describe_topics

    hidden = set() if every else set(model.estimator.hidden_topics_)
    rows = describe_topics(model.estimator, n_words, model.target.tasks)
    return [row for row in rows if row["topic"] not in hidden]


def topic_table(model: Model, rows: list[dict[str, Any]], out: Console) -> Table:
    """Topics as a table for people."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from topoi.chain.names import topic_labels
    from topoi.estimators.described import most_telling

    labels = topic_labels(model.estimator.topic_models_, "{}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, width=min(out.width, 120))
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("share", justify="right")
    several_chains = any("found_in" in row for row in rows)
    if several_chains:
        table.add_column("found in", justify="right")
        table.add_column("agreement", justify="right")
    table.add_column("most telling words", ratio=3)
    if model.target.kind is not None:
        table.add_column("raises or lowers" if model.target.kind == "numbers" else "speaks for, against", ratio=2)
    for row in rows:
        cells = [labels[row["topic"]], f"{row['share']:.1%}"]
        if several_chains:
            cells += [f"{row['found_in']} of {row['n_chains']}", f"{row['agreement']:.2f}" if row["found_in"] else "–"]
        cells.append(" ".join(word["word"] for word in row["words"]))
        if model.target.kind is not None:
            cells.append(", ".join(f"{label} {weight:+.1f}" for label, weight in most_telling(row["weights"])))
        table.add_row(*cells)
    return table

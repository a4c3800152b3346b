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

MOST_FOR, MOST_AGAINST = 2, 1  # labels shown of a topic


def topics(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of a topic.")] = 10,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table (.csv, .tsv, .jsonl, .parquet), a row a word.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the topics: share of the tokens, most probable words, and the labels they speak for.

    \b
      topoi topics model --words 15
      topoi topics model --json | jq '.topics[0].words'
      topoi topics model -o topics.csv
    """
    if output is not None:
        check_output(output, model)
    with waiting("loading …"):
        opened = open_model(model)
        rows = topic_rows(opened, words)
    if output is not None:
        from topoi.writers import write_table

        flat = [
            {"topic": row["topic"], "share": row["share"], "rank": rank, **word}
            for row in rows
            for rank, word in enumerate(row["words"], 1)
        ]
        names = ("topic", "share", "rank", "word", "probability")
        write_table({name: [entry[name] for entry in flat] for name in names}, output)
    if json:
        print_json({"model": model, "topics": rows})
    elif output is None:
        out = console()
        out.print(topic_table(opened, sorted(rows, key=lambda row: -row["share"]), out))


def topic_rows(model: Model, n_words: int) -> list[dict[str, Any]]:
    """The topics in the order of their numbers: share, words with probabilities, weights for labels."""
    import numpy as np

    from topoi.chain.model import TopicModel
    from topoi.evaluate import top_columns, topic_shares

    estimator = model.estimator
    parts: list[TopicModel] = estimator.topic_models_
    columns = top_columns(estimator, n_words)
    shares = topic_shares(estimator).tolist()
    owner = [(part, k, number) for number, part in enumerate(parts) for k in range(part.n_topics)]
    weights, names = getattr(estimator, "topic_weights_", None), model.target.tasks
    rows = []
    for topic, (part, k, number) in enumerate(owner):
        found = columns[topic]
        p = part.word_probabilities(np.array(found, np.int64))[:, k].tolist()
        words = [{"word": part.word(w), "probability": value} for w, value in zip(found, p, strict=True)]
        row: dict[str, Any] = {"topic": topic, "share": shares[topic], "words": words}
        if len(parts) > 1:
            row["model"] = number
        if weights is not None:
            own = [number] if len(parts) > 1 else range(len(names))
            row["weights"] = {names[task]: float(weights[task, topic]) for task in own}
        rows.append(row)
    return rows


def topic_table(model: Model, rows: list[dict[str, Any]], out: Console) -> Table:
    """Topics as a table for people."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, width=min(out.width, 120))
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("share", justify="right")
    table.add_column("most probable words", ratio=3)
    if model.target.kind is not None:
        table.add_column("raises or lowers" if model.target.kind == "numbers" else "speaks for, against", ratio=2)
    for row in rows:
        cells = [str(row["topic"]), f"{row['share']:.1%}", " ".join(word["word"] for word in row["words"])]
        if model.target.kind is not None:
            cells.append(", ".join(f"{label} {weight:+.1f}" for label, weight in _strongest(row["weights"])))
        table.add_row(*cells)
    return table


def _strongest(weights: dict[str, float]) -> list[tuple[str, float]]:
    """The labels that a topic speaks for most, and the one that it speaks against most."""
    order = sorted(weights.items(), key=lambda item: -item[1])
    speaks_for = [item for item in order if item[1] > 0][:MOST_FOR]
    against = [item for item in order[::-1] if item[1] <= 0][:MOST_AGAINST]
    return speaks_for + against

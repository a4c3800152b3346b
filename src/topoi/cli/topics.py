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

TRUST = ("found_in", "n_chains", "agreement")  # of a topic, where there are several chains
MOST_FOR, MOST_AGAINST = 2, 1  # labels shown of a topic


def topics(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of a topic.")] = 10,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table (.csv, .tsv, .jsonl, .parquet), a row a word.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show topics that were hidden as well.")] = False,
) -> None:
    """Show the topics: share of the tokens, most probable words, and the labels they speak for.

    If the model has several chains (fit --chains 4), also in how many of them each topic was found: from half of the
    probability of its words in common on, docs/evaluation.md.

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
    if left := len(model.estimator.components_) - len(rows):
        out.print(f"{left} hidden: see them by topoi topics {model.path} --all.", style="dim")


def topic_rows(model: Model, n_words: int, every: bool = False) -> list[dict[str, Any]]:
    """The topics in the order of their numbers: name, share, words with probabilities, weights for labels, trust.

    Those that were hidden are left out unless `every` one is asked for.
    """
    from dataclasses import asdict

    import numpy as np

    from topoi.chain.model import TopicModel
    from topoi.evaluate import top_columns, topic_shares

    estimator = model.estimator
    parts: list[TopicModel] = estimator.topic_models_
    columns = top_columns(estimator, n_words)
    shares = topic_shares(estimator).tolist()
    owner = [(part, k, number) for number, part in enumerate(parts) for k in range(part.n_topics)]
    trust = estimator.topic_agreement()
    weights, names = getattr(estimator, "topic_weights_", None), model.target.tasks
    labels = estimator.topic_names_
    rows = []
    for topic, (part, k, number) in enumerate(owner):
        found = columns[topic]
        p = part.word_probabilities(np.array(found, np.int64))[:, k].tolist()
        words = [{"word": part.word(w), "probability": value} for w, value in zip(found, p, strict=True)]
        row: dict[str, Any] = {"topic": topic, "name": labels[topic], "share": shares[topic], "words": words}
        if trust:
            row |= asdict(trust[topic])
        if len(parts) > 1:
            row["model"] = number
        if weights is not None:
            own = [number] if len(parts) > 1 else range(len(names))
            row["weights"] = {names[task]: float(weights[task, topic]) for task in own}
        rows.append(row)
    hidden = set() if every else set(estimator.hidden_topics_)
    return [row for row in rows if row["topic"] not in hidden]


def topic_table(model: Model, rows: list[dict[str, Any]], out: Console) -> Table:
    """Topics as a table for people."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from topoi.chain.names import topic_labels

    labels = topic_labels(model.estimator.topic_models_, "{}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, width=min(out.width, 120))
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("share", justify="right")
    several_chains = any("found_in" in row for row in rows)
    if several_chains:
        table.add_column("found in", justify="right")
    table.add_column("most probable words", ratio=3)
    if model.target.kind is not None:
        table.add_column("raises or lowers" if model.target.kind == "numbers" else "speaks for, against", ratio=2)
    for row in rows:
        cells = [labels[row["topic"]], f"{row['share']:.1%}"]
        if several_chains:
            cells.append(f"{row['found_in']} of {row['n_chains']}")
        cells.append(" ".join(word["word"] for word in row["words"]))
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

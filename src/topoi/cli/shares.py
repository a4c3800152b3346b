"""`topoi shares`: topics over time and by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import console, note, print_json, told_warnings, waiting
from topoi.cli._by import Grouping
from topoi.cli._documents import allowed
from topoi.cli._folder import open_model
from topoi.cli._output import check_output
from topoi.cli._reading import NewReading, read_new
from topoi.cli.predict import say_skipped
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from topoi.evaluate import TopicsBy, TopicShare

BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 48
FIELDS = ("by", "group", "start", "n_documents", "topic", "name", "share", "low", "high")


def shares(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="Documents with columns to group them by.")],
    grouping: Grouping,
    reading: NewReading,
    weight: Annotated[
        str, typer.Option("--weight", help="What counts the same: every one of the `documents`, or of the `tokens`.")
    ] = "documents",
    interval: Annotated[float, typer.Option("--interval", help="Probability that intervals have.")] = 0.9,
    top: Annotated[int, typer.Option("--top", min=1, help="Topics to print: those that vary most.")] = 20,
    words: Annotated[int, typer.Option("--words", "-n", min=0, help="Words of a topic.")] = 4,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table (.csv, .tsv, .jsonl, .parquet) of all topics.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the share of every topic over time and by group, with intervals.

    The model need not have learned from the columns, and the documents may be those of the fit or others. Dates are cut
    into days, weeks, months, quarters or years, by their range. See docs/howto/over_time.md.

    \b
      topoi shares model posts.csv --by date
      topoi shares model posts.csv --by date --by section -o shares.csv
      topoi shares model posts.csv --by date --period month
    """
    if output is not None:
        check_output(output, model, documents)
    if not grouping.by:
        raise ParameterError("by", f"name a column of {documents}: --by date")
    grouping.check()
    with waiting("loading …"):
        opened = open_model(model)
    with waiting("reading …"):
        data = allowed(opened, read_new(documents, reading, opened.reading, opened, groups=grouping.by))
    say_skipped(data)
    from topoi.evaluate import topics_by, write_groups

    assert data.groups is not None
    with told_warnings(), waiting("finding topics …"):
        found = [
            topics_by(opened.estimator, groups, data.corpus, level=interval, weight=weight)
            for groups in grouping.groups(data.groups)
        ]
    if output is not None:
        write_groups(found, output)
    if json:
        rows = [_record(row) for one in found for row in one]
        print_json({"model": model, "interval": interval, "shares": rows})
    elif output is None:
        from topoi.chain.names import topic_labels

        labels = topic_labels(opened.estimator.topic_models_, "{}")
        for one in found:
            console().print(_table(one, labels, opened.estimator.top_words(max(words, 1)), words, top))
    else:
        note(f"Written: {output}")


def _record(row: TopicShare) -> dict[str, Any]:
    """A row for JSON, which has no dates."""
    return dict(zip(FIELDS, row, strict=True)) | {"start": row.start and row.start.isoformat()}


def _table(found: TopicsBy, labels: list[str], words: list[list[str]], n_words: int, top: int) -> Table:
    """The topics that vary most: a line of bars over time, and where each is highest and lowest."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    several = f"{len(found.groups)} {found.period or 'group'}s"
    title = f"{found.by}: {several}, {int(found.n_documents.sum()):,} documents; intervals of {found.level:.0%}"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    table.add_column("topic", justify="right", style="cyan")
    if n_words:
        table.add_column("words")
    table.add_column("all", justify="right")
    lines = found.kind != "categories" and len(found.groups) <= MOST_BARS
    if lines:
        table.add_column(f"{found.groups[0]} … {found.groups[-1]}", no_wrap=True)
    table.add_column("highest")
    table.add_column("lowest")
    for k in found.most_varying(top):
        cells = [labels[k], *([" ".join(words[k][:n_words])] if n_words else []), f"{found.overall[k]:.1%}"]
        if lines:
            cells.append(_bars(found.share[:, k].tolist()))
        best, least = int(found.share[:, k].argmax()), int(found.share[:, k].argmin())
        table.add_row(*cells, _told(found, best, k), _told(found, least, k))
    return table


def _bars(values: list[float]) -> str:
    """Bars between 0 and the largest value."""
    largest = max(values) or 1.0
    return "".join(BARS[min(int(value / largest * len(BARS)), len(BARS) - 1)] for value in values)


def _told(found: TopicsBy, g: int, k: int) -> Any:
    share, low, high = (float(array[g, k]) for array in (found.share, found.low, found.high))
    return f"{found.groups[g]} {share:.1%} ({100 * low:.1f}–{100 * high:.1f})"

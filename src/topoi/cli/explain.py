"""`topoi explain`: why a document is predicted as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import console, print_json, waiting
from topoi.cli._folder import open_model
from topoi.cli._reading import PANEL, NewReading, TokenPattern, read_new, read_text
from topoi.cli.predict import check_predicts
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 20  # of the longest bar
MOST_LABELS = 2  # shown unless asked for


def explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    documents: Annotated[str | None, typer.Argument(metavar="DOCUMENTS", help="A file; - is standard input.")] = None,
    row: Annotated[int, typer.Option("--row", help="Number of the document, counted from 0.")] = 0,
    text: Annotated[str | None, typer.Option("--text", help="A text to explain, in place of DOCUMENTS.")] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Explain this label; by default the two with the highest scores.")
    ] = None,
    topics: Annotated[int, typer.Option("--topics", min=1, help="Topics to show.")] = 5,
    words: Annotated[int, typer.Option("--words", min=1, help="Words to show.")] = 10,
    column: Annotated[
        str | None,
        typer.Option("--column", help="Column of the text, if not that of the fit.", rich_help_panel=PANEL),
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of DOCUMENTS.", rich_help_panel=PANEL)] = None,
    token_pattern: TokenPattern = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, all labels.")] = False,
) -> None:
    """Show which topics, and which words through them, speak for and against a label or raise a number.

    The parts of all topics sum to the score.

    \b
      topoi explain model --text "a storm with hail is coming"
      topoi explain model new.csv --row 3 --json
    """
    if (text is None) == (documents is None):
        raise ParameterError("documents", "give DOCUMENTS (with --row), or a text by --text; one of them")
    with waiting("loading …"):
        opened = open_model(model)
        check_predicts(opened)
        if text is not None:
            corpus = read_text(text, opened.reading, opened.words, token_pattern)
        else:
            new = NewReading(text=column, format=format, id="", token_pattern=token_pattern)
            data = read_new(str(documents), new, opened.reading, opened.words)
            if not 0 <= row < len(data):
                raise ParameterError("row", f"must be from 0 to {len(data) - 1}, not {row}")
            corpus = data.corpus.take([row])
        (reasons,) = opened.estimator.explain(corpus, n_topics=topics, n_words=words)
        names = opened.target.tasks
        (predicted,) = _predicted(opened, corpus)
    found = [
        {
            "label": name,
            "score": reason.score,
            "topics": [{"topic": k, "contribution": part, "words": top} for k, part, top in reason.topics],
            "words": [{"word": word, "contribution": part} for word, part in reason.words],
        }
        for name, reason in zip(names, reasons, strict=True)
    ]
    if label is not None:
        found = [reason for reason in found if reason["label"] == label]
        if not found:
            raise ParameterError("label", f"there is no {label!r}; there are {', '.join(names[:10])}")
    if json:
        print_json({"model": model, "predicted": predicted, "words_known": corpus.n_tokens, "reasons": found})
        return
    out = console()
    out.print(f"Predicted: {_shown(predicted)} ({corpus.n_tokens} words known).")
    best = sorted(found, key=lambda reason: -reason["score"])
    for reason in best[:MOST_LABELS]:
        unit = opened.estimator.response_.score_unit if opened.target.kind == "numbers" else "score"
        _print(reason, unit, out)


def _predicted(model: Any, corpus: Any) -> list[Any]:
    from topoi.cli.predict import prediction_columns
    from topoi.readers import Dataset

    columns = prediction_columns(model, Dataset(corpus), False, False, None)
    return [value.tolist() if hasattr(value, "tolist") else value for value in list(columns.values())[1]]


def _shown(predicted: Any) -> str:
    if isinstance(predicted, list):
        return ", ".join(map(str, predicted)) or "no label"
    return f"{predicted:.4g}" if isinstance(predicted, float) else str(predicted)


def _print(reason: dict[str, Any], unit: str, out: Console) -> None:
    """Bars to the right: green for, red against."""
    from rich.table import Table
    from rich.text import Text

    out.print()
    out.print(f"{reason['label']}: {unit} {reason['score']:+.2f}", style="bold")
    table = Table.grid(padding=(0, 1))
    rows = [(f"topic {part['topic']}", part["contribution"], " ".join(part["words"])) for part in reason["topics"]]
    rows += [(part["word"], part["contribution"], "") for part in reason["words"]]
    longest = max((abs(value) for _, value, _ in rows), default=0.0) or 1.0
    for name, value, what in rows:
        bar = "█" * round(WIDTH * abs(value) / longest)
        table.add_row(
            Text(f"  {name}", style="cyan" if what else ""),
            f"{value:+.2f}",
            Text(f"{bar:<{WIDTH}}" if what else bar, style="green" if value > 0 else "red"),
            Text(what, style="dim"),
        )
    out.print(table)

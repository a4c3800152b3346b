"""`topoi explain`: why a document is predicted as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import console, print_json, told_warnings, waiting
from topoi.cli._folder import open_model
from topoi.cli._reading import PANEL, LemmasOfModel, NewReading, TokenPattern, read_new, read_text
from topoi.cli.predict import check_predicts
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from topoi.readers import Dataset

WIDTH = 20  # of the longest bar
MOST_LABELS = 2  # shown unless asked for
#: The parts of a score in words.
NAMES = {"base": "base", "topics": "topics", "words": "words by themselves", "covariates": "covariates"}


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
    lemmas: LemmasOfModel = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option("--covariate", help="With --text: a covariate of the fit and its value, as price=12.50."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, all labels.")] = False,
) -> None:
    """Show which topics, words and covariates speak for and against a label or raise a number.

    The score is the sum of its base (what a document scores of which nothing is known), of the topics, of the words by
    themselves, and of the covariates. The part of the topics is shown by topics, and again by the words in them.

    \b
      topoi explain model --text "a storm with hail is coming"
      topoi explain model new.csv --row 3 --json
      topoi explain model --text "as good as new" --covariate price=12.50 --covariate brand=acme
    """
    if (text is None) == (documents is None):
        raise ParameterError("documents", "give DOCUMENTS (with --row), or a text by --text; one of them")
    from topoi.readers import Dataset

    with waiting("loading …"):
        opened = open_model(model)
        check_predicts(opened)
        if text is not None:
            data = Dataset(read_text(text, opened.reading, opened, token_pattern, opened.ngrams, lemmas))
            data = replace(data, covariates=_typed(covariate or [], opened.covariates))
        else:
            if covariate:
                raise ParameterError("covariates", "is for --text; those of DOCUMENTS are in their columns")
            new = NewReading(
                text=None if column is None else [column],
                format=format,
                id="",
                token_pattern=token_pattern,
                lemmas=lemmas,
            )
            needed = {"covariates": opened.covariates, "ngrams": opened.ngrams}
            data = read_new(str(documents), new, opened.reading, opened, **needed)
            if not 0 <= row < len(data):
                raise ParameterError("row", f"must be from 0 to {len(data) - 1}, not {row}")
            data = data.take([row])
    corpus = data.corpus
    with told_warnings():
        (reasons,) = opened.estimator.explain(corpus, n_topics=topics, n_words=words, covariates=data.covariates)
        (predicted,) = _predicted(opened, data)
    names = opened.target.names if opened.target.pairs else opened.target.tasks  # pairs that vote are not explained
    labels = opened.estimator.topic_names_
    found = [
        {
            "label": name,
            "score": reason.score,
            "parts": reason.parts,
            "topics": [
                {"topic": k, "name": labels[k], "contribution": part, "words": top} for k, part, top in reason.topics
            ],
            "words": [{"word": word, "contribution": part} for word, part in reason.words],
            "own_words": [{"word": word, "contribution": part} for word, part in reason.own_words],
            "covariates": [{"covariate": name, "contribution": part} for name, part in reason.covariates],
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


def _typed(given: list[str], known: dict[str, str]) -> dict[str, Any] | None:
    """Covariates of a text that was typed in, as `name=value`; None if the model has none."""
    import numpy as np

    from topoi.readers._covariates import as_number

    typed = dict(entry.partition("=")[::2] for entry in given)
    if foreign := [name for name in typed if name not in known]:
        there = f"there are {', '.join(known)}" if known else "it was fitted without any"
        raise ParameterError("covariates", f"the model has no {foreign[0]!r}; {there}")
    if missing := [name for name in known if not typed.get(name)]:
        needs = " ".join(f"--covariate {name}=…" for name in missing)
        raise ParameterError("covariates", f"the model needs the value of {', '.join(missing)} too: {needs}")
    columns: dict[str, Any] = {}
    for name, kind in known.items():
        number = as_number(typed[name])
        if kind == "number" and number is None:
            raise ParameterError("covariates", f"{name} is {typed[name]!r}; it must be a number")
        columns[name] = np.array([number]) if kind == "number" else np.array([typed[name]], object)
    return columns or None


def _predicted(model: Any, data: Dataset) -> list[Any]:
    from topoi.cli.predict import prediction_columns

    columns = prediction_columns(model, data, False, False, None)
    return [value.tolist() if hasattr(value, "tolist") else value for value in list(columns.values())[1]]


def _shown(predicted: Any) -> str:
    if isinstance(predicted, list):
        return ", ".join(map(str, predicted)) or "no label"
    return f"{predicted:.4g}" if isinstance(predicted, float) else str(predicted)


def _print(reason: dict[str, Any], unit: str, out: Console) -> None:
    """The parts of the score, then what each is made of. Bars to the right: green for, red against."""
    from rich.table import Table
    from rich.text import Text

    out.print()
    out.print(f"{reason['label']}: {unit} {reason['score']:+.2f}", style="bold")
    parts = [(NAMES[part], value, "") for part, value in reason["parts"].items() if value]  # 0: there is no such part
    groups: list[tuple[str, list[tuple[str, float, str]]]] = [
        ("", parts if len(parts) > 1 else []),
        ("topics", [(p["name"], p["contribution"], " ".join(p["words"])) for p in reason["topics"]]),
        ("words through topics", [(p["word"], p["contribution"], "") for p in reason["words"]]),
        ("words by themselves", [(p["word"], p["contribution"], "") for p in reason["own_words"]]),
        ("covariates", [(p["covariate"], p["contribution"], "") for p in reason["covariates"]]),
    ]
    table = Table.grid(padding=(0, 1))
    longest = max((abs(value) for _, rows in groups for _, value, _ in rows), default=0.0) or 1.0
    for title, rows in groups:
        if title and rows:
            table.add_row(Text(f"  {title}", style="bold dim"), "", "", "")
        for name, value, what in rows:
            bar = "█" * round(WIDTH * abs(value) / longest)
            table.add_row(
                Text(f"    {name}" if title else f"  {name}", style="cyan" if what else ""),
                f"{value:+.2f}",
                Text(f"{bar:<{WIDTH}}" if what else bar, style="green" if value > 0 else "red"),
                Text(what, style="dim"),
            )
    out.print(table)

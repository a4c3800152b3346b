"""Tables of a model for people who open them in a spreadsheet: a folder of CSV files, and the card of the model.

Spreadsheets take a CSV file for UTF-8 only if it begins with a byte order mark, and run texts that begin as formulas
do. Words, labels and ids are strangers' texts: such a one gets an apostrophe in front, which marks it as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi.cli._card import card_of
from topoi.cli.effects import effect_columns
from topoi.cli.predict import names_of, prediction_columns
from topoi.cli.topics import topic_rows
from topoi.cli.transform import with_shares

if TYPE_CHECKING:
    from topoi.cli._folder import Model
    from topoi.readers import Dataset

N_WORDS = 20  # of a topic, in words.csv
TOP = 3  # topics of a document, in documents.csv
FORMULA = ("=", "+", "-", "@", "\t", "\r")
BYTE_ORDER_MARK = "\ufeff".encode()


def write_tables(model: Model, data: Dataset | None, folder: Path) -> list[str]:
    """Write the tables into a folder, which is made if need be; their names. Files of these names are replaced."""
    from topoi._disk.folders import make_folder

    tables: dict[str, dict[str, Any]] = {"topics.csv": _topics(model), "words.csv": _words(model)}
    if model.topic_covariates:
        tables["effects.csv"] = _effects(model)
    if data is not None:
        tables["documents.csv"], tables["shares.csv"] = _documents(model, data)
    make_folder(folder)
    for name, columns in tables.items():
        write_for_spreadsheet(columns, folder / name)
    card_of(model).save(folder / "model_card.md")
    return [*tables, "model_card.md"]


def write_for_spreadsheet(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns as a CSV file that spreadsheets open as it is meant."""
    from topoi.writers import write_table
    from topoi.writers._output import output

    plain = {as_text(name): [as_text(value) for value in column] for name, column in columns.items()}
    with output(path) as stream:
        stream.write(BYTE_ORDER_MARK)
        write_table(plain, stream, "csv")


def as_text(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, list | tuple):
        return [as_text(entry) for entry in value]
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value  # a number that was read as text


def _topics(model: Model) -> dict[str, Any]:
    """A row for each topic."""
    from topoi.estimators.described import TRUST

    rows = topic_rows(model, 10)
    names = ["topic", "name", "share", *(name for name in ("model", *TRUST) if name in rows[0])]
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
    columns["words"] = [" ".join(word["word"] for word in row["words"]) for row in rows]
    labels = dict.fromkeys(label for row in rows for label in row.get("weights", {}))
    return columns | {f"weight of {label}": [row["weights"].get(label) for row in rows] for label in labels}


def _words(model: Model) -> dict[str, Any]:
    """A row for each word of each topic."""
    flat = [
        {**row, "rank": rank, **word} for row in topic_rows(model, N_WORDS) for rank, word in enumerate(row["words"], 1)
    ]
    return {name: [row[name] for row in flat] for name in ("topic", "name", "rank", "word", "probability")}


def _effects(model: Model) -> dict[str, Any]:
    """A row for each topic and covariate."""
    return effect_columns(model, model.estimator.topic_effects())


def _documents(model: Model, data: Dataset) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row for each document: its prediction and strongest topics, with their names; and the shares of all topics."""
    predicts = model.target.kind is not None
    columns = prediction_columns(model, data, False, False, None) if predicts else names_of(data)
    beside = data.covariates if model.topic_covariates else None
    shares = model.estimator.transform(data.corpus, covariates=beside)
    top = min(TOP, shares.shape[1])
    columns |= {"words": data.corpus.doc_lengths.tolist()}
    return with_shares(columns, model, shares, top), with_shares(names_of(data), model, shares, None)

"""Seeds of guided topics from a file: names of topics, and the words that are expected in each."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from topoi._disk import strict_json
from topoi.errors import FileError

MOST_BYTES = 2**24  # lists that somebody has written are not longer
#: First and second cell of a first row that names the columns.
HEADS = {"topic", "topics", "name"}, {"word", "words", "seed", "seeds"}


def read_seeds(path: str | Path) -> dict[str, list[Any]]:
    """Seeds for the parameter `seeds` of the estimators, from a JSON, TOML, CSV or TSV file.

    JSON is an object with a list of words for each topic, TOML a line for each, ``sport = ["game", "team"]``. In a row
    of CSV or TSV the name of a topic comes first, then words of it, one or more; a topic may have several rows. The
    first row may name the columns: ``topic,word``.

    Raises
    ------
    FileError
        For a file that is none of these, or names a topic twice. What may stand in the lists is checked by `fit`.
    """
    place = Path(path)
    readers = {".json": _of_json, ".toml": _of_toml, ".csv": _of_csv, ".tsv": _of_tsv}
    if place.suffix.lower() not in readers:
        raise FileError(f"{path}: seeds are read from {', '.join(readers)}, by the end of the name.", str(path))
    if not place.is_file():
        raise FileError(f"{path}: there is no such file.", str(path))
    with place.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise FileError(f"{path}: has more than {MOST_BYTES:,} bytes; that are no seeds.", str(path))
    try:
        found = readers[place.suffix.lower()](data.decode("utf-8-sig"))
    except (ValueError, RecursionError, csv.Error) as error:
        raise FileError(f"{path}: cannot be read as seeds: {error}", str(path)) from error
    if not isinstance(found, dict) or not found:
        raise FileError(f"{path}: has no topics; it must have a list of words for each.", str(path))
    return found


def _of_json(text: str) -> Any:
    strict_json.parse(text)  # whose depth is then known
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different: of two lists one would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the topic {name!r} is there twice")
        found[name] = value
    return found


def _of_toml(text: str) -> Any:
    return tomllib.loads(text)


def _of_csv(text: str) -> dict[str, list[str]]:
    return _of_rows(csv.reader(io.StringIO(text, newline=""), strict=True))


def _of_tsv(text: str) -> dict[str, list[str]]:
    return _of_rows(csv.reader(io.StringIO(text, newline=""), "excel-tab", strict=True))


def _of_rows(rows: Iterable[list[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        name, *words = (cell.strip() for cell in row) if row else [""]
        words = [word for word in words if word]
        if number == 1 and name.lower() in HEADS[0] and words and words[0].lower() in HEADS[1]:
            continue
        if not name and not words:
            continue
        if not name or not words:
            what = f"the topic {name!r} has no word" if name else f"the word {words[0]!r} has no topic"
            raise ValueError(f"row {number}: {what}; a row is a name and words")
        found.setdefault(name, []).extend(words)
    return found

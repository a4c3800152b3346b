"""Tables, as predictions, topics and their words, topics of documents: CSV, TSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topoi.errors import FileError, ParameterError
from topoi.writers._output import choose, name_of, output

TABLE_FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
}

ROWS = 2**13  # written together, at most
CELLS = 2**22  # likewise: fewer rows where there are many columns
AT_ONCE = 2**26  # cells of a Parquet table that is written at once, at most

Column = Sequence[Any] | NDArray[Any]


def write_table(
    columns: Mapping[str, Column], target: Any, format: str | None = None, *, list_separator: str = ";"
) -> None:
    """Write columns of equal length to a path, to standard output (`"-"`) or to a binary stream.

    A path is written whole or not at all, compressed if it ends in .gz, .xz, .bz2 or .zst. The format is one of
    `TABLE_FORMATS`, told from the name; a stream gets CSV unless it is given. None and NaN are empty fields in CSV and
    TSV, null in JSON. A cell may be a list: CSV and TSV join it by `list_separator`. Numbers keep all their digits.
    """
    n_rows = _check(columns)
    kind = choose(target, format, TABLE_FORMATS, "csv")
    with output(target) as stream:
        if kind == "jsonl":
            _write_jsonl(columns, n_rows, stream)
        elif kind == "parquet":
            _write_parquet(columns, n_rows, stream, name_of(target))
        else:
            _write_delimited(columns, n_rows, stream, "\t" if kind == "tsv" else ",", list_separator)


def _check(columns: Mapping[str, Column]) -> int:
    """The number of rows; raise if the columns are none or differ in it."""
    if not columns:
        raise ParameterError("columns", "there are none")
    lengths: dict[str, int] = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes) or not hasattr(column, "__len__") or getattr(column, "ndim", 1) != 1:
            raise ParameterError("columns", f"{name!r} must be a list or a 1-d array")
        lengths[name] = len(column)
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise ParameterError("columns", f"{name!r} has {length} rows, but {first!r} has {lengths[first]}")
    return lengths[first]


def _rows(columns: Mapping[str, Column], n_rows: int) -> Iterator[list[tuple[Any, ...]]]:
    """The rows in pieces, as plain Python values."""
    step = max(1, min(ROWS, CELLS // len(columns)))
    for start in range(0, n_rows, step):
        pieces = [column[start : start + step] for column in columns.values()]
        plain = [
            piece.tolist() if isinstance(piece, np.ndarray) else [_plain(value) for value in piece] for piece in pieces
        ]
        yield list(zip(*plain, strict=True))


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _write_delimited(
    columns: Mapping[str, Column], n_rows: int, stream: BinaryIO, delimiter: str, list_separator: str
) -> None:
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=False)
    try:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        for rows in _rows(columns, n_rows):
            writer.writerows([[_field(value, list_separator) for value in row] for row in rows])
        text.flush()
    finally:
        text.detach()


def _field(value: Any, list_separator: str) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        parts = [str(_field(item, list_separator)) for item in value]
        if bad := next((part for part in parts if list_separator in part), None):
            raise ParameterError("list_separator", f"{list_separator!r} stands in {bad!r}; choose another")
        return list_separator.join(parts)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _write_jsonl(columns: Mapping[str, Column], n_rows: int, stream: BinaryIO) -> None:
    names = list(columns)
    for rows in _rows(columns, n_rows):
        lines = [json_line(dict(zip(names, row, strict=True))) for row in rows]
        stream.write("".join(lines).encode("utf-8"))


def json_line(record: dict[str, Any]) -> str:
    """One object on a line of its own; NaN is null."""
    clean = {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()}
    try:
        return json.dumps(clean, ensure_ascii=False, allow_nan=False, default=_json_value) + "\n"
    except (ValueError, TypeError) as error:
        raise ParameterError("columns", f"cannot be written as JSON: {error}") from error


def _json_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not a number, string or list")


def _write_parquet(columns: Mapping[str, Column], n_rows: int, stream: BinaryIO, name: str) -> None:
    """Write all rows at once; in parts where there are very many cells, and a part shows what the columns hold."""
    from topoi.readers.parquet import import_pyarrow

    pyarrow = import_pyarrow(name)
    step = max(n_rows, 1)
    if n_rows * len(columns) > AT_ONCE and all(map(_uniform, columns.values())):
        step = max(1, CELLS // len(columns))
    writer = None
    try:
        for start in range(0, max(n_rows, 1), step):
            parts = {key: column[start : start + step] for key, column in columns.items()}
            table = pyarrow.table({key: pyarrow.array(part) for key, part in parts.items()})
            writer = writer or pyarrow.parquet.ParquetWriter(stream, table.schema)
            writer.write_table(table)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise FileError(f"{name}: the columns cannot be written as Parquet: {error}", name) from error
    finally:
        if writer is not None:
            writer.close()


def _uniform(column: Column) -> bool:
    """Whether any part of a column shows what it holds: numbers of one type, or texts."""
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    return kind in ("b", "i", "u", "f") if kind is not None else all(isinstance(value, str) for value in column)

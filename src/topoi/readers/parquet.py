"""Parquet, read a batch of rows at a time with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topoi.errors import FileError
from topoi.readers._faults import fault
from topoi.readers._request import Columns, Documents, Request

BATCH = 4096  # rows


def documents(request: Request) -> Documents:
    """Every row."""
    pyarrow = import_pyarrow(request.name)
    with request.source.seekable() as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
            schema = table.schema_arrow
        except Exception as error:  # pyarrow has errors of many kinds for a file that is none of its own
            raise fault(request.name, f"is not a Parquet file, or is damaged: {error}") from error
        columns = request.columns(schema.names)
        _check_types(request, columns, schema, pyarrow)
        asked = [name for name in (columns.text, columns.answer, columns.id) if name is not None]
        for row, values in _rows(request, table, asked):
            text = values[columns.text]
            if text is None or (isinstance(text, list) and None in text):
                request.faults.document(request.name, f"{columns.text!r} is null, or a word in it is.", row=row)
                continue
            answer, problem = request.read_answer(None if columns.answer is None else values[columns.answer])
            if problem:
                request.faults.document(request.name, f"{columns.answer!r}: {problem}", row=row)
                continue
            document_id = None if columns.id is None else values[columns.id]
            if columns.id is not None and document_id is None:
                request.faults.document(request.name, f"the id {columns.id!r} is null.", row=row)
                continue
            yield text, answer, document_id


def import_pyarrow(name: str) -> Any:
    """The package pyarrow with its Parquet part."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise FileError(f"{name}: Parquet needs the package pyarrow: pip install pyarrow", name) from error
    return pyarrow


def _rows(request: Request, table: Any, asked: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and values of every row."""
    row = 0
    batches = table.iter_batches(BATCH, columns=asked)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            raise fault(request.name, f"the Parquet data are damaged: {error}", row=row + 1) from error
        try:
            rows = batch.select(asked).to_pylist()
        except UnicodeDecodeError:
            rows = None  # some string is not UTF-8: find it
        for i in range(len(batch)):
            row += 1
            try:
                values = rows[i] if rows is not None else {name: batch.column(name)[i].as_py() for name in asked}
            except UnicodeDecodeError as error:
                request.faults.document(request.name, f"a string that is not UTF-8: {error.reason}.", row=row)
                continue
            yield row, values


def _check_types(request: Request, columns: Columns, schema: Any, pyarrow: Any) -> None:
    def check(name: str | None, what: str, good: Any) -> None:
        if name is not None and not good(_plain(schema.field(name).type, pyarrow)):
            raise fault(request.name, f"the column {name!r} has the type {schema.field(name).type}; {what}")

    types = pyarrow.types

    def is_string(kind: Any) -> bool:
        return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")

    def is_list(kind: Any) -> bool:
        return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))

    def is_text(kind: Any) -> bool:
        return is_string(kind) or (is_list(kind) and is_string(_plain(kind.value_type, pyarrow)))

    def is_id(kind: Any) -> bool:
        return is_string(kind) or types.is_integer(kind)

    def is_label(kind: Any) -> bool:
        inner = _plain(kind.value_type, pyarrow) if is_list(kind) else kind
        return is_id(inner) or types.is_boolean(inner) or types.is_null(inner)

    def is_target(kind: Any) -> bool:
        return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or is_string(kind)

    check(columns.text, "text must be string, or a list of strings.", is_text)
    check(columns.id, "ids must be strings or integers.", is_id)
    if request.numeric:
        check(columns.answer, "a target must be a number.", is_target)
    else:
        check(
            columns.answer, "labels must be strings, integers, booleans or lists of them. "
            "To predict a number, name its column as target.", is_label
        )  # fmt: skip


def _plain(kind: Any, pyarrow: Any) -> Any:
    """The type of the values of a dictionary-encoded column."""
    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind

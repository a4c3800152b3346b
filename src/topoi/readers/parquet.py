"""Parquet, read a batch of rows at a time with pyarrow.

A kilobyte can hold a long string a million times, by a dictionary, by compression or by strings that begin alike; so a
batch has so many rows that it stays small even if every string were as long as the largest page. Of lists the words
stay in their dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from topoi.errors import FileError
from topoi.readers._covariates import GROUP, TOPIC_LABELS
from topoi.readers._faults import fault
from topoi.readers._parquet_pages import DELTA_BYTE_ARRAY, pages
from topoi.readers._request import Columns, Documents, Request, joined, listed
from topoi.readers._source import MAX_DOCUMENT, TOO_LONG

BATCH = 4096  # rows, if they are short
BATCH_BYTES = 2**27  # of all rows of a batch, if each were as long as it can be; Python has them once more
MAX_LISTED = 2**24  # words of one document
VALUE = 16  # bytes of a value in a list, beside what it holds


def documents(request: Request) -> Documents:
    """Every row."""
    pyarrow = import_pyarrow(request.name)
    with request.source.seekable(request.memory) as file:
        table = _opened(request, pyarrow, file)
        schema = table.schema_arrow
        columns = request.columns(schema.names)
        _check_types(request, columns, schema, pyarrow)
        named = (*columns.texts, columns.answer, columns.id, *columns.covariates)
        asked = list(dict.fromkeys(name for name in named if name is not None))
        groups = range(table.metadata.num_row_groups) if request.row_groups is None else range(*request.row_groups)
        n_rows, lists = _plan(request, table.metadata, file, asked, groups)
        if lists:
            table = _opened(request, pyarrow, file, read_dictionary=lists)
        for row, values in _rows(request, table, asked, n_rows, groups):
            texts = [values[name] for name in columns.texts]
            if any(isinstance(text, list) and None in text for text in texts) or texts == [None]:
                what = f"{listed(columns.texts)} is null, or a word in it is."
                request.faults.document(request.name, what, row=row)
                continue
            answer, problem = request.read_answer(None if columns.answer is None else values[columns.answer])
            if problem:
                request.faults.document(request.name, f"{columns.answer!r}: {problem}", row=row)
                continue
            document_id = None if columns.id is None else values[columns.id]
            if columns.id is not None and document_id is None:
                request.faults.document(request.name, f"the id {columns.id!r} is null.", row=row)
                continue
            covariates = [values[name] for name in columns.covariates]
            if covariates and (problem := request.wrong_covariate(covariates)):
                request.faults.document(request.name, problem, row=row)
                continue
            yield joined(texts), answer, document_id, *covariates


def group_sizes(request: Request) -> list[int]:
    """The bytes of each group of rows, as the file is stored."""
    pyarrow = import_pyarrow(request.name)
    with request.source.seekable(request.memory) as file:
        metadata = _opened(request, pyarrow, file).metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        return [sum(group.column(i).total_compressed_size for i in range(group.num_columns)) for group in groups]


def import_pyarrow(name: str) -> Any:
    """The package pyarrow with its Parquet part."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise FileError(f"{name}: Parquet needs the package pyarrow: pip install pyarrow", name) from error
    return pyarrow


def _opened(request: Request, pyarrow: Any, file: BinaryIO, **options: Any) -> Any:
    file.seek(0)
    try:
        table = pyarrow.parquet.ParquetFile(file, **options)
        table.schema_arrow  # noqa: B018 (it may raise)
    except Exception as error:  # pyarrow has errors of many kinds for a file that is none of its own
        raise fault(request.name, f"is not a Parquet file, or is damaged: {error}") from error
    return table


def _plan(request: Request, metadata: Any, file: BinaryIO, asked: list[str], groups: range) -> tuple[int, list[str]]:
    """Rows of a batch, and the columns of lists of strings, from what all pages declare; raise if it is too much."""
    largest, lists = 1, []
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    wanted = [i for i, path in enumerate(paths) if any(f"{path}.".startswith(f"{name}.") for name in asked)]
    for group in groups:
        for i in wanted:
            column, kind = metadata.row_group(group).column(i), metadata.schema.column(i)
            nested = kind.max_repetition_level > 0
            if nested and kind.physical_type == "BYTE_ARRAY":
                lists.append(kind.path)
            if nested:
                what = f"The column {kind.path!r} declares {column.num_values} values in row group {group + 1}"
                request.memory.ask(VALUE * column.num_values, what)
            try:
                for page in pages(file, column):
                    n_bytes = page.n_bytes + VALUE * page.n_values
                    if nested and page.encoding == DELTA_BYTE_ARRAY:
                        n_bytes = page.n_bytes * page.n_values
                    what = f"A page of the column {kind.path!r} declares {page.n_bytes} bytes, {page.n_values} values"
                    request.memory.ask(n_bytes, what)
                    largest = max(largest, page.n_bytes)
            except (ValueError, OSError) as error:
                if isinstance(error, FileError):
                    raise
                raise fault(request.name, f"the Parquet data are damaged: {error}.") from error
    return max(1, min(BATCH, BATCH_BYTES // largest)), sorted(set(lists))


def _rows(
    request: Request, table: Any, asked: list[str], n_rows: int, groups: range
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number in the file, from 1, and values of every row of some groups."""
    row = sum(table.metadata.row_group(group).num_rows for group in range(groups.start))
    batches = table.iter_batches(n_rows, row_groups=list(groups), columns=asked)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            raise fault(request.name, f"the Parquet data are damaged: {error}", row=row + 1) from error
        columns = [_values(batch.column(name)) for name in asked]
        for i in range(len(batch)):
            row += 1
            values = {name: column[i] for name, column in zip(asked, columns, strict=True)}
            wrong = next((what for value in values.values() if (what := _what_is_wrong(value))), None)
            if wrong:
                request.faults.document(request.name, wrong, row=row)
                continue
            yield row, values


def _values(column: Any) -> list[Any]:
    """The values of a column of a batch; the error is in the place of a string that is not UTF-8."""
    if not hasattr(column, "values") or not hasattr(column.values, "dictionary"):
        return _decoded(column)
    words = [*_decoded(column.values.dictionary), None]  # in memory once, as often as they may come
    numbers = column.values.indices.fill_null(len(words) - 1).to_numpy()
    if hasattr(column, "offsets"):
        offsets = column.offsets.to_pylist()
    else:  # of a fixed size
        offsets = [(column.offset + i) * column.type.list_size for i in range(len(column) + 1)]
    valid = column.is_valid().to_pylist()
    spans = [(start, end) if ok else None for start, end, ok in zip(offsets, offsets[1:], valid, strict=False)]
    return [
        None if span is None
        else OverflowError() if span[1] - span[0] > MAX_LISTED
        else [words[number] for number in numbers[slice(*span)].tolist()]
        for span in spans
    ]  # fmt: skip


def _decoded(column: Any) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:  # some string is not UTF-8: find it
        values = []
        for scalar in column:
            try:
                values.append(scalar.as_py())
            except UnicodeDecodeError as error:
                values.append(error)
    return values


def _what_is_wrong(value: Any) -> str | None:
    """Why a value that was read cannot be used, if so."""
    if isinstance(value, OverflowError):
        return f"a list of more than {MAX_LISTED} words, too long for one document. Cut it into smaller ones."
    if isinstance(value, str) and len(value) > MAX_DOCUMENT:
        return f"the text {TOO_LONG}"
    one = value if not isinstance(value, list) else next((v for v in value if isinstance(v, UnicodeDecodeError)), None)
    return f"a string that is not UTF-8: {one.reason}." if isinstance(one, UnicodeDecodeError) else None


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

    def is_covariate(kind: Any) -> bool:
        return bool(is_target(kind) or types.is_boolean(kind) or types.is_null(kind))

    def is_group(kind: Any) -> bool:
        return bool(is_covariate(kind) or types.is_date(kind) or types.is_timestamp(kind))

    for name in columns.texts:
        check(name, "text must be string, or a list of strings.", is_text)
    if len({is_list(_plain(schema.field(name).type, pyarrow)) for name in columns.texts}) > 1:
        raise fault(request.name, f"of {listed(columns.texts)} some are texts, others lists of words; name one kind.")
    check(columns.id, "ids must be strings or integers.", is_id)
    for name in columns.covariates:
        if request.covariates[name] == TOPIC_LABELS:
            check(name, "topic labels must be strings, integers or lists of them.", is_label)
        elif request.covariates[name] == GROUP:
            check(name, "groups must be dates, numbers, strings or booleans.", is_group)
        else:
            check(name, "covariates must be numbers, strings or booleans.", is_covariate)
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

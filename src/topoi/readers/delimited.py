"""CSV and TSV. The first line names the columns, unless the option header says no: then they are '1', '2', ….

Spreadsheets of many countries write semicolons. So where no delimiter is given and the usual one leaves the header
whole, another one is taken that cuts it into the columns that were asked for: the file could not be read otherwise.

A quote that is not closed swallows lines. When such a record turns out broken, only its first line is: the reader goes
back to the second. A record that begins among the swallowed lines and is open at the end of its line would run into the
same end, so it is broken too and not followed again: no line is read more than three times, however many are broken.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from typing import Any

from topoi.errors import ParameterError
from topoi.readers._request import Documents, Request, joined, texts_among
from topoi.readers._source import MAX_DOCUMENT

MARKS = ",;\t|"  # delimiters that are looked for
#: What programs write where there is no text, as `DataFrame.to_csv` or a database; no document consists of it.
NO_TEXT = frozenset({"null", "nan", "na", "n/a", "#n/a", "<na>", "none"})
UNCLOSED = "unexpected end of data"  # what Python's parser says of an open quote


def documents(request: Request) -> Documents:
    """Every record, comma-separated if no delimiter is given."""
    return _documents(request, ",")


def tab_documents(request: Request) -> Documents:
    """Every record, tab-separated if no delimiter is given."""
    return _documents(request, "\t")


def _documents(request: Request, delimiter: str) -> Documents:
    lines = _Lines(request.source.lines(request.faults))
    delimiter = request.delimiter or _delimiter(request, lines.peek(), delimiter)
    records = _records(request, lines, delimiter)
    first = next(records, None)
    if first is None:
        return
    names = first if request.header else [str(i + 1) for i in range(len(first))]
    columns = request.columns(names, _hint(names, delimiter))
    text_at = [names.index(name) for name in columns.texts]
    answer_at = None if columns.answer is None else names.index(columns.answer)
    id_at = None if columns.id is None else names.index(columns.id)
    covariates_at = [names.index(name) for name in columns.covariates]
    several = request.label_separator is not None
    answer = document_id = None
    records = records if request.header else _again(first, records)
    for record in records:
        if len(record) != len(names):
            what = f"the record has {len(record)} fields; there are {len(names)} columns."
            request.faults.document(
                request.name, f"{what} A field with {_shown(delimiter)} or a line break needs quotes.", line=lines.first
            )
            lines.go_back()
            continue
        if answer_at is not None:
            value = record[answer_at].strip()  # "sport " and "sport" are one label, as they are one group
            answer, problem = request.read_answer(value if value or several else None)
            if problem:
                request.faults.document(request.name, f"{columns.answer!r}: {problem}", line=lines.first)
                continue
        if id_at is not None:
            document_id = record[id_at]
        covariates = [record[at] for at in covariates_at]
        if covariates and (problem := request.wrong_covariate(covariates)):
            request.faults.document(request.name, problem, line=lines.first)
            continue
        texts = ["" if record[at].strip().lower() in NO_TEXT else record[at] for at in text_at]
        yield joined(texts), answer, document_id, *covariates


class _Lines:
    """The lines for the CSV parser; those of the record that it is reading can be read again."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self._again: deque[tuple[int, str]] = deque()
        self._record: list[tuple[int, str]] = []
        self._size = 0
        self._dead_end = 0  # the last line of the last record that was broken

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._record and self._again and self._again[0][0] <= self._dead_end:
            raise csv.Error(UNCLOSED)
        number, line = self._again.popleft() if self._again else next(self._lines)
        self._record.append((number, line))
        self._size += len(line)
        if self._size > MAX_DOCUMENT:
            raise csv.Error(f"the record is longer than {MAX_DOCUMENT >> 20} MiB")
        return line + "\n"

    def peek(self) -> str:
        """The first line that is not empty, which stays to be read; those before it are no records."""
        for number, line in self._lines:
            if line:
                self._again.append((number, line))
                return line
        return ""

    @property
    def first(self) -> int | None:
        """The line at which the record begins."""
        return self._record[0][0] if self._record else None

    def begin(self) -> None:
        """The next line begins a record."""
        self._record.clear()
        self._size = 0

    def go_back(self) -> None:
        """Read again what the last record held after its first line."""
        self._again.extendleft(reversed(self._record[1:]))
        self._dead_end = max(self._dead_end, self._record[-1][0]) if self._record else self._dead_end


def _records(request: Request, lines: _Lines, delimiter: str) -> Iterator[list[str]]:
    # The default limit, 128 KiB, is less than a long document. It is one number for the whole program, which is
    # why it is only ever raised.
    if csv.field_size_limit() < MAX_DOCUMENT:
        csv.field_size_limit(MAX_DOCUMENT)
    try:
        reader = csv.reader(lines, delimiter=delimiter, quoting=_quoting(request), strict=True)
    except (TypeError, ValueError, csv.Error) as error:
        raise ParameterError("delimiter", f"must be one character, not {delimiter!r} ({error})") from error
    while True:
        lines.begin()
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            request.faults.document(request.name, _what_is_wrong(error), line=lines.first)
            lines.go_back()
            continue
        if len(record) > 1 or (record and record[0].strip()):
            yield record


def _quoting(request: Request) -> Any:
    return csv.QUOTE_MINIMAL if request.quotes else csv.QUOTE_NONE


def _again(first: list[str], records: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from records


def _what_is_wrong(error: csv.Error) -> str:
    what = str(error)
    if UNCLOSED in what:
        return "the quote that opens a field here is never closed. Close it, or read quotes as text: quotes=False."
    if "expected after" in what:
        what = 'a quoted field goes on after its quote. Close it, double a quote inside it, as in "say ""yes""",'
        return f"{what} or read quotes as text: quotes=False."
    if "new-line character" in what:
        return "a carriage return inside a field without quotes."
    return f"not CSV: {what}."


def _delimiter(request: Request, header: str, usual: str) -> str:
    """The usual delimiter, unless the header is one field by it and has the columns asked for by another.

    Where a file cannot be read by any, as no column is the text, the one that makes most columns of the header: the
    error then lists columns as the user sees them.
    """
    whole = _fields(request, header, usual)
    if not request.header or len(whole) > 1:
        return usual
    asked = {name for name in (*request.text, request.answer, request.id, *request.covariates) if name is not None}
    others = {mark: _fields(request, header, mark) for mark in MARKS if mark != usual}
    for mark, names in others.items():
        if len(names) > 1 and asked <= set(names) and (request.text or texts_among(names)):
            return mark
    best = max(others, key=lambda mark: len(others[mark]))
    return best if len(others[best]) > 1 and not asked.intersection(whole) else usual


def _fields(request: Request, line: str, delimiter: str) -> list[str]:
    """The fields of a line by itself; none where it is no record, as when a quote goes on in the next line."""
    try:
        return next(csv.reader([line], delimiter=delimiter, quoting=_quoting(request), strict=True), [])
    except csv.Error:
        return []


def _hint(names: list[str], delimiter: str) -> str:
    """What to try if the header has but one field, with another delimiter in it."""
    other = next((mark for mark in MARKS if mark != delimiter and len(names) == 1 and mark in names[0]), None)
    return "" if other is None else f" Is the delimiter {_shown(other)}? Then give delimiter={other!r}."


def _shown(mark: str) -> str:
    return {",": "a comma", ";": "a semicolon", "\t": "a tab"}.get(mark, repr(mark))

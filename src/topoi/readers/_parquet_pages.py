"""The sizes that the pages of a Parquet file declare, read before any page is.

Parquet stores a column in pages. Each has a header that says how many bytes it has when decompressed and how many
values it holds, and pyarrow allocates what it says. The footer says so too, but pyarrow does not compare the two, and a
file may lie there. A page's header is a struct in Thrift's compact protocol, which is quickly read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

HEADERS = (2**12, 2**24)  # bytes: of most headers, and what pyarrow reads at most
DEEPEST = 8  # structs within each other
DELTA_BYTE_ARRAY = 7  # the encoding in which a string begins as the one before: a byte may stand for a page
_UNCOMPRESSED, _COMPRESSED = 2, 3  # fields of a page's header
_PARTS = {5: 2, 7: 2, 8: 4}  # headers of data, of a dictionary and of data in version 2; their field of the encoding


@dataclass(frozen=True)
class Page:
    """What a page declares."""

    n_bytes: int
    n_values: int
    encoding: int
    is_dictionary: bool


def pages(file: BinaryIO, column: Any) -> Iterator[Page]:
    """Every page of a column chunk, of which `column` is pyarrow's metadata; ValueError where there is none."""
    offsets = [column.data_page_offset, column.dictionary_page_offset if column.has_dictionary_page else None]
    at = min(offset for offset in offsets if offset is not None)
    end, n_left = at + column.total_compressed_size, column.num_values
    while n_left > 0 and 0 <= at < end:  # pyarrow, too, ends with the last value
        page, n_bytes = _page_at(file, at)
        yield page
        n_left -= 0 if page.is_dictionary else page.n_values
        at += n_bytes


def _page_at(file: BinaryIO, at: int) -> tuple[Page, int]:
    """A page, and the bytes that it takes in the file with its header."""
    for most in HEADERS:
        file.seek(at)
        data = file.read(most)
        try:
            header = _Header(data)
            page, n_stored = header.page()
        except IndexError:  # the header is longer, or the file ends
            if len(data) < most:
                break
            continue
        if page.n_bytes < 0 or n_stored < 0 or page.n_values < 0:
            break
        return page, header.at + n_stored
    raise ValueError(f"there is no page at byte {at}")


class _Header:
    """Reads a struct of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def page(self) -> tuple[Page, int]:
        """A page, and the bytes that it takes after its header."""
        sizes, n_values, encoding, is_dictionary = {_UNCOMPRESSED: -1, _COMPRESSED: -1}, 0, 0, False
        for field, kind in self.fields():
            if field in sizes:
                sizes[field] = self.number()
            elif field in _PARTS and kind == 12:
                is_dictionary = is_dictionary or field == 7
                for inner, inner_kind in self.fields():
                    if inner == 1:
                        n_values = self.number()
                    elif inner == _PARTS[field]:
                        encoding = self.number()
                    else:
                        self.skip(inner_kind)
            else:
                self.skip(kind)
        return Page(sizes[_UNCOMPRESSED], n_values, encoding, is_dictionary), sizes[_COMPRESSED]

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and kind of each field; whoever asks must read or skip its value."""
        field = 0
        while byte := self.byte():
            field = field + (byte >> 4) if byte >> 4 else self.number()
            yield field, byte & 15

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number without end")

    def number(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Go past a value: 1, 2 booleans; 3 byte; 4, 5, 6 integers; 7 double; 8 bytes; 9, 10 list, set; 12 struct."""
        if depth > DEEPEST:
            raise ValueError("too deep")
        if kind in (4, 5, 6):
            self.varint()
        elif kind in (3, 7):
            self.at += 1 if kind == 3 else 8
        elif kind == 8:
            n_bytes = self.varint()
            self.at += n_bytes
        elif kind in (9, 10):
            byte = self.byte()
            for _ in range(byte >> 4 if byte >> 4 < 15 else self.varint()):
                self.skip(3 if byte & 15 in (1, 2) else byte & 15, depth + 1)
                if self.at > len(self.data):
                    raise IndexError
        elif kind == 12:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind not in (1, 2):
            raise ValueError("no such kind")

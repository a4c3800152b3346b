"""Files in parts, which several processes read at the same time: small files together, or a piece of a large one.

Large files of Parquet are cut between their groups of rows, large files of lines (text, and JSON lines of which only
the text is wanted) between lines. CSV cannot be: whether a line begins a record, only those before it tell. Parts
follow from the files alone, never from who reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from sys import getsizeof
from typing import Any, NamedTuple

from topoi._disk.compressed import LONGEST, compression_in
from topoi.corpus.text.cutting import Text
from topoi.corpus.text.parts import Notes
from topoi.readers._faults import FEW, Faults, fault
from topoi.readers._formats import FORMATS, Format
from topoi.readers._memory import Memory
from topoi.readers._request import Request
from topoi.readers._several import Files, request_of
from topoi.readers._source import Source, keeps_line_breaks

LEAST, MOST, USUAL = 2**24, 2**28, 256  # bytes of a part, and how many parts there should be

Span = tuple[int, int]


class Piece(NamedTuple):
    """A file, or some of it: of Parquet groups of rows, of lines those that begin at bytes from … to."""

    source: Any
    format: str
    groups: Span | None = None
    span: Span | None = None


def cut_parts(files: Files, elsewhere: bool = False) -> list[list[Piece]]:
    """All of the files, in order; those who read them `elsewhere` may be in another folder."""
    sizes = [max(1, request.source.n_bytes) for request in files.requests]
    size = max(LEAST, min(MOST, sum(sizes) // USUAL))
    parts: list[list[Piece]] = []
    room = 0
    for kind, request, n_bytes in zip(files.formats, files.requests, sizes, strict=True):
        name = next(key for key, found in FORMATS.items() if found is kind)
        path = request.source.path
        whole = Piece(os.path.abspath(path) if elsewhere and path is not None else request.source.given, name)
        if n_bytes > room:
            parts.append([])
            room = size
        pieces = _pieces(kind, request, whole, n_bytes, size) if n_bytes >= 2 * size else [whole]
        parts[-1].append(pieces[0])
        parts += [[piece] for piece in pieces[1:]]
        room -= n_bytes
    return parts


def _pieces(kind: Format, request: Request, whole: Piece, n_bytes: int, size: int) -> list[Piece]:
    """A large file in pieces of some `size`, if it can be cut."""
    if whole.format == "parquet":
        from topoi.readers.parquet import group_sizes

        groups = group_sizes(request)
        pieces, first, held = [], 0, 0
        for last, own in enumerate(groups, 1):
            held += own
            if held >= size or last == len(groups):
                pieces.append(whole._replace(groups=(first, last)))
                first, held = last, 0
        return pieces or [whole]
    if not kind.by_line or not _can_be_cut(whole.format, request):
        return [whole]
    n = n_bytes // size
    ends = [n_bytes * i // n for i in range(n + 1)]
    return [whole._replace(span=(first, last)) for first, last in pairwise(ends)]


def _can_be_cut(name: str, request: Request) -> bool:
    """Whether lines of a file can be read without those before them."""
    known = request.answer is not None or request.id is not None or request.covariates
    if name != "txt" and (known or not request.text):  # what the first objects have decides about all
        return False
    if not keeps_line_breaks(request.source.encoding):
        return False
    with request.source.raw() as file:
        return not compression_in(file.read(LONGEST))


@dataclass(frozen=True)
class MemoryOfPart:
    """The memory that may be used for a part, as for its files."""

    max_memory: Any

    def __call__(self, part: list[Piece]) -> Memory:
        """That of the files that it is of."""
        sources = [Source(piece.source) for piece in part]
        name = sources[0].name if len(sources) == 1 else f"{sources[0].name} and {len(sources) - 1} more"
        return Memory(name, lambda: sum(source.n_bytes for source in sources), self.max_memory)


@dataclass(frozen=True)
class FileReader:
    """Reads a part in whatever process: what is wanted of each file, and whether more than its texts."""

    template: Request
    on_error: str
    beside: bool
    elsewhere: bool = False  # on a worker of a cluster

    def __call__(self, part: list[Piece], notes: Notes) -> Iterator[Text]:
        """The texts; what is known beside them is noted."""
        for piece in part:
            faults = _PieceFaults(self.on_error)
            request = replace(request_of(piece.source, self.template, faults), row_groups=piece.groups)
            faults.source = request.source
            request.source.span = piece.span
            if self.elsewhere and request.source.path is not None and not request.source.path.exists():
                what = "a worker of the cluster does not see it; put it where all of its machines do, or at a URL."
                raise fault(request.name, what)
            kind = FORMATS[piece.format]
            assert kind.documents is not None
            for text, *others in kind.documents(request):
                if self.beside:
                    notes.beside.append(others)
                    notes.n_bytes += sum(map(_n_bytes, others))
                yield text
            notes.n_skipped += faults.n_skipped
            notes.messages += faults.messages[: FEW - len(notes.messages)]


def _n_bytes(value: Any) -> int:
    """The memory of a value, or of a list of them: that of each of its own, as they go from process to process."""
    return getsizeof(value) + (sum(map(getsizeof, value)) if isinstance(value, list) else 0)


class _PieceFaults(Faults):
    """Faults in a piece of a file of lines: these are counted there, and told by their numbers in the file."""

    source: Source

    def document(self, path: str, what: str, **place: Any) -> None:
        """One document is broken: raise, or count it."""
        if place.get("line") is not None:
            place["line"] += self.source.lines_before
        super().document(path, what, **place)

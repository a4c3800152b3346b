"""Where documents come from: a path, standard input or a binary stream, as bytes or as lines of text.

The bytes are decompressed piece by piece. Text is decoded line by line, so that an error has a line; an encoding in
which a line break is not the byte 10, as UTF-16, is first recoded to UTF-8.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from topoi._disk import remote
from topoi._disk.blocks import nameless_file
from topoi._disk.compressed import LONGEST, PIECE, compression_in, decompressed
from topoi._disk.remote import Remote, is_url, locate
from topoi.errors import FileError, MissingObjectError, ParameterError
from topoi.readers._faults import Faults, fault
from topoi.readers._memory import Memory

MAX_DOCUMENT = 2**26  # bytes: a file that is one endless line gets no more memory
MAX_SKIPPED = 2**30  # bytes of a line to skip that are read in search of its end
TOO_LONG = f"is longer than {MAX_DOCUMENT >> 20} MiB, too long for one document. Cut it into smaller ones."

WESTERN = "cp1252"  # Latin-1 with quotes and dashes: what spreadsheets write where they do not write UTF-8
_MARKS = [  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


class Source:
    """A place to read from: `name` for messages, `path` if it is on this machine, `remote` if it is in an object store.

    Of a file of lines that is read in pieces, `span` are the bytes at which the lines of one begin: from … to.
    """

    def __init__(self, source: Any, encoding: str = "utf-8") -> None:
        self.given = source
        self.path: Path | None = None
        self.remote: Remote | None = None
        self.span: tuple[int, int] | None = None
        self.n_known: int | None = None  # its size, if it was asked for in an object store
        self.encoding = _check_encoding(encoding)
        self.n_read = 0  # bytes of a stream, a pipe or the files of a folder
        self._stream: IO[bytes] | None = None
        if isinstance(source, str) and source == "-":
            self._stream, self.name = sys.stdin.buffer, "standard input"
        elif is_url(source):
            self.remote = cast(Remote, locate(source))
            self.name = str(self.remote)
        elif isinstance(source, str | os.PathLike):
            if not os.fspath(source):  # to a Path, this is the current folder
                raise ParameterError("source", "is an empty string; name a file or a folder")
            self.path = Path(os.fsdecode(source))
            self.name = str(self.path)
        else:
            self._stream, self.name = _check_stream(source), "the stream"

    @property
    def again(self) -> bool:
        """Whether it can be read a second time: a stream cannot, nor a pipe that has a path."""
        return self.remote is not None or (self.path is not None and (self.path.is_file() or self.path.is_dir()))

    @property
    def file_name(self) -> str | None:
        """The name of the file or object; a stream has none."""
        return self.path.name if self.path is not None else None if self.remote is None else self.remote.name

    @property
    def state(self) -> Any:
        """Size and time of a file, or what a store has like them, by which a change shows."""
        if self.remote is not None:
            return remote.state(self.remote)
        try:
            stat = os.stat(self.path) if self.path is not None else None
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return None
        return None if stat is None else (stat.st_size, stat.st_mtime_ns)

    @property
    def n_bytes(self) -> int:
        """Its size as it is stored; of what has no size, what has been read so far."""
        if self.remote is not None and self.n_known is None:
            self.n_known = remote.size(self.remote)
            if self.n_known is None:
                raise missing(self.name)
        if self.n_known is not None:
            return self.n_known
        try:
            if self.path is not None and self.path.is_file():
                return self.path.stat().st_size
        except (OSError, ValueError):  # ValueError: a NUL in the name
            pass
        return self.n_read

    @contextlib.contextmanager
    def opened(self) -> Iterator[io.BufferedReader]:
        """Its bytes, decompressed."""
        with self.raw() as file:
            yield decompressed(cast(IO[bytes], _Counted(file, self)), self.name)

    @contextlib.contextmanager
    def raw(self) -> Iterator[Any]:
        """Its bytes as they are stored."""
        if self._stream is not None:
            yield self._stream
        elif self.remote is not None:
            try:
                with remote.opened(self.remote) as found:
                    yield found
            except MissingObjectError as error:
                raise missing(self.name) from error
        else:
            with open_file(cast(Path, self.path)) as file:
                yield file

    @contextlib.contextmanager
    def seekable(self, memory: Memory) -> Iterator[BinaryIO]:
        """Its bytes as a file in which one can jump: a stream, a pipe or a compressed file is first copied to disk."""
        if self.again:
            with self.raw() as file:
                if not compression_in(file.read(LONGEST)):
                    file.seek(0)
                    yield file
                    return
        with self.opened() as stream, nameless_file() as copy:
            while piece := stream.read(PIECE):
                memory.ask(copy.tell() + len(piece), "The file must be copied to the temporary folder to be read")
                copy.write(piece)
            copy.seek(0)
            yield cast(BinaryIO, copy)

    def lines(self, faults: Faults) -> Iterator[tuple[int, str]]:
        """Number, from 1, and text of every line, without its line break. A line that is no text is a fault."""
        encoding = self.encoding
        with contextlib.ExitStack() as opened:
            raw = stream = opened.enter_context(self.opened() if self.span is None else self._piece(self.span))
            if not keeps_line_breaks(encoding):
                stream, encoding = io.BufferedReader(cast(Any, _Recoded(raw, self.name, encoding)), PIECE), "utf-8"
            for number, line in self._split(stream, faults):
                if number == 1 and encoding == "utf-8" and not (self.span and self.span[0]):
                    line = without_mark(line, self.name)
                try:
                    text = line.decode(encoding)
                except UnicodeError as error:
                    faults.document(self.name, what_is_wrong(error, encoding), line=number, byte=position(error))
                    continue
                if "\0" in text:
                    faults.document(self.name, NUL, line=number, column=text.index("\0") + 1)
                    continue
                yield number, text

    @contextlib.contextmanager
    def _piece(self, span: tuple[int, int]) -> Iterator[Any]:
        """The lines that begin at these bytes, of a file that is not compressed."""
        first, end = span
        with self.raw() as file:
            if first:
                file.seek(first - 1)  # a line begins at `first` if a line break is before it
                while (rest := file.readline(PIECE)) and not rest.endswith(b"\n"):
                    pass
            yield _Lines(file, end)

    @functools.cached_property
    def lines_before(self) -> int:
        """How many lines are before the piece; only a fault asks."""
        if self.span is None:
            return 0
        left, found, last = self.span[0], 0, b"\n"
        with self.raw() as file:
            while left and (data := file.read(min(PIECE, left))):
                found, left, last = found + data.count(b"\n"), left - len(data), data[-1:]
        return found + (last != b"\n")

    def _split(self, stream: Any, faults: Faults) -> Iterator[tuple[int, bytes]]:
        number = 0
        while line := stream.readline(MAX_DOCUMENT):
            number += 1
            if line.endswith(b"\n"):
                yield number, line[:-2] if line.endswith(b"\r\n") else line[:-1]
            elif len(line) < MAX_DOCUMENT:
                yield number, line  # the last one
            else:
                faults.document(self.name, f"the line {TOO_LONG}", line=number)
                for _ in range(MAX_SKIPPED // PIECE):
                    if not (line := stream.readline(PIECE)) or line.endswith(b"\n"):
                        break
                else:
                    what = f"the line has no end in {MAX_SKIPPED >> 20} MiB; this is not a file of lines."
                    raise fault(self.name, what, line=number + self.lines_before)

    def whole(self) -> str:
        """All of it as one text."""
        with self.opened() as stream:
            data = stream.read(MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise fault(self.name, f"the file {TOO_LONG}")
        if self.encoding == "utf-8":
            data = without_mark(data, self.name)
        try:
            text = data.decode(self.encoding)
        except UnicodeError as error:
            raise fault(self.name, what_is_wrong(error, self.encoding), byte=position(error)) from error
        if "\0" in text:
            raise fault(self.name, NUL, byte=text.index("\0") + 1)
        return text


NUL = (
    "a NUL character: this is no text, or UTF-16 without a byte order mark (give encoding='utf-16-le' or 'utf-16-be')."
)


def what_is_wrong(error: UnicodeError, encoding: str) -> str:
    """A sentence on bytes that are no text."""
    if not isinstance(error, UnicodeDecodeError):
        return f"is not {encoding}: {error}. Name the encoding of the file by the option encoding."
    what = f"the byte 0x{error.object[error.start]:02x} is not valid {encoding.upper()}."
    if encoding != "utf-8":
        return f"{what} If the file has another encoding, name it, as encoding='utf-8'."
    word = _word_around(error.object, error.start)
    read = (
        f"Read as {WESTERN} it would be part of {word!r}: if that is right," if word else "If it is Western European,"
    )
    return f"{what} {read} give encoding='{WESTERN}'; else name another, as encoding='latin-1'."


def _word_around(line: bytes, at: int) -> str:
    """The word around a byte, as a Western spreadsheet writes it; nothing where that gives no letter."""
    text = line[max(at - 30, 0) : at + 30].decode(WESTERN, "replace")
    letter = min(at, 30)
    if not text[letter].isalpha():
        return ""
    before, after = re.search(r"[^\W\d_]*$", text[:letter]), re.match(r"[^\W\d_]+", text[letter:])
    return (before[0] if before else "") + (after[0] if after else "")


def position(error: UnicodeError) -> int | None:
    """The byte, from 1, at which decoding failed."""
    return error.start + 1 if isinstance(error, UnicodeDecodeError) else None


def without_mark(data: bytes, name: str) -> bytes:
    """`data` without the byte order mark of UTF-8; raise for that of UTF-16 or UTF-32."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise fault(name, f"begins with the byte order mark of {encoding.upper()}; give encoding={encoding!r}.")
    return data.removeprefix(codecs.BOM_UTF8)


def missing(name: str) -> FileError:
    """The error of a file that is not there."""
    return fault(name, "there is no such file; check the path.")


def open_file(path: Path) -> BinaryIO:
    """A file to read, or a FileError."""
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise missing(str(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        what = "is a folder, not a file" if path.is_dir() else f"cannot be opened: {error}"
        raise fault(str(path), f"{what}.") from error


def _check_stream(source: Any) -> IO[bytes]:
    if isinstance(source, io.TextIOBase):
        raise ParameterError("source", "is a text stream; open the file in binary mode, open(path, 'rb')")
    if not hasattr(source, "read"):
        raise ParameterError(
            "source", f"must be a path, '-' for standard input or a binary stream, not {type(source).__name__}"
        )
    return cast(IO[bytes], source)


def _check_encoding(encoding: Any) -> str:
    """The name of an encoding as Python spells it."""
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError("encoding", f"{encoding!r} is not known; try 'utf-8', 'latin-1' or 'utf-16'") from error
    if not getattr(codec, "_is_text_encoding", True):
        raise ParameterError("encoding", f"{encoding!r} does not give text; try 'utf-8', 'latin-1' or 'utf-16'")
    if codec.name in ("idna", "punycode"):  # their time grows with the square of the length
        raise ParameterError("encoding", f"{encoding!r} is for names of hosts, not for texts; try 'utf-8'")
    return "utf-8" if codec.name == "utf-8-sig" else codec.name


def keeps_line_breaks(encoding: str) -> bool:
    """Whether a line break is the byte 10."""
    try:
        return "\n".encode(encoding) == b"\n"
    except UnicodeError:
        return False


class _Lines:
    """The lines of a file that begin before some byte."""

    def __init__(self, file: Any, end: int) -> None:
        self._file, self._end = file, end
        self._inside = False  # a line, of which more is to be read

    def readline(self, size: int) -> bytes:
        if not self._inside and self._file.tell() >= self._end:
            return b""
        line: bytes = self._file.readline(size)
        self._inside = bool(line) and not line.endswith(b"\n")
        return line


class _Counted:
    """Tells a source how much of its stream is read."""

    def __init__(self, stream: IO[bytes], source: Source) -> None:
        self._stream, self._source = stream, source

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._source.n_read += len(data or b"")
        return data


class _Recoded(io.RawIOBase):
    """Text in `encoding` as UTF-8."""

    def __init__(self, stream: io.BufferedReader, name: str, encoding: str) -> None:
        self._stream, self._name, self._encoding = stream, name, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._n_read = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._stream.read(PIECE)
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeError as error:
                byte = self._n_read + (position(error) or 1)
                raise fault(self._name, what_is_wrong(error, self._encoding), byte=byte) from error
            self._n_read += len(piece)
            self._ready = text.encode("utf-8", "surrogatepass")
            if not piece:
                break
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

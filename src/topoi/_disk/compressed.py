"""Compressed streams: gzip, xz, bzip2 and Zstandard, told apart by their first bytes, read piece by piece.

Whatever the decompressor raises becomes a FileError, also when the data end early: a truncated file is never taken
for a short one. Zstandard is part of Python 3.14; before, it needs the package backports.zstd, which is the same code.
(The package zstandard takes truncated data for complete.)
"""

from __future__ import annotations

import io
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from topoi.errors import FileError

PIECE = 2**17  # bytes decompressed at a time
XZ_MEMORY = 2**29  # bytes; xz -9 needs 65 MiB. The other methods need little, or have a limit of their own

NAMES = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zst": "Zstandard"}

_FIRST_BYTES = {
    ".gz": re.compile(rb"\x1f\x8b\x08"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".bz2": re.compile(rb"BZh[1-9](\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd"),
}
LONGEST = 10  # bytes that tell


def compression_of(name: str) -> str:
    """The suffix of a name that says how the file is compressed; empty if none does."""
    return next((suffix for suffix in NAMES if name.lower().endswith(suffix)), "")


def compression_in(head: bytes) -> str:
    """The same from the first bytes of the file."""
    return next((suffix for suffix, pattern in _FIRST_BYTES.items() if pattern.match(head)), "")


def decompressed(stream: IO[bytes], name: str) -> io.BufferedReader:
    """What `stream` holds, decompressed if it is compressed, read as it is needed; closing it leaves `stream` open."""
    head = _first_bytes(stream, name)
    found = compression_in(head)
    if (named := compression_of(name)) and named != found:
        raise FileError(
            f"{name}: this is not {NAMES[named]} data, as its name says. Is it empty, damaged, or named wrongly?", name
        )
    whole = io.BufferedReader(cast(Any, _Reader(stream, name, "", head)), PIECE)
    if not found:
        return whole
    return io.BufferedReader(cast(Any, _Reader(_open(found, whole, "rb", name), name, found)), PIECE)


@contextmanager
def compressing(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """A stream to write to, whose bytes reach `stream` compressed as `name` says by its suffix."""
    suffix = compression_of(name)
    if not suffix:
        yield stream
        return
    with _open(suffix, stream, "wb", name) as file:
        yield cast(BinaryIO, file)


def _first_bytes(stream: IO[bytes], name: str) -> bytes:
    """As many bytes as are needed to know the method: a pipe may give fewer at a time."""
    head = b""
    try:
        while len(head) < LONGEST and (more := stream.read(LONGEST - len(head))):
            head += more
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {error.strerror or error}.", name) from error
    return head


def _open(suffix: str, stream: Any, mode: Any, name: str) -> Any:
    if suffix == ".gz":
        import gzip

        return gzip.GzipFile("", mode, fileobj=stream, mtime=0)  # no name and time: equal tables are equal files
    if suffix == ".xz":
        import lzma

        return _Xz(stream, name) if mode == "rb" else lzma.LZMAFile(stream, mode)
    if suffix == ".bz2":
        import bz2

        return bz2.BZ2File(stream, mode)
    return _zstd(name).ZstdFile(stream, mode[0])


def _zstd(name: str) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        return zstd
    try:
        from backports import zstd
    except ImportError as error:
        raise FileError(f"{name}: Zstandard needs Python 3.14, or: pip install backports.zstd", name) from error
    return zstd


class _Xz:
    """Reads xz data. Python's own file takes as much memory as the data ask for, up to 4 GB."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name
        self._begin()

    def _begin(self) -> None:
        import lzma

        self._decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while True:
            rest = b""
            if self._decompressor.eof:  # another one may follow, after zeros
                rest = (self._decompressor.unused_data or self._stream.read(PIECE)).lstrip(b"\0")
                if not rest and not (rest := self._stream.read(PIECE).lstrip(b"\0")):
                    return b""
                self._begin()
            elif self._decompressor.needs_input and not (rest := self._stream.read(PIECE)):
                raise EOFError
            try:
                data = self._decompressor.decompress(rest, size)
            except Exception as error:
                if "Memory usage limit" not in str(error):
                    raise
                what = (
                    f"the xz data need more than {XZ_MEMORY >> 20} MiB of memory. If the file is right, unpack it first"
                )
                raise FileError(f"{self._name}: {what}: xz -d {self._name}", self._name) from error
            if data:
                return data


class _Reader(io.RawIOBase):
    """Reads `stream` after `head`, and says what is wrong with the file in place of what the decompressor says."""

    def __init__(self, stream: Any, name: str, suffix: str, head: bytes = b"") -> None:
        self._stream, self._name, self._suffix, self._head = stream, name, suffix, head
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            data, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._n_read += len(data)
        return len(data)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size) or b""
        except EOFError as error:
            raise self._fault(f"the {NAMES[self._suffix]} data end in the middle: the file is truncated") from error
        except FileError:
            raise
        except Exception as error:  # OSError, zlib.error, LZMAError, ZstdError: all say that the bytes are wrong
            if self._suffix and (not isinstance(error, OSError) or error.errno is None):
                raise self._fault(f"the {NAMES[self._suffix]} data are damaged ({error})") from error
            if isinstance(error, OSError | zlib.error):
                raise FileError(f"{self._name}: cannot be read: {error}.", self._name) from error
            raise

    def _fault(self, what: str) -> FileError:
        return FileError(
            f"{self._name}: {what} after {self._n_read} bytes of text; copy or download it again.", self._name
        )

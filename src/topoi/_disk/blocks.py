"""Files that are filled in parts, or only in the end renamed with their folder; and copies without a name."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topoi._disk.inside import opened
from topoi._disk.whole import NEW


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to; there must be nothing of its name."""
    with opened(path.parent) as folder, os.fdopen(folder.open(path.name, NEW), "wb") as file:
        yield file


@contextmanager
def file_in_place(path: Path) -> Iterator[BinaryIO]:
    """A file that is there, to read and to write to."""
    with opened(path.parent) as folder, os.fdopen(folder.open(path.name, os.O_RDWR), "r+b") as file:
        yield file


@contextmanager
def file_to_sync(path: Path) -> Iterator[BinaryIO]:
    """A file that is there, to read and to flush to the disk, for which Windows wants it to be open for writing."""
    flags = os.O_RDWR if os.name == "nt" else os.O_RDONLY
    with opened(path.parent) as folder, os.fdopen(folder.open(path.name, flags), "rb") as file:
        yield file


def map_file(path: Path, dtype: Any, shape: tuple[int, ...], mode: Any) -> NDArray[Any]:
    """The numbers of a file, mapped into memory; what is written to them reaches the file with mode "r+"."""
    if mode != "r+":
        return np.memmap(path, dtype, mode, shape=shape).view(np.ndarray)
    with file_in_place(path) as file:
        return np.memmap(file, dtype, mode, shape=shape).view(np.ndarray)


def new_mapped_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of zeros in a new file, in NumPy's own format, mapped into memory."""
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call,unused-ignore]
        file.truncate(file.tell() + int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
    mapped: NDArray[Any] = np.lib.format.open_memmap(path, "r+")
    return mapped


def new_kept_file(folder: Path, arrays: tuple[NDArray[Any], ...]) -> Path:
    """Arrays in a new file of a scratch folder, one after the other in NumPy's own format."""
    path = folder / uuid.uuid4().hex
    with new_file(path) as file:
        for array in arrays:
            np.save(file, array, allow_pickle=False)
    return path


def kept_arrays(path: Path) -> tuple[NDArray[Any], ...]:
    """The arrays of such a file."""
    out, size = [], path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            out.append(np.load(file, allow_pickle=False))
    return tuple(out)


@contextmanager
def growing_array(path: Path, dtype: Any, length: int) -> Iterator[Callable[[NDArray[Any]], None]]:
    """Appends to an array of one dimension and this length in a new file, in NumPy's own format."""
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (length,)}
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call,unused-ignore]
        yield lambda array: np.ascontiguousarray(array, dtype).tofile(file)


def nameless_file() -> IO[bytes]:
    """A temporary file that nobody else can open, and that goes when it is closed."""
    return tempfile.TemporaryFile()

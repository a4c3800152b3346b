"""Arrays that stay in their file: mapped to be read, and gone through piece by piece.

The counts of a large model are more than memory has room for. They are mapped where they lie in the file, so that only
those that are looked at are read; and whoever goes through all of them gives back what has been seen, so that the
memory of the process does not grow with the file.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

#: Bytes of an array from which on it is mapped. Smaller ones are read: a mapped file cannot be replaced on Windows.
MAPPED = 2**28
#: Bytes of an array that are looked at together.
AT_ONCE = 2**24
#: Kinds of numbers, as the header of a file has them.
KINDS = {"I64": "<i8", "I32": "<i4", "I16": "<i2", "F64": "<f8", "F32": "<f4", "U64": "<u8", "U32": "<u4", "U8": "|u1"}


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The large arrays of a safetensors file that has been found sound, mapped: nobody can write to them."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if last - first >= MAPPED and entry["dtype"] in KINDS:
            kind, shape = np.dtype(KINDS[entry["dtype"]]), tuple(entry["shape"])
            # Each has a mapping of its own: SciPy copies what is a small part of another array.
            found[name] = np.memmap(path, kind, "r", 8 + size + first, shape).view(np.ndarray)
    return found


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether the numbers of an array lie in a file, and cannot change."""
    return (mapping := mapping_of(array)) is not None and memoryview(mapping).readonly


def mapping_of(array: NDArray[Any]) -> mmap.mmap | None:
    """The mapping in which an array lies, if it does."""
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base


def give_back(*arrays: NDArray[Any]) -> None:
    """Give the system the memory of what was read of mapped arrays; it is read again when it is asked for again.

    Only of a mapping that nobody can write to: what somebody has written to his own copy of a mapped file would be
    lost, also where he looks at it by an array that he has made read-only.
    """
    for array in arrays:
        if is_mapped(array) and hasattr(mmap, "MADV_DONTNEED"):
            cast(mmap.mmap, mapping_of(array)).madvise(mmap.MADV_DONTNEED)


def pieces(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The numbers of a contiguous array, one piece of at most `AT_ONCE` bytes after the other."""
    flat, step = array.reshape(-1), max(1, AT_ONCE // array.itemsize)
    for first in range(0, flat.size, step):
        yield flat[first : first + step]
        give_back(array)


def limits(array: NDArray[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of an array, (0, 0) of an empty one."""
    ends = [(piece.min(), piece.max()) for piece in pieces(array)]
    return (min(end[0] for end in ends), max(end[1] for end in ends)) if ends else (0, 0)

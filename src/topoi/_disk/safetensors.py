"""Arrays in the format of safetensors, written one after the other.

The package's own writer has the whole file in memory twice before the first byte is written; checkpoints are written
when memory is scarce, and the files of a cluster in every sweep.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topoi._disk import remote, strict_json
from topoi._disk.mapped import KINDS, pieces
from topoi._disk.remote import Remote

#: Bytes that are fetched of an object to see what is in it; and of a header, at most.
HEAD, LONGEST_HEADER = 2**16, 2**26
#: Bytes of an object that is fetched whole: to ask for its arrays one by one would take longer.
WHOLE = 2**24


def write_safetensors(
    file: BinaryIO, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] | None = None
) -> None:
    """Write contiguous arrays of numbers. Wide items come first, so that all are aligned; equal values, equal bytes."""
    entries: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    end = 0
    for name in names:
        array = arrays[name]
        kind = "BOOL" if array.dtype.kind == "b" else f"{array.dtype.kind.upper()}{8 * array.itemsize}"
        entries[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    file.write(len(header).to_bytes(8, "little"))
    file.write(header)
    for name in names:
        for piece in pieces(arrays[name]):
            file.write(piece.data)


def fetch_named(place: Remote, names: Iterable[str]) -> dict[str, NDArray[Any]] | None:
    """Those of some arrays that an object has, and nothing else of it; None if it is small.

    A ValueError, TypeError or KeyError where the object is not what it should be.
    """
    head = remote.read(place, 0, HEAD)
    if len(head) < HEAD:
        return None
    start = 8 + int.from_bytes(head[:8], "little")
    if start > HEAD:
        head = remote.read(place, 0, min(start, LONGEST_HEADER))
    header = dict(strict_json.parse(head[8:start].decode()))
    if start + max(entry["data_offsets"][1] for entry in header.values()) <= WHOLE:
        return None
    return {name: _fetch(place, start, **header[name]) for name in names if name in header}


def _fetch(place: Remote, start: int, dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
    """An array of an object whose arrays begin at `start`."""
    (first, last), kind = data_offsets, np.dtype(KINDS[dtype])
    if min(first, *shape) < 0 or last - first != math.prod(shape) * kind.itemsize:
        raise ValueError("its header says nothing sensible")
    data = remote.read(place, start + first, start + last) if last > first else b""
    return np.frombuffer(bytearray(data), kind).reshape(shape)

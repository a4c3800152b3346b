"""Arrays in the format of safetensors, written one after the other.

The package's own writer has the whole file in memory twice before the first byte is written; checkpoints are written
when memory is scarce, and the files of a cluster in every sweep.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from numpy.typing import NDArray

from topoi._disk.mapped import pieces


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

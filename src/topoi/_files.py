"""Files written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def writing_whole(path: str | os.PathLike[str], sync: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write to: whoever reads `path`, at any time and after any failure, finds all of it or the old.

    The bytes go to a new file beside the target, thus on the same disk, which takes its place in one step when the
    block ends without an error. What is no file, as /dev/null or a named pipe, is written to as it is. Without `sync`
    it may be lost, or damaged, in a power cut.
    """
    target = Path(path).resolve()  # a link stays a link
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as file:
            yield file
        return
    new = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        # Not `tempfile`, whose files only their owner may read.
        with new.open("xb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: str | Path, data: bytes, sync: bool = True) -> None:
    """Write `data` to a file, all of it or nothing; see `writing_whole`."""
    with writing_whole(path, sync) as file:
        file.write(data)

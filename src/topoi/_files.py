"""Files written whole or not at all."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file: whoever reads it, at any time and after any failure, finds all of it or what was there before.

    The bytes go to a new file beside the target, thus on the same disk, which then takes its place in one step.
    """
    target = Path(path).resolve()  # a link stays a link
    new = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        # Not `tempfile`, whose files only their owner may read.
        with new.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)

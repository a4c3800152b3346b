"""Pieces of a seed's measurement, kept as they are done: a run that was killed goes on where it was."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class Pieces:
    """What is done of one figure and seed, in a file that is written after every piece.

    `made_with` is whatever makes pieces worthless when it changes: the scale, and the source that runs.
    """

    def __init__(self, path: Path, made_with: Any) -> None:
        self.path, self.made_with = path, json.loads(json.dumps(made_with))
        stored = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self.done: dict[str, dict[str, Any]] = stored["done"] if stored.get("made_with") == self.made_with else {}
        self.seconds = sum(entry["seconds"] for entry in self.done.values())  # of an earlier process

    def put(self, of: str, entry: dict[str, Any]) -> None:
        """Keep a piece, on disk at once."""
        self.done[of] = entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_suffix(".tmp")
        scratch.write_text(json.dumps({"made_with": self.made_with, "done": self.done}), "utf-8")
        scratch.replace(self.path)

    def drop(self) -> None:
        """All pieces are in the rows of the seed now."""
        self.path.unlink(missing_ok=True)


_present: Pieces | None = None


def keep_in(pieces: Pieces | None) -> None:
    """From here on pieces of this process are kept there; nowhere if None, as at first."""
    global _present
    _present = pieces


def piece(of: tuple[Any, ...], function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """function(*arguments, **options), or what it gave before: rows or numbers, of a part that is called `of`."""
    if _present is None:
        return function(*arguments, **options)
    name = " ".join(map(str, of))
    if name not in _present.done:
        begun = time.process_time()
        value = function(*arguments, **options)
        _present.put(name, {"seconds": time.process_time() - begun, "value": value})
    found: T = _present.done[name]["value"]
    return found

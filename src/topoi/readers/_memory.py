"""How much memory a file may ask for, and room on the disk for a copy of it: asked before anything is allocated.

A file of a kilobyte can claim a billion columns, count a word sixteen million times a line, or hold gigabytes of zeros.
What an honest file needs goes with its size: the limit is 64 times its bytes on the disk, and at least 1 GiB. Plain
text never gets there, and who has a file that does can raise the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from topoi.errors import FileError, ParameterError
from topoi.readers._faults import fault

LEAST = 2**30  # bytes
PER_BYTE = 64  # of the file
ROW = 2**10  # bytes of a document or a column in a fit: a count for each of some 250 topics

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII)


class Memory:
    """The limit of one source, of which `n_bytes` tells the size so far; `given` is the user's own limit, if any."""

    def __init__(self, name: str, n_bytes: Callable[[], int], given: Any = None) -> None:
        self._name, self._n_bytes = name, n_bytes
        self._given = None if given is None else read_size(given)

    @property
    def limit(self) -> int:
        """In bytes; that of a stream grows as it is read."""
        return max(LEAST, PER_BYTE * self._n_bytes()) if self._given is None else self._given

    def ask(self, n_bytes: int, what: str) -> None:
        """Raise if so many bytes are too many; `what` begins a sentence that says what for."""
        if n_bytes > LEAST or self._given is not None:  # else there is no need to look at the size
            limit = self.limit
            if n_bytes > limit:
                raise self.refusal(n_bytes, limit, what)

    def refusal(self, n_bytes: int, limit: int, what: str) -> FileError:
        """The error."""
        asked = f"{what}. That would take about {shown(n_bytes)}; the limit for this file is {shown(limit)}."
        raised = shown(2 * n_bytes).replace(" ", "").replace("i", "")
        return fault(self._name, f"{asked} If the file is right, raise the limit: max_memory={raised!r}.")


def read_size(value: Any) -> int:
    """A number of bytes, as a number or as text: ``"8GB"``."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    size = 0 if found is None else int(float(found[1]) * _UNITS[found[2].upper()])
    if size < 1:
        raise ParameterError("max_memory", f"must be a number of bytes, as 4000000000 or '4GB', not {value!r}")
    return size


def shown(n_bytes: int) -> str:
    """A number of bytes for people."""
    unit = next((unit for unit in "TGMK" if n_bytes >= _UNITS[unit]), "")
    return f"{n_bytes / _UNITS[unit]:.3g} {unit}{'iB' if unit else 'bytes'}"

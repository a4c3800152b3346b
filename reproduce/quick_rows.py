"""Evidence that an edit changed no numbers: the quick settings give the rows that they gave before.

An edit of a helper that every figure uses makes every figure old by its source, though it may change no number. With
the rows of a figure a digest of each column is kept, of seed 0 of the quick settings. `--recheck` makes these rows
again, twice: a column that differs between the two is of times, or else is not a function of the source, and shows
nothing. Where all the other columns are as they were, to the last digit, the results are *confirmed*. That is
evidence and no proof: an edit may matter at the full sizes alone. And it says nothing of times, which stay those of the
older source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from reproduce.table import Row

Digests = dict[str, str]


def digests(rows: Sequence[Row]) -> Digests:
    """Of every column a digest of its values, in order, to the last digit."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return {
        name: hashlib.blake2b(json.dumps([row.get(name) for row in rows]).encode(), digest_size=8).hexdigest()
        for name in columns
    }


@dataclass(frozen=True)
class Compared:
    """What the quick rows show of an edit."""

    changed: list[str]  # columns that are other than they were
    times: list[str]  # columns that differ between two runs of the same source
    same: list[str]  # measured columns that are as they were

    @property
    def confirms(self) -> bool:
        """Whether the edit changed no number that can be compared, and there are such numbers."""
        return bool(self.same) and not self.changed


def compared(before: Digests, now: Digests, again: Digests, keys: Sequence[str]) -> Compared:
    """Rows of the older source beside two runs of the present one."""
    times = [name for name in now if now[name] != again.get(name)]
    others = [name for name in dict.fromkeys([*before, *now]) if name not in times]
    changed = [name for name in others if before.get(name) != now.get(name)]
    return Compared(changed, times, [name for name in others if name not in changed and name not in keys])

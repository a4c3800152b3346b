"""Measured rows, averaged over seeds."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = str | int | float
Row = dict[str, Value]
#: The column of scores by the papers' test procedure (`settled.py`), beside "score" by topoi's.
SCORE_GIBBS = "score_gibbs"
Curve = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Line:
    """Rows of several seeds with the same keys: mean and standard deviation (nan for one seed) of every value."""

    keys: Row
    mean: dict[str, float]
    sd: dict[str, float]
    n_seeds: int


@dataclass(frozen=True)
class Table:
    """Lines in the order in which they were measured."""

    lines: tuple[Line, ...]

    @staticmethod
    def average(rows_of_seeds: Sequence[Sequence[Row]], keys: Sequence[str]) -> Table:
        """Average the rows of all seeds that have the same keys."""
        groups: dict[tuple[Value, ...], list[Row]] = {}
        for rows in rows_of_seeds:
            seen = set()
            for row in rows:
                if missing := [key for key in keys if key not in row]:
                    raise ValueError(f"a row lacks its key {missing[0]!r}: {row}")
                identity = tuple(row[key] for key in keys)
                if identity in seen:
                    raise ValueError(
                        f"two rows of one seed have the same keys {dict(zip(keys, identity, strict=True))}"
                    )
                seen.add(identity)
                groups.setdefault(identity, []).append(row)
        lines = []
        for identity, group in groups.items():
            columns = dict.fromkeys(name for row in group for name in row if name not in keys)
            values = {name: np.array([float(row[name]) for row in group if name in row]) for name in columns}
            mean = {name: float(found.mean()) for name, found in values.items()}
            sd = {name: float(found.std(ddof=1)) if len(found) > 1 else np.nan for name, found in values.items()}
            lines.append(Line(dict(zip(keys, identity, strict=True)), mean, sd, len(group)))
        return Table(tuple(lines))

    def where(self, **keys: Value) -> Table:
        """The lines with these keys."""
        return Table(tuple(line for line in self.lines if all(line.keys[name] == keys[name] for name in keys)))

    def different(self, key: str) -> list[Any]:
        """The different values of a key, in order of appearance."""
        return list(dict.fromkeys(line.keys[key] for line in self.lines))

    def _only(self, keys: Row) -> Line:
        lines = self.where(**keys).lines
        if len(lines) != 1:
            raise LookupError(f"{len(lines)} lines have the keys {keys}")
        return lines[0]

    def mean(self, column: str, **keys: Value) -> float:
        """The mean in the only line with these keys."""
        return self._only(keys).mean[column]

    def sd(self, column: str, **keys: Value) -> float:
        """The standard deviation over seeds in the only line with these keys; nan for one seed."""
        return self._only(keys).sd[column]

    def curve(self, x: str, y: str, **keys: Value) -> Curve:
        """x (a key or a value), mean of y and its standard deviation, over the lines with these keys that have a y."""
        lines = [line for line in self.where(**keys).lines if y in line.mean]
        at = [line.keys[x] if x in line.keys else line.mean[x] for line in lines]
        return np.array(at), np.array([line.mean[y] for line in lines]), np.array([line.sd[y] for line in lines])

    def write(self, path: Path) -> None:
        """Write a CSV: keys, number of seeds, and mean and standard deviation of every value."""
        keys = list(self.lines[0].keys)
        values = list(dict.fromkeys(name for line in self.lines for name in line.mean))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*keys, "seeds", *(f"{name}{part}" for name in values for part in ("", "_sd"))])
            for line in self.lines:
                found = [_plain(which.get(name, np.nan)) for name in values for which in (line.mean, line.sd)]
                writer.writerow([*(line.keys[key] for key in keys), line.n_seeds, *found])


def _plain(value: float) -> str:
    """Six digits are more than any of these numbers deserves; nothing where there is no number."""
    return f"{value:.6g}" if np.isfinite(value) else ""

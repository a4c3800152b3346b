"""Shares of topics by group: arrays, rows, a data frame, a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.writers import write_table

Array = NDArray[np.float64]


class TopicShare(NamedTuple):
    """The share of a topic in a group, with the bounds of an interval; `start` is the first day of a period."""

    by: str
    group: str
    start: date | None
    n_documents: int
    topic: int
    name: str
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class TopicsBy:
    """Shares of topics by group, as `topics_by` finds them. Iterating gives a `TopicShare` for each group and topic.

    Attributes
    ----------
    by : str
        What the column is called.
    kind : "dates", "numbers" or "categories"
        What its values are.
    period : str or None
        Of dates: "day", "week", "month", "quarter" or "year".
    groups : list of str
        What the groups or periods are called, in their order; those with no document are not there.
    positions : list
        Of each its place on an axis: the first day of a period, a number, or None.
    runs : list of int
        Numbers that grow by one where groups follow each other without a gap.
    n_documents : array (groups,)
        How many documents each has.
    topics : list of str
        What the topics are called.
    share, low, high : arrays (groups, topics)
        The shares, which add up to 1 over the topics of a model, and the bounds of their intervals.
    overall : array (topics,)
        The shares in all documents that are in a group.
    level : float
        Probability that the intervals have.
    weight : "documents" or "tokens"
        What counts the same.
    n_missing, n_empty : int
        Documents without a value, and those left out because they have no word that the model knows.
    """

    by: str
    kind: str
    period: str | None
    groups: list[str]
    positions: Sequence[date | float | None]
    runs: list[int]
    n_documents: NDArray[np.int64]
    topics: list[str]
    share: Array
    low: Array
    high: Array
    overall: Array
    level: float
    weight: str
    n_missing: int = 0
    n_empty: int = 0

    def __repr__(self) -> str:
        what = f"{len(self.groups)} {self.period or 'group'}s of {self.by!r}"
        return f"TopicsBy({what}, {len(self.topics)} topics, {int(self.n_documents.sum())} documents)"

    def __len__(self) -> int:
        return self.share.size

    def __iter__(self) -> Iterator[TopicShare]:
        for g, (group, position) in enumerate(zip(self.groups, self.positions, strict=True)):
            start = position if isinstance(position, date) else None
            numbers = (array[g].tolist() for array in (self.share, self.low, self.high))
            for k, (name, *values) in enumerate(zip(self.topics, *numbers, strict=True)):
                yield TopicShare(self.by, group, start, int(self.n_documents[g]), k, name, *values)

    def columns(self) -> dict[str, list[Any] | NDArray[Any]]:
        """The rows as columns by name, those of a group together: for `DataFrame` of pandas or polars."""
        n_groups, n_topics = self.share.shape
        starts = [position if isinstance(position, date) else None for position in self.positions]
        names: dict[str, list[Any] | NDArray[Any]] = {
            "by": [self.by] * self.share.size,
            "group": [group for group in self.groups for _ in range(n_topics)],
        }
        if self.kind == "dates":
            names["start"] = [start for start in starts for _ in range(n_topics)]
        return names | {
            "n_documents": np.repeat(self.n_documents, n_topics),
            "topic": np.tile(np.arange(n_topics), n_groups),
            "name": self.topics * n_groups,
            "share": self.share.ravel(),
            "low": self.low.ravel(),
            "high": self.high.ravel(),
        }

    def to_frame(self) -> Any:
        """The rows as a data frame of pandas."""
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError as error:
            raise ParameterError("to_frame", "needs pandas: pip install pandas; columns() needs nothing") from error
        return pd.DataFrame(self.columns())

    def write(self, path: Any) -> None:
        """Write the rows as a table: .csv, .tsv, .jsonl or .parquet, told from the name."""
        write_groups([self], path)

    def variation(self) -> Array:
        """How much the share of each topic varies between groups: a standard deviation, in which noise has no part."""
        weights = self.n_documents / self.n_documents.sum()
        between = weights @ (self.share - weights @ self.share) ** 2
        # Half an interval is about 1.6 standard errors at 90 %; t and Beta intervals are no narrower than normal ones.
        noise = weights @ ((self.high - self.low) / (2 * _deviations(self.level))) ** 2
        spread: Array = np.sqrt(np.maximum(between - noise, 0.0))
        return spread

    def most_varying(self, n: int = 10) -> list[int]:
        """The topics whose shares vary most between groups, most first; where none is left, the largest."""
        check_whole("n", n)
        order = np.lexsort((-self.overall, -self.variation()))
        return [int(k) for k in order[:n]]

    def largest(self, n: int = 10) -> list[int]:
        """The topics with the largest shares in all documents, largest first."""
        check_whole("n", n)
        return [int(k) for k in np.argsort(-self.overall, kind="stable")[:n]]


def _deviations(level: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(0.5 + level / 2))


def write_groups(found: Sequence[TopicsBy], path: Any) -> None:
    """Write what several columns gave as one table, whose column `by` says which it was."""
    if not found:
        raise ParameterError("found", "is empty: there is nothing to write")
    tables = [one.columns() for one in found]
    names = max(tables, key=len)  # with dates there is a column more
    out: dict[str, list[Any]] = {name: [] for name in names}
    for table in tables:
        for name, column in out.items():
            column.extend(_plain(table[name]) if name in table else [None] * len(table["by"]))
    write_table(out, path)


def _plain(column: list[Any] | NDArray[Any]) -> list[Any]:
    if isinstance(column, np.ndarray):
        plain: list[Any] = column.tolist()
        return plain
    return [value.isoformat() if isinstance(value, date) else value for value in column]

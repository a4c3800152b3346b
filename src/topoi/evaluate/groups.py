"""A column of anything, as groups of documents: periods of dates, numbers in order, or categories.

Dates are cut into periods (dates.py). Numbers of few different values are a group each, in their order, of many values
they are cut into groups of about equally many documents. All else is a category for each different value: in
alphabetical order, or in that of an ordered categorical of pandas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.text import is_missing
from topoi.errors import ParameterError, warn_user
from topoi.evaluate.dates import choose_period, name_period, number_periods, only_format, parse_date, period_starts
from topoi.readers._covariates import DECIMAL_COMMA, as_number

KINDS = ("dates", "numbers", "categories")
#: Different numbers, at most, that are a group each, and groups that more are cut into.
MOST_NUMBERS, BINS = 100, 10
#: Groups, at most: a column with more is rather an id.
MOST_GROUPS = 10_000
MISSING = "(missing)"
#: Texts are dates if at least this share of them can be read as one; the others are then faults.
MOSTLY = 0.5


@dataclass(frozen=True)
class Groups:
    """Which group each document is in (`codes`, −1: none), and what the groups are called, in their order.

    `positions` says where a group lies on an axis: the first day of a period, a number (the mean of its documents where
    numbers are cut), or None for a category; `runs` has a number for each group, which grow by one where periods follow
    each other without a gap.
    """

    name: str
    kind: str
    names: list[str]
    codes: NDArray[np.int64]
    positions: list[date | float | None]
    runs: list[int]
    period: str | None = None
    n_missing: int = 0


def as_groups(
    column: Any, *, name: str | None = None, kind: str | None = None, period: str | None = "auto",
    date_format: str | None = None, missing: str = "drop",
) -> Groups:  # fmt: skip
    """The groups of a column; see `topics_by` for what the parameters mean."""
    if kind is not None and kind not in KINDS:
        raise ParameterError("kind", f"must be None or one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    if missing not in ("drop", "group"):
        raise ParameterError("missing", f"must be 'drop' or 'group', not {missing!r}")
    if kind is None and date_format is not None:
        kind = "dates"
    values, ordered, own_name = _values(column)
    name = name if name is not None else own_name if own_name is not None else "group"
    known = np.array([not has_no_group(value) for value in values], bool)
    if not known.any():
        raise ParameterError("groups", f"{name!r} has no value at all; there is nothing to group by")
    if period is not None and kind in (None, "dates") and date_format is None and ordered is None:
        date_format = only_format(value for value, there in zip(values, known, strict=True) if there)
        kind = kind if date_format is None else "dates"
    if period != "auto" and kind is None:
        kind = "categories" if period is None else "dates"
    found = _grouped([value for value, there in zip(values, known, strict=True) if there], np.flatnonzero(known),
                     name, kind, "auto" if period is None else period, date_format, ordered)  # fmt: skip
    n_missing = int((~known).sum())
    codes = np.full(len(values), -1, np.int64)
    codes[known] = found.codes
    names, positions, runs = found.names, found.positions, found.runs
    if n_missing:
        done = "are left out; missing='group' makes them a group of their own"
        if missing == "group":
            codes[~known] = len(names)
            names, positions, runs = [*names, MISSING], [*positions, None], [*runs, runs[-1] + 2]
            done = f"are the group {MISSING!r}"
        warn_user(f"{n_missing:,} of {len(values):,} documents have no value in {name!r} and {done}.")
    if len(names) > MOST_GROUPS:
        raise ParameterError(
            "groups", f"{name!r} has {len(names):,} different values, more than {MOST_GROUPS:,}; group them first"
        )
    return Groups(name, found.kind, names, codes, positions, runs, found.period, n_missing)


def are_dates(column: Any, date_format: str | None = None) -> bool:
    """Whether most of the values that a column has can be read as dates."""
    values = [value for value in _values(column)[0] if not has_no_group(value)]
    date_format = only_format(values) if date_format is None else date_format
    if date_format is None and not _may_be_dates(values):
        return False
    n_dates = sum(parse_date(value, date_format) is not None for value in values)
    return bool(values) and n_dates >= MOSTLY * len(values)


def has_no_group(value: Any) -> bool:
    """Whether it is missing, or a text of nothing but blanks."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


def _values(column: Any) -> tuple[list[Any], list[Any] | None, str | None]:
    """The values, the order of an ordered categorical, and the name that the column has itself."""
    if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
        raise ParameterError("groups", f"must be a column with a value for each document, not {column!r:.60}")
    if len(getattr(column, "shape", ())) == 2 and column.shape[1] == 1 and hasattr(column, "columns"):
        column = column[column.columns[0]]  # a data frame of one column
    name = getattr(column, "name", None)
    dtype = getattr(column, "dtype", None)
    order = dtype.categories.tolist() if dtype is not None and getattr(dtype, "ordered", False) is True else None
    array = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise ParameterError("groups", f"must be one column, not an array of shape {array.shape}")
        values = list(array) if array.dtype.kind == "M" else array.tolist()  # nanoseconds would become whole numbers
    else:
        values = list(array)
    return values, order, None if name is None else str(name)


def _grouped(
    values: list[Any], rows: NDArray[np.int64], name: str, kind: str | None, period: str, date_format: str | None,
    ordered: list[Any] | None,
) -> Groups:  # fmt: skip
    """Groups of values none of which is missing; `rows` are theirs, for messages."""
    if kind == "categories" or ordered is not None or (kind is None and all(isinstance(v, bool) for v in values)):
        return _categories(values, name, ordered)
    if kind == "dates" or (kind is None and _may_be_dates(values)):
        days = {value: parse_date(value, date_format) for value in dict.fromkeys(values)}
        n_dates = sum(day is not None for day in map(days.__getitem__, values))
        if kind == "dates" or n_dates >= MOSTLY * len(values):
            for value, row in zip(values, rows.tolist(), strict=True):
                if days[value] is None:
                    raise _no_date(value, row, name, n_dates, date_format, kind is None)
            return _periods(np.array([days[value] for value in values], np.int64), name, period)
    if kind == "numbers" or kind is None:
        numbers = [as_number(value) for value in values]
        if None not in numbers and all(map(math.isfinite, numbers)):  # type: ignore[arg-type]
            return _numbers(values, np.array(numbers, np.float64), name)
        if kind == "numbers":
            at = next(i for i, number in enumerate(numbers) if number is None or not math.isfinite(number))
            raise ParameterError(
                "groups",
                f"{name!r} of document {rows[at]} (counted from 0) is {values[at]!r:.50}, which is no finite number",
            )
        _warn_of_commas(values, numbers, name)
    return _categories(values, name, None)


def _warn_of_commas(values: list[Any], numbers: list[float | None], name: str) -> None:
    """Numbers of which some have a decimal comma become categories, which is hardly what is meant."""
    others = [value for value, number in zip(values, numbers, strict=True) if number is None]
    if others and all(isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip()) for value in others):
        warn_user(
            f"{name!r} has numbers with a decimal comma, as {others[0]!r}: its values are taken for categories. Write "
            "decimals with a point, as 12.50, for numbers."
        )


def _may_be_dates(values: list[Any]) -> bool:
    """Whether they are dates or texts: numbers are dates only if somebody says so, and so are texts of digits."""
    return all(
        isinstance(value, date | np.datetime64 | datetime) or (isinstance(value, str) and as_number(value) is None)
        for value in values
    )


def _no_date(value: Any, row: int, name: str, n_dates: int, date_format: str | None, guessed: bool) -> ParameterError:
    expected = "a date as 2024-03-05" if date_format is None else f"a date as {date_format!r} says"
    others = f" {n_dates:,} other values are dates." if guessed else ""
    hint = "Correct it, empty it, or say how dates are written by date_format, as '%d/%m/%Y'"
    more = "; period=None takes all values as they are." if guessed else "."
    what = f"{name!r} of document {row} (counted from 0) is {value!r:.50}"
    return ParameterError("groups", f"{what}, not {expected}.{others} {hint}{more}")


def _periods(days: NDArray[np.int64], name: str, period: str) -> Groups:
    chosen = choose_period(days) if period == "auto" else period
    numbers, codes = np.unique(number_periods(days, chosen), return_inverse=True)
    starts = period_starts(numbers.tolist(), chosen)
    names = [name_period(start, chosen) for start in starts]
    return Groups(name, "dates", names, codes, list(starts), numbers.tolist(), chosen)


def _numbers(values: list[Any], numbers: NDArray[np.float64], name: str) -> Groups:
    different, codes = np.unique(numbers, return_inverse=True)
    if len(different) > MOST_NUMBERS:
        return _cut(numbers, name)
    texts: dict[int, str] = {}
    for value, code in zip(values, codes.tolist(), strict=True):
        texts.setdefault(
            code, value.strip() if isinstance(value, str) else f"{value:g}" if value % 1 else f"{value:.0f}"
        )
    names = [texts[code] for code in range(len(different))]
    # Of whole numbers, as years, it can be said that some are not there.
    whole = bool((different % 1 == 0).all()) and float(np.ptp(different)) < 2**53
    runs = (different - different[0]).astype(np.int64).tolist() if whole else list(range(len(different)))
    return Groups(name, "numbers", names, codes, different.tolist(), runs)


def _as_text(value: Any) -> str:
    """A number as people write it: 1990, not 1990.0."""
    return f"{value:.0f}" if value % 1 == 0 else repr(float(value))


def _cut(numbers: NDArray[np.float64], name: str) -> Groups:
    """Groups of about equally many documents; equal numbers are together."""
    bounds = np.unique(np.quantile(numbers, np.arange(1, BINS) / BINS, method="higher"))
    raw = np.searchsorted(bounds, numbers, side="left")
    used, codes = np.unique(raw, return_inverse=True)
    parts = [numbers[codes == code] for code in range(len(used))]
    for digits in (4, 6, 9, 17):  # as few as tell the groups apart
        ends = [[f"{end:.{digits}g}" for end in (own.min(), own.max())] for own in parts]
        names = [low if low == high else f"{low} to {high}" for low, high in ends]
        if len(set(names)) == len(names):
            break
    positions: list[date | float | None] = [float(own.mean()) for own in parts]
    return Groups(name, "numbers", names, codes, positions, list(range(len(used))))


def _categories(values: list[Any], name: str, ordered: list[Any] | None) -> Groups:
    texts = [str(value).strip() for value in values]
    used = set(texts)
    names = sorted(used) if ordered is None else [text for text in map(str, ordered) if text in used]
    spellings: dict[str, str] = {}
    for text in names:
        if (first := spellings.setdefault(text.casefold(), text)) != text:
            warn_user(
                f"{name!r} has the groups {first!r} and {text!r}, which differ in capital letters only; write them "
                "alike if they are one."
            )
            break  # one tells what is the matter
    code_of = {text: code for code, text in enumerate(names)}
    codes = np.array([code_of[text] for text in texts], np.int64)
    return Groups(name, "categories", names, codes, [None] * len(names), list(range(len(names))))

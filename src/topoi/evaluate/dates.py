"""Dates in a column, as days since 1970, and the periods that they fall into: days, weeks, months, quarters or years.

What is taken for a date: `datetime`, `date`, datetime64, Timestamp, and texts as 2024-03-05, 2024-03-05T14:30:00+01:00
(ISO 8601), 2024/03/05, 2024-03, 2024, or "Tue, 05 Mar 2024 14:30:00 +0100" as in e-mail. 05/03/2024 by itself is not:
nobody knows which is the month. A column of such dates has a format if one of its days, as 27/03/2024, is no month;
else it has to be given. A time with a zone counts as the day that it is in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError

PERIODS = ("day", "week", "month", "quarter", "year")
#: Periods of a column, at most, where they are chosen by its range: more are hard to see, and hold few documents.
MOST_PERIODS = 48
#: Share of these periods that must have documents.
LEAST_FILLED = 0.5
_SHORT = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?$")
_SLASHES = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?=$|[ T])")
_DAY_OR_MONTH = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}")
_EPOCH = date(1970, 1, 1).toordinal()
_FIRST_MONDAY = 4  # 1970-01-05


def parse_date(value: Any, date_format: str | None = None) -> int | None:
    """A value as days since 1970-01-01; None if it is no date."""
    if isinstance(value, datetime):  # a Timestamp of pandas is one
        return _day(value)
    if isinstance(value, date):
        return value.toordinal() - _EPOCH
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else int(value.astype("datetime64[D]").astype(np.int64))
    if isinstance(value, bool | np.bool_) or (isinstance(value, float) and not value.is_integer()):
        return None
    text = str(int(value)) if isinstance(value, float) else str(value).strip()
    try:
        if date_format is not None:
            return _day(datetime.strptime(text, date_format))
        if short := _SHORT.match(text):
            return date(int(short[1]), int(short[2] or 1), 1).toordinal() - _EPOCH
        if slashes := _SLASHES.match(text):
            year, month, day = map(int, slashes.groups())
            text = f"{year:04}-{month:02}-{day:02}{text[slashes.end() :]}"
        return _day(datetime.fromisoformat(text))
    except ValueError:
        return None if date_format is not None else _day_of_mail(text)


def _day_of_mail(text: str) -> int | None:
    # It makes sense of nearly anything with numbers in it: only what has the name of a month is let through.
    if not re.search(r"\d{1,2} [A-Z][a-z]{2} \d{4} \d", text):
        return None
    try:
        return _day(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _day(moment: datetime) -> int:
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(UTC)
        except OverflowError:  # in the first hours of the year 1, or the last of 9999
            moment = moment.replace(tzinfo=None)
    return moment.toordinal() - _EPOCH


def only_format(values: Iterable[Any]) -> str | None:
    """The format of dates as 27/03/2024, if all values are such dates by one order of day and month, not by the other.

    Years have four digits: of three short numbers nobody knows whether they are a date.
    """
    different: set[str] = set()
    for value in values:
        if not isinstance(value, str):
            return None
        different.add(value.strip())
    marks = {match[1] if (match := _DAY_OR_MONTH.fullmatch(value)) else None for value in different}
    mark = marks.pop() if len(marks) == 1 else None
    if mark is None:
        return None
    ways = [mark.join(order) for order in (("%d", "%m", "%Y"), ("%m", "%d", "%Y"))]
    fitting = [way for way in ways if all(parse_date(value, way) is not None for value in different)]
    return fitting[0] if len(fitting) == 1 else None


def choose_period(days: NDArray[np.int64]) -> str:
    """The shortest period of which the days span few enough, most of which have documents.

    Dates that are all the first of a month are not cut into weeks, most of them empty.
    """
    different = np.unique(days)
    for period in PERIODS:
        numbers = np.unique(number_periods(different, period))
        spanned = int(numbers[-1] - numbers[0]) + 1
        if spanned <= MOST_PERIODS and len(numbers) >= LEAST_FILLED * spanned:
            return period
    return PERIODS[-1]


def number_periods(days: NDArray[np.int64], period: str) -> NDArray[np.int64]:
    """The number of the period of each day: those that follow each other have numbers that do."""
    if period not in PERIODS:
        raise ParameterError("period", f"must be 'auto' or one of {', '.join(map(repr, PERIODS))}, not {period!r}")
    if period == "day":
        return days
    if period == "week":  # from Monday
        return (days - _FIRST_MONDAY) // 7
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months // {"month": 1, "quarter": 3, "year": 12}[period]


def period_starts(numbers: Sequence[int], period: str) -> list[date]:
    """The first day of each period."""
    made = np.array(numbers, np.int64)
    if period in ("day", "week"):
        days = made if period == "day" else made * 7 + _FIRST_MONDAY
        starts = days.astype("datetime64[D]")
    else:
        months = made * {"month": 1, "quarter": 3, "year": 12}[period]
        starts = months.astype("datetime64[M]").astype("datetime64[D]")
    found: list[date] = starts.tolist()
    return found


def name_period(start: date, period: str) -> str:
    """What a period is called: 2024-03-05 (a day, or the Monday of a week), 2024-03, 2024 Q1, 2024."""
    if period == "year":
        return f"{start.year:04}"
    if period == "quarter":
        return f"{start.year:04} Q{(start.month + 2) // 3}"
    return start.isoformat() if period in ("day", "week") else f"{start.year:04}-{start.month:02}"

"""Dates and the periods that they fall into."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from topoi import ParameterError
from topoi.evaluate.dates import choose_period, name_period, number_periods, only_format, parse_date, period_starts

DAY = (date(2024, 3, 5) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    "value",
    [
        date(2024, 3, 5), datetime(2024, 3, 5, 23, 59), np.datetime64("2024-03-05T10"),
        np.datetime64("2024-03-05", "ns"),
        "2024-03-05", " 2024-03-05 ", "2024-03-05T14:30:00Z", "2024-03-05 14:30:00.123", "2024/3/5", "2024/03/05 10:00",
        "20240305", "Tue, 05 Mar 2024 14:30:00 +0100", datetime(2024, 3, 4, 23, tzinfo=timezone(timedelta(hours=-5))),
        "2024-03-06T00:30:00+01:00", datetime(2024, 3, 5, tzinfo=UTC),
    ],
)  # fmt: skip
def test_a_date(value):
    assert parse_date(value) == DAY


def test_months_and_years_begin_with_their_first_day():
    assert parse_date("2024-03") == DAY - 4
    assert parse_date("2024") == parse_date(2024) == parse_date(2024.0) == parse_date("2024-01-01")


@pytest.mark.parametrize(
    "value", ["", "unknown", "05/03/2024", "2024-13-05", "2024-02-30", "3.5", 3.5, True, "12 apples"]
)
def test_no_date(value):
    assert parse_date(value) is None


def test_dates_in_a_format():
    assert parse_date("05/03/2024", "%d/%m/%Y") == DAY
    assert parse_date("2024-03-05", "%d/%m/%Y") is None


def test_period_by_the_range():
    for n_days, period in [(1, "day"), (48, "day"), (49, "week"), (300, "week"), (700, "month"), (3000, "quarter")]:
        assert choose_period(np.arange(DAY, DAY + n_days)) == period
    assert choose_period(np.array([0, 365 * 100])) == "year"
    # Dates of which only month or year are known.
    assert choose_period(np.array([parse_date(f"2024-{month:02}") for month in (1, 2, 4, 6)])) == "month"
    assert choose_period(np.array([parse_date(str(year)) for year in (2001, 2002, 2003)])) == "year"


@pytest.mark.parametrize(
    ("period", "start", "name"),
    [
        ("day", date(2024, 3, 5), "2024-03-05"),
        ("week", date(2024, 3, 4), "2024-03-04"),
        ("month", date(2024, 3, 1), "2024-03"),
        ("quarter", date(2024, 1, 1), "2024 Q1"),
        ("year", date(2024, 1, 1), "2024"),
    ],
)
def test_periods(period, start, name):
    """A period begins on the day it should, has one number on all its days, and another on the day before it."""
    number = int(number_periods(np.array([DAY]), period)[0])
    assert period_starts([number], period) == [start]
    assert name_period(start, period) == name
    first = parse_date(start)
    assert number_periods(np.array([first - 1, first]), period).tolist() == [number - 1, number]


def test_periods_before_1970():
    days = np.array([parse_date("1815-06-18")])
    for period, start in [("week", date(1815, 6, 12)), ("quarter", date(1815, 4, 1)), ("year", date(1815, 1, 1))]:
        assert period_starts(number_periods(days, period).tolist(), period) == [start]


def test_unknown_period():
    with pytest.raises(ParameterError, match="'fortnight'"):
        number_periods(np.array([0]), "fortnight")


@pytest.mark.parametrize(
    ("values", "way"),
    [
        (["03/04/2024", "27/03/2024"], "%d/%m/%Y"),
        (["3.4.2024 ", "3.27.2024"], "%m.%d.%Y"),
        (["03/04/2024", "05/06/2024"], None),  # either order fits
        (["27/03/2024", "03/27/2024"], None),  # neither does
        (["27/03/2024", "27.03.2024"], None),
        (["27.03.24"], None),  # may be a number of a version
        (["27/03/2024", "soon"], None),
        (["27/03/2024", ["27/03/2024"]], None),
        ([], None),
    ],
)
def test_the_only_format(values, way):
    assert only_format(values) == way

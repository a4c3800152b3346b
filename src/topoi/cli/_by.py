"""Options of commands that group documents by columns of their file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.errors import ParameterError, warn_user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topoi.evaluate.groups import Groups

PANEL = "Groups"
#: What may be dates, of which nobody knows where the month is; and ways to read them.
LIKE_DATES = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
WAYS = [order.replace(" ", mark) + mark + year
        for mark in "./-" for order in ("%d %m", "%m %d") for year in ("%Y", "%y")]  # fmt: skip


def _option(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL)


@dataclass(frozen=True)
class Grouping:
    """The columns to group by, and how their values are read."""

    by: Annotated[
        list[str] | None,
        _option("--by", help="Column of DOCUMENTS: dates, numbers or categories. May be given several times."),
    ] = None
    period: Annotated[
        str,
        _option("--period", help="How dates are cut: auto (by their range), day, week, month, quarter, year, or none."),
    ] = "auto"
    date_format: Annotated[
        str | None, _option("--date-format", help="How dates are written, as %d/%m/%Y; by default as 2024-03-05.")
    ] = None
    missing: Annotated[
        str, _option("--missing", help="Documents without a value: `drop`, or `group` for a group of their own.")
    ] = "drop"

    def check(self) -> None:
        """Raise for what cannot be, before documents are read."""
        from topoi.evaluate.dates import PERIODS

        choices = ("auto", *PERIODS, "none")
        if self.period.lower() not in choices:
            raise ParameterError("period", f"must be one of {', '.join(choices)}, not {self.period!r}")
        if self.missing not in ("drop", "group"):
            raise ParameterError("missing", f"must be drop or group, not {self.missing!r}")
        used = self.period != "auto" or self.date_format is not None or self.missing != "drop"
        if used and not self.by:
            raise ParameterError("by", "is needed with --period, --date-format or --missing: name a column")

    def groups(self, columns: Mapping[str, Any]) -> list[Groups]:
        """The groups of every column; of several, --period and --date-format are for those of dates."""
        from topoi.evaluate.groups import are_dates, as_groups

        out = []
        for name, column in columns.items():
            period = None if self.period.lower() == "none" else self.period.lower()
            given: dict[str, Any] = {"period": period, "date_format": self.date_format}
            if len(columns) > 1 and period is not None and not are_dates(column, self.date_format):
                given = {}
            out.append(as_groups(column, name=name, missing=self.missing, **given))
            if out[-1].kind == "categories" and self.period == "auto":
                _warn_of_dates(name, [value for value in out[-1].names if LIKE_DATES.fullmatch(value)], out[-1].names)
        return out


def _warn_of_dates(name: str, dates: list[str], values: list[str]) -> None:
    """Dates whose order of day and month is not known have become a group each: say how to make periods of them."""
    from topoi.evaluate.dates import parse_date
    from topoi.evaluate.groups import MISSING

    if not dates or len(dates) < len(values) / 2:
        return
    fitting = [way for way in WAYS if all(parse_date(value, way) is not None for value in dates)]
    others = [value for value in dates if _way(value) != _way(dates[0])]
    if not fitting and not others:  # all written alike, but no dates: numbers of versions, for instance
        return
    how = f"say how they are written, date_format='{fitting[0]}'" if fitting else "write all of them in one way first"
    if len(fitting) > 1:
        how += f" or '{fitting[1]}'"
    odd = next((value for value in values if value not in dates and value != MISSING), None)
    if fitting and odd is not None:  # else the format would be an error at that value
        how = f"write all of them alike, also {odd!r}, and {how}"
    several = "" if fitting else f" and {others[0]!r}"
    warn_user(
        f"the column {name!r} has values as {dates[0]!r}{several}, which are taken for {len(values):,} categories. If "
        f"they are dates, {how}."
    )


def _way(value: str) -> list[int]:
    """How a date is written: the lengths of the marks between its numbers, and of the last number."""
    return [ord(mark) for mark in re.findall(r"\D", value)] + [len(re.split(r"\D", value)[-1])]

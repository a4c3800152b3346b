"""Options of commands that group documents by columns of their file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topoi.evaluate.groups import Groups

PANEL = "Groups"


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
        return out

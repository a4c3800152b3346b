"""What the judges and pictures of the supervised figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.report import decade_ticks, plain_ticks
from reproduce.drawing import curves, panels
from reproduce.harness import Holds
from reproduce.table import Table


def together(*parts: bool) -> Holds:
    """A claim of several parts: it holds if all do, in part if at least half do, and else not."""
    return "yes" if all(parts) else "in part" if 2 * sum(parts) >= len(parts) else "no"


def at_most_in_part(holds: Holds) -> Holds:
    """Of a claim with parts that cannot be checked here."""
    return "in part" if holds == "yes" else holds


def mean_over(table: Table, column: str, **keys: Any) -> float:
    """Mean of a column over all lines with these keys."""
    return float(np.mean([line.mean[column] for line in table.where(**keys).lines]))


def noise(table: Table, column: str, **keys: Any) -> float:
    """Typical standard deviation over seeds of a column: what two lines may differ by without a reason."""
    return float(np.sqrt(np.nanmean([line.sd[column] ** 2 for line in table.where(**keys).lines])))


def growth(table: Table, column: str, x: str, **keys: Any) -> float:
    """Exponent p of column ∝ x^p, fitted to the logarithms."""
    at, mean, _ = table.curve(x, column, **keys)
    return float(np.polyfit(np.log(at.astype(float)), np.log(mean), 1)[0])


def listed(values: Sequence[float], digits: int = 3) -> str:
    """Numbers with so many decimals, separated by slashes."""
    return " / ".join(f"{value:.{digits}f}" for value in values)


def score_and_time(
    table: Table,
    figure: Any,
    score: str,
    x: str = "K",
    by: str = "method",
    xlabel: str = "topics K",
    log_x: bool = False,
) -> list[Any]:
    """Two panels: the score on test documents, and CPU seconds of training on a logarithmic axis, over x."""
    left, right = panels(figure, 2)
    curves(left, table, x, "score", by)
    curves(right, table, x, "train", by)
    left.set(xlabel=xlabel, ylabel=f"{score}, test documents")
    right.set(xlabel=xlabel, ylabel="training, CPU s", yscale="log")
    log_ticks(right.yaxis, *right.get_ylim())
    for axis in (left, right):
        if log_x:
            axis.set_xscale("log")
            plain_ticks(axis.xaxis, table.different(x))
        else:
            axis.set_xticks(table.different(x))
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return [left, right]


def log_ticks(axis: Any, low: float, high: float) -> None:
    """Plain numbers on a logarithmic axis, three a decade, or one where that would be too many."""
    ticks = decade_ticks(low, high)
    if len(ticks) < 3:
        steps = np.outer(10.0 ** np.arange(-4, 5), np.arange(1, 10)).ravel()
        ticks = steps[(steps >= low) & (steps <= high)]
    if len(ticks) > 10:
        ticks = ticks[[round(np.log10(tick), 6) % 1 == 0 for tick in ticks].index(True) :: 3]
    plain_ticks(axis, ticks)

"""Panels and curves in one style."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.report import styles, tidy
from reproduce.table import Table


def panels(figure: Any, n: int = 1) -> list[Any]:
    """`n` tidy panels side by side on a matplotlib figure."""
    axes = figure.subplots(1, n, squeeze=False)[0]
    for axis in axes:
        tidy(axis)
    return list(axes)


def curves(
    axis: Any, table: Table, x: str, y: str, by: str, labels: Mapping[Any, str] | None = None, **changes: Any
) -> None:
    """y over x with its standard deviation, one curve for every value of the key `by`; `changes` go to every curve."""
    names = table.different(by)
    looks = styles([str(name) for name in names])
    for name in names:
        at, mean, sd = table.curve(x, y, **{by: name})
        look = looks[str(name)] | changes
        axis.errorbar(at, mean, np.nan_to_num(sd), label=(labels or {}).get(name, str(name)), capsize=2, **look)


def legend(axis: Any, **more: Any) -> None:
    """A small legend without a frame."""
    axis.legend(frameon=False, fontsize=8, **more)

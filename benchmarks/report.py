"""Tables and plots of the results: Markdown and PNG, with the versions and settings of everybody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Results

# Peers are dashed and have a palette of their own.
PEER_COLOURS = ("#000000", "#7F7F7F", "#8C564B", "#E69F00", "#BCBD22")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#6A3D9A", "#17BECF", "#B15928", "#A6761D", "#66A61E")
MARKERS = "osD^vP*X<>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are right-aligned."""
    lines = [header, ["---", *("--:" for _ in header[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits, a dash for none."""
    if value is None or not np.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}"


def provenance(results: Results, facts: Sequence[str]) -> str:
    """The settings, machine, versions and dates of the results, as a list."""
    lines = [*facts, *(f"Machine: {_join(seen)}." for seen in results.seen("machine"))]
    stamps = results.seen("versions")
    lines += [f"Versions: {_join(seen)}." for seen in stamps]
    if len(stamps) > 1:
        lines.append("**Versions changed between the measurements**: run again with `--fresh` before quoting them.")
    dates = sorted(results.seen("date"))
    lines.append("Measured on " + (dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}") + ".")
    return "\n".join(f"- {line}" for line in lines)


def _join(pairs: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())


def write(output: Path, name: str, title: str, body: str, has_plot: bool = True) -> None:
    """Write `name`.md into the folder and print it."""
    plot = f"\n![{title}]({name}.png)\n" if has_plot else ""
    text = f"# {title}\n{plot}\n{body}\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{name}.md").write_text(text, "utf-8")
    print(text)


def styles(names: Sequence[str], peers: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Colour, marker and line of every competitor."""
    ours = [name for name in names if name not in peers]
    theirs = [name for name in names if name in peers]
    found = {}
    for group, colours, line in ((ours, COLOURS, "-"), (theirs, PEER_COLOURS, "--")):
        for position, name in enumerate(group):
            look = {"color": colours[position % len(colours)], "marker": MARKERS[position % len(MARKERS)]}
            found[name] = {**look, "linestyle": line, "markersize": 4.5, "linewidth": 1.6}
    return found


def panels(n: int, width: float = 4.6, height: float = 4.2, columns: int | None = None) -> tuple[Any, list[Any]]:
    """A figure with `n` panels of this size side by side, at most so many in a row."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    across = min(n, columns or n)
    down = -(-n // across)
    size = (max(width * across, 6.4), height * down)
    figure, axes = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[n:]:
        axis.remove()
    found = list(axes.flat[:n])
    for axis in found:
        tidy(axis)
    return figure, found


def tidy(axis: Any) -> None:
    """A faint grid and no frame."""
    axis.grid(True, which="major", color="#e3e3e3", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def plain_ticks(axis: Any, values: Sequence[float]) -> None:
    """Label a logarithmic axis at `values`, as plain numbers, and nowhere else."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FixedFormatter([f"{value:g}" for value in values]))
    axis.set_minor_locator(NullLocator())


def decade_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … from `low` to `high`."""
    grid = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]
    return [value for value in grid if low <= value <= high]


def even_ticks(low: float, high: float, most: int = 9) -> list[float]:
    """Multiples of a round number from `low` to `high`, at most so many."""
    step = next(size for size in decade_ticks(1, 1e5) if (high - low) / size <= most)
    return [float(value) for value in np.arange(step * np.ceil(low / step), high, step)]


def save(figure: Any, output: Path, name: str) -> None:
    """Write the figure as `name`.png."""
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / f"{name}.png", dpi=150, metadata={"Software": None})

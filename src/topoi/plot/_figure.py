"""What all pictures share: matplotlib, if it is there, colours, sizes, and names that fit."""

from __future__ import annotations

import math
from typing import Any

from topoi.errors import TopoiError

# Okabe & Ito's colours, without yellow (too pale on white) and black (the text's).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#8C8C8C"
PALE = "#D9D9D9"
MARKERS = "osD^vPX*"
SMALL = 8  # points: tick labels
WIDEST = 24.0  # inches: a heat map
WIDE = 12.0  # panels side by side


class PlotError(TopoiError, ValueError):
    """A picture that cannot be drawn: matplotlib is missing, or `ax` is not what it should be."""


def new_axes(width: float, height: float) -> Any:
    """Axes of a new figure of this size, in inches."""
    return new_figure(width, height).add_subplot()


def new_figure(width: float, height: float, *, by_hand: bool = False) -> Any:
    """A figure that pyplot does not know of, laid out so that labels have room, unless that is done by hand."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError("pictures need matplotlib, which is not installed: pip install matplotlib") from error
    if by_hand:
        return Figure(figsize=(width, height), dpi=100)
    figure = Figure(figsize=(width, height), layout="constrained", dpi=100)
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.08, wspace=0.03, hspace=0.02)
    return figure


def check_axes(ax: Any) -> Any:
    """`ax`, if it can be drawn on."""
    if not hasattr(ax, "transData"):
        raise PlotError(f"ax must be one matplotlib Axes, not {type(ax).__name__}")
    return ax


def bare(ax: Any) -> None:
    """Take away the lines around Axes that say nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def short(name: Any, most: int = 28) -> str:
    """A name of at most `most` characters, the middle left out."""
    text = str(name)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def name_width(names: list[str], size: float = SMALL) -> float:
    """About how many inches the longest name takes."""
    return max((len(name) for name in names), default=0) * size * 0.6 / 72


def style(number: int) -> tuple[str, str]:
    """Colour and marker of group `number`: the colours come round again with another marker."""
    return COLOURS[number % len(COLOURS)], MARKERS[number // len(COLOURS) % len(MARKERS)]


def grid_shape(n: int, panel: tuple[float, float], ax: Any = None) -> tuple[int, int]:
    """Rows and columns for n panels of a width and height in inches.

    In a new figure up to four in a row, and more only if there are many; in place of `ax`, so that the side on which
    there is least room has the most.
    """
    width, height = panel
    if ax is None:
        columns = max(1, min(n, max(math.ceil(math.sqrt(n)), 4), int(WIDE // width)))
    else:
        room = ax.get_window_extent()
        columns = min(range(1, n + 1), key=lambda c: max(c * width / room.width, -(-n // c) * height / room.height))
    return -(-n // columns), columns

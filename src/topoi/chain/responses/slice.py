"""Slice sampling of one number: an exact step for parameters of a loss whose conditional has no name.

Neal (2003): a level is drawn under the density at x, an interval around x is stepped out until both of its ends are
below the level, and shrunk towards x until a point of it is above. The width changes the time, never the distribution;
it must not depend on x. The density is asked only whether it is above a number, so that the last digit of a logarithm
does not change what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from topoi._machine.arrays import Stream
from topoi._machine.rng import exponential, uniform


def slice_step(
    stream: Stream,
    x: float,
    log_density: Callable[[float], float],
    width: float,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """A step from x that leaves a density on (low, high) unchanged; `log_density` is known up to a constant."""
    level = log_density(x) - exponential(stream)
    left = x - width * uniform(stream)
    right = left + width
    while left > low and log_density(left) > level:
        left -= width
    while right < high and log_density(right) > level:
        right += width
    left, right = max(left, low), min(right, high)
    while True:
        new = left + (right - left) * uniform(stream)
        if not left < new < right:  # no float is left between them
            return x
        if log_density(new) > level:
            return new
        if new < x:
            left = new
        else:
            right = new

"""Exact draws from a standard normal distribution between two bounds, however far out or close together they are.

Rejection (Robert 1995): from the normal itself where the bounds are wide, from an exponential in a tail, and from a
uniform where the density hardly changes between them. At least a fifth of the proposals is accepted.
"""

from __future__ import annotations

import math

from topoi._machine.arrays import Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import exponential, normal, uniform

_WIDE = 2.5066282746310002  # √(2π): a uniform over so much is as good as the normal


@kernel
def truncated_normal(stream: Stream, low: float, high: float) -> float:
    """A standard normal draw given that it is between low and high; either may be infinite."""
    if low >= 0.0:
        return _in_the_tail(stream, low, high)
    if high <= 0.0:
        return -_in_the_tail(stream, -high, -low)
    if high - low > _WIDE:
        while True:
            x = normal(stream)
            if low < x < high:
                return x
    while True:
        x = low + (high - low) * uniform(stream)
        if uniform(stream) < math.exp(-0.5 * x * x):
            return x


@kernel
def _in_the_tail(stream: Stream, low: float, high: float) -> float:
    """The same for 0 ≤ low."""
    root = math.sqrt(low * low + 4.0)
    rate = 0.5 * (low + root)  # the best of all exponentials above low
    # Where the bounds are closer than this, the uniform accepts more (Robert's proposition 2.3); low − root is stable.
    if high - low < math.exp(0.5 + 0.25 * low * (low - root)) / rate:
        while True:
            x = low + (high - low) * uniform(stream)
            if uniform(stream) < math.exp(-0.5 * (x - low) * (x + low)):
                return x
    while True:
        x = low + exponential(stream) / rate
        if x < high and uniform(stream) < math.exp(-0.5 * (x - rate) * (x - rate)):
            return x

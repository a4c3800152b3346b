"""Exact execution of a random program: every path that its random numbers can take, each with its probability.

`paths(run)` calls ``run(oracle)`` again and again, where the oracle stands in for a random stream. A uniform number is
not drawn: it is an unknown in an interval, and when the program compares it with a threshold the run splits in two,
with the exact probabilities of both sides. So the transition matrix of a sampler can be computed from the sampler's own
source (run without the compiler), not from a description of it.
"""

from __future__ import annotations

# A branch less likely than this is rounding of a threshold that is really at the end of the interval.
ROUNDING = 1e-13


class Oracle:
    def __init__(self, prefix):
        self.prefix = prefix  # choices to repeat
        self.taken = []  # (choice, probabilities) so far
        self.probability = 1.0

    def choose(self, probabilities):
        position = len(self.taken)
        if position < len(self.prefix):
            choice = self.prefix[position]
        else:
            choice = next(j for j, p in enumerate(probabilities) if p > 0)
        self.taken.append((choice, probabilities))
        self.probability *= probabilities[choice]
        return choice

    def uniform(self):
        return Unknown(self, [0.0, 1.0])

    def integer(self, n):
        return self.choose([1.0 / n] * int(n))


class Unknown:
    """slope · U + shift, where U is uniform on what is left of its interval."""

    __array_ufunc__ = None  # so that numpy scalars leave arithmetic to us

    def __init__(self, oracle, interval, slope=1.0, shift=0.0):
        self.oracle, self.interval, self.slope, self.shift = oracle, interval, slope, shift

    def _affine(self, slope, shift):
        return Unknown(self.oracle, self.interval, self.slope * slope, self.shift * slope + shift)

    def __mul__(self, x):
        return self._affine(float(x), 0.0)

    __rmul__ = __mul__

    def __truediv__(self, x):
        return self._affine(1.0 / float(x), 0.0)

    def __add__(self, x):
        return self._affine(1.0, float(x))

    __radd__ = __add__

    def __sub__(self, x):
        return self._affine(1.0, -float(x))

    def _below(self, x):
        """Is the value below x? Splits the run if both are possible."""
        low, high = self.interval
        if self.slope == 0.0:
            return self.shift < x
        assert self.slope > 0, "only increasing functions of a uniform number are followed"
        at = (float(x) - self.shift) / self.slope
        share = (at - low) / (high - low)
        assert share == share, "compared with something that is not a number"
        if share < ROUNDING:
            return False
        if share > 1 - ROUNDING:
            return True
        if self.oracle.choose([share, 1 - share]) == 0:
            self.interval[1] = at
            return True
        self.interval[0] = at
        return False

    def __lt__(self, x):
        return self._below(x)

    __le__ = __lt__  # the two differ on a set of probability 0

    def __ge__(self, x):
        return not self._below(x)

    __gt__ = __ge__


def paths(run, limit=2_000_000):
    """Yield (probability, run(oracle)) for every path."""
    prefix = []
    for _ in range(limit):
        oracle = Oracle(prefix)
        result = run(oracle)
        yield oracle.probability, result
        prefix = None
        while oracle.taken:
            choice, probabilities = oracle.taken.pop()
            later = [j for j in range(choice + 1, len(probabilities)) if probabilities[j] > 0]
            if later:
                prefix = [c for c, _ in oracle.taken] + [later[0]]
                break
        if prefix is None:
            return
    raise AssertionError(f"more than {limit} paths: choose a smaller case")

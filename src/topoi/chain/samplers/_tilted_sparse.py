"""Tilts of a document's own topics, for kernels that never look at all K.

A part of a document has a table as in `_tilted`, made from the tokens outside the part; but only of the topics that
these have. A topic that they do not have is taken to be as good as their average token: its tilt is 1, and the tilts of
the others are scaled so that the mean over the tokens is 1. The Metropolis–Hastings step corrects the guess. The table
costs O(K_d · tasks).
"""

from __future__ import annotations

import math

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel


@kernel
def fill_active(
    z: Ints, first: Int, hi: Int, step: Int, eta_t: Floats, linear: Floats, b: Floats, floor: float, n_d: Ints,
    active: Ints, n: Int, inside: Ints, tilt: Floats,
) -> None:  # fmt: skip
    """Tilts of the topics active[:n] for the part first, first + step, … of a document; n_d counts all its tokens.

    `inside` (one per topic) is 0 before and after; `tilt` is 1 for all topics before.
    """
    for i in range(first, hi, step):
        inside[z[i]] += 1
    best = -np.inf
    for j in range(n):
        k = active[j]
        if n_d[k] > inside[k]:
            g = 0.0
            for task in range(eta_t.shape[1]):
                g += eta_t[k, task] * (linear[task] - 0.5 * b[task] * eta_t[k, task])
            tilt[k] = g
            best = max(best, g)
    total = 0.0
    tokens = 0
    for j in range(n):
        k = active[j]
        if n_d[k] > inside[k]:
            tilt[k] = math.exp(max(tilt[k] - best, -floor))
            total += (n_d[k] - inside[k]) * tilt[k]
            tokens += n_d[k] - inside[k]
    for j in range(n):
        k = active[j]
        if n_d[k] > inside[k]:
            tilt[k] *= tokens / total
    for i in range(first, hi, step):
        inside[z[i]] = 0

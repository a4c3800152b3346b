"""How a token is taken out of live counts and put back: written once, for every sampler that keeps counts.

φ_wk = (n_wk + β) · s_k,    s_k = 1/(n_k + Vβ), which is kept instead of divided
"""

from __future__ import annotations

from typing import NamedTuple

from topoi._machine.arrays import Floats, Int, PerWord
from topoi._machine.jit import inlined


class LiveCounts(NamedTuple):
    """Counts in a dense table `n_wk` (V, K padded), those of the topics, and the scale s that follows from them."""

    n_wk: Floats
    n_k: Floats
    scale: Floats
    betas: PerWord
    beta_sum: float


@inlined
def count_token(counts: LiveCounts, w: Int, k: Int, step: float) -> None:
    """Put a token of word w into topic k, or take it out if `step` is −1; leaves the scale as it is."""
    counts.n_wk[w, k] += counts.n_wk.dtype.type(step)  # of its own type: else the count would go through float64
    counts.n_k[k] += step


@inlined
def move_token(counts: LiveCounts, w: Int, k: Int, step: float) -> None:
    """The same, and the scale of the topic follows."""
    count_token(counts, w, k, step)
    counts.scale[k] = 1.0 / (counts.n_k[k] + counts.beta_sum)

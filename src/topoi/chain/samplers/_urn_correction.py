"""What a draw from the urn's φ lacks of the conditional of a token given the urn's draws: see `urn_mh`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts
from topoi.chain.samplers._sorted_row import find


class Correction(NamedTuple):
    """Live counts, and the draws c_wk of the entries of the urn's rows."""

    counts: LiveCounts
    drawn: Ints


@kernel
def log_lack(correction: Correction, w: Int, k: Int, inside: Int, at: Int, phi: Floats) -> float:
    """Logarithm of r_k for a token of word w, whose entry of topic k is `at`; `inside` is 1 if the token is counted."""
    counts, drawn = correction
    n = np.float64(counts.n_wk[w, k]) - inside + of_word(counts.betas, w)
    share = n / (counts.n_k[k] - inside + counts.beta_sum)
    lack: float = math.log(share / phi[at]) + drawn[at] * math.log1p(1.0 / n)
    return lack


@kernel
def accepts(
    correction: Correction, w: Int, topics: Ints, phi: Floats, row: Int, row_end: Int, old: Int, new: Int,
    stream: Stream,
) -> bool:  # fmt: skip
    """Whether a token of word w, whose row has both topics, goes from topic old to the new one that was proposed."""
    back = log_lack(correction, w, old, 1, find(topics, row, row_end, old), phi)
    log_ratio = log_lack(correction, w, new, 0, find(topics, row, row_end, new), phi) - back
    return log_ratio >= 0.0 or uniform(stream) < math.exp(log_ratio)

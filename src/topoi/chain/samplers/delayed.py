"""Delayed counts: the collapsed conditional with word–topic counts frozen for a sweep (after AD-LDA).

    p(z_i = k | rest) ≈ (n_dk⁻ + α_k) · (n_wk + β) / (n_k + Vβ),    n_wk, n_k as at the start of the sweep

Documents are independent, so the sweep is parallel, and there is no φ to draw. It is *not* exact: the frozen counts
still hold the token that moves. But it converges in fewer sweeps than a sampled φ, which makes it the burn-in kernel:
an exact sampler takes over afterwards. AD-LDA lets each processor update its own copy of the counts, so that its answer
depends on the number of processors; freezing them for all does not. For few topics, and under a tilt, all topics are
weighed with a dense table of counts; for many, rows are split (`topoi.chain.counts.split`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from topoi._machine.arrays import Stream
from topoi._machine.pool import Pool
from topoi.chain.counts.split import DENSE_SHARE, SPLIT_ABOVE
from topoi.chain.factors.delayed import DelayedFactor
from topoi.chain.samplers.base import Sampler
from topoi.chain.samplers.split import move_split
from topoi.chain.state import State


class Delayed(Sampler):
    """Sampler with counts frozen for a sweep."""

    name = "delayed"
    exact = False
    factor_class = DelayedFactor
    draw = "gibbs"
    tilts = True
    alpha_per_document = True
    beta_per_word = True
    cost = "O(topics of the word), at most O(K), sixteen topics at a time"
    reference = DelayedFactor.reference
    bias = DelayedFactor.bias
    options: ClassVar = {"dense_up_to": 0, "dense_share": 0}
    factor: DelayedFactor

    def __init__(
        self, state: State, pool: Pool | None = None, dense_up_to: int = SPLIT_ABOVE, dense_share: int = DENSE_SHARE
    ) -> None:
        dense = state.n_topics <= dense_up_to or state.supervision is not None
        super().__init__(state, pool, share=None if dense else dense_share)

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1 given the counts."""
        factor = self.factor
        if factor.rows is not None:
            return move_split(self.state, factor.rows, None, factor.scale, self.prior, first, last, stream)
        return self.table_block(first, last, stream, factor)

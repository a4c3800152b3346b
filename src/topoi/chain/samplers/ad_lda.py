"""AD-LDA: collapsed Gibbs sampling in blocks of documents that run at the same time, each with counts of its own.

    p(z_i = k | rest) ≈ (n_dk⁻ + α_k) · (n_wk⁻ + β) / (n_k⁻ + Vβ),    n_wk, n_k: of the sweep's start, and what the
                                                                      block itself has moved since

A block begins with the counts of the start of the sweep and keeps its copy up to date as its tokens move; what other
blocks move it learns with the next sweep, when all topics are counted anew. (Newman et al. add up what the processors
have changed, n_wk + Σ_p (n_wkp − n_wk): the same counts.) `delayed` differs in that its counts stay for the whole
sweep: they still hold the token that moves, and what the block has moved before it.

Within a block the step is that of `collapsed`, by its kernel; it is *not* exact because blocks do not see each other.
A corpus of one block is sampled exactly: the bytes are those of `collapsed`. Newman et al. cut the documents by the
number of processors, on which the answer then depends. Here the corpus alone says where blocks end (`Corpus.block_ptr`:
64 blocks or so, of at least 4,096 tokens and, but for the last document, at most 65,536), and the bytes do not depend
on threads or machines.

O(K) per token, and O(K) for each distinct word of a block. Memory: the counts of the sweep's start, V · K numbers, and
for every thread that runs a copy of the rows of the words of its block (`_own_counts`), not of all words.
"""

from __future__ import annotations

from typing import Any

from topoi._machine.arrays import Stream
from topoi._machine.pool import Pool
from topoi.chain.factors.delayed import DelayedFactor
from topoi.chain.samplers._own_counts import copy_counts
from topoi.chain.samplers._tilted import sweep_tilted
from topoi.chain.samplers.base import Sampler
from topoi.chain.samplers.collapsed import sweep_documents
from topoi.chain.state import State


class AdLDA(Sampler):
    """AD-LDA: a collapsed sampler whose blocks of documents do not see each other during a sweep."""

    name = "ad_lda"
    exact = False
    factor_class = DelayedFactor
    live_in_block = True
    draw = "gibbs"
    tilts = True
    alpha_per_document = True
    cost = "O(K), sixteen topics at a time"
    reference = DelayedFactor.reference
    bias = 0.132
    factor: DelayedFactor

    def __init__(self, state: State, pool: Pool | None = None) -> None:
        super().__init__(state, pool, summed=True)

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1 with counts of their own."""
        own = copy_counts(self.state, self.factor, first, last)
        prior = self.prior._replace(row_of=self.prior.row_of[first:last])
        if self.state.supervision is None:
            return sweep_documents(own.tokens, 0, last - first, own.counts, prior, stream)
        words, doc_ptr, z = own.tokens
        n_wk, n_k, scale, beta, beta_sum = own.counts
        eta, eta_t, kappa, omega = self.responses()
        wanted, moved = sweep_tilted(
            words, doc_ptr, 0, last - first, z, n_wk, beta, scale, prior, n_k, beta_sum, eta, eta_t, kappa[first:last],
            omega[first:last], self.state.supervision.part, stream,
        )  # fmt: skip
        return int(wanted), int(moved)

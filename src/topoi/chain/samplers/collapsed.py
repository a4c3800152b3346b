"""Collapsed Gibbs sampling, all K topics weighed for every token, sixteen at a time.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · (n_wk⁻ + β) / (n_k⁻ + Vβ)

Trick: counts live in float rows padded to whole lanes, 1/(n_k + Vβ) is kept instead of divided, and the draw goes in
two levels (lane, then place in the lane), so that the O(K) part is nothing but vector loads, adds and multiplies. The
row of a word two tokens ahead is prefetched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi._machine.arrays import Int, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import uniform
from topoi._machine.simd import LANES, draw_topic, new_sums, prefetch
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.moves import LiveCounts, move_token
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics, count_document
from topoi.chain.samplers.base import Sampler


@kernel
def sweep_documents(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, prior: AlphaRows, stream: Stream
) -> None:
    """One Gibbs step for every token of documents first … last − 1; updates topics and counts."""
    words, doc_ptr, z = tokens
    n_wk = counts.n_wk
    width = n_wk.shape[1]
    n_d = np.zeros(width, n_wk.dtype)
    p = new_sums(prior.rows[0])
    one = n_d.dtype.type(1)
    end = doc_ptr[last] - 3
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha = prior.rows[prior.row_of[d]]
        count_document(z, lo, hi, n_d)
        for i in range(lo, hi):
            w = words[i]
            old = z[i]
            if i < end:
                ahead = words[i + 2]
                for k in range(0, width, LANES):
                    prefetch(n_wk, ahead, k)
            n_d[old] -= one
            move_token(counts, w, old, -1.0)
            beta = of_word(counts.betas, w)
            new = draw_topic(n_d, w, p, uniform(stream), alpha, n_wk, beta, counts.scale)
            if new < 0:  # priors so small that every weight is 0 in this float: the token keeps its topic
                new = np.int64(old)
            n_d[new] += one
            move_token(counts, w, new, 1.0)
            z[i] = new


class Collapsed(Sampler):
    """Dense collapsed Gibbs sampler."""

    name = "collapsed"
    exact = True
    factor_class = LiveFactor
    draw = "gibbs"
    tilts = True
    alpha_per_document = True
    beta_per_word = True
    cost = "O(K), sixteen topics at a time"
    reference = "Griffiths & Steyvers (2004), Finding scientific topics, PNAS 101"
    factor: LiveFactor

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1."""
        state = self.state
        if state.supervision is not None:
            return self.tilted_block(first, last, stream, self.factor, self.factor.n_k)
        return sweep_documents(self.tokens, first, last, self.factor.counts, self.prior, stream)

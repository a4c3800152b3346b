"""FastLDA inside AD-LDA: the bound-and-refine draw with the counts of a block.

    p_k = a_k b_k c_k,    a_k = n_dk⁻ + α_k,   b_k = n_wk⁻ + β,   c_k = 1/(n_k⁻ + Vβ)

n_wk and n_k are those of `ad_lda`: of the sweep's start, and what the block of documents has moved since. The draw is
that of `fast`, by its kernel, with the bound (2, 2, ∞): topics are visited from the document's most frequent downwards,
until a bound on the rest decides. It draws from what `ad_lda` draws from: parallel, and *not* exact, for the same
reasons. Porteous et al. say in their conclusions that their speed-ups come in addition to those of the parallelisation
by Newman et al., and can be used in conjunction with it. A corpus of one block has the bytes of `fast`.

The norms ‖b‖² of its words are a block's own as well: O(K) for each distinct word of a block, and 8 bytes.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Stream
from topoi.chain.samplers._norms import sum_norms
from topoi.chain.samplers._own_counts import copy_counts
from topoi.chain.samplers.ad_lda import AdLDA
from topoi.chain.samplers.fast import Fast, sweep_documents


class AdFast(AdLDA):
    """AD-LDA with the draw of FastLDA, bound (2, 2, ∞)."""

    name = "ad_fast"
    tilts = False
    alpha_per_document = False
    cost = Fast.cost
    reference = f"{Fast.reference}; {AdLDA.reference}"
    summary = Fast.summary

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Move the tokens of documents first … last − 1 with counts of their own."""
        state = self.state
        own = copy_counts(state, self.factor, first, last)
        norms = np.zeros(len(own.counts.n_wk))
        sum_norms(own.counts.n_wk, state.n_topics, state.beta, Fast.cubic, norms)
        visited = sweep_documents(own.tokens, 0, last - first, own.counts, state.alpha, norms, Fast.cubic, stream)
        return int(visited)

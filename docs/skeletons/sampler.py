"""Plain collapsed Gibbs sampling: every topic weighed for every token, one after the other.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · (n_wk⁻ + β) / (n_k⁻ + Vβ)

A skeleton to copy. Say here: the target in the names of our arrays (as above), the trick that makes it quick (here
there is none: that is why it is short), the cost per token, the paper and its section, and where you differ from it.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts, count_token
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics, count_document
from topoi.chain.samplers.base import Sampler


@kernel
def sweep_documents(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, stream: Stream
) -> None:
    """One Gibbs step for every token of documents first … last − 1; updates the topics and the counts."""
    words, doc_ptr, z = tokens
    n_wk, n_k, _, beta, beta_sum = counts
    n_topics = alpha.shape[0]
    n_d = np.zeros(n_topics, n_wk.dtype)
    below = np.zeros(n_topics)  # running sum of the weights
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        count_document(z, lo, hi, n_d)
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            n_d[old] -= 1
            count_token(counts, w, old, -1.0)
            total = 0.0
            for k in range(n_topics):
                total += (n_d[k] + alpha[k]) * (n_wk[w, k] + beta) / (n_k[k] + beta_sum)
                below[k] = total
            u = uniform(stream) * total
            new = 0
            while new < n_topics - 1 and u >= below[new]:
                new += 1
            n_d[new] += 1
            count_token(counts, w, new, 1.0)
            z[i] = new


class Plain(Sampler):
    """Plain collapsed Gibbs sampler."""

    name = "plain"
    exact = True  # if not: exact = False and bias = what verify/bias.py prints
    factor_class = LiveFactor  # live counts: blocks of documents run one after the other
    draw = "gibbs"
    cost = "O(K)"
    reference = "Griffiths & Steyvers (2004), Finding scientific topics, PNAS 101"
    factor: LiveFactor

    def block(self, first: int, last: int, stream: Stream) -> None:
        """Move the tokens of documents first … last − 1."""
        sweep_documents(self.tokens, first, last, self.factor.counts, self.state.alpha, stream)

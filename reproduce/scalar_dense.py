"""Collapsed Gibbs sampling one topic at a time: the LDA that FastLDA is compared with in its paper (Algorithm 3.1).

The running sum must be made in order, so that no compiler can take several topics at once (it may not reorder a sum of
floats). Everything else is as in `fast`: the same tables, 1/(n_k + Vβ) kept instead of divided.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.rng import uniform
from topoi.chain.samplers._document import count_document
from topoi.chain.samplers.collapsed import Collapsed


@kernel
def draw_topic(u: Any, w: Any, n_d: Any, alpha: Any, n_wk: Any, beta: Any, scale: Any, below: Any) -> Any:
    """Topic k with probability ∝ (n_d[k] + alpha[k]) (n_wk[w, k] + beta) scale[k]; overwrites `below`."""
    n_topics = alpha.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += (n_d[k] + alpha[k]) * (n_wk[w, k] + beta) * scale[k]
        below[k] = total
    new = 0
    while new < n_topics - 1 and below[new] <= u * total:
        new += 1
    return new


@kernel
def sweep_documents(
    words: Any, doc_ptr: Any, first: Any, last: Any, z: Any, n_wk: Any, n_k: Any, scale: Any,
    alpha: Any, beta: Any, beta_sum: Any, stream: Any,
) -> None:  # fmt: skip
    """One Gibbs step for every token of documents first … last − 1; updates z, n_wk, n_k and scale."""
    n_topics = alpha.shape[0]
    n_d = np.zeros(n_topics)
    below = np.zeros(n_topics)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        count_document(z, lo, hi, n_d)
        for i in range(lo, hi):
            w = words[i]
            old = z[i]
            n_d[old] -= 1
            n_wk[w, old] -= 1
            n_k[old] -= 1
            scale[old] = 1.0 / (n_k[old] + beta_sum)
            new = draw_topic(uniform(stream), w, n_d, alpha, n_wk, beta, scale, below)
            n_d[new] += 1
            n_wk[w, new] += 1
            n_k[new] += 1
            scale[new] = 1.0 / (n_k[new] + beta_sum)
            z[i] = new


class ScalarDense(Collapsed):
    """Dense collapsed Gibbs sampler without vector instructions."""

    name = "scalar_dense"
    tilts = False
    beta_per_word = False
    cost = "O(K), one topic at a time"

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> None:
        """Move the tokens of documents first … last − 1."""
        state = self.state
        sweep_documents(
            state.corpus.words, state.corpus.doc_ptr, first, last, state.z, self.factor.table, self.factor.n_k,
            self.factor.scale, state.alpha, state.beta, state.beta_sum, stream,
        )  # fmt: skip

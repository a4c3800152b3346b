"""Norms over topics for FastLDA's bounds: of every word's counts, and of the scales of all topics."""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, PerWord
from topoi._machine.jit import kernel, of_word


@kernel
def power(x: float, three: bool) -> float:
    """x³ or x², the term of the norm in use."""
    return x * x * x if three else x * x


@kernel
def sum_norms(n_wk: Floats, n_topics: Int, betas: PerWord, three: bool, norms: Floats) -> None:
    """Equivalent to ``norms[:] = ((n_wk[:, :n_topics] + beta) ** (3 if three else 2)).sum(1)``.

    Four words side by side: each is summed in the order of the topics, but need not wait for the others.
    """
    zero = np.float64(0.0)  # a Python 0.0 would be interpreted as float32 where counts are
    n_words = n_wk.shape[0]
    fours = n_words - n_words % 4
    for w in range(0, fours, 4):
        sum_0, sum_1, sum_2, sum_3 = zero, zero, zero, zero
        beta_0, beta_1, beta_2, beta_3 = (
            of_word(betas, w),
            of_word(betas, w + 1),
            of_word(betas, w + 2),
            of_word(betas, w + 3),
        )
        for k in range(n_topics):
            sum_0 += power(n_wk[w, k] + beta_0, three)
            sum_1 += power(n_wk[w + 1, k] + beta_1, three)
            sum_2 += power(n_wk[w + 2, k] + beta_2, three)
            sum_3 += power(n_wk[w + 3, k] + beta_3, three)
        norms[w], norms[w + 1], norms[w + 2], norms[w + 3] = sum_0, sum_1, sum_2, sum_3
    for w in range(fours, n_words):
        total, beta = zero, of_word(betas, w)
        for k in range(n_topics):
            total += power(n_wk[w, k] + beta, three)
        norms[w] = total


@kernel
def largest(scale: Floats, n_topics: Int) -> Int:
    """Equivalent to ``scale[:n_topics].argmax()``."""
    top = 0
    for k in range(1, n_topics):
        if scale[k] > scale[top]:
            top = k
    return top

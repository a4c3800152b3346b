"""Draws with a word factor that is fixed during the sweep: dense for few topics, sparse in the document for many.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk,    φ_wk = (table[w, k] + offset) · scale[k]

Documents are independent given φ, so blocks of them run in parallel. `partial`, `delayed` and the fold-in of new
documents share these kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi._jit import kernel
from topoi._rng import uniform
from topoi._simd import LANES, draw_lane, weigh
from topoi.samplers._document import (
    add_topic,
    clear_document,
    count_document,
    list_document,
    remove_topic,
)


@kernel
def dense_document(
    words: Any, lo: Any, hi: Any, z: Any, table: Any, offset: Any, scale: Any, alpha: Any, stream: Any,
    n_d: Any, p: Any, lanes: Any,
) -> None:  # fmt: skip
    """Move the tokens lo … hi − 1 of one document, weighing all topics; `n_d` ends as the document's counts."""
    count_document(z, lo, hi, n_d)
    for i in range(lo, hi):
        old = z[i]
        n_d[old] -= 1
        weigh(n_d, alpha, table, words[i], offset, scale, p, lanes)
        new = draw_lane(p, lanes, uniform(stream))
        if new < 0:  # the word has no mass in any topic: the token keeps its topic
            new = np.int64(old)
        n_d[new] += 1
        z[i] = new


@kernel
def sweep_dense(
    words: Any, doc_ptr: Any, first: Any, last: Any, z: Any, table: Any, offset: Any, scale: Any, alpha: Any,
    stream: Any,
) -> None:  # fmt: skip
    """Move every token of documents first … last − 1, weighing all topics: O(K) per token, vectorised."""
    n_d = np.zeros(table.shape[1], table.dtype)
    p = np.zeros(table.shape[1], table.dtype)
    lanes = np.zeros(LANES, table.dtype)
    for d in range(first, last):
        dense_document(words, doc_ptr[d], doc_ptr[d + 1], z, table, offset, scale, alpha, stream, n_d, p, lanes)


@kernel
def sweep_sparse(
    words: Any, doc_ptr: Any, first: Any, last: Any, z: Any, table: Any, offset: Any, scale: Any, alpha: Any,
    mass: Any, stream: Any,
) -> None:  # fmt: skip
    """The same in two buckets: Σ n_dk⁻ φ_wk over the document's topics, and the prior's Σ α_k φ_wk = mass[w].

    The first costs O(K_d). The second is known beforehand and is walked, in O(K), only when the draw falls into it.
    """
    width = table.shape[1]
    nothing = np.zeros(width, table.dtype)
    p = np.zeros(width, table.dtype)
    lanes = np.zeros(LANES, table.dtype)
    n_d = np.zeros(width, np.int32)
    active = np.zeros(width, np.int64)
    place = np.zeros(width, np.int64)
    below = np.zeros(width)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        n = list_document(z, lo, hi, n_d, active, place)
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            n = remove_topic(old, n_d, active, place, n)
            total = 0.0
            for j in range(n):
                k = active[j]
                total += n_d[k] * ((table[w, k] + offset) * scale[k])
                below[j] = total
            u = uniform(stream) * (total + mass[w])
            if u < total:
                j = 0
                while u >= below[j]:
                    j += 1
                new = active[j]
            else:
                weigh(nothing, alpha, table, w, offset, scale, p, lanes)
                new = draw_lane(p, lanes, uniform(stream))
                if new < 0:
                    new = old
            n = add_topic(new, n_d, active, place, n)
            z[i] = new
        clear_document(n_d, active, n)

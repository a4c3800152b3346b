"""Draws with a word factor that is fixed during the sweep: dense for few topics, sparse in the document for many.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk,    φ_wk = (table[w, k] + offset) · scale[k]

Documents are independent given φ, so blocks of them run in parallel. `partial`, `delayed` and the fold-in of new
documents share these kernels.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import branch, uniform
from topoi._machine.simd import draw_topic, draw_two, new_sums
from topoi.chain.alpha import AlphaRows
from topoi.chain.factors._table import phi_at
from topoi.chain.samplers._document import (
    TokenTopics,
    add_topic,
    clear_document,
    count_document,
    list_document,
    remove_topic,
)


@kernel
def move_one(
    words: Ints, lo: Int, hi: Int, z: Ints, stream: Stream, n_d: Floats, p: Floats, alpha: Floats, table: Floats,
    offset: float, scale: Floats,
) -> None:  # fmt: skip
    """Move the tokens lo … hi − 1 of a document with counts n_d, weighing all topics."""
    one = n_d.dtype.type(1)  # a Python 1 would send the counts through float64, in the longest chain of the loop
    for i in range(lo, hi):
        old = z[i]
        n_d[old] -= one
        new = draw_topic(n_d, words[i], p, uniform(stream), alpha, table, offset, scale)
        if new < 0:  # the word has no mass in any topic: the token keeps its topic
            new = np.int64(old)
        n_d[new] += one
        z[i] = new


@kernel
def move_two(
    words: Ints, a: int, b: int, n: Int, z: Ints, stream_a: Stream, stream_b: Stream, n_a: Floats, n_b: Floats,
    p_a: Floats, p_b: Floats, alpha_a: Floats, alpha_b: Floats | None, table: Floats, offset: float, scale: Floats,
) -> None:  # fmt: skip
    """`move_one` for n tokens of two documents, from a and from b on: documents do not see each other given φ.

    A draw is a long chain of instructions that wait for each other; two chains side by side take little longer. Without
    an alpha_b (None) they have the same α, which is then read once for both.
    """
    one = n_a.dtype.type(1)
    for j in range(n):
        old_a, old_b = z[a + j], z[b + j]
        n_a[old_a] -= one
        n_b[old_b] -= one
        u_a = uniform(stream_a)
        u_b = uniform(stream_b)
        new_a, new_b = draw_two(
            n_a, n_b, words[a + j], words[b + j], p_a, p_b, u_a, u_b, alpha_a, alpha_b, table, offset, scale
        )  # fmt: skip
        if new_a < 0:
            new_a = np.int64(old_a)
        if new_b < 0:
            new_b = np.int64(old_b)
        n_a[new_a] += one
        n_b[new_b] += one
        z[a + j] = new_a
        z[b + j] = new_b


@kernel
def move_few(
    words: Ints, lo: Int, hi: Int, z: Ints, stream: Stream, n_d: Floats, below: Floats, alpha: Floats, topics: Ints,
    begin: Int, end: Int, table: Floats, offset: float, scale: Floats,
) -> None:  # fmt: skip
    """`move_one` for a document that can have topics[begin:end] only, of which there are few: it walks them."""
    one = n_d.dtype.type(1)
    for i in range(lo, hi):
        n_d[z[i]] -= one
        total = 0.0
        for j in range(begin, end):
            total += (n_d[topics[j]] + alpha[topics[j]]) * phi_at(table, offset, scale, words[i], topics[j])
            below[j - begin] = total
        u = uniform(stream) * total
        if total > 0.0:  # else the token keeps its topic
            j = int(begin)
            while j + 1 < end and u >= below[j - begin]:
                j += 1
            z[i] = topics[j]
        n_d[z[i]] += one


@kernel
def sweep_dense(
    tokens: TokenTopics, first: int, last: int, table: Floats, offset: float, scale: Floats, prior: AlphaRows,
    stream: Stream,
) -> None:  # fmt: skip
    """Move every token of documents first … last − 1, weighing all topics: O(K) per token, vectorised.

    Two documents are open at a time, a from its token `a` on and b; where one ends the next takes its place. Each has a
    stream of its own, so that it does not matter which two. Those that can have few topics are done by themselves.
    """
    words, doc_ptr, z = tokens
    n_a, n_b = np.zeros(table.shape[1], table.dtype), np.zeros(table.shape[1], table.dtype)
    row_a, row_b = np.int64(0), np.int64(0)
    alpha_a, alpha_b = prior.rows[0], prior.rows[0]
    p_a, p_b = new_sums(alpha_a), new_sums(alpha_b)
    common = (table, offset, scale)
    below = np.zeros(table.shape[1])
    a, a_end, b, b_end, d = 0, 0, 0, 0, first
    stream_a, stream_b = stream, stream
    while True:
        while a == a_end and d < last:
            a, a_end = doc_ptr[d], doc_ptr[d + 1]
            row_a = prior.row_of[d]
            alpha_a = prior.rows[row_a]
            count_document(z, a, a_end, n_a)
            stream_a = branch(stream, d - first)
            few, few_end = prior.start[row_a], prior.start[row_a + 1]
            if few < few_end:
                move_few(words, a, a_end, z, stream_a, n_a, below, alpha_a, prior.topics, few, few_end, *common)
                a = a_end
            d += 1
        while b == b_end and d < last:
            b, b_end = doc_ptr[d], doc_ptr[d + 1]
            row_b = prior.row_of[d]
            alpha_b = prior.rows[row_b]
            count_document(z, b, b_end, n_b)
            stream_b = branch(stream, d - first)
            few, few_end = prior.start[row_b], prior.start[row_b + 1]
            if few < few_end:
                move_few(words, b, b_end, z, stream_b, n_b, below, alpha_b, prior.topics, few, few_end, *common)
                b = b_end
            d += 1
        n = min(a_end - a, b_end - b)
        if n == 0:
            break
        if row_a == row_b:
            move_two(words, a, b, n, z, stream_a, stream_b, n_a, n_b, p_a, p_b, alpha_a, None, *common)
        else:
            move_two(words, a, b, n, z, stream_a, stream_b, n_a, n_b, p_a, p_b, alpha_a, alpha_b, *common)
        a += n
        b += n
    move_one(words, a, a_end, z, stream_a, n_a, p_a, alpha_a, *common)
    move_one(words, b, b_end, z, stream_b, n_b, p_b, alpha_b, *common)


@kernel
def sweep_sparse(
    tokens: TokenTopics, first: Int, last: Int, table: Floats, offset: float, scale: Floats, alpha: Floats,
    mass: Floats, stream: Stream,
) -> None:  # fmt: skip
    """The same in two buckets: Σ n_dk⁻ φ_wk over the document's topics, and the prior's Σ α_k φ_wk = mass[w].

    The first costs O(K_d). The second is known beforehand and is walked, in O(K), only when the draw falls into it.
    """
    words, doc_ptr, z = tokens
    width = table.shape[1]
    nothing = np.zeros(width, table.dtype)
    p = new_sums(alpha)
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
                total += n_d[k] * phi_at(table, offset, scale, w, k)
                below[j] = total
            u = uniform(stream) * (total + mass[w])
            if u < total:
                j = 0
                while u >= below[j]:
                    j += 1
                new = active[j]
            else:
                new = draw_topic(nothing, w, p, uniform(stream), alpha, table, offset, scale)
                if new < 0:
                    new = old
            n = add_topic(new, n_d, active, place, n)
            z[i] = new
        clear_document(n_d, active, n)

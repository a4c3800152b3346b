"""Draws with split rows (`topoi.chain.counts.split`): all topics at once for dense words, two buckets for the others.

    p(z_i = k | rest) ∝ c_k · n_wk⁻  +  β · c_k,      c_k = (n_dk⁻ + α_k) · s_k,    s_k = 1/(n_k + Vβ)

The first bucket has the word's topics only; the sum of the second, Σ_k c_k, is kept up to date, and its topics are
weighed only when the draw falls into it. `split` (live counts) and `delayed` (counts of the sweep's start) share this.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Float, Floats, Int, Ints, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import uniform
from topoi._machine.simd import draw_topic, new_sums, prefetch
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.split import put_one, take_one

#: The row of so many tokens ahead is fetched.
AHEAD = 4


@kernel
def settle(k: Int, n_d: Floats, alpha: Floats, scale: Floats, c: Floats, mass: float) -> float:
    """Bring c[k] up to date; returns the new sum of all."""
    mass -= c[k]
    c[k] = (n_d[k] + alpha[k]) * scale[k]
    return mass + c[k]


@kernel
def add_up(topics: Ints, counts: Floats, lo: int, n: Int, c: Floats, below: Floats) -> Float:
    """Equivalent to ``below[:n] = cumsum(c[topics[lo:lo + n]] * counts[lo:lo + n])``; returns the sum.

    Four terms at a time are summed among themselves: one addition in four has to wait for the one before.
    """
    total = c.dtype.type(0)
    whole = n - n % 4
    for j in range(0, whole, 4):
        i = lo + j
        t0 = c[topics[i]] * counts[i]
        t1 = t0 + c[topics[i + 1]] * counts[i + 1]
        t2 = t1 + c[topics[i + 2]] * counts[i + 2]
        t3 = t1 + (c[topics[i + 2]] * counts[i + 2] + c[topics[i + 3]] * counts[i + 3])
        below[j] = total + t0
        below[j + 1] = total + t1
        below[j + 2] = total + t2
        total += t3
        below[j + 3] = total
    for j in range(whole, n):
        total += c[topics[lo + j]] * counts[lo + j]
        below[j] = total
    return total


@kernel
def sum_of(c: Floats) -> float:
    """The sum of all c_k, in float64."""
    total = 0.0
    for k in range(c.shape[0]):
        total += c[k]
    return total


@kernel
def sweep_split(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, z: Ints, dense: Ints, table: Floats, start: Ints, size: Ints,
    topics: Ints, counts: Floats, n_k: Floats | None, scale: Floats, prior: AlphaRows, betas: PerWord, beta_sum: float,
    stream: Stream,
) -> None:  # fmt: skip
    """One Gibbs step for every token of documents first … last − 1; updates z and, with an n_k, rows, n_k and scale.

    Without (None) the counts stay as they are; the compiler then leaves out what keeps them.
    """
    width = prior.rows.shape[1]
    nothing = np.zeros((1, width), table.dtype)
    n_d = np.zeros(width, table.dtype)
    below = np.zeros(width, table.dtype)
    p = new_sums(prior.rows[0])
    one = table.dtype.type(1)
    topic_column, count_column = topics.reshape(-1, 1), counts.reshape(-1, 1)
    end = doc_ptr[last] - AHEAD
    c = np.zeros(width, table.dtype)
    empty = 0.0  # Σ c of a document without tokens
    row_before = np.int64(-1)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha = prior.rows[prior.row_of[d]]
        if prior.row_of[d] != row_before:
            for k in range(width):
                c[k] = alpha[k] * scale[k]
            empty = sum_of(c)
            row_before = prior.row_of[d]
        mass = empty if n_k is None else sum_of(c)  # anew for every document, lest rounding add up
        for i in range(lo, hi):
            n_d[z[i]] += one
        for i in range(lo, hi):
            mass = settle(z[i], n_d, alpha, scale, c, mass)
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            row = dense[w]
            beta = of_word(betas, w)
            if i < end:
                ahead = words[i + AHEAD]
                if dense[ahead] < 0:
                    prefetch(topic_column, start[ahead], 0)
                    prefetch(count_column, start[ahead], 0)
            n_d[old] -= one
            if n_k is not None:
                n_k[old] -= 1.0
                scale[old] = 1.0 / (n_k[old] + beta_sum)
                if row >= 0:
                    table[row, old] -= one
                else:
                    size[w] = take_one(topics, counts, start[w], size[w], old)
            mass = settle(old, n_d, alpha, scale, c, mass)
            if row >= 0:
                new = draw_topic(n_d, row, p, uniform(stream), alpha, table, beta, scale)
            else:
                n = size[w]
                word_mass = float(add_up(topics, counts, start[w], n, c, below))
                u = uniform(stream) * (word_mass + beta * mass)
                if not word_mass + beta * mass > 0.0:  # every weight is 0 in this float, and the mass is rounding
                    new = np.int64(-1)
                elif u < word_mass:
                    j = 0
                    while j + 1 < n and u >= below[j]:
                        j += 1
                    new = np.int64(topics[start[w] + j])
                else:
                    u = (u - word_mass) / (beta * mass)
                    new = draw_topic(n_d, 0, p, u, alpha, nothing, beta, scale)
            if new < 0:  # the token keeps its topic
                new = old
            n_d[new] += one
            if n_k is not None:
                n_k[new] += 1.0
                scale[new] = 1.0 / (n_k[new] + beta_sum)
                if row >= 0:
                    table[row, new] += one
                else:
                    size[w] = put_one(topics, counts, start[w], size[w], new)
            mass = settle(new, n_d, alpha, scale, c, mass)
            z[i] = new
        for i in range(lo, hi):
            n_d[z[i]] = 0
            mass = settle(z[i], n_d, alpha, scale, c, mass)

"""The passes of `warp`: documents propose, words answer and propose, documents answer.

An answer is a Metropolis–Hastings step that moves a token to its proposed topic or leaves it, by the one factor of the
conditional that the proposal did not come from. Every pass has the counts of one document or one word at a time, made
from its own tokens: a vector of K numbers that stays in the cache, and is cleared by the tokens that have filled it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import integer, uniform
from topoi._machine.simd import prefetch

#: Tokens of a word lie far apart: that of so many places ahead is fetched.
AHEAD = 32


class Proposals(NamedTuple):
    """Topics of the tokens, and the topics that are proposed to them."""

    z: Ints
    proposed: Ints


class AlphaTable(NamedTuple):
    """α as a kernel draws from it: an alias table, and its sum."""

    alpha: Floats
    keep: Floats
    other: Ints
    total: float


class Words(NamedTuple):
    """Tokens by words as `Corpus.by_word` has them, with pseudo-counts `base` (V, K; or none) and their sums."""

    order: Ints
    word_ptr: Ints
    base: Floats
    base_sum: Floats
    betas: PerWord


@kernel
def another(z: Ints, lo: Int, hi: Int, i: Int, stream: Stream) -> np.int64:
    """Topic of a token picked among z[lo:hi] without i, each of them with the same probability."""
    j = lo + integer(stream, hi - lo - 1)
    if j == i:
        j = hi - 1
    return np.int64(z[j])


@kernel
def ask_documents(
    doc_ptr: Ints, first: Int, last: Int, tokens: Proposals, prior: AlphaTable, stream: Stream
) -> NDArray[np.int64]:
    """Propose a topic from n_dk⁻ + α_k to every token of documents first … last − 1; returns their n_k."""
    z, proposed = tokens
    n_topics = prior.alpha.shape[0]
    n_k = np.zeros(n_topics, np.int64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        others = hi - lo - 1
        for i in range(lo, hi):
            n_k[z[i]] += 1
            if uniform(stream) * (others + prior.total) < others:
                proposed[i] = another(z, lo, hi, i, stream)
            else:
                k = integer(stream, n_topics)
                if uniform(stream) >= prior.keep[k]:
                    k = np.int64(prior.other[k])
                proposed[i] = k
    return n_k


@kernel
def answer_documents(
    doc_ptr: Ints, first: Int, last: Int, tokens: Proposals, alpha: Floats, n_k: Floats, beta_sum: float, stream: Stream
) -> Int:
    """Answer what words have proposed to the tokens of documents first … last − 1; returns how many have moved."""
    z, proposed = tokens
    n_d = np.zeros(alpha.shape[0], np.int32)
    moved = 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        for i in range(lo, hi):
            n_d[z[i]] += 1
        for i in range(lo, hi):
            s, t = np.int64(z[i]), np.int64(proposed[i])
            if s != t:
                to = (n_d[t] + alpha[t]) * (n_k[s] - 1.0 + beta_sum)
                back = (n_d[s] - 1 + alpha[s]) * (n_k[t] + beta_sum)
                if uniform(stream) * back < to:
                    n_d[s] -= 1
                    n_d[t] += 1
                    z[i] = t
                    moved += 1
        for i in range(lo, hi):
            n_d[z[i]] = 0
    return moved


@kernel
def pass_words(
    words: Words, first: Int, last: Int, tokens: Proposals, n_k: Floats, beta_sum: float, stream: Stream
) -> tuple[NDArray[np.int64], Int]:
    """Answer what documents have proposed to the tokens of words first … last − 1, and propose from n_wk⁻ + β.

    Returns n_k of these tokens, and how many of them have moved.
    """
    order, word_ptr, base, base_sum, betas = words
    n_topics = n_k.shape[0]
    n_after = np.zeros(n_topics, np.int64)
    n_w = np.zeros(n_topics, np.int32)
    moved = 0
    room = 0
    for w in range(first, last):
        room = max(room, word_ptr[w + 1] - word_ptr[w])
    z = np.zeros(room, tokens.z.dtype)  # topics of the word's tokens, side by side
    all_z, all_proposed = tokens
    z_column, proposed_column = all_z.reshape(-1, 1), all_proposed.reshape(-1, 1)
    end = word_ptr[last] - AHEAD
    for w in range(first, last):
        lo, n = word_ptr[w], word_ptr[w + 1] - word_ptr[w]
        pseudo = 0.0
        beta = of_word(betas, w)
        if base.shape[0] > 0:
            pseudo = float(base_sum[w])
        if pseudo > 0.0:
            for k in range(n_topics):
                n_w[k] = base[w, k]
        for j in range(n):
            if lo + j < end:
                prefetch(z_column, order[lo + j + AHEAD], 0)
                prefetch(proposed_column, order[lo + j + AHEAD], 0)
            z[j] = all_z[order[lo + j]]
            n_w[z[j]] += 1
        for j in range(n):
            s, t = np.int64(z[j]), np.int64(all_proposed[order[lo + j]])
            if s != t:
                to = (n_w[t] + beta) * (n_k[s] - 1.0 + beta_sum)
                back = (n_w[s] - 1 + beta) * (n_k[t] + beta_sum)
                if uniform(stream) * back < to:
                    n_w[s] -= 1
                    n_w[t] += 1
                    z[j] = t
                    all_z[order[lo + j]] = t
                    moved += 1
        for j in range(n):
            n_w[z[j]] = 0
            n_after[z[j]] += 1
            u = uniform(stream) * (n - 1 + pseudo + n_topics * beta)
            if u < n - 1:
                t = another(z, 0, n, j, stream)
            elif u < n - 1 + pseudo:
                t = np.int64(0)
                below = n - 1 + base[w, 0]
                while t + 1 < n_topics and u >= below:
                    t += 1
                    below += base[w, t]
            else:
                t = integer(stream, n_topics)
            all_proposed[order[lo + j]] = t
        if pseudo > 0.0:
            n_w[:] = 0
    return n_after, moved

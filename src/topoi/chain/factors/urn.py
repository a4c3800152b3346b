"""The urn's word factor: φ made of Poisson counts, sparse, drawn and stored in O(tokens).

    c_wk ~ Poisson(n_wk + β),    φ_wk = c_wk / Σ_w c_wk

Most c_wk with n_wk = 0 are 0. They are jumped over: the gaps between the others are geometric, P(c = 0) = e^−β.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import WORD_FACTOR, geometric_skip, new_stream, poisson, zero_truncated_poisson
from topoi.chain.counts.dense import word_blocks
from topoi.chain.counts.rows import ONE, TOPIC, sort_down
from topoi.chain.state import State


@dataclass
class SparseFactor:
    """Row w of φ: topics[start[w] : start[w + 1]], rising, with values `phi`; mass[w] = Σ_k α_k φ_wk."""

    topics: NDArray[np.int32]
    phi: NDArray[Any]
    start: NDArray[np.int64]
    mass: NDArray[np.float64]

    def to_dense(self, n_topics: int) -> NDArray[np.float64]:
        """φ as an array (V, K)."""
        n_words = len(self.mass)
        phi = np.zeros((n_words, n_topics))
        phi[np.repeat(np.arange(n_words), np.diff(self.start)), self.topics] = self.phi
        return phi


@kernel
def draw_row(n: Any, touched: Any, m: Any, beta: Any, row: Any, stream: Any) -> Any:
    """Draw c_k ~ Poisson(n_k + β) for one word, where n is non-zero at touched[:m]; keep the positive ones.

    Fills `row` with packed (topic, count), topics falling, and returns how many there are.
    """
    n_topics = n.shape[0]
    size = 0
    for j in range(m):
        c = poisson(stream, n[touched[j]] + beta)
        if c > 0:
            row[size] = touched[j] * ONE + np.int64(c)
            size += 1
    k = geometric_skip(stream, -beta)  # P(Poisson(β) = 0) = e^−β
    while k < n_topics:
        if n[k] == 0:
            row[size] = k * ONE + np.int64(zero_truncated_poisson(stream, beta))
            size += 1
        k += 1 + geometric_skip(stream, -beta)
    sort_down(row, 0, size)
    return size


@kernel
def draw_words(
    order: Any, word_ptr: Any, first: Any, last: Any, z: Any, base: Any, beta: Any, size: Any, total: Any,
    stream: Any,
) -> Any:  # fmt: skip
    """Draw the rows of words first … last − 1; returns (topics, counts) one row after the other.

    Fills size[first:last] with the lengths of the rows and adds the counts to `total` (by topic).
    """
    n_topics = total.shape[0]
    n = np.zeros(n_topics, np.int64)
    touched = np.zeros(n_topics, np.int64)
    room = 1024
    topics = np.zeros(room, np.int32)
    counts = np.zeros(room, np.int32)
    row = np.zeros(n_topics, np.int64)
    end = 0
    for w in range(first, last):
        m = 0
        if base.shape[0] > 0:
            for k in range(n_topics):
                if base[w, k] > 0:
                    n[k] = np.int64(base[w, k])
                    touched[m] = k
                    m += 1
        for j in range(word_ptr[w], word_ptr[w + 1]):
            k = z[order[j]]
            if n[k] == 0:
                touched[m] = k
                m += 1
            n[k] += 1
        sort_down(touched, 0, m)  # the draws follow from the counts, not from the order of the tokens
        size[w] = draw_row(n, touched, m, beta, row, stream)
        for j in range(m):
            n[touched[j]] = 0
        if end + size[w] > room:
            room = 2 * (end + size[w])
            longer_topics = np.zeros(room, np.int32)
            longer_counts = np.zeros(room, np.int32)
            for j in range(end):
                longer_topics[j] = topics[j]
                longer_counts[j] = counts[j]
            topics = longer_topics
            counts = longer_counts
        for j in range(size[w] - 1, -1, -1):
            topics[end] = row[j] // ONE
            counts[end] = row[j] & TOPIC
            total[topics[end]] += counts[end]
            end += 1
    return topics[:end].copy(), counts[:end].copy()


@kernel
def normalise(
    topics: Any, counts: Any, start: Any, first: Any, last: Any, scale: Any, alpha: Any, phi: Any, mass: Any
) -> None:
    """φ = counts · scale[topic] for words first … last − 1, and mass[w] = Σ_k α_k φ_wk."""
    for w in range(first, last):
        mass[w] = 0.0
        for j in range(start[w], start[w + 1]):
            phi[j] = counts[j] * scale[topics[j]]
            mass[w] += alpha[topics[j]] * phi[j]


@dataclass
class UrnRows:
    """The draws of some words, before they are scaled: counts of topics, sizes of rows, and sums by topic."""

    topics: NDArray[np.int32]
    counts: NDArray[np.int32]
    size: NDArray[np.int64]
    total: NDArray[np.int64]


def draw_urn(state: State, pool: Pool) -> SparseFactor:
    """Draw φ given the topics."""
    rows = draw_urn_rows(state, pool)
    return scale_urn(state, rows, rows.total, pool)


def draw_urn_rows(state: State, pool: Pool) -> UrnRows:
    """Draw rows of words in parallel, one stream per sweep and block."""
    order, word_ptr = state.corpus.by_word
    n_words = state.corpus.n_words
    size = np.zeros(n_words, np.int64)
    base = state.base_table
    blocks = word_blocks(state)

    def draw(block: tuple[int, int, int]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        number, first, last = block
        total = np.zeros(state.n_topics, np.int64)
        stream = new_stream(state.seed, WORD_FACTOR, state.sweep, number)
        topics, counts = draw_words(order, word_ptr, first, last, state.z, base, state.beta, size, total, stream)
        return topics, counts, total

    parts = pool.map(draw, blocks)
    topics = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    total = np.sum([part[2] for part in parts], axis=0)
    return UrnRows(topics, counts, size, total)


def scale_urn(state: State, rows: UrnRows, total: NDArray[np.int64], pool: Pool) -> SparseFactor:
    """φ of the words in `rows`, where `total` are the sums over all words."""
    start = np.concatenate(([0], np.cumsum(rows.size)))
    factor = SparseFactor(rows.topics, np.zeros(len(rows.counts), state.real), start, np.zeros(len(rows.size)))
    scale = 1.0 / np.maximum(total, 1)  # a topic without counts has no entry to scale

    def finish(block: tuple[int, int, int]) -> None:
        normalise(
            rows.topics, rows.counts, start, block[1], block[2], scale, state.alpha, factor.phi, factor.mass
        )  # fmt: skip

    pool.map(finish, word_blocks(state))
    return factor

"""The urn's word factor: φ made of Poisson counts, sparse, drawn and stored in O(tokens).

    c_wk ~ Poisson(n_wk + β),    φ_wk = c_wk / Σ_w c_wk

Most c_wk with n_wk = 0 are 0. They are jumped over: the gaps between the others are geometric, P(c = 0) = e^−β.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Numbers, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import WORD_FACTOR, geometric_skip, new_stream, poisson, zero_truncated_poisson
from topoi.chain.counts.dense import word_blocks
from topoi.chain.counts.packed import ONE, TOPIC, sort_down
from topoi.chain.factors.base import FixedFactor, Part


@kernel
def draw_row(n: Ints, touched: Ints, m: Int, beta: float, row: Ints, stream: Stream) -> Int:
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
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, base: Floats, betas: PerWord, size: Ints, total: Ints,
    stream: Stream,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # fmt: skip
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
        size[w] = draw_row(n, touched, m, of_word(betas, w), row, stream)
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
    topics: Ints, counts: Ints, start: Ints, first: Int, last: Int, scale: Floats, alpha: Floats, phi: Floats,
    mass: Floats,
) -> None:  # fmt: skip
    """φ = counts · scale[topic] for words first … last − 1, and mass[w] = Σ_k α_k φ_wk."""
    for w in range(first, last):
        mass[w] = 0.0
        for j in range(start[w], start[w + 1]):
            phi[j] = counts[j] * scale[topics[j]]
            mass[w] += alpha[topics[j]] * phi[j]


class UrnFactor(FixedFactor):
    """Row w of φ: topics[start[w] : start[w + 1]], rising, with values `phi`; mass[w] = Σ_k α_k φ_wk.

    `counts` are the draws of the same entries, and size[w] is how many entries word w has.
    """

    name = "urn"
    exact = False
    beta_per_word = True
    follows = frozenset({"start"})
    bias = 0.203
    reference = "Terenin, Magnusson, Jonsson & Draper (2019), Pólya urn latent Dirichlet allocation, IEEE TPAMI 41"
    topics: NDArray[np.int32]
    counts: NDArray[np.int32]
    phi: Floats
    size: NDArray[np.int64]
    start: NDArray[np.int64]
    mass: NDArray[np.float64]
    n_entries: int  # of all rows

    @property
    def drawn(self) -> Sequence[Part]:
        """The draws: topics and counts, one row after the other."""
        return Part("size", np.int64), Part("topics", np.int32, None), Part("counts", np.int32, None)

    @property
    def given(self) -> Sequence[Part]:
        """The rows of φ, and the masses."""
        entries = Part("topics", np.int32, None), Part("phi", self.state.real, None)
        return Part("size", np.int64), *entries, Part("mass", np.float64)

    def draw(self) -> Sequence[Numbers]:
        """Draw rows of words in parallel, one stream per sweep and block; returns sums by topic, and the entries."""
        state = self.state
        order, word_ptr = state.corpus.by_word
        size, base = np.zeros(state.corpus.n_words, np.int64), state.base_table

        def work(block: tuple[int, int, int]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
            number, first, last = block
            total = np.zeros(state.n_topics, np.int64)
            stream = new_stream(state.seed, WORD_FACTOR, state.sweep, number)
            topics, counts = draw_words(order, word_ptr, first, last, state.z, base, state.beta, size, total, stream)
            return topics, counts, total

        parts = self.pool.map(work, word_blocks(state))
        self.topics = np.concatenate([part[0] for part in parts])
        self.counts = np.concatenate([part[1] for part in parts])
        self.size = size
        return [np.append(np.sum([part[2] for part in parts], axis=0), len(self.topics))]

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """1/Σ_w c_wk; a topic without counts has no entry to scale."""
        total = np.sum(sums, axis=0)
        self.n_entries = int(total[-1])
        self.scale = 1.0 / np.maximum(total[:-1], 1)

    def finish(self) -> None:
        """φ from the draws, and the masses."""
        self.opened()
        self.phi = np.zeros(len(self.counts), self.state.real)
        self.mass = np.zeros(len(self.size))

        def work(block: tuple[int, int, int]) -> None:
            normalise(
                self.topics, self.counts, self.start, block[1], block[2], self.scale, self.state.alpha, self.phi,
                self.mass,
            )  # fmt: skip

        self.pool.map(work, word_blocks(self.state))

    def opened(self) -> None:
        """Where the rows begin."""
        self.start = np.concatenate(([0], np.cumsum(self.size)))

    def to_dense(self) -> NDArray[np.float64]:
        """φ as an array (V, K)."""
        phi = np.zeros((len(self.size), self.state.n_topics))
        phi[np.repeat(np.arange(len(self.size)), self.size), self.topics] = self.phi
        return phi

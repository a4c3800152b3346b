"""Word–topic counts as a sparse matrix, gathered word by word, topics rising."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.counts.dense import count_word, word_blocks
from topoi.chain.state import State


@kernel
def gather_words(
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, base: Floats, n: Ints, size: Ints, counts: Ints,
    topics: Ints,
) -> Int:  # fmt: skip
    """Topics and counts of words first … last − 1, one word after the other; `size` of each. Returns how many."""
    m = 0
    for w in range(first, last):
        begin = m
        count_word(order, word_ptr, w, z, base, n)
        for k in range(n.shape[0]):
            if n[k] > 0:
                counts[m] = n[k]
                topics[m] = k
                m += 1
        size[w] = m - begin
    return m


def gathered_counts(state: State, pool: Pool) -> sparse.csr_array:
    """Counts (V, K) of a state, pseudo-counts included, by blocks of words."""
    order, word_ptr = state.corpus.by_word
    size = np.zeros(state.corpus.n_words, np.int64)

    def work(block: tuple[int, int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        _, first, last = block
        room = np.diff(word_ptr[first : last + 1])
        if len(state.base_table):
            room = room + np.count_nonzero(state.base_table[first:last], axis=1)
        most = int(np.minimum(room, state.n_topics).sum())
        counts, topics, n = np.empty(most, np.int64), np.empty(most, np.int32), np.zeros(state.n_topics, np.int64)
        m = gather_words(order, word_ptr, first, last, state.z, state.base_table, n, size, counts, topics)
        return counts[:m].copy(), topics[:m].copy()  # what of the room is not used goes

    data, topics = (np.concatenate(parts) for parts in zip(*pool.map(work, word_blocks(state)), strict=True))
    indptr = np.concatenate(([0], np.cumsum(size)))
    return sparse.csr_array((data, topics, indptr), shape=(len(size), state.n_topics))

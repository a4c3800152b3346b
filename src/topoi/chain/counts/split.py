"""Word–topic counts in two kinds of rows: dense for words that are in many topics, short lists for all others.

Nearly all words are in few topics, and nearly all tokens are of few words. A dense table of all words would be read
from main memory, 4 bytes for every topic; the dense rows of the few words that earn one stay in the cache, and the
lists take 4 bytes and a topic's number for every pair of word and topic that there is. Which words are dense, and the
order of a list, follow from the counts at the start of the sweep: a run that is resumed, or that has its counts from
elsewhere, goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros, pad
from topoi.chain.counts.dense import word_blocks
from topoi.chain.counts.packed import sort_down
from topoi.chain.state import State

#: A word has a dense row when it is in at least one in so many of the topics (docs/experiments.md).
DENSE_SHARE = 8
#: Up to so many topics a dense table of all words is as quick, or quicker (docs/experiments.md).
SPLIT_ABOVE = 512


@dataclass
class SplitRows:
    """Row w is table[dense[w]], or, where dense[w] is −1, the first size[w] of topics and counts from start[w] on.

    `place[w]` is the row of the table that word w may use, −1 where it cannot be in topics enough. `n_k` is padded as
    the rows of the table are.
    """

    n_topics: int
    share: int
    place: NDArray[np.int32]
    dense: NDArray[np.int32]
    table: Floats
    start: NDArray[np.int64]
    size: NDArray[np.int32]
    topics: Ints
    counts: Floats
    n_k: NDArray[np.float64]

    @staticmethod
    def empty(state: State, share: int = DENSE_SHARE) -> SplitRows:
        """Rows with room for all that the tokens of `state` can need, to be filled."""
        room = np.diff(state.corpus.by_word[1])
        if len(state.base_table):
            room = room + np.count_nonzero(state.base_table, axis=1)
        return _with_room(np.minimum(room, state.n_topics), state, share)

    @staticmethod
    def of_table(state: State, table: Floats, share: int = DENSE_SHARE) -> SplitRows:
        """Rows with the counts of a dense table that somebody else has made: the same as from the tokens."""
        counts = table[:, : state.n_topics]
        # Block by block: of the whole table NumPy makes a copy, with a byte for each pair of word and topic.
        room = [np.count_nonzero(counts[first:last], axis=1) for _, first, last in word_blocks(state)]
        rows = _with_room(np.concatenate(room), state, share)
        rows._fill(np.zeros(0, np.int64), np.zeros(len(table) + 1, np.int64), table, state, Pool(1))
        return rows

    def fill(self, state: State, pool: Pool) -> None:
        """Take the counts of `state`, base included."""
        self._fill(*state.corpus.by_word, state.base_table, state, pool)

    def _fill(self, order: Ints, word_ptr: Ints, base: Floats, state: State, pool: Pool) -> None:
        def work(block: tuple[int, int, int]) -> NDArray[np.float64]:
            n_k = np.zeros(len(self.n_k))
            fill_split(
                order, word_ptr, block[1], block[2], state.z, base, state.n_topics, self.share, self.place, self.dense,
                self.table, self.start, self.size, self.topics, self.counts, n_k,
            )  # fmt: skip
            return n_k

        self.n_k[:] = 0.0
        for part in pool.map(work, word_blocks(state)):
            self.n_k += part  # whole numbers: the order of the sum does not matter

    def to_dense(self) -> Floats:
        """The counts as an array (V, K)."""
        out = np.zeros((len(self.size), self.n_topics), self.counts.dtype)
        for w in range(len(self.size)):
            if self.dense[w] >= 0:
                out[w] = self.table[self.dense[w], : self.n_topics]
            else:
                row = slice(self.start[w], self.start[w] + self.size[w])
                out[w, self.topics[row]] = self.counts[row]
        return out


def _with_room(room: Ints, state: State, share: int) -> SplitRows:
    """Rows for so many topics of every word."""
    may = room * share >= state.n_topics
    start = np.concatenate(([0], np.cumsum(room)))
    width = pad(state.n_topics)
    return SplitRows(
        state.n_topics,
        share,
        np.where(may, np.cumsum(may) - 1, -1).astype(np.int32),
        np.full(len(room), -1, np.int32),
        aligned_zeros((int(may.sum()), width), state.real),
        start,
        np.zeros(len(room), np.int32),
        np.zeros(start[-1], state.z.dtype),
        np.zeros(start[-1], state.real),
        np.zeros(width),
    )


@kernel
def fill_split(
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, base: Floats, n_topics: Int, share: Int, place: Ints,
    dense: Ints, table: Floats, start: Ints, size: Ints, topics: Ints, counts: Floats, n_k: Floats,
) -> None:  # fmt: skip
    """Fill the rows of words first … last − 1 and add their counts to `n_k`: O(tokens), not O(K) per word."""
    n = np.zeros(n_topics, counts.dtype)
    for w in range(first, last):
        lo = start[w]
        m = 0
        if base.shape[0] > 0:
            for k in range(n_topics):
                if base[w, k] > 0:
                    n[k] = base[w, k]
                    topics[lo + m] = k
                    m += 1
        for j in range(word_ptr[w], word_ptr[w + 1]):
            k = z[order[j]]
            if n[k] == 0:
                topics[lo + m] = k
                m += 1
            n[k] += 1
        size[w] = m
        dense[w] = place[w] if m > 0 and m * share >= n_topics else -1
        if dense[w] >= 0:
            table[dense[w], :] = 0
        else:
            sort_down(topics, lo, lo + m)
        for j in range(lo, lo + m):
            k = topics[j]
            counts[j] = n[k]
            n_k[k] += n[k]
            if dense[w] >= 0:
                table[dense[w], k] = n[k]
            n[k] = 0


@kernel
def take_one(topics: Ints, counts: Floats, lo: Int, n: Int, k: Int) -> Int:
    """Take one from topic k in the list of n topics at `lo`; returns its new length."""
    j = lo
    while topics[j] != k:
        j += 1
    counts[j] -= 1
    if counts[j] > 0:
        return n
    topics[j] = topics[lo + n - 1]  # an empty one gives its place to the last
    counts[j] = counts[lo + n - 1]
    return n - 1


@kernel
def put_one(topics: Ints, counts: Floats, lo: Int, n: Int, k: Int) -> Int:
    """Add one to topic k in the list of n topics at `lo`; returns its new length."""
    j = lo
    while j < lo + n and topics[j] != k:
        j += 1
    if j < lo + n:
        counts[j] += 1
        return n
    topics[j] = k
    counts[j] = 1
    return n + 1

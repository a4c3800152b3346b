"""Word–topic counts as short sorted rows: for each word the topics that it has, most frequent first.

An entry packs a count and its topic into one integer (count · 2³² + topic), so that a row sorted downwards is sorted by
count. Row w has room for min(K, tokens of w) entries: at most 8 bytes per token in all, however many topics there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi.chain.counts.dense import count_word
from topoi.chain.state import State

ONE = np.int64(1) << np.int64(32)
TOPIC = ONE - np.int64(1)


@dataclass
class Rows:
    """Entries of word w: entries[start[w] : start[w] + size[w]]; `n_k` are the counts of the topics."""

    entries: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    n_k: NDArray[np.float64]

    @staticmethod
    def of(state: State) -> Rows:
        """Rows with the counts of `state`."""
        order, word_ptr = state.corpus.by_word
        room = np.diff(word_ptr)
        if len(state.base_table):
            room = room + np.count_nonzero(state.base_table, axis=1)
        start = np.concatenate(([0], np.cumsum(np.minimum(room, state.n_topics))))
        rows = Rows(np.zeros(start[-1], np.int64), start, np.zeros(len(room), np.int64), np.zeros(state.n_topics))
        fill_rows(order, word_ptr, state.z, state.base_table, rows.entries, rows.start, rows.size, rows.n_k)
        return rows

    def to_dense(self) -> NDArray[np.int64]:
        """The counts as an array (V, K)."""
        out = np.zeros((len(self.size), len(self.n_k)), np.int64)
        for w in range(len(self.size)):
            row = self.entries[self.start[w] : self.start[w] + self.size[w]]
            out[w, row & TOPIC] = row >> 32
        return out


@kernel
def sort_down(entries: Ints, lo: Int, hi: Int) -> None:
    """Sort entries[lo:hi] downwards (Shell's sort: short, in place, and quick to compile, which NumPy's is not)."""
    gap = 1
    while gap < (hi - lo) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(lo + gap, hi):
            x = entries[i]
            j = i
            while j >= lo + gap and entries[j - gap] < x:
                entries[j] = entries[j - gap]
                j -= gap
            entries[j] = x
        gap //= 3


@kernel
def fill_rows(
    order: Ints, word_ptr: Ints, z: Ints, base: Floats, entries: Ints, start: Ints, size: Ints, n_k: Floats
) -> None:
    """Build all rows and n_k from the topics."""
    n = np.zeros(n_k.shape[0], np.int64)
    for w in range(size.shape[0]):
        count_word(order, word_ptr, w, z, base, n)
        m = 0
        for k in range(n.shape[0]):
            if n[k] > 0:
                entries[start[w] + m] = n[k] * ONE + k
                n_k[k] += n[k]
                m += 1
        size[w] = m
        sort_down(entries, start[w], start[w] + m)


@kernel
def decrement(entries: Ints, lo: Int, n: Int, k: Int) -> Int:
    """Take one from topic k in the row of n entries at `lo`, keeping it sorted; returns the row's new length."""
    j = lo
    while (entries[j] & TOPIC) != k:
        j += 1
    x = entries[j] - ONE
    end = lo + n
    while j + 1 < end and entries[j + 1] > x:
        entries[j] = entries[j + 1]
        j += 1
    entries[j] = x
    if x < ONE:  # nothing left of it: it has sunk to the end
        n -= 1
    return n


@kernel
def increment(entries: Ints, lo: Int, n: Int, k: Int) -> Int:
    """Add one to topic k in the row of n entries at `lo`, keeping it sorted; returns the row's new length."""
    j = lo
    end = lo + n
    while j < end and (entries[j] & TOPIC) != k:
        j += 1
    if j == end:
        x = ONE + k
        n += 1
    else:
        x = entries[j] + ONE
    while j > lo and entries[j - 1] < x:
        entries[j] = entries[j - 1]
        j -= 1
    entries[j] = x
    return n

"""Word–topic counts of many documents, added up from those of groups of documents.

A group counts its tokens into entries, one for each pair of word and topic that it has: place · 2³² + count, where
place is the number of the pair in the table (words, K) of a shard of the vocabulary. Entries take O(tokens) to make and
to add, whatever V·K; sums are whole numbers, so that their order does not matter.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._jit import kernel
from topoi.rows import ONE, TOPIC
from topoi.state import State


@kernel
def pack_words(order: Any, word_ptr: Any, first: Any, last: Any, z: Any, n: Any, touched: Any, entries: Any) -> Any:
    """Write the entries of words first … last − 1 and return how many there are; `n` (K) is 0 before and after."""
    size = 0
    n_topics = n.shape[0]
    for w in range(first, last):
        m = 0
        for j in range(word_ptr[w], word_ptr[w + 1]):
            k = np.int64(z[order[j]])
            if n[k] == 0:
                touched[m] = k
                m += 1
            n[k] += 1
        for j in range(m):
            k = touched[j]
            entries[size] = ((w - first) * n_topics + k) * ONE + n[k]
            n[k] = 0
            size += 1
    return size


@kernel
def add_entries(entries: Any, table: Any) -> None:
    """Equivalent to ``table[entries >> 32] += entries & TOPIC``."""
    for j in range(entries.shape[0]):
        table[entries[j] // ONE] += entries[j] & TOPIC


def group_entries(state: State, word_edges: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The entries of a group of documents in every shard; `word_edges` are where shards begin and end."""
    order, word_ptr = state.corpus.by_word
    n, touched = np.zeros(state.n_topics, np.int64), np.zeros(state.n_topics, np.int64)
    out = []
    for first, last in pairwise(word_edges):
        entries = np.empty(word_ptr[last] - word_ptr[first], np.int64)  # at most one for each token
        size = pack_words(order, word_ptr, first, last, state.z, n, touched, entries)
        out.append(entries[:size].copy())
    return out


def table_entries(table: NDArray[Any]) -> NDArray[np.int64]:
    """The entries of a table of counts."""
    flat = table.reshape(-1)
    places = np.flatnonzero(flat)
    return (places.astype(np.int64) << 32) + flat[places].astype(np.int64)

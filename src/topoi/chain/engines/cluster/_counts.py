"""Word–topic counts of many documents, added up from those of groups of documents.

A group counts its tokens into entries for the pairs of word and topic that it has: a place, which is the number of the
pair in the table (words, K) of a shard of the vocabulary, and how often, in one byte; a pair that is there more often
has several entries. They take O(tokens) to make and to add, whatever V·K; sums are whole numbers, so that their order
does not matter. They are most of what a sweep writes, hence their five bytes.

Where the table of all pairs is not much larger than the group, tokens are counted into a table of bytes, in the
order in which they lie in memory; otherwise word by word, which jumps about in the topics.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.remote import Location
from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi.chain.counts.by_tokens import MOST, count_bytes
from topoi.chain.engines.cluster._job import damaged, read_arrays, write_arrays
from topoi.chain.state import State

#: Pairs of word and topic for each token of a group, at most, for a table of bytes: it has to be cleared and searched.
PAIRS_PER_TOKEN = 8


class Entries(NamedTuple):
    """Places in the table of a shard, and what to add there."""

    place: NDArray[np.unsignedinteger[Any]]
    times: NDArray[np.uint8]


def place_dtype(n_places: int) -> type[np.unsignedinteger[Any]]:
    """Four bytes, unless the table of a shard is huge."""
    return np.uint32 if n_places <= 2**32 else np.uint64


@kernel
def pack_words(
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, n: Ints, touched: Ints, place: Ints, times: Ints
) -> Int:
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
            while n[k] > 0:
                place[size] = (w - first) * n_topics + k
                times[size] = min(n[k], MOST)
                n[k] -= times[size]
                size += 1
    return size


@kernel
def pack_bytes(table: Ints, place: Ints, times: Ints) -> Int:
    """Write the entries of a table of bytes and return how many there are."""
    size = 0
    for j in range(table.shape[0]):
        if table[j] > 0:
            place[size] = j
            times[size] = table[j]
            size += 1
    return size


@kernel
def add_entries(place: Ints, times: Ints, table: Floats) -> None:
    """Equivalent to ``np.add.at(table, place, times)``."""
    for j in range(place.shape[0]):
        table[place[j]] += times[j]


def group_entries(state: State, word_edges: NDArray[np.int64]) -> list[Entries]:
    """The entries of a group of documents in every shard; `word_edges` are where shards begin and end."""
    if state.corpus.n_words * state.n_topics <= PAIRS_PER_TOKEN * state.corpus.n_tokens:
        return entries_by_tokens(state, word_edges)
    return entries_by_words(state, word_edges)


def entries_by_tokens(state: State, word_edges: NDArray[np.int64]) -> list[Entries]:
    """The same in the order of the tokens, by a table of all pairs."""
    n_topics = state.n_topics
    table = np.zeros(state.corpus.n_words * n_topics, np.uint8)
    full = np.empty(state.corpus.n_tokens // MOST, np.int64)
    full = full[: count_bytes(state.corpus.words, state.z, n_topics, table, full)]
    out = []
    for first, last in pairwise((word_edges * n_topics).tolist()):
        pairs = table[first:last]
        beyond = full[(full >= first) & (full < last)] - first
        room = len(beyond) + int(np.count_nonzero(pairs))
        place, times = np.empty(room, place_dtype(last - first)), np.full(room, MOST, np.uint8)
        place[: len(beyond)] = beyond
        pack_bytes(pairs, place[len(beyond) :], times[len(beyond) :])
        out.append(Entries(place, times))
    return out


def entries_by_words(state: State, word_edges: NDArray[np.int64]) -> list[Entries]:
    """The same word by word: needs no more memory than the tokens, whatever the number of pairs."""
    order, word_ptr = state.corpus.by_word
    n, touched = np.zeros(state.n_topics, np.int64), np.zeros(state.n_topics, np.int64)
    out = []
    for first, last in pairwise(word_edges):
        room = word_ptr[last] - word_ptr[first]  # at most one for each token
        place = np.empty(room, place_dtype(int(last - first) * state.n_topics))
        times = np.empty(room, np.uint8)
        size = pack_words(order, word_ptr, first, last, state.z, n, touched, place, times)
        out.append(Entries(place[:size].copy(), times[:size].copy()))
    return out


def table_entries(table: Floats) -> Entries:
    """The entries of a table of counts."""
    flat = table.reshape(-1)
    places = np.flatnonzero(flat)
    return _entries(places, flat[places].astype(np.int64), flat.size)


def sparse_entries(counts: sparse.csr_array) -> Entries:
    """The entries of a sparse table of counts."""
    table = counts.tocoo()
    places = table.row.astype(np.int64) * counts.shape[1] + table.col
    return _entries(places, table.data.astype(np.int64), math.prod(counts.shape))


def _entries(places: NDArray[np.int64], counts: NDArray[np.int64], n_places: int) -> Entries:
    """Entries for counts above 0."""
    several = -(-counts // MOST)
    times = np.full(several.sum(), MOST, np.uint8)
    times[np.cumsum(several) - 1] = counts - MOST * (several - 1)
    return Entries(np.repeat(places, several).astype(place_dtype(n_places)), times)


def write_entries(path: Location, shards: list[Entries]) -> None:
    """Write the entries of all shards to one file."""
    write_arrays(
        path, {f"{name} {i}": array for i, part in enumerate(shards) for name, array in part._asdict().items()}
    )


def read_entries(path: Location, shard: int) -> Entries:
    """The entries of a shard in a file."""
    names = [f"{name} {shard}" for name in Entries._fields]
    found = read_arrays(path, *names)
    return Entries(*(found[name] for name in names))


def add_file(path: Location, shard: int, table: Floats) -> None:
    """Add the entries of a shard in a file to its table, flat; not beyond its end, whatever the file says."""
    place, times = read_entries(path, shard)
    if place.shape != times.shape or place.max(initial=0) >= table.size:
        raise damaged(path, f"it has counts beyond the table of shard {shard}")
    add_entries(place, times, table)

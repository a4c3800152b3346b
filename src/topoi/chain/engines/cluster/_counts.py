"""Word–topic counts of many documents, added up from those of the spans of groups that tasks have moved.

A task counts its tokens into entries for the pairs of word and topic that it has: a place, which is the number of the
pair in the table (words, K) of a shard of the vocabulary, and how often, in one byte; a pair that is there more often
has several entries. They take O(tokens) to make and to add, whatever V·K; sums are whole numbers, so that their order
does not matter. They are most of what a sweep writes, hence their five bytes.

Where the table of all pairs is not much larger than a group, tokens are counted into a table of bytes, in the
order in which they lie in memory; otherwise word by word, which jumps about in the topics. A table of bytes serves all
groups of the span, and of a shard of which most entries are there it is written itself: it is smaller, and nothing has
to be looked for in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.remote import Location
from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi.chain.counts.by_tokens import MOST, count_bytes
from topoi.chain.engines.cluster._job import GROUP, damaged, read_held, write_arrays
from topoi.chain.state import State

#: Pairs of word and topic for each token, at most, for a table of bytes: it has to be cleared and searched.
PAIRS_PER_TOKEN = 8
EIGHT = 8  # bytes that are looked at together


class Entries(NamedTuple):
    """Places in the table of a shard, and what to add there."""

    place: NDArray[np.unsignedinteger[Any]]
    times: NDArray[np.uint8]


class Bytes(NamedTuple):
    """The table of a shard, a byte for each pair, and the places that have MOST more, once for each time."""

    table: NDArray[np.uint8]
    full: NDArray[np.unsignedinteger[Any]]


#: What a task has counted in a shard.
Counted = Entries | Bytes


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
def pack_bytes(table: Ints, eights: Ints, first: Int, last: Int, place: Ints, times: Ints) -> Int:
    """Write the entries of places first … last − 1 of a table of bytes and return how many there are.

    `eights` are the same bytes, eight to a number: mostly they are all 0, which one look tells.
    """
    size, j = 0, first
    while j < last:
        if j % EIGHT == 0 and eights[j // EIGHT] == 0:
            j += EIGHT
            continue
        if table[j] > 0:
            place[size] = j - first
            times[size] = table[j]
            size += 1
        j += 1
    return size


@kernel
def add_table(counts: Ints, table: Floats) -> None:
    """Equivalent to ``table += counts``."""
    for j in range(counts.shape[0]):
        table[j] += counts[j]


@kernel
def add_entries(place: Ints, times: Ints, table: Floats) -> None:
    """Equivalent to ``np.add.at(table, place, times)``."""
    for j in range(place.shape[0]):
        table[place[j]] += times[j]


class Counter(Protocol):
    """Counts the tokens of several groups of documents by shards of words."""

    def add(self, state: State) -> None:
        """Count the tokens of a group, now or when asked what there is: they must stay as they are."""

    def counted(self) -> list[Counted]:
        """What there is in every shard."""


def counter(n_topics: int, n_tokens: int, word_edges: NDArray[np.int64]) -> Counter:
    """One for so many tokens; `word_edges` are where shards begin and end."""
    if int(word_edges[-1]) * n_topics <= PAIRS_PER_TOKEN * min(n_tokens, GROUP):
        return ByTokens(n_topics, word_edges)
    return ByWords(n_topics, word_edges)


class ByTokens:
    """Counts in the order of the tokens, by a table of all pairs."""

    def __init__(self, n_topics: int, word_edges: NDArray[np.int64]) -> None:
        self.n_topics = n_topics
        self.edges = word_edges * n_topics
        n_pairs = int(self.edges[-1])
        self.eights = np.zeros(-(-n_pairs // EIGHT), np.uint64)
        self.table = self.eights.view(np.uint8)[:n_pairs]
        self.tokens: list[tuple[Ints, Ints]] = []

    def add(self, state: State) -> None:
        """Count the tokens of a group, together with those of all others; nothing else of it is kept."""
        self.tokens.append((state.corpus.words, state.z))

    def _count(self, words: Ints, z: Ints) -> NDArray[np.int64]:
        """Count the tokens of a group into the table; returns the places that have MOST more."""
        # A byte may have been near MOST before: then one token is enough.
        full = np.empty(min(len(z), len(z) // MOST + len(self.table)), np.int64)
        return full[: count_bytes(words, z, self.n_topics, self.table, full)].copy()

    def counted(self) -> list[Counted]:
        """What there is in every shard, in the form that has fewer bytes."""
        full = np.concatenate([np.zeros(0, np.int64), *(self._count(*tokens) for tokens in self.tokens)])
        return [self._shard(first, last, full) for first, last in pairwise(self.edges.tolist())]

    def _shard(self, first: int, last: int, full: NDArray[np.int64]) -> Counted:
        pairs, dtype = self.table[first:last], place_dtype(last - first)
        beyond = full[(full >= first) & (full < last)] - first
        n = int(np.count_nonzero(pairs))
        if n * (np.dtype(dtype).itemsize + 1) >= last - first:
            return Bytes(pairs, beyond.astype(dtype))
        room = len(beyond) + n
        place, times = np.empty(room, dtype), np.full(room, MOST, np.uint8)
        place[: len(beyond)] = beyond
        pack_bytes(self.table, self.eights, first, last, place[len(beyond) :], times[len(beyond) :])
        return Entries(place, times)


class ByWords:
    """Counts word by word: needs no more memory than the tokens, whatever the number of pairs."""

    def __init__(self, n_topics: int, word_edges: NDArray[np.int64]) -> None:
        self.n_topics = n_topics
        self.edges = word_edges
        self.parts: list[list[Entries]] = [[] for _ in word_edges[1:]]

    def add(self, state: State) -> None:
        """Count the tokens of a group."""
        order, word_ptr = state.corpus.by_word
        n, touched = np.zeros(self.n_topics, np.int64), np.zeros(self.n_topics, np.int64)
        for shard, (first, last) in enumerate(pairwise(self.edges)):
            room = word_ptr[last] - word_ptr[first]  # at most one for each token
            place = np.empty(room, place_dtype(int(last - first) * self.n_topics))
            times = np.empty(room, np.uint8)
            size = pack_words(order, word_ptr, first, last, state.z, n, touched, place, times)
            self.parts[shard].append(Entries(place[:size].copy(), times[:size].copy()))

    def counted(self) -> list[Counted]:
        """What there is in every shard; a pair has entries for every group."""
        return [_joined(parts) for parts in self.parts]


def _joined(parts: Sequence[Entries]) -> Entries:
    return parts[0] if len(parts) == 1 else Entries(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


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


def write_counts(path: Location, shards: Sequence[Counted]) -> None:
    """Write what was counted in all shards to one file."""
    write_arrays(
        path, {f"{name} {i}": array for i, part in enumerate(shards) for name, array in part._asdict().items()}
    )


def read_counts(path: Location, shard: int) -> Counted:
    """What was counted in a shard, from a file."""
    found = read_held(path, *(f"{name} {shard}" for kind in (Entries, Bytes) for name in kind._fields))
    for kind in (Entries, Bytes):
        names = [f"{name} {shard}" for name in kind._fields]
        if found.keys() == set(names):
            return kind(*(found[name] for name in names))
    raise damaged(path, f"it has no counts of shard {shard}")


def add_file(path: Location, shard: int, table: Floats) -> None:
    """Add the counts of a shard in a file to its table, flat; not beyond its end, whatever the file says."""
    found = read_counts(path, shard)
    place = found.place if isinstance(found, Entries) else found.full
    size = place.shape if isinstance(found, Entries) else table.shape
    if place.max(initial=0) >= table.size or (found.times if isinstance(found, Entries) else found.table).shape != size:
        raise damaged(path, f"it has counts beyond the table of shard {shard}")
    if isinstance(found, Entries):
        add_entries(found.place, found.times, table)
    else:
        add_table(found.table, table)
        add_entries(found.full, np.full(len(found.full), MOST, np.uint8), table)

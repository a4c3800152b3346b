"""Counts of samples where the model is large: in files, by shards of words, so that no process holds all of them.

A shard writes its own counts to a file, and their sum with those of the samples before to another. When all have done
so it is known where the entries of each begin in the arrays of the whole matrix, which are files as well: every shard
copies its part there. The driver maps those, and a model or checkpoint is written from them piece by piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk import mapped
from topoi._disk.anywhere import as_text, locate, make_shared, map_shared, write_shared
from topoi._disk.remote import Location
from topoi.chain.engines.cluster._job import Job, Span, read_arrays, write_arrays
from topoi.chain.engines.cluster._words import counts as counts_of_shard
from topoi.chain.state import State

#: Bytes of an entry of a sparse matrix: a count and a topic.
ENTRY = 16


def are_large(state: State) -> bool:
    """Whether the counts of a model may take more memory than those that stay in their file when it is loaded."""
    given, corpus = state.priors.words.pseudo_counts, state.corpus
    most = min(corpus.n_tokens + (0 if given is None else given.nnz), corpus.n_words * state.n_topics)
    return ENTRY * most >= mapped.MAPPED


# ---- Tasks over shards of words ----------------------------------------------------------------------------


def count(job: Job, sweep: int, spans: Sequence[Span], shard: int) -> NDArray[np.int64]:
    """Write the counts of a shard after a sweep; returns how many topics each of its words has."""
    return write_rows(job.sweep(sweep), "now", shard, counts_of_shard(job, sweep, spans, shard))


def add(job: Job, before: int | None, sweep: int, shard: int) -> NDArray[np.int64]:
    """Write the sum of the counts of a shard and those up to the sample before; returns the same of the sum."""
    own = _read_rows(job, job.sweep(sweep), "now", shard)
    total = own if before is None else sparse.csr_array(_read_rows(job, job.kept(before), "total", shard) + own)
    return write_rows(job.kept(sweep), "total", shard, total)


class Places(NamedTuple):
    """Where the entries of every shard begin in the arrays of all, which lie in a folder under a name."""

    folder: str
    name: str
    first: NDArray[np.int64]
    number: str  # the type of the numbers of topics and of entries


def place(job: Job, places: Places, shard: int) -> None:
    """Copy the entries of a shard to the arrays of all."""
    folder, first = locate(places.folder), int(places.first[shard])
    rows = _read_rows(job, folder, places.name, shard)
    write_shared(folder / f"{places.name}-data", first, rows.data)
    write_shared(folder / f"{places.name}-indices", first, rows.indices.astype(places.number))


def write_rows(folder: Location, name: str, shard: int, rows: sparse.csr_array) -> NDArray[np.int64]:
    """Write the rows of a shard to a file of their own; returns how many entries each has."""
    size: NDArray[np.int64] = np.diff(rows.indptr).astype(np.int64)
    write_arrays(folder / f"{name}-{shard:05d}", {"data": rows.data, "indices": rows.indices, "size": size})
    return size


def _read_rows(job: Job, folder: Location, name: str, shard: int) -> sparse.csr_array:
    found = read_arrays(folder / f"{name}-{shard:05d}")
    indptr = np.concatenate(([0], np.cumsum(found["size"])))
    shape = (len(found["size"]), job.n_topics)
    return sparse.csr_array((found["data"], found["indices"], indptr), shape=shape)


# ---- On the driver -----------------------------------------------------------------------------------------


def make_room(folder: Location, name: str, sizes: list[NDArray[np.int64]]) -> Places:
    """Files for the arrays of the whole matrix, given what the shards have returned."""
    ends = np.concatenate(([0], np.cumsum([int(size.sum()) for size in sizes], dtype=np.int64)))
    # SciPy takes one type for numbers of topics and of entries: that of the same matrix made in memory.
    none = (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(1, np.int64))
    number = "int64" if ends[-1] >= 2**31 else sparse.csr_array(none, shape=(0, 1)).indices.dtype.name
    make_shared(folder / f"{name}-data", int(ends[-1]), np.int64)
    make_shared(folder / f"{name}-indices", int(ends[-1]), number)
    return Places(as_text(folder), name, ends, number)


def whole(job: Job, places: Places, sizes: list[NDArray[np.int64]]) -> sparse.csr_array:
    """The matrix, mapped: nobody can write to it."""
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(sizes))))
    parts = []
    for name, dtype in (("data", "int64"), ("indices", places.number)):
        array = map_shared(locate(places.folder) / f"{places.name}-{name}", dtype, (int(indptr[-1]),), "r")
        array.flags.writeable = False
        parts.append(array)
    return sparse.csr_array((*parts, indptr.astype(places.number)), shape=(job.n_words, job.n_topics))

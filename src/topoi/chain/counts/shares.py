"""The design matrix of the weights: topic shares z̄_dk = n_dk / N_d of the documents, by topic.

Sparse, in columns: the documents of topic k are doc[start[k] : start[k + 1]], rising, with their shares. Built from the
topics in two passes over blocks of documents; where a block's entries go follows from the counts of the blocks before
it, so the result does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.state import State


class ByColumns(Protocol):
    """A design (documents, columns) whose columns can be had a few at a time, in their order: not all are in memory."""

    @property
    def n_documents(self) -> int:
        """How many documents there are."""

    @property
    def n_columns(self) -> int:
        """How many columns there are."""

    def parts(self) -> Iterable[tuple[slice, Design]]:
        """Which columns, and these, until all were there."""

    def whole(self) -> Design:
        """All columns at once."""


@dataclass(frozen=True)
class Design:
    """z̄ in columns; of a corpus `blocks` (blocks + 1, K) says where the entries of its blocks begin and end."""

    start: NDArray[np.int64]
    doc: NDArray[np.int32]
    share: NDArray[np.float32]
    n_documents: int
    blocks: NDArray[np.int64] | None = None

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.start) - 1

    def parts(self) -> Iterable[tuple[slice, Design]]:
        """All columns: they are in memory."""
        return [(slice(0, self.n_columns), self)]

    def whole(self) -> Design:
        """All columns."""
        return self

    def matrix(self) -> sparse.csc_array:
        """As a SciPy matrix (D, K)."""
        shape = (self.n_documents, self.n_columns)
        return sparse.csc_array((self.share.astype(np.float64), self.doc, self.start), shape=shape)


@kernel
def count_pairs(doc_ptr: Ints, first: Int, last: Int, z: Ints, per_topic: Ints) -> None:
    """Add to per_topic[k] the number of documents among first … last − 1 that have topic k."""
    seen = np.full(per_topic.shape[0], -1, np.int64)
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if seen[k] != d:
                seen[k] = d
                per_topic[k] += 1


@kernel
def fill_pairs(doc_ptr: Ints, first: Int, last: Int, z: Ints, at: Ints, doc: Ints, share: Floats) -> None:
    """Write the entries of documents first … last − 1; at[k] is where topic k goes on, and is advanced."""
    seen = np.full(at.shape[0], -1, np.int64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        for i in range(lo, hi):
            k = z[i]
            if seen[k] != d:
                seen[k] = d
                doc[at[k]] = d
                share[at[k]] = 0.0
                at[k] += 1
            share[at[k] - 1] += 1.0
        for i in range(lo, hi):
            k = z[i]
            if seen[k] == d:
                seen[k] = -1
                share[at[k] - 1] /= hi - lo


def design_of(state: State, pool: Pool) -> Design:
    """z̄ of the state's topics."""
    corpus = state.corpus
    ptr = corpus.block_ptr
    blocks = range(len(ptr) - 1)

    def count(block: int) -> NDArray[np.int64]:
        per_topic = np.zeros(state.n_topics, np.int64)
        count_pairs(corpus.doc_ptr, ptr[block], ptr[block + 1], state.z, per_topic)
        return per_topic

    counts = np.array(pool.map(count, blocks))
    start = np.concatenate(([0], np.cumsum(counts.sum(0))))
    edges = start[:-1] + np.concatenate((np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)))
    at = edges[:-1].copy()
    doc = np.zeros(start[-1], np.int32)
    share = np.zeros(start[-1], np.float32)

    def fill(block: int) -> None:
        fill_pairs(corpus.doc_ptr, ptr[block], ptr[block + 1], state.z, at[block], doc, share)

    pool.map(fill, blocks)
    return Design(start, doc, share, corpus.n_documents, edges)

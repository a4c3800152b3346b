"""Word–topic counts (V, K) of a model, gone through by rows: a large model lies in a file, never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.mapped import give_back, is_mapped

#: Entries that are looked at together, at most, unless a word has more; and words, whose rows may be empty.
ENTRIES = 2**22
WORDS = 2**16


def row_blocks(counts: sparse.csr_array) -> Iterator[tuple[int, sparse.csr_array]]:
    """The rows in blocks, each with the number of its first; all at once where they are few.

    Of counts in a file, a block is good until the next one is asked for.
    """
    n_words, start = counts.shape[0], counts.indptr
    if counts.nnz <= ENTRIES:
        yield 0, counts
        return
    first = 0
    while first < n_words:
        last = int(np.searchsorted(start, int(start[first]) + ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), first + WORDS, n_words)
        part = slice(int(start[first]), int(start[last]))
        arrays = (counts.data[part], counts.indices[part], start[first : last + 1] - start[first])
        yield first, sparse.csr_array(arrays, shape=(last - first, counts.shape[1]))
        give_back(counts.data, counts.indices)
        first = last


def lie_in_file(counts: sparse.csr_array) -> bool:
    """Whether counts lie in a file, and so never change."""
    return is_mapped(counts.data)


def topic_totals(counts: sparse.csr_array) -> NDArray[np.float64]:
    """Sums over the words (K); of whole numbers, so that the order does not matter."""
    total = np.zeros(counts.shape[1])
    for _, block in row_blocks(counts):
        total += np.asarray(block.sum(0), np.float64)
    return total


def word_totals(counts: sparse.csr_array) -> NDArray[np.float64]:
    """Sums over the topics (V)."""
    return np.concatenate([np.asarray(block.sum(1), np.float64) for _, block in row_blocks(counts)])


def top_words(counts: sparse.csr_array, n: int) -> list[list[int]]:
    """Of each topic the n words with the highest counts, highest first, equal ones in their order; none without one."""
    return [words.tolist() for words, _ in top_counts(counts, n)]


def top_counts(counts: sparse.csr_array, n: int) -> list[tuple[NDArray[np.int64], NDArray[Any]]]:
    """The words that `top_words` has of each topic, and their counts there."""
    words = [np.zeros(0, np.int64)] * counts.shape[1]
    times = [np.zeros(0, counts.dtype)] * counts.shape[1]
    for first, block in row_blocks(counts):
        by_topic = block.tocsc()
        for k in np.flatnonzero(np.diff(by_topic.indptr)).tolist():
            part = slice(by_topic.indptr[k], by_topic.indptr[k + 1])
            found = np.concatenate((words[k], by_topic.indices[part].astype(np.int64) + first))
            counted = np.concatenate((times[k], by_topic.data[part]))
            best = np.argsort(-counted, kind="stable")[:n]
            best = best[counted[best] > 0]
            words[k], times[k] = found[best], counted[best]
    return list(zip(words, times, strict=True))


def log_sums(counts: sparse.csr_array, offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each word, which has an offset, the sum over the topics of log(1 + count / offset)."""
    sums = []
    for first, block in row_blocks(counts):
        of_entry = np.repeat(offset[first : first + block.shape[0]], np.diff(block.indptr))
        logs = sparse.csr_array((np.log1p(block.data / of_entry), block.indices, block.indptr), shape=block.shape)
        sums.append(np.asarray(logs.sum(1), np.float64))
    return np.concatenate(sums)

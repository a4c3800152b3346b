"""How often each count occurs: all that learned priors and the log joint need to know of n_dk and n_wk.

Sums over counts become sums over their histograms, so that a function is taken once for each different count, and
neither D×K nor V×K numbers are ever stored. Histograms are whole numbers: those of parts of a corpus add up to that of
the whole, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.counts.by_tokens import count_by_tokens, tables_fit
from topoi.chain.counts.dense import count_word
from topoi.chain.state import State
from topoi.corpus.checks import running_total

# Counts below SMALL go to a histogram; of larger ones there are at most tokens/SMALL, and they are listed.
SMALL = 32
# Parts that histograms are counted in: few, since each has a histogram of its own; fixed, though the sums are
# of whole numbers and would be the same in any case.
PARTS = 16
# Rows of the histograms of all parts together; fewer parts where there would be more.
ROWS = 2**20


class Spectrum(NamedTuple):
    """`times[j]` of the counts of row `row[j]` are equal to `size[j]`; counts of 0 are not listed."""

    row: NDArray[np.int64]
    size: NDArray[np.int64]
    times: NDArray[np.int64]


@kernel
def note(row: Int, count: Int, small: Ints, large: Ints, n_large: Int) -> Int:
    """Enter one count of `row` into the histogram `small` or the list `large`; returns the list's length.

    Equivalent to ``small[row, count] += 1`` or ``large.append((row, count))``.
    """
    if count < small.shape[1]:
        small[row, count] += 1
        return n_large
    large[n_large, 0] = row
    large[n_large, 1] = count
    return n_large + 1


@kernel
def note_documents(doc_ptr: Ints, first: Int, last: Int, z: Ints, n_topics: Int, small: Ints, large: Ints) -> Int:
    """Enter n_dk of documents first … last − 1 into `small` and `large` (row k); returns the latter's length.

    Equivalent to ``note(k, n_dk[d, k], …)`` for all n_dk > 0.
    """
    n_d = np.zeros(n_topics, np.int64)
    n_large: Int = 0
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] += 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if n_d[k] > 0:
                n_large = note(k, n_d[k], small, large, n_large)
                n_d[k] = 0
    return n_large


@kernel
def note_counts(n_wk: Ints, first: Int, kind_of: Ints | None, small: Ints, large: Ints, n_k: Ints) -> Int:
    """The same as `note_words` of words from `first` on, whose counts (words, K), base included, are in a table."""
    n_large: Int = 0
    row = np.int64(0)
    for i in range(n_wk.shape[0]):
        if kind_of is not None:
            row = np.int64(kind_of[first + i])
        for k in range(n_wk.shape[1]):
            if n_wk[i, k] > 0:
                n_large = note(row, n_wk[i, k], small, large, n_large)
                n_k[k] += n_wk[i, k]
    return n_large


@kernel
def note_words(
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, base: Floats, kind_of: Ints | None, small: Ints,
    large: Ints, n_k: Ints,
) -> Int:  # fmt: skip
    """Enter n_wk of words first … last − 1, base included, in the row of their kind, or in row 0 if there are none.

    Adds them to `n_k`; returns as above. Equivalent to ``note(kind_of[w], n_wk[w, k], …)`` for all n_wk > 0. Base
    counts are whole numbers, stored as floats.
    """
    n_w = np.zeros(n_k.shape[0], np.int64)
    n_large: Int = 0
    row = np.int64(0)
    for w in range(first, last):
        if kind_of is not None:
            row = np.int64(kind_of[w])
        if base.shape[0] > 0:
            count_word(order, word_ptr, w, z, base, n_w)
            for k in range(n_k.shape[0]):
                if n_w[k] > 0:
                    n_large = note(row, n_w[k], small, large, n_large)
                    n_k[k] += n_w[k]
                    n_w[k] = 0
            continue
        for j in range(word_ptr[w], word_ptr[w + 1]):
            n_w[z[order[j]]] += 1
        for j in range(word_ptr[w], word_ptr[w + 1]):
            k = z[order[j]]
            if n_w[k] > 0:
                n_large = note(row, n_w[k], small, large, n_large)
                n_k[k] += n_w[k]
                n_w[k] = 0
    return n_large


def _spectrum(
    n_rows: int,
    ptr: NDArray[np.int64],
    room: Callable[[int, int], int],
    enter: Callable[[int, int, NDArray[np.int32], NDArray[np.int64]], int],
    pool: Pool,
) -> Spectrum:
    """The histogram of all counts that `enter` enters, part by part; `room` bounds the sum of a part."""
    parts_at_most = min(PARTS, max(ROWS // max(n_rows, 1), 1))
    cuts = ptr[np.linspace(0, len(ptr) - 1, min(parts_at_most, len(ptr) - 1) + 1).astype(np.int64)]

    def work(part: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        first, last = int(cuts[part]), int(cuts[part + 1])
        small = np.zeros((n_rows, SMALL), np.int32)
        large = np.empty((room(first, last) // SMALL, 2), np.int64)
        n_large = enter(first, last, small, large)
        return small, large[:n_large]

    parts = pool.map(work, range(len(cuts) - 1))
    small = np.zeros((n_rows, SMALL), np.int64)
    for part, _ in parts:
        small += part
    row, count = np.nonzero(small)
    large, times = np.unique(np.concatenate([part for _, part in parts]), axis=0, return_counts=True)
    return Spectrum(
        np.concatenate((row, large[:, 0])),
        np.concatenate((count, large[:, 1])),
        np.concatenate((small[row, count], times)),
    )


def document_spectrum(state: State, pool: Pool) -> Spectrum:
    """How often each count n_dk > 0 occurs, topic by topic."""
    doc_ptr = state.corpus.doc_ptr

    def room(first: int, last: int) -> int:
        return int(doc_ptr[last] - doc_ptr[first])

    def enter(first: int, last: int, small: NDArray[np.int32], large: NDArray[np.int64]) -> int:
        return int(note_documents(doc_ptr, first, last, state.z, state.n_topics, small, large))

    return _spectrum(state.n_topics, state.corpus.block_ptr, room, enter, pool)


def joined_spectrum(state: State, number: NDArray[np.int64], pool: Pool) -> Spectrum:
    """The same if topic k were part of topic number[k]."""
    return document_spectrum(replace(state, z=number[state.z].astype(state.z.dtype)), pool)


def word_spectrum(state: State, pool: Pool) -> tuple[Spectrum, NDArray[np.int64]]:
    """How often each count n_wk > 0 occurs in all topics together, and n_k; both with the base.

    Words of different kinds (`WordPrior.kinds`) are in different rows; else all are in row 0.
    """
    word_ptr = running_total(state.corpus.word_counts)
    base, kinds = state.base_table, state.priors.words.kinds
    by_tokens = count_by_tokens(state, pool) if tables_fit(state, pool) else None
    order = None if by_tokens is not None else state.corpus.by_word[0]  # made here, not by every thread
    n_rows = 1 if kinds is None else int(kinds.max(initial=0)) + 1
    parts = []  # of n_k; whole numbers, so the order in which threads append them does not matter

    def room(first: int, last: int) -> int:
        return int(word_ptr[last] - word_ptr[first]) + int(base[first:last].sum(dtype=np.float64))

    def enter(first: int, last: int, small: NDArray[np.int32], large: NDArray[np.int64]) -> int:
        n_k = np.zeros(state.n_topics, np.int64)
        if order is not None:
            n_large = note_words(order, word_ptr, first, last, state.z, base, kinds, small, large, n_k)
        else:
            assert by_tokens is not None
            n_large = note_counts(by_tokens.counts(state, first, last), first, kinds, small, large, n_k)
        parts.append(n_k)
        return int(n_large)

    spectrum = _spectrum(n_rows, state.corpus.word_block_ptr, room, enter, pool)
    return spectrum, np.sum(parts, axis=0, dtype=np.int64)


def merge(parts: Sequence[Spectrum]) -> Spectrum:
    """The histogram of all counts of the parts, in the order in which `_spectrum` has them."""
    if len(parts) == 1:
        return parts[0]
    row, size, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    keys, where = np.unique(np.column_stack((size >= SMALL, row, size)), axis=0, return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, where.ravel(), times)
    return Spectrum(keys[:, 1], keys[:, 2], total)


def above(spectrum: Spectrum) -> NDArray[np.int64]:
    """How many counts, of all rows together, are above n = 0, 1, 2, …"""
    times = np.zeros(spectrum.size.max(initial=0) + 1, np.int64)
    np.add.at(times, spectrum.size, spectrum.times)
    return times[::-1].cumsum()[::-1][1:]

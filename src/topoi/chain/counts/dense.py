"""Word–topic counts as a dense table: a row for every word, padded to whole lanes.

Rows are made word by word over `corpus.by_word`: blocks of words are independent, which makes the work parallel and its
result the same for any number of threads. Where there are few pairs of word and topic for the tokens it is quicker to
count token by token first (`by_tokens.py`), with the same result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Numbers
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.counts.by_tokens import count_by_tokens, tables_fit
from topoi.chain.state import State


@kernel
def count_word(order: Ints, word_ptr: Ints, w: Int, z: Ints, base: Floats, n: Numbers) -> None:
    """Topic counts of word `w`, base included. Equivalent to ``n[:] = base[w] + bincount(z[tokens of w])``."""
    n[:] = 0
    if base.shape[0] > 0:
        for k in range(base.shape[1]):
            n[k] = base[w, k]
    for j in range(word_ptr[w], word_ptr[w + 1]):
        n[z[order[j]]] += 1


@kernel
def count_rows(
    order: Ints, word_ptr: Ints, first: Int, last: Int, z: Ints, base: Floats, table: Floats, n_k: Floats
) -> None:
    """Fill rows first … last − 1 of `table` with word–topic counts; add their sums to `n_k`."""
    for w in range(first, last):
        count_word(order, word_ptr, w, z, base, table[w])
        for k in range(n_k.shape[0]):
            n_k[k] += table[w, k]


def word_blocks(state: State) -> list[tuple[int, int, int]]:
    """(number, first word, end) of every block of words."""
    ptr, number = state.corpus.word_block_ptr, state.corpus.first_word_block
    return [(number + b, int(ptr[b]), int(ptr[b + 1])) for b in range(len(ptr) - 1)]


def count_blocks(state: State, table: Floats, pool: Pool) -> list[NDArray[np.float64]]:
    """Fill the table with the counts of `state`; returns n_k, padded, of every block of words."""
    if tables_fit(state, pool):
        fill = count_by_tokens(state, pool).fill
    else:
        order, word_ptr = state.corpus.by_word

        def fill(first: int, last: int, base: Floats, table: Floats, n_k: NDArray[np.float64]) -> None:
            count_rows(order, word_ptr, first, last, state.z, base, table, n_k)

    def work(block: tuple[int, int, int]) -> NDArray[np.float64]:
        n_k = np.zeros(table.shape[1])
        fill(block[1], block[2], state.base_table, table, n_k)
        return n_k

    return pool.map(work, word_blocks(state))


def count_table(state: State, table: Floats, pool: Pool) -> NDArray[np.float64]:
    """Fill the table with the counts of `state`; returns n_k, padded."""
    n_k = np.zeros(table.shape[1])
    for part in count_blocks(state, table, pool):
        n_k += part  # whole numbers: the order of the sum does not matter
    return n_k

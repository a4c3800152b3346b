"""Counts of a block's own: a copy of the rows of its words, which follows its tokens while other blocks run.

Kernels of live counts then move the tokens of the block as if there were no others. They get its documents counted from
0, its words numbered anew as they come, and a table with a row for each of these. The counts that the copy was made of
stay as they are. A block has at most as many distinct words as tokens, so that a copy is small whatever the vocabulary:
K numbers of 4 bytes for each of them (8 where counts need float64). It goes when the block is done: there are as many
at a time as threads that run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoi._machine.arrays import Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.simd import aligned_zeros
from topoi.chain.counts.moves import LiveCounts
from topoi.chain.factors.delayed import DelayedFactor
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.state import State


class OwnCounts(NamedTuple):
    """What kernels get of a block: its tokens, which share the topics of the state, and counts for its words alone."""

    tokens: TokenTopics
    counts: LiveCounts


@kernel
def number_words(words: Ints, lo: Int, hi: Int, number: Ints, own: Ints, distinct: Ints) -> Int:
    """Number the words of tokens lo … hi − 1 as they come: words[lo:hi] = distinct[own]; returns how many there are.

    `number` is −1 for every word of the vocabulary.
    """
    n = 0
    for i in range(lo, hi):
        w = words[i]
        if number[w] < 0:
            number[w] = n
            distinct[n] = w
            n += 1
        own[i - lo] = number[w]
    return n


def copy_counts(state: State, factor: DelayedFactor, first: int, last: int) -> OwnCounts:
    """Counts for the words of documents first … last − 1, as they were at the start of the sweep."""
    corpus = state.corpus
    lo, hi = int(corpus.doc_ptr[first]), int(corpus.doc_ptr[last])
    number, own = np.full(corpus.n_words, -1, np.int32), np.empty(hi - lo, np.int32)
    distinct = np.empty(hi - lo, np.int32)
    n = int(number_words(corpus.words, lo, hi, number, own, distinct))
    table = aligned_zeros((n, factor.width), state.real)
    np.take(factor.table, distinct[:n], axis=0, out=table, mode="clip")  # "raise" would make another copy
    doc_ptr = corpus.doc_ptr[first : last + 1] - lo
    for array in (own, doc_ptr):  # as those of a corpus are: kernels are compiled for one type of array
        array.flags.writeable = False
    counts = LiveCounts(table, factor.n_k.copy(), factor.scale.copy(), state.beta, state.beta_sum)
    return OwnCounts(TokenTopics(own, doc_ptr, state.z[lo:hi]), counts)

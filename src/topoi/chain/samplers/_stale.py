"""Alias tables of the word factor as published: made from the counts of some time ago, used for a while.

For word w the table holds the weights  v_k · n_wk · s_k  of its topics (sparse), and one table for all words holds the
smoothing part  v_k · β · s_k, with s_k = 1/(n_k + Vβ) and v_k a constant (α_k for AliasLDA, 1 for LightLDA). A table is
made anew after K draws from it, so that its cost is O(1) per draw, and at its first use in a sweep.

The papers make all of a word's table at one time, K entries for every word. Ours has parts of different age, since the
smoothing part is shared: their scales s_k differ by what moved in between. `weight_word` is what both say, so that the
ratio is that of the proposal which was made; the two proposals differ little (docs/samplers.md, verify/table_ages.py).

A table holds the token that is being moved: proposals from it are *not* exact, see docs/exactness.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import integer, uniform
from topoi.chain.state import State


class Stale(NamedTuple):
    """Tables of all words in one array (word w from start[w] on), the smoothing table behind the last word's."""

    topic: NDArray[np.int32]
    weight: NDArray[np.float64]
    keep: NDArray[np.float64]  # probability of an entry to stand for itself …
    other: NDArray[np.int32]  # … and the entry that it stands for otherwise
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    mass: NDArray[np.float64]
    draws_left: NDArray[np.int64]


def new_tables(state: State) -> Stale:
    """Tables without content; `draws_left` = 0 says that they must be made before use."""
    room = np.full(state.corpus.n_words, state.n_topics, np.int64)
    if not len(state.base_table):
        room = np.minimum(room, state.corpus.word_counts)
    room = np.append(room, state.n_topics)
    start = np.concatenate(([0], np.cumsum(room)))
    n, rows = int(start[-1]), len(room)
    return Stale(
        np.zeros(n, np.int32), np.zeros(n), np.zeros(n), np.zeros(n, np.int32), start,
        np.zeros(rows, np.int64), np.zeros(rows), np.zeros(rows, np.int64),
    )  # fmt: skip


@kernel
def make_alias(weight: Floats, total: float, keep: Floats, other: Ints) -> None:
    """Walker's alias table by Vose's method: entry j has probability weight[j]/total. Fills `keep` and `other`."""
    n = weight.shape[0]
    small = np.empty(n, np.int64)
    large = np.empty(n, np.int64)
    n_small = 0
    n_large = 0
    for j in range(n):
        keep[j] = weight[j] * n / total
        other[j] = j
        if keep[j] < 1.0:
            small[n_small] = j
            n_small += 1
        else:
            large[n_large] = j
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        s = small[n_small]
        g = large[n_large - 1]
        other[s] = g
        keep[g] = (keep[g] + keep[s]) - 1.0
        if keep[g] < 1.0:
            n_large -= 1
            small[n_small] = g
            n_small += 1
    # What is left differs from 1 by rounding only.
    for j in range(n_small):
        keep[small[j]] = 1.0
    for j in range(n_large):
        keep[large[j]] = 1.0


@kernel
def remake(t: Stale, w: Int, n_wk: Floats, beta: float, scale: Floats, v: Floats) -> None:
    """Make the table of row w from the counts as they are now (the last row is the smoothing table)."""
    lo = t.start[w]
    n = 0
    total = 0.0
    n_topics = v.shape[0]
    for k in range(n_topics):
        x = np.float64(beta)
        if w < n_wk.shape[0]:
            x = np.float64(n_wk[w, k])
        if x > 0.0:
            t.topic[lo + n] = k
            t.weight[lo + n] = v[k] * x * scale[k]
            total += t.weight[lo + n]
            n += 1
    t.size[w] = n
    t.mass[w] = total
    t.draws_left[w] = n_topics
    make_alias(t.weight[lo : lo + n], total, t.keep[lo : lo + n], t.other[lo : lo + n])


@kernel
def ready(t: Stale, w: Int, n_wk: Floats, beta: float, scale: Floats, v: Floats) -> None:
    """Make the tables that a draw for word w needs, where they are used up."""
    smooth = n_wk.shape[0]
    if t.draws_left[w] <= 0:
        remake(t, w, n_wk, beta, scale, v)
    if t.draws_left[smooth] <= 0:
        remake(t, smooth, n_wk, beta, scale, v)


@kernel
def draw_row(t: Stale, w: Int, stream: Stream) -> np.int64:
    """A topic from the table of row w; counts the draw."""
    t.draws_left[w] -= 1
    j = integer(stream, t.size[w])
    if uniform(stream) >= t.keep[t.start[w] + j]:
        j = np.int64(t.other[t.start[w] + j])
    return np.int64(t.topic[t.start[w] + j])


@kernel
def draw_word(t: Stale, w: Int, stream: Stream) -> np.int64:
    """A topic from the word's table and the smoothing table together."""
    smooth = t.size.shape[0] - 1
    if uniform(stream) * (t.mass[w] + t.mass[smooth]) < t.mass[w]:
        return draw_row(t, w, stream)
    return draw_row(t, smooth, stream)


@kernel
def weight_word(t: Stale, w: Int, k: Int) -> float:
    """The weight with which `draw_word` proposes topic k: both tables, as they were made."""
    lo = t.start[w]
    hi = lo + t.size[w]
    end = hi
    while lo < hi:  # entries are sorted by topic
        middle = (lo + hi) // 2
        if t.topic[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    weight: float = t.weight[t.start[t.size.shape[0] - 1] + k]
    if lo < end and t.topic[lo] == k:
        weight += t.weight[lo]
    return weight

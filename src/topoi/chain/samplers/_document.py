"""Helpers that every kernel shares: the topic counts of one document."""

from __future__ import annotations

from typing import NamedTuple

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel


class TokenTopics(NamedTuple):
    """Tokens with their topics: `words` and `z` of all, those of document d from doc_ptr[d] to doc_ptr[d + 1]."""

    words: Ints
    doc_ptr: Ints
    z: Ints


@kernel
def count_document(z: Ints, lo: Int, hi: Int, n_d: Floats) -> None:
    """Topic counts of the document with tokens lo … hi − 1. Equivalent to ``n_d[:] = bincount(z[lo:hi])``."""
    n_d[:] = 0
    for i in range(lo, hi):
        n_d[z[i]] += 1


@kernel
def list_document(z: Ints, lo: Int, hi: Int, n_d: Ints, active: Ints, place: Ints) -> Int:
    """As `count_document`, where n_d is all 0 before; also lists the topics with a count in `active`.

    `place[k]` is the position of topic k in `active`. Returns the number of topics. O(document), not O(K).
    """
    n = 0
    for i in range(lo, hi):
        k = z[i]
        if n_d[k] == 0:
            active[n] = k
            place[k] = n
            n += 1
        n_d[k] += 1
    return n


@kernel
def clear_document(n_d: Ints, active: Ints, n: Int) -> None:
    """Set the counts of the listed topics back to 0."""
    for j in range(n):
        n_d[active[j]] = 0


@kernel
def remove_topic(k: Int, n_d: Ints, active: Ints, place: Ints, n: Int) -> Int:
    """Take one token of topic k out of the listed counts; returns the new number of listed topics."""
    n_d[k] -= 1
    if n_d[k] == 0:
        n -= 1
        moved = active[n]
        active[place[k]] = moved
        place[moved] = place[k]
    return n


@kernel
def add_topic(k: Int, n_d: Ints, active: Ints, place: Ints, n: Int) -> Int:
    """Put one token of topic k into the listed counts; returns the new number of listed topics."""
    if n_d[k] == 0:
        active[n] = k
        place[k] = n
        n += 1
    n_d[k] += 1
    return n

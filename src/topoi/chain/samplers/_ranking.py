"""The topics of a document from most to least frequent, kept in order while tokens move."""

from __future__ import annotations

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel


@kernel
def sort_topics(n_d: Floats, order: Ints, place: Ints) -> None:
    """Sort `order` by falling n_d; `place` is its inverse. O(K) and a short insertion sort of the topics present."""
    m = 0
    for j in range(order.shape[0]):
        k = order[j]
        if n_d[k] > 0:
            order[j] = order[m]
            i = m
            while i > 0 and n_d[order[i - 1]] < n_d[k]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = k
            m += 1
    for j in range(order.shape[0]):
        place[order[j]] = j


@kernel
def lower(n_d: Floats, order: Ints, place: Ints, k: Int, n_topics: Int) -> None:
    """Restore the order after n_d[k] was decreased."""
    j = place[k]
    while j + 1 < n_topics and n_d[order[j + 1]] > n_d[k]:
        order[j] = order[j + 1]
        place[order[j]] = j
        j += 1
    order[j] = k
    place[k] = j


@kernel
def raise_(n_d: Floats, order: Ints, place: Ints, k: Int) -> None:
    """Restore the order after n_d[k] was increased."""
    j = place[k]
    while j > 0 and n_d[order[j - 1]] < n_d[k]:
        order[j] = order[j - 1]
        place[order[j]] = j
        j -= 1
    order[j] = k
    place[k] = j

"""The tilt as a proposal of its own, and the order in which LightMedLDA's three proposals come.

    word    q(k) ∝ the word's counts          doc    q(k) ∝ the document's counts + α_k          exp    q(k) ∝ exp(g̃(k))

The third is drawn from an alias table of all topics' tilts: O(K · tasks) to make, O(1) to draw from.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import integer, uniform
from topoi.chain.samplers._stale import make_alias

WORD, DOC, EXP = 0, 1, 2
PROPOSALS = ("word", "doc", "exp")
# How steps of the three are composed: one at random each time, one after the other, or one alone. A kernel knows them
# by their number here.
COMPOSITIONS = ("mixture", "cycle", *PROPOSALS)
MIXTURE, CYCLE = 0, 1
ALONE = 2  # number of the first that is alone


@kernel
def uses(composition: int, proposal: int) -> bool:
    """Whether steps of `proposal` are ever made."""
    return composition < ALONE or composition - ALONE == proposal


@kernel
def choose_proposal(composition: int, turn: Int, stream: Stream) -> Int:
    """The proposal of step number `turn` of a document."""
    if composition == MIXTURE:
        return integer(stream, 3)
    if composition == CYCLE:
        return turn % 3
    return composition - ALONE


@kernel
def make_exp_table(tilt: Floats, keep: Floats, other: Ints) -> None:
    """Alias table of the tilts of all topics; fills `keep` and `other` (K each)."""
    n_topics = keep.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += tilt[k]
    make_alias(tilt[:n_topics], total, keep, other)


@kernel
def draw_exp(labelled: bool, keep: Floats, other: Ints, stream: Stream) -> np.int64:
    """A topic from the alias table; without a label there is no tilt, and all topics are alike."""
    k = integer(stream, keep.shape[0])
    if labelled and uniform(stream) >= keep[k]:
        k = np.int64(other[k])
    return k

"""Pilots: first, shorter fits on some of the training documents, which the others judge.

How much say topics, words and covariates are given is chosen on documents whose labels neither topics nor weights have
seen. So a part of the documents is set aside, a chain of fewer sweeps learns from the rest, and the refit is tried
on the part (predict/refit.py). Probabilities are calibrated, and errors measured, on the same documents. Where there
are few documents a part of them says little: then there are several pilots, each sets aside another part, and all that
were set aside judge together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoi._machine.rng import REFIT, integer, new_stream
from topoi.chain.loop import Schedule

#: Share of the documents with a target that a single pilot sets aside, and how many at most; its share of the sweeps.
SET_ASIDE, MOST_SET_ASIDE, SWEEPS = 0.25, 10_000, 0.4
#: Documents that a pilot learns from, at most.
MOST_LEARNED = 40_000
#: With fewer documents that have a target there are several pilots, which are shorter still.
FEW, PILOTS, SWEEPS_OF_FEW = 3_000, 3, 0.2
#: With fewer than these, settings are not chosen: they would be chosen by chance.
FEWEST = 40


@dataclass(frozen=True)
class Pilot:
    """Which documents a pilot learns from, and which it is judged by; both rising."""

    learned: NDArray[np.int64]
    set_aside: NDArray[np.int64]


def plan_pilots(known: NDArray[np.bool_], seed: int, share: float = SET_ASIDE) -> list[Pilot]:
    """The documents of pilots, where `known` (documents) have a target; none if they are too few."""
    labelled = np.flatnonzero(known)
    if len(labelled) < FEWEST:
        return []
    drawn, stream = labelled.copy(), new_stream(seed, REFIT, 1)
    for i in range(len(drawn) - 1, 0, -1):
        j = integer(stream, i + 1)
        drawn[i], drawn[j] = drawn[j], drawn[i]
    if len(labelled) < FEW:
        return [_pilot(drawn[number::PILOTS], len(known)) for number in range(PILOTS)]
    return [_pilot(drawn[: min(round(share * len(drawn)), MOST_SET_ASIDE)], len(known))]


def _pilot(set_aside: NDArray[np.int64], n_documents: int) -> Pilot:
    rest = np.setdiff1d(np.arange(n_documents), set_aside)
    n = min(len(rest), MOST_LEARNED)
    return Pilot(rest[np.arange(n) * len(rest) // n], np.sort(set_aside))


def pilot_schedule(whole: Schedule, n_pilots: int) -> Schedule:
    """That of a fit, shortened."""
    share = SWEEPS if n_pilots == 1 else SWEEPS_OF_FEW
    n_sweeps = max(round(share * whole.n_sweeps), 1)
    burn_in = None if whole.burn_in is None else min(round(share * whole.burn_in), n_sweeps - 1)
    return Schedule(n_sweeps, whole.n_samples, burn_in)

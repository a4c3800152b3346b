"""Pilots: first, shorter fits on some of the training documents, which the others judge.

How much say topics, words and covariates are given is chosen on documents whose labels neither topics nor weights have
seen. So a part of the documents is set aside, a chain of fewer sweeps learns from the rest, and the refit is tried
on the part (predict/refit.py). Probabilities are calibrated, and errors measured, on the same documents. Where there
are few documents a part of them says little: then there are several pilots, each sets aside another part, and all that
were set aside judge together.

Of every label the documents that come last are set aside. Where they are in no order that is as good as a draw. Where
they are in the order of time, the documents to predict are later still, and settings are wanted that do not need the
ones just before them. Of numbers a draw of every tenth is set aside: their errors make intervals, which would be too
wide if neighbours in X are alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats
from topoi._machine.rng import REFIT, integer, new_stream
from topoi.chain.loop import Schedule

#: Share of the documents with a target that a single pilot sets aside, and how many at most; its share of the sweeps.
SET_ASIDE, MOST_SET_ASIDE, SWEEPS = 0.25, 10_000, 0.4
#: Documents that a pilot learns from, at most.
MOST_LEARNED = 40_000
#: With fewer documents that have a target there are several pilots, which are shorter still.
FEW, PILOTS, SWEEPS_OF_FEW = 3_000, 3, 0.5
#: With fewer than these, settings are not chosen: they would be chosen by chance.
FEWEST = 40


@dataclass(frozen=True)
class Pilot:
    """Which documents a pilot learns from, and which it is judged by; both rising."""

    learned: NDArray[np.int64]
    set_aside: NDArray[np.int64]


def plan_pilots(targets: Floats, seed: int, share: float = SET_ASIDE) -> list[Pilot]:
    """The documents of pilots, for targets (documents, tasks; NaN where one is not known); none if they are too few."""
    labelled = np.flatnonzero(~np.isnan(targets).all(1))
    if len(labelled) < FEWEST:
        return []
    # From 0 to 1: where a document stands among those of its stratum.
    place = np.empty(len(labelled))
    order = np.arange(len(labelled)) if are_labels(targets) else _shuffled(len(labelled), seed)
    of = strata(targets[labelled])[order]
    for stratum in np.unique(of):
        own = order[of == stratum]
        place[own] = (np.arange(len(own)) + 0.5) / len(own)
    if len(labelled) < FEW:
        parts = np.minimum((place * PILOTS).astype(int), PILOTS - 1)
        return [_pilot(labelled[parts == number], len(targets)) for number in range(PILOTS)]
    n = min(round(share * len(labelled)), MOST_SET_ASIDE)
    return [_pilot(np.sort(labelled[np.argsort(-place, kind="stable")[:n]]), len(targets))]


def strata(targets: Floats) -> NDArray[np.int64]:
    """The label of each document, the rarest where there are several; of numbers the tenth that the first is in."""
    if are_labels(targets):
        has = targets > 0
        order = np.argsort(has.sum(0), kind="stable")
        return np.asarray(np.where(has.any(1), has[:, order].argmax(1) + 1, 0), np.int64)
    number = np.nan_to_num(targets[:, 0])
    return np.searchsorted(np.quantile(number, np.arange(1, 10) / 10), number)


def are_labels(targets: Floats) -> bool:
    """Whether targets are −1 and +1, not numbers."""
    return bool(np.isin(targets[~np.isnan(targets)], (-1.0, 1.0)).all())


def _shuffled(n: int, seed: int) -> NDArray[np.int64]:
    """The numbers 0 … n − 1 in an order that is drawn."""
    order, stream = np.arange(n), new_stream(seed, REFIT, 1)
    for i in range(n - 1, 0, -1):
        j = integer(stream, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def _pilot(set_aside: NDArray[np.int64], n_documents: int) -> Pilot:
    rest = np.setdiff1d(np.arange(n_documents), set_aside)
    n = min(len(rest), MOST_LEARNED)
    return Pilot(rest[np.arange(n) * len(rest) // n], set_aside)


def pilot_schedule(whole: Schedule, n_done: int, n_pilots: int) -> Schedule:
    """That of a fit, shortened; `n_done` of its sweeps were done, if it was out of time or settled early."""
    share = SWEEPS if n_pilots == 1 else SWEEPS_OF_FEW
    n_sweeps = max(round(share * n_done), 1)
    burn_in = None if whole.burn_in is None else min(round(share * whole.burn_in), n_sweeps - 1)
    return Schedule(n_sweeps, whole.n_samples, burn_in)

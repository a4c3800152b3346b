"""How much the labels of documents count: what a user asks for, and what chains are given besides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.chain.responses.signs import Signs, SignWeights, Targets, TargetWeights
from topoi.estimators.labels import balance


class Weighed(NamedTuple):
    """Targets (documents, tasks), the weights that a user `asked` for, and those of the chains."""

    targets: Targets
    asked: TargetWeights
    of_chains: TargetWeights


def weigh(
    known: NDArray[np.float32], ordered: bool, unlabelled: NDArray[np.bool_], of_documents: NDArray[np.float64],
    positive_weight: float | None, rare: bool,
) -> Weighed:  # fmt: skip
    """Targets and weights of all documents, from those that are `known` and the weights of their documents.

    `rare`: chains give rare labels more weight. With many labels arrays of floats would be the largest of a fit.
    """
    targets, scale = known, of_documents.astype(np.float32)
    if unlabelled.any():
        targets = np.full((len(unlabelled), known.shape[1]), np.nan, np.float32)
        targets[~unlabelled] = known
        scale = np.ones(len(unlabelled), np.float32)
        scale[~unlabelled] = of_documents
    asked: TargetWeights = np.broadcast_to(scale[:, None], targets.shape)
    if ordered:  # one task
        return Weighed(targets, asked, np.array(asked))
    signs = Signs.of(targets)

    def times(of_labels: NDArray[np.float32]) -> SignWeights:
        return SignWeights(signs, scale, of_labels)

    if positive_weight is not None:
        asked = times(balance(targets, positive_weight))
        return Weighed(signs, asked, asked)
    return Weighed(signs, asked, times(balance(targets, None) if rare else np.ones(targets.shape[1], np.float32)))

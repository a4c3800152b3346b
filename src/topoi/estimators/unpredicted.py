"""Classes that a model never predicts: rare ones may be outvoted for every document, and accuracy hides it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.responses import LabelResponse, losses
from topoi.estimators.labels import Labels

CHUNK = 4096  # documents scored together
SHOWN = 5  # classes in the message


class NeverPredictedWarning(UserWarning):
    """`classes` are predicted for not one training document; `counts` are the numbers of documents that have them.

    `losses` are others that the user may try.
    """

    def __init__(
        self, classes: Sequence[Any], counts: Sequence[int], n_documents: int, losses: Sequence[str] = ()
    ) -> None:
        self.classes, self.counts, self.n_documents = list(classes), list(counts), n_documents
        self.losses = list(losses)
        some = [f"{label!r} (which {n:,} have)" for label, n in zip(classes, counts, strict=True)][:SHOWN]
        more = f" and {len(classes) - SHOWN:,} more" if len(classes) > SHOWN else ""
        try_losses = "".join(f'loss="{loss}" or ' for loss in losses)
        super().__init__(
            f"not one of the {n_documents:,} training documents is predicted to be {', or '.join(some)}{more}. If it "
            'matters, give rare classes more weight (class_weight="balanced" for two classes, a larger positive_weight '
            f"for more), or try {try_losses}more sweeps"
        )


def warn_of_unpredicted(
    classes: NDArray[Any], seen: NDArray[np.bool_], targets: NDArray[Any], loss: type[LabelResponse]
) -> None:
    """Warn of classes that some of the documents with these targets have, and that are `seen` for none."""
    counts = (targets == np.arange(len(classes)) if loss.ordered else targets > 0).sum(0)
    if len(counts) < len(classes):  # two classes in one task
        counts = np.append((targets < 0).sum(0), counts)
    if len(never := np.flatnonzero(~seen & (counts > 0))):
        others = [name for name, other in losses(LabelResponse).items() if name != loss.name and not other.joint]
        found = NeverPredictedWarning(classes[never].tolist(), counts[never].tolist(), len(targets), others)
        warnings.warn(found, stacklevel=3)


def predicted(parts: Sequence[tuple[NDArray[Any], NDArray[Any]]], labels: Labels) -> NDArray[np.bool_]:
    """Which classes are predicted for some document, from topic shares and weights of models side by side.

    Shares are those of the training documents as the chain left them, which have seen the labels: a class that is not
    predicted even so has no hope with new documents.
    """
    seen = np.zeros(len(labels.classes), bool)
    for first in range(0, len(parts[0][0]), CHUNK):
        rows = slice(first, first + CHUNK)
        scores = np.concatenate([shares[rows] @ weights.T for shares, weights in parts], axis=1)
        if labels.several:
            seen |= (scores > 0).any(0)
        else:
            seen[(scores[:, 0] > 0).astype(int) if labels.binary else scores.argmax(1)] = True
        if seen.all():
            break
    return seen

"""LDA that takes no time: what the tests of the estimator share."""

from __future__ import annotations

from topoi import LDA
from topoi.chain.samplers import SAMPLERS

ALL = ["auto", *sorted(SAMPLERS)]


def quick(**parameters):
    return LDA(**{"n_topics": 3, "n_sweeps": 10, "n_samples": 2, "random_state": 0, **parameters})


def fitted_bytes(lda, X):
    """Everything that a fit gives, as bytes."""
    return [array.tobytes() for array in (lda.components_, lda.doc_topic_, lda.log_joint_, lda.transform(X))]

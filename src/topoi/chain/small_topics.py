"""Topics without a place in a model: their tokens are counted with the topics that they are most like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.chain.counts.elsewhere import whole_logs
from topoi.chain.model import TopicModel
from topoi.chain.priors import Priors


def find_places(
    model: TopicModel, last: sparse.csr_array, priors: Priors
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The topics that have a place in the model that a run leaves, and the number that each topic has there.

    One without a place has the number of another: that under which its words are most probable. `last` are the counts
    of the last sweep, which need not be among the samples. Topics with pseudo-counts, which a user has named, always
    have a place.
    """
    n_k = np.rint(model.topic_counts).astype(np.int64)
    stays = priors.topics.places(n_k, int(n_k.sum()))
    if priors.words.pseudo_counts is not None:
        stays |= np.asarray(priors.words.pseudo_counts.sum(0)) > 0
    kept = np.flatnonzero(stays)
    number = np.zeros(len(stays), np.int64)
    number[kept] = np.arange(len(kept))
    if len(kept) == len(stays):
        return kept, number
    counts = (model.counts + last).tocsc()
    for k in np.flatnonzero(~stays):
        part = slice(counts.indptr[k], counts.indptr[k + 1])
        words, times = counts.indices[part], counts.data[part]
        logs = whole_logs(model.word_probabilities(words)[:, kept])
        number[k] = np.argmax(times.astype(np.int64) @ logs) if len(words) else 0
    return kept, number

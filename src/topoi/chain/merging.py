"""Topics that are alike, found while a chain burns in: where one would do, two become one.

A chain that finds the number of topics begins with more than enough. Several of them then share what is one topic, and
Gibbs sampling, which moves one token at a time, takes very long to empty all but one. So pairs of topics with similar
words are tried, each topic in one pair at most, and joined where that raises

    log p(words, topics | α, β),    α of the new topic being the sum of theirs

This is a step uphill, not one of a Markov chain: it belongs to the burn-in.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from topoi.chain.counts.spectra import Spectrum
from topoi.chain.model import join_columns
from topoi.chain.state import State

#: Pairs whose words are less alike than this (Bhattacharyya) are not tried.
LEAST_ALIKE = 0.1


class Holder(Protocol):
    """What is asked of whoever holds the topics: see `topoi.chain.engines.local.Engine`."""

    state: State

    def counts(self) -> sparse.csr_array:
        """Word–topic counts (V, K)."""

    def spectrum(self, number: NDArray[np.int64]) -> Spectrum:
        """How often each count n_dk occurs if topic k were part of topic number[k]."""


def find_joins(engine: Holder) -> NDArray[np.int64] | None:
    """New numbers of the topics, with those joined that are better one; None if all stay as they are.

    Empty topics beyond a reserve go. Topics with pseudo-counts, which a user has named, are neither joined nor moved.
    """
    state = engine.state
    counts, alpha, n = engine.counts(), state.alpha, state.n_topics
    given = state.priors.words.pseudo_counts
    named = np.zeros(n, np.bool_) if given is None else np.asarray(given.sum(0)) > 0
    n_k = np.asarray(counts.sum(0), np.int64)
    pairs = match(counts, (n_k > 0) & ~named)
    number = np.arange(n)
    number[pairs[:, 1]] = pairs[:, 0]
    if len(pairs):
        alone = of_documents(engine.spectrum(np.arange(n)), alpha) + of_words(counts, state.beta)
        joint_alpha = np.bincount(number, alpha, n).astype(np.float64)
        joint_counts = join_columns(counts, number, n)
        joint = of_documents(engine.spectrum(number), joint_alpha) + of_words(joint_counts, state.beta)
        a, b = pairs.T
        number[b[joint[a] <= alone[a] + alone[b]]] = b[joint[a] <= alone[a] + alone[b]]
    stays = (number == np.arange(n)) & ((n_k > 0) | named)
    empty = np.flatnonzero((n_k == 0) & ~named)
    stays[empty[: state.priors.topics.reserve(int(stays.sum()))]] = True
    if stays.all():
        return None
    place = np.cumsum(stays) - 1
    number[~stays & (n_k == 0)] = np.flatnonzero(stays)[-1]
    return place[number]


def match(counts: sparse.csr_array, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pairs (…, 2) of topics, the most alike first and each in one pair at most, among those that are free."""
    n_k = np.asarray(counts.sum(0), np.float64)
    root = counts.astype(np.float64).sqrt() @ sparse.diags_array(1 / np.sqrt(np.maximum(n_k, 1)))
    alike = (root.T @ root).toarray()
    a, b = np.triu_indices(counts.shape[1], 1)
    near = np.flatnonzero(free[a] & free[b] & (alike[a, b] >= LEAST_ALIKE))
    free, pairs = free.copy(), []
    for i in near[np.argsort(-alike[a[near], b[near]], kind="stable")].tolist():
        if free[a[i]] and free[b[i]]:
            free[a[i]] = free[b[i]] = False
            pairs.append((a[i], b[i]))
    return np.array(pairs, np.int64).reshape(-1, 2)


def of_documents(spectrum: Spectrum, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each topic's part of log p(topics | α): Σ_d log Γ(n_dk + α_k)/Γ(α_k)."""
    topic, size, times = spectrum
    rise = times * (gammaln(size + alpha[topic]) - gammaln(alpha[topic]))
    return np.bincount(topic, rise, len(alpha)).astype(np.float64)


def of_words(counts: sparse.csr_array, beta: float) -> NDArray[np.float64]:
    """Each topic's part of log p(words | topics, β)."""
    n_words, n_topics = counts.shape
    rise = gammaln(counts.data + beta) - gammaln(beta)
    n_k = np.asarray(counts.sum(0), np.float64)
    fall = gammaln(n_k + n_words * beta) - gammaln(n_words * beta)
    return np.asarray(np.bincount(counts.indices, rise, n_topics) - fall, np.float64)

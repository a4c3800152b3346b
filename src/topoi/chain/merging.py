"""Topics that are not needed, found while a chain burns in: those that are alike are joined, leftovers given up.

A chain that finds the number of topics begins with more than enough. Several of them then share what is one topic, and
Gibbs sampling, which moves one token at a time, takes very long to empty all but one. So pairs of topics with similar
words are tried, each topic in one pair at most. Two are joined where

    log p(words, topics | α, β),    α of the new topic being the sum of theirs,

rises by more than the surprise −Σ log q of their tokens. Here q is the probability that Gibbs sampling, if it had only
these two topics to choose from, would put a token where it is. Tokens of one topic can be where they are in one way
only, tokens of two in about exp(−Σ log q) ways that are as good, and the sum over all of these is what one topic has to
be compared with. (The acceptance of a split–merge step has the same term: the proposal that would divide the topic.)
Without it topics that predict words well are joined.

What then remains besides true topics are small ones that hold a few tokens of everything, and are like no other topic.
One of those is given up where its tokens, each at the best of its places in larger topics, would make the log
probability higher. (Their surprise is not asked for: with it some leftovers of simulated corpora stay, and real texts
are predicted no better.) They go to the topic under which their words are most probable, and the next sweep moves each
to where it belongs.

These are steps uphill, not those of a Markov chain: they belong to the burn-in.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from topoi._machine.arrays import PerWord
from topoi.chain.counts.elsewhere import ANY, NOTHING, STEP, WordRows, whole_logs, word_rows
from topoi.chain.counts.spectra import Spectrum
from topoi.chain.factors.base import beta_of, probabilities
from topoi.chain.model import join_columns
from topoi.chain.state import State

#: Pairs whose words are less alike than this (Bhattacharyya) are not tried.
LEAST_ALIKE = 0.1
#: The share of topics, the smallest ones, that may be given up at a time; the others take their tokens.
SMALLEST_SHARE = 1 / 3


class Holder(Protocol):
    """What is asked of whoever holds the topics: see `topoi.chain.engines.local.Engine`."""

    state: State

    def counts(self) -> sparse.csr_array:
        """Word–topic counts (V, K)."""

    def spectrum(self, number: NDArray[np.int64]) -> Spectrum:
        """How often each count n_dk occurs if topic k were part of topic number[k]."""

    def elsewhere(self, of: WordRows, rival: NDArray[np.int64]) -> NDArray[np.int64]:
        """Σ log weight of the rival, and Σ surprise, over the tokens of each topic (2, K), in steps of `STEP`."""


def find_joins(engine: Holder) -> NDArray[np.int64] | None:
    """New numbers of the topics, with those joined that are better one; None if all stay as they are.

    Empty topics beyond a reserve go. Topics with pseudo-counts, which a user has named, are neither joined nor moved;
    they are never empty, since the counts include those.
    """
    state = engine.state
    counts, alpha, n = engine.counts(), state.alpha, state.n_topics
    given = state.priors.words.pseudo_counts
    named = np.zeros(n, np.bool_) if given is None else np.asarray(given.sum(0)) > 0
    n_k = np.asarray(counts.sum(0), np.int64)
    free = (n_k > 0) & ~named
    number = np.arange(n)
    if free.any():
        alone = of_documents(engine.spectrum(number), alpha) + of_words(counts, state.beta, state.beta_sum)
        number = join_alike(engine, counts, free, alone)
        alike = (number != np.arange(n)) | np.isin(np.arange(n), number[number != np.arange(n)])
        number = give_up(engine, counts, free & ~alike, alone, number)
    stays = (number == np.arange(n)) & (n_k > 0)
    empty = np.flatnonzero(n_k == 0)
    stays[empty[: state.priors.topics.reserve(int(stays.sum()))]] = True
    if stays.all():
        return None
    place = np.cumsum(stays) - 1
    number[~stays & (n_k == 0)] = np.flatnonzero(stays)[-1]
    return place[number]


def join_alike(
    engine: Holder, counts: sparse.csr_array, free: NDArray[np.bool_], alone: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The topic that each becomes part of, or itself; `alone` is each one's part of the log probability now."""
    n, alpha = len(free), engine.state.alpha
    beta, beta_sum = engine.state.beta, engine.state.beta_sum
    number = np.arange(n)
    a, b = match(counts, free).T
    if not len(a):
        return number
    number[b] = a
    rival = np.full(n, NOTHING)
    rival[a], rival[b] = b, a
    surprise = engine.elsewhere(word_rows(counts, beta, beta_sum), rival)[1] * STEP
    joint_alpha = np.bincount(number, alpha, n).astype(np.float64)
    joined = join_columns(counts, number, n)
    joint = of_documents(engine.spectrum(number), joint_alpha) + of_words(joined, beta, beta_sum)
    apart = alone + surprise
    worse = b[joint[a] <= apart[a] + apart[b]]
    number[worse] = worse
    return number


def give_up(
    engine: Holder,
    counts: sparse.csr_array,
    free: NDArray[np.bool_],
    alone: NDArray[np.float64],
    number: NDArray[np.int64],
) -> NDArray[np.int64]:
    """`number`, with small topics that are free part of a larger one where their tokens would do better elsewhere."""
    n_k = np.asarray(counts.sum(0), np.int64)
    small = np.argsort(n_k, kind="stable")
    small = small[n_k[small] > 0]
    small = small[: int(SMALLEST_SHARE * len(small))]
    closed = np.zeros(len(free), np.bool_)
    closed[small[free[small]]] = True
    if not closed.any():
        return number
    of = word_rows(counts, engine.state.beta, engine.state.beta_sum)
    best = engine.elsewhere(of, np.where(closed, ANY, NOTHING))[0] * STEP
    gone = closed & (best > alone)
    number, columns = number.copy(), counts.tocsc()
    open_ = np.flatnonzero(~closed & (n_k > 0))
    for k in np.flatnonzero(gone):
        part = slice(columns.indptr[k], columns.indptr[k + 1])
        words = columns.indices[part]
        there = probabilities(
            counts[words][:, open_].toarray().astype(np.float64), beta_of(of.beta, words), of.inverse[open_]
        )
        number[k] = number[open_[np.argmax(columns.data[part].astype(np.int64) @ whole_logs(there))]]
    return number


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


def of_words(counts: sparse.csr_array, beta: PerWord, beta_sum: float) -> NDArray[np.float64]:
    """Each topic's part of log p(words | topics, β)."""
    if isinstance(beta, np.ndarray):
        beta = np.repeat(beta, np.diff(counts.indptr))
    rise = gammaln(counts.data + beta) - gammaln(beta)
    n_k = np.asarray(counts.sum(0), np.float64)
    fall = gammaln(n_k + beta_sum) - gammaln(beta_sum)
    return np.asarray(np.bincount(counts.indices, rise, counts.shape[1]) - fall, np.float64)

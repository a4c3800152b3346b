"""Coherence: do the top words of a topic occur together?

Every function takes `topics`, lists of words (most probable first), and documents to count in, and returns a number for
each topic; `top_columns` and `topic_names` give the topics of a fitted model. Words that the documents do not have are
left out; a topic with fewer than two words left is nan.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.evaluate.cooccurrence import Together, together_in_documents, together_in_windows
from topoi.evaluate.topics import Topics

EPSILON = 1e-12  # of Röder et al., in probabilities, so that words that are never together have a logarithm
NPMI_WINDOW = 10
V_WINDOW = 110


def u_mass(topics: Topics, X: Any, *, smoothing: float = 1.0) -> NDArray[np.float64]:
    """UMass: the mean over pairs of log (D(w, v) + smoothing)/D(v), where v is the more probable word of the two.

    D counts the documents of X that have the words. Mimno et al. (2011) take the sum over pairs, and 1 for the
    smoothing; the mean does not depend on the number of words. Gensim's smoothing is 1e-12 times the number of
    documents. At most log (1 + smoothing/D); higher is better.
    """
    if not smoothing > 0 or not np.isfinite(smoothing):
        raise ParameterError("smoothing", f"must be a positive number, not {smoothing!r}")
    together = together_in_documents(topics, X)

    def of_topic(counts: NDArray[np.float64]) -> float:
        later, earlier = np.tril_indices(len(counts), -1)
        return float(np.log((counts[later, earlier] + smoothing) / np.diag(counts)[earlier]).mean())

    return _each(topics, together, of_topic)


def npmi(topics: Topics, documents: Any, *, window: int | None = None, epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Normalised pointwise mutual information, the mean over pairs of log(p(w, v)/p(w)p(v)) / −log p(w, v).

    Without a window p is the share of documents, and `documents` is a `Corpus` or counts. With one it is the share of
    sliding windows, and `documents` are lists of tokens: with `window=10` this is C_NPMI of Röder, Both & Hinneburg
    (2015). Between −1 (never together) and 1 (never apart); `epsilon` is added to p(w, v), which is why words that are
    never together come out a little above −1; 0 gives −1 (Bouma 2009; Lau, Newman & Baldwin 2014).
    """
    _check_epsilon(epsilon)
    together = (
        together_in_documents(topics, documents) if window is None else together_in_windows(topics, documents, window)
    )

    def of_topic(counts: NDArray[np.float64]) -> float:
        pairs = np.tril_indices(len(counts), -1)
        return float(_npmi(counts, together.n, epsilon)[pairs].mean())

    return _each(topics, together, of_topic)


def c_v(
    topics: Topics, documents: Iterable[Iterable[str]], *, window: int = V_WINDOW, epsilon: float = EPSILON
) -> NDArray[np.float64]:
    """C_V of Röder, Both & Hinneburg (2015): how alike the words of a topic are in the company they keep.

    A word is the vector of its NPMI with all words of the topic, itself included, in sliding windows of 110 tokens; the
    topic is the sum of its words; C_V is the mean cosine of word and topic. `documents` are lists of tokens in the
    order of the text.
    """
    _check_epsilon(epsilon)
    together = together_in_windows(topics, documents, window)

    def of_topic(counts: NDArray[np.float64]) -> float:
        vectors = _npmi(counts, together.n, epsilon)
        whole = vectors.sum(0)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
        return float((vectors @ whole / np.maximum(lengths, np.finfo(float).tiny)).mean())

    return _each(topics, together, of_topic)


def mean_coherence(values: NDArray[np.float64]) -> float:
    """The mean over the topics that have a value; nan if none has."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _each(topics: Topics, together: Together, of_topic: Any) -> NDArray[np.float64]:
    found = [together.of_topic(topic) for topic in topics]
    return np.array([of_topic(counts) if len(counts) > 1 else np.nan for counts in found], np.float64)


def _npmi(counts: NDArray[np.float64], n: int, epsilon: float) -> NDArray[np.float64]:
    """NPMI of every two words (words, words)."""
    p = np.diag(counts) / n
    both = counts / n
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log((both + epsilon) / np.outer(p, p)) / -np.log(both + epsilon)
    if epsilon == 0:
        value[both == 0] = -1.0
    value[both == 1] = 1.0  # 0/0: two words that are everywhere, the limit of two that are never apart
    return value


def _check_epsilon(epsilon: float) -> None:
    if not 0 <= epsilon < 1:
        raise ParameterError("epsilon", f"must be a number from 0 to 1, not {epsilon!r}")

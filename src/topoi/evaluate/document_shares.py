"""Topic shares of documents without the prior's part in them, a piece of the corpus at a time.

The shares that `transform` gives, θ̂_dk = (n_dk + α_k) / (N_d + A) with A = Σ α, are drawn towards the prior: a third
of the way for 100 words and A = 50, which is the default for 1,000 topics. The mean of a group of documents would be
as far off, however many there are. So the prior is taken out again: n_dk / N_d.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError
from topoi.estimators.fitted import Fitted, check_fitted

#: Numbers that a piece has.
PIECE = 2**22


class Piece(NamedTuple):
    """Some documents: which they are, their topic shares (documents, K), and how many tokens each has."""

    rows: NDArray[np.int64]
    shares: NDArray[np.float64]
    lengths: NDArray[np.float64]


def pieces(model: Any, X: Any, n_documents: int) -> Iterator[Piece]:
    """Documents with at least one token, in pieces; those of the fit where X is None.

    Lengths of documents of the fit are not known any more; all count as having the mean length.
    """
    estimator = check_fitted(model)
    return _of_fit(model, estimator, n_documents) if X is None else _of_corpus(estimator, X, n_documents)


def _of_corpus(estimator: Fitted, X: Any, n_documents: int) -> Iterator[Piece]:
    corpus = estimator.as_corpus(X)
    if corpus.n_documents != n_documents:
        raise _other_number(n_documents, f"there are {corpus.n_documents} documents")
    models = estimator.topic_models_
    size = max(PIECE // sum(one.n_topics for one in models), 1)
    filled = np.flatnonzero(corpus.doc_lengths > 0)
    for first in range(0, len(filled), size):
        rows = filled[first : first + size]
        some = corpus.take(rows)
        lengths = some.doc_lengths.astype(np.float64)
        shares = np.asarray(estimator.transform(some), np.float64)
        start = 0
        for one in models:
            alpha = one.priors.topics.alpha_of(some).by_document()
            _take_out(shares[:, start : start + one.n_topics], alpha, lengths[:, None])
            start += one.n_topics
        yield Piece(rows, np.maximum(shares, 0.0, out=shares), lengths)


def _of_fit(model: Any, estimator: Fitted, n_documents: int) -> Iterator[Piece]:
    theta = getattr(model, "doc_topic_", None)
    if theta is None or len(estimator.topic_models_) > 1:
        raise ParameterError("documents", "are needed: the model does not have the topics of its documents with it")
    if len(theta) != n_documents:
        raise _other_number(n_documents, f"the model was fitted on {len(theta)} documents; give others as documents")
    (one,) = estimator.topic_models_
    size = max(PIECE // one.n_topics, 1)
    mean_length = max(float(one.topic_counts.sum()) / len(theta), 1.0)
    for first in range(0, len(theta), size):
        shares = np.array(theta[first : first + size], np.float64)
        if not one.priors.topics.per_document:  # else α of documents of the fit is not known any more
            _take_out(shares, one.alpha, mean_length)  # below 0 in a short document, which is right in the mean
        yield Piece(np.arange(first, first + len(shares)), shares, np.full(len(shares), mean_length))


def _take_out(shares: NDArray[np.float64], alpha: NDArray[np.float64], lengths: Any) -> None:
    """Make θ̂ into n/N, in place."""
    shares *= lengths + alpha.sum(-1, keepdims=True)
    shares -= alpha
    shares /= lengths


def _other_number(n_given: int, what: str) -> ParameterError:
    return ParameterError("groups", f"has {n_given} values, but {what}")

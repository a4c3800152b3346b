"""Priors that give documents an α of their own, some of it 0, for tests of whatever takes one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topoi.chain.priors import DocumentAlpha, Priors, TopicPrior, fixed_priors

#: Of six topics: all, half of them, few of them (which kernels walk), one.
ROWS = np.array(
    [
        [0.05, 0.1, 0.2, 0.3, 0.4, 0.35],
        [0.4, 0.0, 0.3, 0.0, 0.05, 0.0],
        [0.0, 0.6, 0.0, 0.0, 0.0, 0.2],
        [0.3, 0.05, 0.4, 0.2, 0.1, 0.15],
        [0.0, 0.0, 0.0, 0.5, 0.0, 0.0],
    ]
)


@dataclass(frozen=True, eq=False)
class ByPlace(TopicPrior):
    """α by the place of a document in its corpus."""

    rows: np.ndarray

    name = "by place"
    per_document = True

    def alpha_of(self, corpus):
        return DocumentAlpha(self.rows, np.arange(corpus.n_documents))


@dataclass(frozen=True, eq=False)
class ByLength(TopicPrior):
    """α by the length of a document, which is the same wherever the document is."""

    name = "by length"
    word = "length"
    per_document = True

    @classmethod
    def from_value(cls, value, n_topics, corpus):
        return cls(ROWS.mean(0)) if isinstance(value, str) and value == cls.word else None

    def alpha_of(self, corpus):
        return DocumentAlpha(ROWS, corpus.doc_lengths % len(ROWS))


def priors_by_length(beta, pseudo_counts=None):
    """Priors of six topics with α by length."""
    words = fixed_priors([1.0], beta, pseudo_counts).words
    return Priors(ByLength(ROWS.mean(0)), words)


def priors_of(alpha, beta, pseudo_counts=None):
    """Priors with α the same for all documents (K), or with a row for each (D, K)."""
    alpha = np.asarray(alpha, float)
    if alpha.ndim == 1:
        return fixed_priors(alpha, beta, pseudo_counts)
    return Priors(ByPlace(np.maximum(alpha.mean(0), 0.1), alpha), fixed_priors([1.0], beta, pseudo_counts).words)


def all_allowed(state):
    """Whether no token has a topic that its document cannot have."""
    rows = state.priors.topics.alpha_of(state.corpus).by_document()
    documents = np.repeat(np.arange(state.corpus.n_documents), state.corpus.doc_lengths)
    return (np.broadcast_to(rows, (state.corpus.n_documents, rows.shape[1]))[documents, state.z] > 0).all()

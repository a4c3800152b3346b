"""All priors, of topics and of words. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from topoi._registry import Registry
from topoi.chain.priors.base import DocumentAlpha, Prior, Priors, TopicPrior, WordPrior
from topoi.chain.priors.fixed_alpha import FixedAlpha
from topoi.chain.priors.fixed_beta import FixedBeta
from topoi.chain.priors.positive import refused
from topoi.corpus import Corpus

P = TypeVar("P", bound=Prior)

# Asked in this order whether they are meant by what a user gives.
TOPIC_PRIORS: Registry[type[TopicPrior]] = Registry(
    __name__,
    {
        "fixed": "fixed_alpha:FixedAlpha",
        "learned": "learned_alpha:LearnedAlpha",
    },
)

WORD_PRIORS: Registry[type[WordPrior]] = Registry(
    __name__,
    {
        "fixed": "fixed_beta:FixedBeta",
        "learned": "learned_beta:LearnedBeta",
    },
)


def resolve_priors(doc_topic_prior: Any, topic_word_prior: Any, n_topics: int, corpus: Corpus) -> Priors:
    """The priors that a user means by these values of the parameters of an estimator."""
    return Priors(
        _resolve(TOPIC_PRIORS, doc_topic_prior, n_topics, corpus),
        _resolve(WORD_PRIORS, topic_word_prior, n_topics, corpus),
    )


def _resolve(members: Mapping[str, type[P]], value: Any, n_topics: int, corpus: Corpus) -> P:
    for kind in members.values():
        if (prior := kind.from_value(value, n_topics, corpus)) is not None:
            return prior
    accepted = [text for kind in members.values() for text in kind.accepts]
    *choices, last = accepted + [f'"{word}"' for word in words_of(members)]
    parameter = next(iter(members.values())).parameter
    raise refused(parameter, np.array(value, dtype=object).tolist(), "", f"{', '.join(choices)} or {last}")


def words_of(members: Mapping[str, type[Prior]]) -> list[str]:
    """The words that ask for the members of an axis."""
    return [kind.word for kind in members.values() if kind.word]


def fixed_priors(alpha: ArrayLike, beta: float, pseudo_counts: ArrayLike | None = None) -> Priors:
    """Priors that stay as they are: α of every topic, β, and pseudo-counts (V, K) of words."""
    counts = None if pseudo_counts is None else sparse.csr_array(np.asarray(pseudo_counts).astype(np.int64))
    return Priors(FixedAlpha(np.asarray(alpha, np.float64)), FixedBeta(float(beta), pseudo_counts=counts))


__all__ = [
    "TOPIC_PRIORS",
    "WORD_PRIORS",
    "DocumentAlpha",
    "FixedAlpha",
    "FixedBeta",
    "Priors",
    "TopicPrior",
    "WordPrior",
    "fixed_priors",
    "resolve_priors",
    "words_of",
]

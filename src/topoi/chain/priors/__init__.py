"""All priors, of topics and of words. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from topoi._machine.arrays import PerWord
from topoi._registry import Registry
from topoi.chain.alpha import AlphaRows, DocumentAlpha
from topoi.chain.priors.base import Prior, Priors, TopicPrior, WordPrior
from topoi.chain.priors.fixed_alpha import FixedAlpha
from topoi.chain.priors.fixed_beta import FixedBeta
from topoi.chain.priors.fixed_beta_of_words import FixedBetaOfWords
from topoi.chain.priors.positive import refused
from topoi.chain.priors.seeds import Seeds
from topoi.corpus import Corpus
from topoi.errors import ParameterError

P = TypeVar("P", bound=Prior)

# Asked in this order whether they are meant by what a user gives.
TOPIC_PRIORS: Registry[type[TopicPrior]] = Registry(
    __name__,
    {
        # Before all that go by the value alone: these go by what is known of the documents.
        "allowed": "allowed:Allowed",
        "prevalence": "prevalence:Prevalence",
        "fixed": "fixed_alpha:FixedAlpha",
        "learned": "learned_alpha:LearnedAlpha",
        "hdp": "hdp:HDP",
    },
)

WORD_PRIORS: Registry[type[WordPrior]] = Registry(
    __name__,
    {
        "fixed": "fixed_beta:FixedBeta",
        "learned": "learned_beta:LearnedBeta",
        "fixed_of_words": "fixed_beta_of_words:FixedBetaOfWords",
        "learned_of_words": "learned_beta_of_words:LearnedBetaOfWords",
    },
)


def resolve_priors(
    doc_topic_prior: Any, topic_word_prior: Any, n_topics: int, corpus: Corpus, seeds: Seeds | None = None
) -> Priors:
    """The priors that a user means by these values of the parameters of an estimator, and by tables about documents."""
    if len(corpus.about) > 1:
        tables = [kind.about for kind in TOPIC_PRIORS.values() if kind.about in corpus.about]
        if len(tables) > 1:
            what = f"one prior says how much of each topic a document may have, but {' and '.join(tables)} were given"
            raise ParameterError(TopicPrior.parameter, f"{what}; give one of them")
    priors = Priors(
        _resolve(TOPIC_PRIORS, doc_topic_prior, n_topics, corpus),
        _resolve(WORD_PRIORS, topic_word_prior, n_topics, corpus),
    )
    return priors if seeds is None else priors.seeded(seeds, corpus)


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


def fixed_priors(alpha: ArrayLike, beta: PerWord, pseudo_counts: ArrayLike | None = None) -> Priors:
    """Priors that stay as they are: α of every topic, β (or one for each word), and pseudo-counts (V, K) of words."""
    counts = None if pseudo_counts is None else sparse.csr_array(np.asarray(pseudo_counts).astype(np.int64))
    words: WordPrior = FixedBeta(float(beta)) if np.ndim(beta) == 0 else FixedBetaOfWords.of(np.asarray(beta))
    return Priors(FixedAlpha(np.asarray(alpha, np.float64)), replace(words, pseudo_counts=counts))


__all__ = [
    "TOPIC_PRIORS",
    "WORD_PRIORS",
    "AlphaRows",
    "DocumentAlpha",
    "FixedAlpha",
    "FixedBeta",
    "Priors",
    "Seeds",
    "TopicPrior",
    "WordPrior",
    "fixed_priors",
    "resolve_priors",
    "words_of",
]

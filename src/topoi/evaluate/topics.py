"""Topics by themselves: their top words, how much those overlap, and how exclusive they are.

Everything here takes what `fit` leaves, an estimator, or a `TopicModel` that was loaded from a file. A classifier with
several models has their topics side by side, as in its `components_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.model import TopicModel, check_whole
from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError
from topoi.estimators.fitted import check_fitted

Topics = Sequence[Sequence[Any]]


def models_of(fitted: Any) -> list[TopicModel]:
    """The topic models of a fitted estimator, one unless classes have their own; a `TopicModel` is its own."""
    if isinstance(fitted, TopicModel):
        return [fitted]
    return check_fitted(fitted).topic_models_


def one_model(fitted: Any, what: str) -> TopicModel:
    """The one topic model of an estimator; several do not have `what` in common."""
    models = models_of(fitted)
    if len(models) > 1:
        raise ParameterError(
            "estimator", f"has {len(models)} topic models, so there is no one {what}; use estimators_[i] for each"
        )
    return models[0]


def corpus_of(fitted: Any, X: Any) -> Corpus:
    """X as a corpus of the words that the model has."""
    models = models_of(fitted)
    if not isinstance(fitted, TopicModel):
        return check_fitted(fitted).as_corpus(X)
    corpus = X.in_memory if isinstance(X, Corpus) else Corpus.from_counts(X, allow_empty=True)
    if corpus.n_words != models[0].n_words:
        raise CorpusError(f"X has {corpus.n_words} words, but the model was fitted on {models[0].n_words}.")
    return corpus


def known_of(fitted: Any, X: Any, covariates: Any, topic_labels: Any) -> Corpus:
    """X as a corpus that has with it what is known of the documents, if the topics of the model depend on it."""
    corpus = corpus_of(fitted, X)
    for name, given in (("covariates", covariates), ("topic_labels", topic_labels)):
        if given is not None and isinstance(fitted, TopicModel):
            raise ParameterError(name, "are those of an estimator; a TopicModel does not know them. Give the estimator")
    if topic_labels is not None:
        corpus = fitted.with_topic_labels(corpus, topic_labels)
    return corpus if covariates is None else fitted.with_prevalence(corpus, covariates)


def top_columns(fitted: Any, n_words: int = 10, order: str = "telling") -> list[list[int]]:
    """Columns of `n_words` words of every topic, in the order of `top_words`: the most telling first.

    With ``order="probability"`` they are the most probable ones, as measures of topics take them (`evaluate`). A topic
    of which fewer words have a count has fewer; a topic without tokens has none.
    """
    check_whole("n_words", n_words)
    return [columns for model in models_of(fitted) for columns in model.top_columns(n_words, order)]


def topic_names(fitted: Any, n_words: int = 10, order: str = "telling") -> list[list[str]]:
    """The words of `top_columns`, as text; the model must know its vocabulary."""
    vocabulary = models_of(fitted)[0].vocabulary
    if vocabulary is None:
        raise ParameterError(
            "estimator",
            "knows no words, only columns; fit it on a Corpus with a vocabulary, or on a data frame",
        )
    return [[str(vocabulary[w]) for w in topic] for topic in top_columns(fitted, n_words, order)]


def topic_shares(fitted: Any) -> NDArray[np.float64]:
    """Share of the training tokens that each topic has; sums to 1 over the topics of a model."""
    return np.concatenate([model.topic_shares for model in models_of(fitted)])


def diversity(fitted: Any, n_words: int = 25) -> float:
    """Share of different words among the most probable words of all topics: 1 if no two topics share one.

    Dieng, Ruiz & Blei (2020), "Topic modeling in embedding spaces", who take 25 words. Topics without tokens have no
    words and do not count; nan if there are no words at all.
    """
    words = [w for topic in top_columns(fitted, n_words, "probability") for w in topic]
    return len(set(words)) / len(words) if words else float("nan")


def exclusivity(fitted: Any, n_words: int = 10) -> NDArray[np.float64]:
    """Of each topic, the mean over its most probable words of φ_kw / Σ_j φ_jw: 1 if no other topic ever uses them.

    Bischof & Airoldi (2012), "Summarizing topical content with word frequency and exclusivity"; averaged over the top
    words as in MALLET's topic diagnostics. nan for a topic without tokens.
    """
    tops = top_columns(fitted, n_words, "probability")
    used = np.unique([w for topic in tops for w in topic]).astype(np.int64)
    if len(used) == 0:
        return np.full(len(tops), np.nan)
    # Only the words that are some topic's top words: V×K may be large.
    phi = np.concatenate([model.word_probabilities(used) for model in models_of(fitted)], axis=1)
    share = phi / phi.sum(1, keepdims=True)
    return np.array(
        [share[np.searchsorted(used, topic), k].mean() if topic else np.nan for k, topic in enumerate(tops)]
    )

"""Why a document scores as it does: what topics, words by themselves and covariates add to its score.

The parts of a score add up to it, and so do the parts of a part: topics to that of topics, and words through the topics
that they are in to the same number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.model import TopicModel
from topoi.corpus import Corpus, Ngrams
from topoi.predict.fold_in import FoldIn
from topoi.predict.refit import Head, ScoreParts
from topoi.predict.scores import Chain, mean_shares

#: The parts of a score, in the order in which they are shown.
PARTS = ("base", "topics", "words", "covariates")


@dataclass(frozen=True)
class Reason:
    """Why a document scores as it does for one label: what speaks for and against it, strongest first.

    `parts` add up to the score: "topics", "words" (by themselves), "covariates", and "base", the score of a document of
    which nothing is known. `topics` and `words` divide the part of the topics in two ways: by topics, and by the words
    that are in them. `own_words` divide the part of the words by themselves, n-grams among them, `covariates` that of
    the covariates.
    """

    label: Any
    score: float
    topics: list[tuple[int, float, list[str]]]  # topic, contribution, its top words
    words: list[tuple[str, float]]
    own_words: list[tuple[str, float]] = field(default_factory=list)
    covariates: list[tuple[str, float]] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)


def strongest(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """The numbers of the n values that are furthest from 0, furthest first; none that is 0."""
    order: NDArray[np.int64] = np.argsort(-np.abs(values), kind="stable")[:n]
    return np.asarray(order[values[order] != 0])


def through_topics(
    model: TopicModel, words: NDArray[Any], counts: NDArray[Any], theta: NDArray[Any]
) -> NDArray[np.float64]:
    """Share (words, topics) that each word of a document has in each of its topics; columns sum to 1."""
    p = model.word_probabilities(words) * theta
    p = p / p.sum(1, keepdims=True) * counts[:, None]
    share: NDArray[np.float64] = p / np.maximum(p.sum(0, keepdims=True), np.finfo(float).tiny)
    return share


@dataclass(frozen=True)
class Beside:
    """Covariates as they are shown: their names, their standard form in the documents, and weights (names, tasks)."""

    names: list[str]
    standard: sparse.csr_array
    weights: NDArray[np.float64]


def reasons(
    chain: Chain, labels: Any, corpus: Corpus, scale: float, fold_in: FoldIn, n_topics: int, n_words: int,
    first_topic: int = 0, beside: Beside | None = None,
) -> list[list[Reason]]:  # fmt: skip
    """For every document and label: contributions z̄_k η_kl of topics, and of words through the topics they are in.

    A word's part is its share of the tokens times Σ_k p(k | word, document) η_kl. Topics are numbered from
    `first_topic` on.
    """
    model = chain.model
    pool = Pool(1)
    eta = chain.weights.mean(0).astype(np.float64) / scale
    shares = mean_shares(model, corpus, fold_in, pool)
    theta = fold_in(model, corpus, pool)
    top = model.top_words(6)
    out = []
    for d in range(corpus.n_documents):
        words, counts = np.unique(corpus.document(d), return_counts=True)
        p = model.word_probabilities(words) * theta[d]
        p = p / p.sum(1, keepdims=True)
        per_word = (p @ eta.T) * (counts / max(counts.sum(), 1))[:, None]
        known = np.zeros(0) if beside is None else beside.standard[[d]].toarray()[0].astype(np.float64)
        document = []
        for task, label in enumerate(labels):
            per_topic = shares[d] * eta[task]
            best = np.argsort(-np.abs(per_topic), kind="stable")[:n_topics]
            most = np.argsort(-np.abs(per_word[:, task]), kind="stable")[:n_words]
            of_beside = known if beside is None else known * beside.weights[:, task]
            total = {"topics": float(per_topic.sum())}
            if beside is not None:
                total["covariates"] = float(of_beside.sum())
            document.append(
                Reason(
                    label,
                    sum(total.values()),
                    [(first_topic + int(k), float(per_topic[k]), top[k]) for k in best],
                    [(model.word(words[j]), float(per_word[j, task])) for j in most],
                    covariates=_of_covariates(beside, of_beside, n_words),
                    parts=total,
                )
            )
        out.append(document)
    return out


def _of_covariates(beside: Beside | None, values: NDArray[np.float64], n: int) -> list[tuple[str, float]]:
    """The covariates that add most, with what they add."""
    return [] if beside is None else [(beside.names[j], float(values[j])) for j in strongest(values, n)]


@dataclass(frozen=True)
class Shown:
    """The chains whose topics are shown: of each its model, the number of its first topic, and its column in √θ.

    Of several chains of a model one is shown, the best; what the topics of the others add is shown as one.
    """

    model: TopicModel
    first_topic: int
    chain: int  # among the chains of all models
    column: int


def head_reasons(
    head: Head, slope: NDArray[Any], base: NDArray[Any], labels: list[Any], corpus: Corpus, parts: ScoreParts,
    thetas: list[NDArray[Any]], shown: list[Shown], beside: Beside | None, n_topics: int, n_words: int,
    ngrams: Ngrams | None = None,
) -> list[list[Reason]]:  # fmt: skip
    """For every document and label, why it scores slope · f + base as the head has it."""
    own = head.words_of(parts) if head.words.size else parts.bag
    name = shown[0].model.word

    def own_name(column: int) -> str:
        return name(column) if ngrams is None or column < corpus.n_words else str(ngrams.names[column - corpus.n_words])

    top = [one.model.top_words(6) for one in shown]
    columns = [slice(one.column, one.column + one.model.n_topics) for one in shown]
    visible = np.zeros(parts.roots.shape[1], bool)
    for column in columns:
        visible[column] = True
    out = []
    for d in range(corpus.n_documents):
        words, counts = np.unique(corpus.document(d), return_counts=True)
        shares = [through_topics(one.model, words, counts, thetas[one.chain][d]) for one in shown]
        row = slice(own.indptr[d], own.indptr[d + 1])
        own_words, values = own.indices[row], own.data[row].astype(np.float64)
        known = np.zeros(0) if beside is None else beside.standard[[d]].toarray()[0].astype(np.float64)
        document = []
        for task, label in enumerate(labels):
            of_topics = slope[task] * parts.roots[d].astype(np.float64) * head.topics[:, task]
            hidden = float(of_topics[~visible].sum())
            listed, of_words = [], np.zeros(len(words))
            for one, column, share, best in zip(shown, columns, shares, top, strict=True):
                listed += [(one.first_topic + k, float(of_topics[column][k]), best[k]) for k in
                           strongest(of_topics[column], n_topics).tolist()]  # fmt: skip
                of_words += share @ of_topics[column]
            listed.sort(key=lambda entry: -abs(entry[1]))
            by_themselves = slope[task] * values * head.words[own_words, task] if head.words.size else np.zeros(0)
            of_covariates = known if beside is None else slope[task] * known * beside.weights[:, task]
            total = {
                "base": float(base[task] + slope[task] * head.constant[task]) + hidden,
                "topics": float(of_topics[visible].sum()),
                "words": float(by_themselves.sum()),
                "covariates": float(of_covariates.sum()),
            }
            document.append(
                Reason(
                    label,
                    sum(total.values()),
                    listed[:n_topics],
                    [(name(words[j]), float(of_words[j])) for j in strongest(of_words, n_words)],
                    [(own_name(int(own_words[j])), float(by_themselves[j])) for j in strongest(by_themselves, n_words)],
                    _of_covariates(beside, of_covariates, n_words),
                    total,
                )
            )
        out.append(document)
    return out

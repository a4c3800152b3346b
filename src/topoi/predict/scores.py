"""From topic shares and weights to scores, votes and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.model import TopicModel
from topoi.chain.responses import NumberResponse
from topoi.corpus import Corpus
from topoi.predict.fold_in import FoldIn


@dataclass
class Chain:
    """What a supervised chain leaves: topics, and the weights (samples, tasks, K) of its kept samples.

    `beside` has what else the samples hold, by name (samples, tasks, …): see `Supervision.beside`.
    """

    model: TopicModel
    weights: NDArray[np.float32]
    beside: dict[str, NDArray[Any]] = field(default_factory=dict)


def mean_shares(model: TopicModel, corpus: Corpus, fold_in: FoldIn, pool: Pool) -> NDArray[np.float64]:
    """Average z̄ (documents, K), the shares that scores are made of: counts without the prior.

    An empty document has no counts; it gets the prior's mean, as in `infer`.
    """
    theta = fold_in(model, corpus, pool)
    n = corpus.doc_lengths[:, None].astype(np.float64)
    alpha = model.priors.topics.alpha_of(corpus).by_document()
    shares = (theta * (n + alpha.sum(1, keepdims=True)) - alpha) / np.maximum(n, 1.0)
    return np.where(n > 0, np.maximum(shares, 0.0), theta)


def sample_scores(chains: list[Chain], corpus: Corpus, fold_in: FoldIn, pool: Pool) -> NDArray[np.float64]:
    """Scores f (samples of all chains, documents, tasks)."""
    parts = []
    for chain in chains:
        shares = mean_shares(chain.model, corpus, fold_in, pool)
        parts.append(np.einsum("dk,slk->sdl", shares, chain.weights.astype(np.float64), optimize=True))
    return np.concatenate(parts)


def sample_own(chains: list[Chain]) -> NDArray[np.float64] | None:
    """Parameters of the loss of its own (samples of all chains, tasks, …); None if it has none."""
    return np.concatenate([chain.beside["own"] for chain in chains]) if "own" in chains[0].beside else None


def score_draws(
    chains: list[Chain], corpus: Corpus, n_draws: int, seed: int, pool: Pool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Scores (draws, documents, tasks), of one draw of a document's topics with the weights of one sample each.

    Their spread is what is not known of a score: topics, weights, and which chain is right. The samples of all chains
    are gone through evenly. Also the parameters of the loss (draws, tasks, …) in these samples.
    """
    samples = [(chain.model, weights) for chain in chains for weights in chain.weights]
    own = sample_own(chains)
    out = np.empty((n_draws, corpus.n_documents, samples[0][1].shape[0]))
    numbers = [draw * len(samples) // n_draws for draw in range(n_draws)]
    for draw, number in enumerate(numbers):
        model, weights = samples[number]
        # Of two sweeps `infer` averages over the second alone: a draw, not a mean. Every draw has a seed of its own.
        out[draw] = mean_shares(model, corpus, FoldIn(2, seed + 1 + draw), pool) @ weights.T.astype(np.float64)
    return out, None if own is None else own[numbers]


def target_draws(
    chains: list[Chain], response: NumberResponse, corpus: Corpus, n_draws: int, seed: int, pool: Pool
) -> NDArray[np.float64]:
    """Expected targets (draws, documents, tasks) of `score_draws`."""
    scores, own = score_draws(chains, corpus, n_draws, seed, pool)
    return response.link(scores, own)


@dataclass(frozen=True)
class Reason:
    """Why a document scores as it does for one label: topics and words, strongest first, with their contributions."""

    label: Any
    score: float
    topics: list[tuple[int, float, list[str]]]  # topic, contribution, its top words
    words: list[tuple[str, float]]


def reasons(
    chain: Chain,
    labels: Any,
    corpus: Corpus,
    scale: float,
    fold_in: FoldIn,
    n_topics: int,
    n_words: int,
    first_topic: int = 0,
) -> list[list[Reason]]:
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
        document = []
        for task, label in enumerate(labels):
            per_topic = shares[d] * eta[task]
            best = np.argsort(-np.abs(per_topic), kind="stable")[:n_topics]
            strongest = np.argsort(-np.abs(per_word[:, task]), kind="stable")[:n_words]
            document.append(
                Reason(
                    label,
                    float(per_topic.sum()),
                    [(first_topic + int(k), float(per_topic[k]), top[k]) for k in best],
                    [(model.word(words[j]), float(per_word[j, task])) for j in strongest],
                )
            )
        out.append(document)
    return out

"""From topic shares and weights to scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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


def sample_scores(
    chains: list[Chain], corpus: Corpus, fold_in: FoldIn, pool: Pool, columns: sparse.csr_array | None = None
) -> NDArray[np.float64]:
    """Scores f (samples of all chains, documents, tasks); `columns` are the covariates of chains that have some."""
    parts = []
    for chain in chains:
        shares = mean_shares(chain.model, corpus, fold_in, pool)
        part = np.einsum("dk,slk->sdl", shares, chain.weights.astype(np.float64), optimize=True)
        if columns is not None:
            part += np.stack([columns @ weights.T.astype(np.float64) for weights in chain.beside["columns"]])
        parts.append(part)
    return np.concatenate(parts)


def sample_own(chains: list[Chain]) -> NDArray[np.float64] | None:
    """Parameters of the loss of its own (samples of all chains, tasks, …); None if it has none."""
    return np.concatenate([chain.beside["own"] for chain in chains]) if "own" in chains[0].beside else None


def score_draws(
    chains: list[Chain], corpus: Corpus, n_draws: int, seed: int, pool: Pool, columns: sparse.csr_array | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Scores (draws, documents, tasks), of one draw of a document's topics with the weights of one sample each.

    Their spread is what is not known of a score: topics, weights, and which chain is right. The samples of all chains
    are gone through evenly. `columns` are the covariates of chains that have some. Also the parameters of the loss
    (draws, tasks, …) in these samples.
    """
    samples = [(chain.model, weights) for chain in chains for weights in chain.weights]
    beside = [] if columns is None else [weights for chain in chains for weights in chain.beside["columns"]]
    own = sample_own(chains)
    out = np.empty((n_draws, corpus.n_documents, samples[0][1].shape[0]))
    numbers = [draw * len(samples) // n_draws for draw in range(n_draws)]
    for draw, number in enumerate(numbers):
        model, weights = samples[number]
        # Of two sweeps `infer` averages over the second alone: a draw, not a mean. Every draw has a seed of its own.
        out[draw] = mean_shares(model, corpus, FoldIn(2, seed + 1 + draw), pool) @ weights.T.astype(np.float64)
        if columns is not None:
            out[draw] += columns @ beside[number].T.astype(np.float64)
    return out, None if own is None else own[numbers]


def target_draws(
    chains: list[Chain], response: NumberResponse, corpus: Corpus, n_draws: int, seed: int, pool: Pool
) -> NDArray[np.float64]:
    """Expected targets (draws, documents, tasks) of `score_draws`."""
    scores, own = score_draws(chains, corpus, n_draws, seed, pool)
    return response.link(scores, own)

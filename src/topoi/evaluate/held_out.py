"""How probable new documents are: by completing them, and by reading them from left to right."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain import diagnostics
from topoi.chain.model import check_whole
from topoi.evaluate._particles import log_documents
from topoi.evaluate.topics import known_of, one_model


@dataclass(frozen=True)
class HeldOut:
    """Log-likelihood per token of held-out words, its perplexity exp(−log-likelihood), and of how many tokens."""

    log_likelihood: float
    perplexity: float
    n_scored: int

    def as_dict(self) -> dict[str, float]:
        """The three numbers by their names."""
        return asdict(self)


def document_completion(
    fitted: Any,
    X: Any,
    *,
    n_steps: int = 30,
    seed: int = 0,
    n_jobs: int | None = None,
    covariates: Any = None,
    topic_labels: Any = None,
) -> HeldOut:
    """How well one half of the tokens of every document foretells the other half.

    θ is found from one half by `n_steps` steps of EM, φ fixed; the other half has the log-likelihood
    Σ log Σ_k θ_k φ_kw. The halves depend on `seed` and on the number of the document alone, so that models are compared
    on the same ones. Of an odd number of tokens the larger half is scored; so is the only token of a document, with
    θ from the prior. nan if there is no token. (Wallach et al. 2009, §5.1; `chain.diagnostics` has the same for any φ.)

    `covariates` and `topic_labels` are those of X, if the topics of the model depend on some, as `transform` takes
    them. Without covariates a document is taken as an average one; without labels it may have all topics.
    """
    model = one_model(fitted, "likelihood of a document")
    corpus = known_of(fitted, X, covariates, topic_labels)
    check_whole("seed", seed, 0)
    check_whole("n_steps", n_steps, 0)
    with Pool(n_jobs) as pool:
        alpha = model.priors.topics.alpha_of(corpus)
        rows_of = model.word_probabilities
        found = diagnostics.completion_by(rows_of, alpha, corpus, n_steps=n_steps, seed=seed, pool=pool)
    return HeldOut(-math.log(found.perplexity), found.perplexity, found.n_scored)


def left_to_right(
    fitted: Any,
    X: Any,
    *,
    n_particles: int = 20,
    n_moves: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    covariates: Any = None,
    topic_labels: Any = None,
) -> HeldOut:
    """Log-likelihood of all tokens of new documents, by particles that read them from left to right.

    p(document | φ, α), with θ integrated out: what document completion stands in for. `log_likelihoods` says how, and
    gives each document's own. Slow for long documents, unless `n_moves` is given. `covariates` and `topic_labels` are
    those of X, as for `document_completion`.
    """
    corpus = known_of(fitted, X, covariates, topic_labels)
    score = log_likelihoods(fitted, corpus, n_particles=n_particles, n_moves=n_moves, seed=seed, n_jobs=n_jobs)
    n_tokens = corpus.n_tokens
    per_token = math.fsum(score) / n_tokens if n_tokens else math.nan
    return HeldOut(per_token, float(np.exp(-per_token)), n_tokens)


def log_likelihoods(
    fitted: Any,
    X: Any,
    *,
    n_particles: int = 20,
    n_moves: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    covariates: Any = None,
    topic_labels: Any = None,
) -> NDArray[np.float64]:
    """log p(words of d | φ, α) of every document d, estimated from left to right; 0 for one without words.

    The estimate of the probability itself is unbiased, for any `n_particles` and `n_moves` (see `_particles`); its
    logarithm is too low by about half its variance, which more particles make smaller.

    Parameters
    ----------
    n_particles : int
        Particles; the noise falls with their number.
    n_moves : int or None
        Topics of earlier tokens that are sampled anew before each token. None is all of them, as in Wallach et al.
        (2009), which takes a time quadratic in the length of a document.
    seed : int
        The same seed gives the same bytes, for any `n_jobs`; a document's estimate does not depend on the others.
    covariates, topic_labels
        Those of X, as for `document_completion`.
    """
    model = one_model(fitted, "likelihood of a document")
    corpus = known_of(fitted, X, covariates, topic_labels)
    check_whole("n_particles", n_particles)
    check_whole("seed", seed, 0)
    if n_moves is not None:
        check_whole("n_moves", n_moves, 0)
    alpha = model.priors.topics.alpha_of(corpus)
    with Pool(n_jobs) as pool:
        return log_documents(
            model.word_probabilities, alpha, corpus, n_particles, -1 if n_moves is None else n_moves, seed, pool
        )

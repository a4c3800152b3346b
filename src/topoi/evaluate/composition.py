"""How topics vary with covariates that a model was fitted without: regression of posterior draws of topic shares.

A regression of the estimated shares θ̂ on covariates would take them for certain. Treier & Jackman's method of
composition (2008, AJPS 52), which is also that of `estimateEffect` in R's stm, draws shares from their posterior,
θ_d ~ Dirichlet(N_d θ̂_d + …), regresses every draw, and joins the answers: the variance of an effect is the mean of its
variances plus the variance of its estimates (Rubin 1987). Regressions are linear, with variances that allow for errors
of unequal size, as if each document had been left out (MacKinnon & White 1985).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from topoi._machine.arrays import Floats, Stream
from topoi._machine.blas import one_blas_thread
from topoi._machine.jit import kernel
from topoi._machine.rng import COMPOSITION, log_gamma, new_stream
from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.formula import parse_formula
from topoi.estimators.marginal import TopicEffect, changes, check_level
from topoi.estimators.terms import learn_terms

Array = NDArray[np.float64]
#: Documents, at most: of more, some are taken, evenly spaced.
MOST_DOCUMENTS = 50_000


@kernel
def draw_dirichlet(weights: Floats, stream: Stream, out: Floats) -> None:
    """Fill every row of `out` with a Dirichlet draw; weights of 0 get 0. Equivalent to ``rng.dirichlet`` by row."""
    for d in range(weights.shape[0]):
        best = -1e300
        for k in range(weights.shape[1]):
            if weights[d, k] > 0.0:
                out[d, k] = log_gamma(stream, weights[d, k])
                best = max(best, out[d, k])
        total = 0.0
        for k in range(weights.shape[1]):
            out[d, k] = math.exp(out[d, k] - best) if weights[d, k] > 0.0 else 0.0
            total += out[d, k]
        for k in range(weights.shape[1]):
            out[d, k] /= total


def topic_effects(
    model: Any, covariates: Any, X: Any = None, formula: str | None = None, *, level: float = 0.9,
    grid: int | None = None, n_draws: int = 25, seed: int = 0,
) -> list[TopicEffect]:  # fmt: skip
    """The change of the share of every topic with every covariate, for a model that was fitted without these.

    Parameters
    ----------
    model : fitted estimator
        Any of topoi's; with covariates of prevalence see its `topic_effects()`, which uses the model's own draws.
    covariates : data frame, mapping of columns or matrix
        A row for each document.
    X : counts, `Corpus` or None
        The documents. None: those of the fit, whose topic shares are then taken for certain, since their lengths are
        not known any more: intervals are a little narrow.
    formula : str or None
        As `prevalence` of the estimators, ``"~ party + s(year)"``; None is all columns.
    level : float, default 0.9
        Probability that an interval has.
    grid : int or None, default None
        Tell the effects of numbers at so many values, as `topic_effects()` of an estimator does.
    n_draws : int, default 25
        Draws of the topic shares.
    seed : int, default 0
        Of these draws.

    Returns
    -------
    list of TopicEffect
        Rows ``(topic, covariate, value, mean, low, high)``, as of `topic_effects()` of an estimator.
    """
    check_level(level)
    check_whole("n_draws", n_draws)
    theta, sizes = _shares(model, X)
    terms, _ = learn_terms(None if formula is None else parse_formula(formula, "formula"), covariates, len(theta))
    values = terms.read(covariates, len(theta))
    rows = np.arange(min(len(theta), MOST_DOCUMENTS)) * len(theta) // min(len(theta), MOST_DOCUMENTS)
    theta, values = theta[rows].astype(np.float64), values[rows]
    table = terms.table(values).toarray()
    found = list(changes(terms, grid))
    now = table.mean(0)
    contrast = np.array([terms.table(change.apply(values)).toarray().mean(0) - now for change in found])
    with one_blas_thread():
        means, variances = _composed(theta, None if sizes is None else sizes[rows], table, contrast, n_draws, seed)
    width = float(norm.ppf(0.5 + level / 2)) * np.sqrt(variances)
    return [
        TopicEffect(k, change.covariate, change.value, float(means[j, k]), *_bounds(means[j, k], width[j, k]))
        for k in range(theta.shape[1])
        for j, change in enumerate(found)
    ]


def _bounds(mean: float, width: float) -> tuple[float, float]:
    return float(mean - width), float(mean + width)


def _shares(model: Any, X: Any) -> tuple[NDArray[Any], Array | None]:
    """Topic shares of the documents, and how many tokens and pseudo-tokens (documents, topics) stand behind them."""
    estimator = check_fitted(model)
    if X is None:
        theta = getattr(model, "doc_topic_", None)
        if theta is None:
            raise ParameterError("X", "is needed: the model does not have the topics of its documents with it")
        return theta, None
    corpus = estimator.as_corpus(X)
    lengths = corpus.doc_lengths[:, None].astype(np.float64)
    sizes = [np.repeat(lengths + one.alpha.sum(), one.n_topics, 1) for one in estimator.topic_models_]
    return estimator.transform(corpus), np.concatenate(sizes, axis=1)


def _composed(
    theta: Array, sizes: Array | None, table: Array, contrast: Array, n_draws: int, seed: int
) -> tuple[Array, Array]:
    """Means and variances (contrasts, K) of contrasts of the weights, over draws of θ."""
    gram = table.T @ table
    inverse = np.linalg.inv(gram + 1e-8 * max(float(np.trace(gram)) / len(gram), 1e-300) * np.eye(len(gram)))
    say = contrast @ inverse @ table.T  # of every document in every contrast
    own = np.minimum(np.einsum("dj,dj->d", table @ inverse, table), 0.999)
    means, variances = [], []
    for number in range(1 if sizes is None else n_draws):
        drawn = theta
        if sizes is not None:
            drawn = np.empty_like(theta)
            draw_dirichlet(theta * sizes, new_stream(seed, COMPOSITION, number), drawn)
        left_out = (drawn - table @ (inverse @ (table.T @ drawn))) / (1.0 - own)[:, None]
        means.append(say @ drawn)
        variances.append(say**2 @ left_out**2)
    between = np.var(means, axis=0, ddof=1) * (1 + 1 / len(means)) if len(means) > 1 else 0.0
    return np.mean(means, axis=0), np.mean(variances, axis=0) + between

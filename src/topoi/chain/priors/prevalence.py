"""α that depends on what is known of a document: how much of each topic documents have, by author, date or party.

    α_dk = exp(x_d·λ_k),    λ_k0 ~ N(log α₀, WIDE²),    λ_kj ~ N(0, σ_j²),    σ_j² ~ InverseGamma(SHAPE, RATE)

x_d is the row of document d in the table `Corpus.about["prevalence"]`; its first column is 1. This is
Dirichlet-multinomial regression (Mimno & McCallum 2008, UAI), the counterpart for Gibbs sampling of the prevalence of a
structural topic model (Roberts et al. 2014). Others climb to the best λ; here λ and the scales σ_j are variables of the
chain, drawn from their conditionals: given the tables of the documents (seating.py), λ_k is the weights of a Poisson
regression (poisson_weights.py), and σ_j² has an inverse Gamma distribution. A column without an effect on any topic has
a small σ_j, which draws its weights to 0.

λ for which α of some document is outside of 1e-10 … 1e10 have no density. A document without a row in the table has
α of the average row, and so has a new document of which nothing is known. The cost of an update is O(tokens) for the
tables, and for each topic O(different rows × squared number of their entries).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.schema import NUMBER, Field, array_of
from topoi._disk.store import ModelError
from topoi._machine.arrays import Floats, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import branch, gamma
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.priors.base import TopicPrior
from topoi.chain.priors.distinct import Distinct, distinct, distinct_of
from topoi.chain.priors.fixed_alpha import default_alpha
from topoi.chain.priors.poisson_weights import LOG_LARGEST, LOG_SMALLEST, DesignRows, Gaussian, draw_weights
from topoi.chain.priors.positive import LARGEST, SMALLEST, as_positive
from topoi.chain.priors.seating import Seating, draw_seating
from topoi.chain.state import State
from topoi.corpus import Corpus
from topoi.errors import ParameterError

#: Standard deviation of the constant of a topic, on the scale of log α.
WIDE = 2.0
#: Of the prior of σ_j²: its mean is RATE/(SHAPE − 1) = ½, as the variance that Mimno & McCallum use.
SHAPE, RATE = 2.0, 0.5
#: Columns of a design, at most: an update takes K · columns³ steps at least.
MOST_COLUMNS = 500


class Observed(NamedTuple):
    """What an update needs of a part of the corpus: its different rows of the design, and their tables."""

    rows: sparse.csr_array
    seating: Seating


@kernel
def fill_alpha(start: Ints, column: Ints, value: Floats, weights: Floats, alpha: Floats) -> None:
    """Fill alpha (rows, K) with exp(x·λ), within the range of numbers that kernels compute with.

    Equivalent to ``alpha[:] = np.exp(np.clip(x @ weights.T, log(SMALLEST), log(LARGEST)))``, in an order of adding up
    that does not depend on which other rows there are.
    """
    for u in range(alpha.shape[0]):
        for k in range(alpha.shape[1]):
            score = 0.0
            for i in range(start[u], start[u + 1]):
                score += value[i] * weights[k, column[i]]
            alpha[u, k] = min(max(math.exp(min(max(score, LOG_SMALLEST), LOG_LARGEST)), SMALLEST), LARGEST)


def alpha_by_row(rows: sparse.csr_array, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """α (rows, K) of rows of a design."""
    alpha = np.empty((rows.shape[0], len(weights)))
    parts = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64))
    fill_alpha(*parts, np.ascontiguousarray(weights), alpha)
    return alpha


@dataclass(frozen=True, eq=False)
class Prevalence(TopicPrior):
    """α by the columns of a table.

    `weights` (K, columns) are λ, `variance` of each column σ² and `average` its mean over the documents of the fit.
    `base` is α₀. `drawn` is 1, or 0 of a prior that is not updated any more.
    """

    weights: NDArray[np.float64]
    variance: NDArray[np.float64]
    average: NDArray[np.float64]
    base: float
    drawn: float = 1.0

    name = "prevalence"
    per_document = True
    about = "prevalence"
    every = 4
    stored: ClassVar[dict[str, Field]] = TopicPrior.stored | {
        "weights": array_of("float64"),
        "variance": array_of("float64"),
        "average": array_of("float64"),
        "base": NUMBER,
        "drawn": NUMBER,
    }

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """None or a number, α₀, if the documents have rows in a table; it begins without effects."""
        table = corpus.about.get(cls.about)
        if table is None:
            return None
        base = default_alpha(n_topics)
        if value is not None:
            number = as_positive(cls.parameter, np.array(value, dtype=object).tolist())
            if number is None:
                raise ParameterError(
                    cls.parameter,
                    f"is {value!r}; must be a positive number or None, since covariates of prevalence determine α of "
                    "each topic: the number is α of a topic that no covariate has an effect on",
                )
            base = number
        average = np.asarray(table.sum(0), np.float64).ravel() / table.shape[0]
        weights = np.zeros((n_topics, len(average)))
        weights[:, 0] = math.log(base)
        variance = np.full(len(average), RATE / (SHAPE - 1))
        variance[0] = WIDE**2
        return cls(np.full(n_topics, base), weights, variance, average, base).settled()

    def settled(self) -> Self:
        """The same with α of the average row, as it follows from the weights."""
        row = sparse.csr_array(self.average[None])
        return replace(self, alpha=alpha_by_row(row, self.weights)[0])

    def due(self, sweep: int) -> bool:
        """Whether it is to be updated after a sweep."""
        return self.drawn > 0 and super().due(sweep)

    def alpha_of(self, corpus: Corpus) -> DocumentAlpha:
        """α of every document by its row of the table, or of the average row if there is no table."""
        if self.about not in corpus.about:
            return super().alpha_of(corpus)
        rows, row_of = distinct_of(corpus, self.about)
        return DocumentAlpha(alpha_by_row(rows, self.weights), row_of)

    def joined(self, number: NDArray[np.int64]) -> Self:
        """α of the average row is the sum of those of the parts, and so is its slope; elsewhere it is near the sum."""
        return replace(self, weights=joined_weights(self.weights, self.average, number)).settled()

    def joined_draws(self, draws: Mapping[str, NDArray[Any]], number: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """λ of every sample in the same way."""
        return {"weights": joined_weights(draws["weights"], self.average, number)} if draws else {}

    def divided(self, k: int, share: float) -> Self:
        """Two topics with the effects of one, whose α add up to its α in every row."""
        return replace(self, weights=divided_weights(self.weights, k, share)).settled()

    def divided_draws(self, draws: Mapping[str, NDArray[Any]], k: int, share: float) -> dict[str, NDArray[Any]]:
        """λ of every sample in the same way."""
        return {"weights": divided_weights(draws["weights"], k, share)} if draws else {}

    def held(self) -> Self:
        """λ stays: a few documents that come later would forget what all those before have said."""
        return replace(self, drawn=0.0)

    def sampled(self) -> dict[str, NDArray[Any]]:
        """λ: intervals of effects are made of its draws."""
        return {"weights": self.weights}

    def observe(self, state: State, pool: Pool) -> Observed:
        """Tables of the topics of some documents, drawn, for each of their different rows."""
        if self.about in state.corpus.about:
            rows = distinct_of(state.corpus, self.about).rows
        else:
            rows = sparse.csr_array(self.average[None])
        return Observed(rows, draw_seating(state, self.alpha_of(state.corpus), pool))

    def update(self, state: State, observed: list[Observed]) -> Self:
        """Draw λ of one topic after the other, then σ² of every column."""
        rows, tables, exposure = joined(observed)
        # t of every topic: whole numbers times rows, added up in the order of the rows.
        seen = np.ascontiguousarray((tables.T @ rows).toarray(), np.float64)
        design = DesignRows(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64), exposure
        )
        mean = np.zeros(len(self.average))
        mean[0] = math.log(self.base)
        prior = Gaussian(mean, 1.0 / self.variance)
        weights, stream = self.weights.copy(), self.stream(state)
        for k in range(len(weights)):
            draw_weights(design, seen[k], prior, weights[k], branch(stream, k))
        return replace(self, weights=weights, variance=draw_variance(weights, branch(stream, len(weights)))).settled()

    def log_density(self) -> float:
        """Of λ and σ²."""
        away = self.weights - np.concatenate(([math.log(self.base)], np.zeros(len(self.average) - 1)))
        normal = -0.5 * (away**2 / self.variance + np.log(2 * math.pi * self.variance)).sum()
        of_scale = SHAPE * math.log(RATE) - math.lgamma(SHAPE)
        scales = of_scale - (SHAPE + 1) * np.log(self.variance[1:]) - RATE / self.variance[1:]
        return float(normal + scales.sum())

    def check(self) -> None:
        """Raise unless the fields, which may come from a file, can be those of such a prior."""
        super().check()
        n = len(self.average)
        if self.weights.shape != (len(self.alpha), n) or self.variance.shape != (n,) or not 1 <= n <= MOST_COLUMNS:
            raise ModelError("weights must be (topics, columns) numbers, with a variance and an average of each column")
        if not all(np.isfinite(array).all() for array in (self.weights, self.variance, self.average)):
            raise ModelError("weights, variance and average must be finite")
        if (self.variance <= 0).any() or self.average[0] != 1 or self.drawn not in (0.0, 1.0):
            raise ModelError("variance must be positive, the first column 1, and drawn 0 or 1")
        if not SMALLEST <= self.base <= LARGEST or not np.allclose(self.settled().alpha, self.alpha, rtol=1e-6):
            raise ModelError("alpha is not that of the average row")


def joined_weights(
    weights: NDArray[np.float64], average: NDArray[np.float64], number: NDArray[np.int64]
) -> NDArray[np.float64]:
    """λ (…, topics, columns) of topics that are joined: topic k becomes part of topic number[k].

    A sum of exponentials is none. The λ of a joined topic is that of the tangent of the sum's logarithm at the average
    row: the mean of those of its parts, weighed by their α there, with a constant that makes α there the sum of theirs.
    """
    log_alpha = weights @ average
    joined = np.empty((*weights.shape[:-2], int(number.max()) + 1, weights.shape[-1]))
    for k in range(joined.shape[-2]):
        own = np.flatnonzero(number == k)
        if len(own) == 1:
            joined[..., k, :] = weights[..., own[0], :]
            continue
        total = np.logaddexp.reduce(log_alpha[..., own], axis=-1)
        part = np.exp(log_alpha[..., own] - total[..., None])
        joined[..., k, :] = (part[..., None] * weights[..., own, :]).sum(-2)
        joined[..., k, 0] += total - joined[..., k, :] @ average
    return joined


def divided_weights(weights: NDArray[np.float64], k: int, share: float) -> NDArray[np.float64]:
    """λ (…, topics, columns) with topic k as two, of which the first has this share of its α in every row."""
    divided = np.insert(weights, k + 1, weights[..., k, :], axis=-2)
    divided[..., k, 0] += math.log(share)
    divided[..., k + 1, 0] += math.log1p(-share)
    return divided


def joined(observed: list[Observed]) -> tuple[sparse.csr_array, sparse.csr_array, NDArray[np.float64]]:
    """The different rows of all parts, in the order in which they are first met, their tables and exposures.

    Tables are whole numbers, and exposures are added up in the order of the documents: neither depends on where the
    corpus is cut.
    """
    if len(observed) == 1:
        (one,) = observed
        rows, tables, number = one.rows, one.seating.tables, one.seating.row_of
    else:
        found: Distinct = distinct(sparse.vstack([one.rows for one in observed], format="csr"))
        rows = found.rows
        stacked = sparse.vstack([one.seating.tables for one in observed], format="coo")
        tables = sparse.coo_array(
            (stacked.data, (found.row_of[stacked.coords[0]], stacked.coords[1])),
            shape=(rows.shape[0], stacked.shape[1]),
        ).tocsr()
        tables.sort_indices()
        first = np.cumsum([0, *(one.rows.shape[0] for one in observed)])
        number = np.concatenate([found.row_of[a + one.seating.row_of] for a, one in zip(first, observed, strict=False)])
    exposure = np.concatenate([one.seating.exposure for one in observed])
    total: NDArray[np.float64] = np.asarray(np.bincount(number, exposure, rows.shape[0]), np.float64)
    return rows, tables, total


def draw_variance(weights: NDArray[np.float64], stream: Any) -> NDArray[np.float64]:
    """σ² of every column given the weights (K, columns): that of the first stays."""
    n_topics, n_columns = weights.shape
    variance = np.full(n_columns, WIDE**2)
    for j in range(1, n_columns):
        rate = RATE + 0.5 * float(np.add.reduce(weights[:, j] ** 2))
        variance[j] = rate / gamma(stream, SHAPE + 0.5 * n_topics)
    return variance

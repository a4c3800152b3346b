"""How far a target may be from its prediction.

The variance of a target around its prediction has two parts: that of the expected target over posterior draws of
topics, weights and chains, which differs from document to document, and the noise σ² that is left, the same for all.
How the sum is distributed (heavy tails, skewness) is not assumed: the standardised errors of training documents are
kept, and the bounds of an interval are their quantiles.

Errors of training documents would be too small, since their own words and targets made the topics. So the words of
these documents are first taken out of the counts (a tenth of the documents at a time), and their topics are found anew,
as those of new documents are. What other documents have learned from them stays, and the weights have seen them: the
errors are still a little small (docs/supervised.md has figures). A second fit without some of the documents has no such
fault, and costs a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm

from topoi._machine.pool import Pool
from topoi.chain.loop import Run
from topoi.chain.model import TopicModel
from topoi.chain.responses import NumberResponse
from topoi.corpus import Corpus
from topoi.predict.fold_in import FoldIn
from topoi.predict.scores import Chain, sample_own, sample_scores, target_draws

N_DRAWS = 16  # of a document's score
N_MEASURED = 1000  # documents whose errors are measured: more would tell the coverage no better than to 0.01
N_MEASURED_LEAST = 100  # … of an output that few documents have
TAKEN_OUT = 10  # one of so many documents at a time
# The noise is at least this share of the squared errors, whatever the draws say: they are few.
LEAST_NOISE = 0.1


@dataclass(frozen=True)
class Noise:
    """`variance` σ² (outputs,), and the standardised `errors` of each output, rising."""

    variance: NDArray[np.float64]
    scale: NDArray[np.float64]  # (outputs,): what the spread of draws and noise is multiplied by to fit the errors
    errors: list[NDArray[np.float64]]

    def spread(self, draws: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standard deviation (documents, outputs) of targets, from draws of their scores."""
        spread: NDArray[np.float64] = self.scale * np.sqrt(draws.var(0, ddof=1) + self.variance)
        return spread

    def bounds(self, level: float) -> NDArray[np.float64]:
        """Quantiles (outputs, 2) of the standardised errors that leave (1 − level)/2 on either side.

        Of n errors the j-th leaves j/(n + 1) below it. Beyond the first and the last there are none; the bound is then
        not within that of a normal distribution.
        """
        tail = (1.0 - level) / 2.0
        out = np.empty((len(self.errors), 2))
        for output, errors in enumerate(self.errors):
            n = len(errors)
            below = int(np.floor((n + 1) * tail + 1e-9))  # 1e-9: (1 − 0.8)/2 is a little less than a tenth
            if below >= 1:
                out[output] = errors[below - 1], errors[n - below]
            else:
                normal = -float(norm.ppf(tail))
                out[output] = min(errors[0], -normal), max(errors[-1], normal)
        return out


def measure_noise(
    runs: Sequence[Run], corpus: Corpus, targets: NDArray[np.float64], response: NumberResponse, fold_in: FoldIn,
    pool: Pool, columns: sparse.csr_array | None = None,
) -> Noise:  # fmt: skip
    """The noise of the targets (documents, outputs; NaN: not known) around what the chains expect."""
    documents = _some_of_each(~np.isnan(targets))
    n_groups = -(-len(documents) // max(corpus.n_documents // TAKEN_OUT, 1))
    errors = np.empty((len(documents), targets.shape[1]))
    variance = np.empty_like(errors)
    for group in range(n_groups):
        here = slice(group, None, n_groups)
        chains = [Chain(_without(result, corpus, documents[here]), result.weights, result.beside) for result in runs]
        part = corpus.take(documents[here])
        of_part = None if columns is None else columns[documents[here]]
        expected = response.average(sample_scores(chains, part, fold_in, pool, of_part), sample_own(chains))
        errors[here] = targets[documents[here]] - expected
        variance[here] = target_draws(chains, response, part, N_DRAWS, fold_in.seed, pool).var(0, ddof=1)
    return _noise(errors, variance)


@dataclass(frozen=True)
class Unseen:
    """Documents that chains have not seen, their targets, and the columns of their covariates.

    `expected` are the targets that are predicted; None: by the chains.
    """

    runs: Sequence[Run]
    corpus: Corpus
    targets: NDArray[np.float64]
    columns: sparse.csr_array | None = None
    expected: NDArray[np.float64] | None = None


def held_out_noise(groups: Sequence[Unseen], response: NumberResponse, fold_in: FoldIn, pool: Pool) -> Noise:
    """The noise of the targets of documents that chains have not seen, around what is expected of them."""
    errors, variance = [], []
    for group in groups:
        chains = [Chain(result.model, result.weights, result.beside) for result in group.runs]
        expected = group.expected
        if expected is None:
            samples = sample_scores(chains, group.corpus, fold_in, pool, group.columns)
            expected = response.average(samples, sample_own(chains))
        some = _some_of_each(~np.isnan(group.targets))
        draws = target_draws(chains, response, group.corpus.take(some), N_DRAWS, fold_in.seed, pool)
        errors.append((group.targets - expected)[some])
        variance.append(draws.var(0, ddof=1))
    return _noise(np.concatenate(errors), np.concatenate(variance))


def _noise(errors: NDArray[np.float64], variance: NDArray[np.float64]) -> Noise:
    """Noise from errors (documents, outputs; NaN: not known) and the variances of the scores over draws."""
    squares = np.nanmean(errors**2, axis=0)
    known = ~np.isnan(errors)
    accounted = (variance * known).sum(0) / known.sum(0)
    noise = np.maximum(np.maximum(squares - accounted, LEAST_NOISE * squares), np.finfo(np.float64).tiny)
    standardised = errors / np.sqrt(variance + noise)
    scale = np.sqrt(np.nanmean(standardised**2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    by_output = [np.sort(standardised[known[:, j], j] / scale[j]) for j in range(errors.shape[1])]
    return Noise(noise, scale, by_output)


def _some_of_each(known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Documents with a target, evenly spaced, and more of an output that too few of them have."""
    chosen = spaced(np.flatnonzero(known.any(1)), N_MEASURED)
    for output in range(known.shape[1]):
        if known[chosen, output].sum() < N_MEASURED_LEAST:
            chosen = np.union1d(chosen, spaced(np.flatnonzero(known[:, output]), N_MEASURED_LEAST))
    return chosen


def spaced(documents: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """At most n of the documents, evenly spaced."""
    n = min(n, len(documents))
    return documents[np.arange(n) * len(documents) // max(n, 1)]


def _without(run: Run, corpus: Corpus, documents: NDArray[np.int64]) -> TopicModel:
    """The topics of a run after its last sweep as they are without the tokens of some documents."""
    counts = run.counts
    words = np.concatenate([corpus.document(d) for d in documents])
    own = sparse.coo_array((np.ones(len(words), counts.dtype), (words, run.topics(documents))), shape=counts.shape)
    rest = sparse.csr_array(counts - own.tocsr())
    return TopicModel(rest, rest, 1, run.model.priors)

"""Documents kept out of a fit, on which the model so far is scored while it runs: how well it does on what is new."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.diagnostics import completion_by
from topoi.chain.model import TopicModel
from topoi.chain.responses import LabelResponse, Response
from topoi.chain.samples import Watch
from topoi.corpus import Corpus
from topoi.predict.fold_in import FoldIn
from topoi.predict.scores import Chain, sample_own, sample_scores

Scores = NDArray[np.float64]

#: Names of the measures, for people.
NAMES = {"perplexity": "perplexity", "accuracy": "accuracy", "micro_f1": "micro-F1", "r2": "R²"}


def watch_words(corpus: Corpus) -> Watch:
    """Perplexity of one half of every document given the other (`diagnostics.completion`), by what is known of it."""

    def score(model: TopicModel, weights: NDArray[np.float32], beside: dict[str, NDArray[Any]], pool: Pool) -> float:
        alpha = model.priors.topics.alpha_of(corpus)
        return completion_by(model.word_probabilities, alpha, corpus, pool=pool).perplexity

    return Watch("perplexity", _key(corpus), score)


def watch_labels(
    corpus: Corpus,
    targets: NDArray[Any],
    measure: str,
    fold_in: FoldIn,
    response: LabelResponse,
    columns: sparse.csr_array | None = None,
) -> Watch:
    """Accuracy or micro-F1 of predicted labels; `targets` (documents, tasks) as the response has them, all known."""
    one = targets.shape[1] == 1
    numbers = (targets if response.ordered else targets > 0)[:, 0].astype(np.int64) if one else targets.argmax(1)

    def score(model: TopicModel, weights: NDArray[np.float32], beside: dict[str, NDArray[Any]], pool: Pool) -> float:
        if not len(targets):
            return math.nan
        chain = Chain(model, weights, beside)
        samples, own = sample_scores([chain], corpus, fold_in, pool, columns), sample_own([chain])
        if measure == "micro_f1":
            right, said = targets > 0, response.average(samples, own) > 0
            return float(2 * (right & said).sum() / max(right.sum() + said.sum(), 1))
        return float((response.chosen(samples, own) == numbers).mean())

    return Watch(measure, _key(corpus, targets), score)


def watch_targets(
    corpus: Corpus, targets: NDArray[np.float64], fold_in: FoldIn, response: Response,
    columns: sparse.csr_array | None = None,
) -> Watch:  # fmt: skip
    """R² of predicted numbers, the mean over the outputs; targets (documents, outputs), NaN where one is not known."""

    def score(model: TopicModel, weights: NDArray[np.float32], beside: dict[str, NDArray[Any]], pool: Pool) -> float:
        chain = Chain(model, weights, beside)
        found = response.average(sample_scores([chain], corpus, fold_in, pool, columns), sample_own([chain]))
        return float(np.mean([_r2(true[~np.isnan(true)], said[~np.isnan(true)])
                              for true, said in zip(targets.T, found.T, strict=True)]))  # fmt: skip

    return Watch("r2", _key(corpus, targets), score)


def _r2(true: Scores, said: Scores) -> float:
    spread = float(((true - true.mean()) ** 2).sum()) if len(true) else 0.0
    return 1.0 - float(((true - said) ** 2).sum()) / spread if spread > 0 else math.nan


def _key(corpus: Corpus, targets: NDArray[Any] | None = None) -> str:
    """A hash of documents, of what is known of them, and of targets."""
    digest = hashlib.blake2b(digest_size=16)
    arrays: list[NDArray[Any]] = [corpus.words, corpus.doc_ptr]
    if targets is not None:
        arrays.append(targets)
    for _, table in sorted(corpus.about.items()):
        arrays += [table.indptr, table.indices, table.data]
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()

"""One number of topics on one fold: a fit on the other documents, measured on those that were held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from topoi.chain.model import TopicModel
from topoi.estimators.alignment import match_topics, overlaps
from topoi.evaluate.coherence import mean_coherence, npmi
from topoi.evaluate.held_out import document_completion
from topoi.evaluate.topics import top_columns
from topoi.selection.folds import Documents


@dataclass(frozen=True)
class Attempt:
    """What a fit is worth on the documents that were held out, and its topic models: one, unless labels have their own.

    `score` is that of the predictions; None for a model that makes none.
    """

    models: list[TopicModel]
    log_likelihood: float
    coherence: float
    score: float | None


def measured(fitted: Any, held_out: Documents, n_words: int, n_jobs: int | None) -> Attempt:
    """The measures of a fitted estimator on documents that it has not seen."""
    corpus, known = held_out.corpus, held_out.known_to(fitted)
    if fitted.prevalence_covariates_:
        corpus = fitted.with_prevalence(corpus, known["covariates"])
    if "topic_labels" in known:
        corpus = fitted.with_topic_labels(corpus, known["topic_labels"])
    completed = [document_completion(model, corpus, n_jobs=n_jobs) for model in fitted.topic_models_]
    coherence = npmi(top_columns(fitted, n_words, "probability"), held_out.corpus)
    score = None
    if held_out.y is not None:
        score = float(fitted.score(held_out.corpus, held_out.y, **known))
    log_likelihood = math.fsum(one.log_likelihood for one in completed) / len(completed)
    return Attempt(fitted.topic_models_, log_likelihood, mean_coherence(coherence), score)


@dataclass(frozen=True)
class Stability:
    """How alike the topics of two folds are, means over topics with tokens and over pairs of folds.

    `overlap` is that of a topic with its partner, 0 without one; `same` the share of the topics that count as the same;
    `nearest` the overlap of a topic with the one most like it in its own model, with which it must not be confused. All
    nan if there is one fold.
    """

    overlap: float = math.nan
    same: float = math.nan
    nearest: float = math.nan


def stability(attempts: Sequence[Attempt]) -> Stability:
    """How alike the topics are that were found without one fold and without another."""
    overlap, same = [], []
    for one, other in combinations(attempts, 2):
        for first, second in zip(one.models, other.models, strict=True):
            n = max(int((model.topic_counts > 0).sum()) for model in (first, second))
            found = match_topics(first, second)
            overlap.append(found.overlap.sum() / n)
            same.append(found.same.sum() / n)
    if not overlap:
        return Stability()
    nearest = [_nearest(model) for attempt in attempts for model in attempt.models]
    return Stability(float(np.mean(overlap)), float(np.mean(same)), float(np.mean(nearest)))


def _nearest(model: TopicModel) -> float:
    overlap = overlaps(model, model)
    np.fill_diagonal(overlap, 0.0)
    return float(overlap.max(1)[model.topic_counts > 0].mean())

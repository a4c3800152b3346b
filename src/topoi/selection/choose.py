"""Several numbers of topics by cross-validation, and the one to take."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from topoi._machine.interrupt import Interrupt
from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.estimators.base import InterruptedFitWarning, TopicEstimator
from topoi.estimators.lda import LDA
from topoi.estimators.problem import model_seed
from topoi.selection.attempt import Attempt, measured, stability
from topoi.selection.bar import fits_bar
from topoi.selection.comparison import Choice
from topoi.selection.folds import Documents, as_documents, fold_numbers
from topoi.selection.recommend import Row, recommend


def choose(
    X: Any,
    n_topics: Iterable[int] = (10, 20, 50, 100),
    *,
    y: Any = None,
    unlabelled: Any = None,
    covariates: Any = None,
    topic_labels: Any = None,
    cv: int = 3,
    estimator: Any = None,
    n_words: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Choice:
    """Fit several numbers of topics by cross-validation, measure each on held-out documents, and recommend one.

    Parameters
    ----------
    X : texts, counts (n_documents, n_words), sparse or dense, a `Corpus`, or the folder of a saved one.
        The words of texts are those of all of them, also of those that are held out.
    n_topics : whole numbers
        The numbers of topics to try, each once.
    y : labels or targets, if the estimator learns them
        The score of predictions (accuracy, R²) then decides, in place of the likelihood.
    unlabelled, covariates, topic_labels
        As for `fit` of the estimator. Documents without a label, or with a label of fewer than `cv` documents, are
        learned from in every fit and never held out. Held-out documents use their covariates and topic labels; one
        with a topic label that the other folds do not have may have all topics.
    cv : int, default 3
        Folds. A number of topics is fitted once for each fold, on the documents of the others.
    estimator : LDA, MedLDAClassifier or MedLDARegressor, default ``LDA(doc_topic_prior="learn")``
        What is fitted (``LDA()`` by default with topic labels, which say what α is); `n_topics`, `random_state`,
        `n_jobs` and `progress` are those given here.
    n_words : int, default 10
        Top words of a topic for the coherence.
    random_state : int, default 0
        The same number gives the same folds and fits, and the same bytes for any `n_jobs`.
    n_jobs : int or None, default None
        Threads of each fit: None is what the estimator has, -1 all cores.
    progress : bool, default False
        Show a progress bar on standard error.

    Returns a `Choice`. Its `best` is the smallest number that is within one standard error of the best held-out
    likelihood (or score), of those whose topics hold together and are found again: see
    docs/howto/number_of_topics.md. Ctrl-C ends the fit in hand and keeps those that were done, with a warning.

    Examples
    --------
    >>> import topoi
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]] * 5
    >>> topoi.choose(X, n_topics=(1, 2), n_words=2, estimator=topoi.LDA(n_sweeps=20)).best
    2
    """
    numbers = as_candidates(n_topics)
    check_whole("cv", cv, 2)
    check_whole("n_words", n_words, 2)
    check_whole("random_state", random_state, 0)
    base = LDA(doc_topic_prior=None if topic_labels is not None else "learn") if estimator is None else estimator
    if not isinstance(base, TopicEstimator):
        raise ParameterError("estimator", f"must be an LDA, MedLDAClassifier or MedLDARegressor, not {base!r}")
    n_jobs = base.n_jobs if n_jobs is None else n_jobs
    documents = as_documents(X, base, y, unlabelled, covariates, topic_labels)
    folds = fold_numbers(documents, base, cv, random_state)
    fewest = min(int(documents.corpus.doc_lengths[folds != fold].sum()) for fold in range(cv))
    if numbers[-1] > fewest:
        raise ParameterError("n_topics", f"has {numbers[-1]}, but a fold leaves {fewest} tokens to learn from")

    done: dict[int, list[Attempt]] = {number: [] for number in numbers}
    with Interrupt() as interrupt, fits_bar(progress, cv * len(numbers)) as begin:
        # All numbers on a fold before the next one: whoever stops half-way has something to compare.
        for fold in range(cv):
            rest, held_out = (documents.take(np.flatnonzero(where)) for where in (folds != fold, folds == fold))
            for place, number in enumerate(numbers):
                shown = begin(fold * len(numbers) + place, f"fold {fold + 1} of {cv}, {number} topics")
                seed = model_seed(int(random_state), fold)
                new = _new(base, n_topics=number, random_state=seed, n_jobs=n_jobs, shown=shown)
                fitted = None if interrupt.requested else _fitted(new, rest)
                if fitted is None:
                    return _chosen(done, documents.score_name(base), interrupted=cv * len(numbers))
                done[number].append(measured(fitted, held_out, n_words, n_jobs))
    return _chosen(done, documents.score_name(base))


def as_candidates(n_topics: Any) -> list[int]:
    """Numbers of topics to try, in rising order; an error if one cannot be, or is there twice."""
    if isinstance(n_topics, str) or not isinstance(n_topics, Iterable):
        raise ParameterError("n_topics", f"must be whole numbers to choose from, as (10, 20, 50), not {n_topics!r}")
    numbers = list(n_topics)
    if not numbers:
        raise ParameterError("n_topics", "there are no numbers to choose from")
    for number in numbers:
        check_whole("n_topics", number)
    if twice := [number for number in numbers if numbers.count(number) > 1]:
        raise ParameterError("n_topics", f"has {twice[0]} more than once")
    return sorted(map(int, numbers))


def _new(base: TopicEstimator, shown: Sequence[Any], **parameters: Any) -> TopicEstimator:
    """An estimator as given, but for some parameters; callbacks stay the same objects, which `clone` would copy."""
    callbacks = [*(base.callbacks or []), *shown]
    same: dict[str, Any] = base.get_params(deep=False)
    return type(base)(**same | parameters | {"progress": False, "callbacks": callbacks})


def _fitted(estimator: TopicEstimator, documents: Documents) -> Any:
    """The estimator, fitted; None if it was stopped, by Ctrl-C or by a callback that raises KeyboardInterrupt."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InterruptedFitWarning)
        try:
            fitted = documents.fit(estimator)
        except KeyboardInterrupt:
            return None
    # Ctrl-C may have stopped the pilots of a model whose chains were done: the warning tells of both.
    stopped = [issubclass(one.category, InterruptedFitWarning) for one in caught]
    for one in caught:
        if not issubclass(one.category, InterruptedFitWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return None if any(stopped) else fitted


def _chosen(done: dict[int, list[Attempt]], score_name: str, interrupted: int = 0) -> Choice:
    """The choice from what was done; `interrupted` says of how many fits, if somebody has stopped them."""
    n_done = sum(map(len, done.values()))
    if n_done == 0:
        raise KeyboardInterrupt
    # Folds differ in how hard they are: numbers are compared on those that all of them have seen.
    tried = {number: attempts for number, attempts in done.items() if attempts}
    n_folds = min(map(len, tried.values()))
    table = [_row(number, attempts[:n_folds]) for number, attempts in tried.items()]
    found = recommend(table, score_name)
    remarks = found.remarks
    if interrupted:
        stopped = f"stopped by Ctrl-C after {n_done} of {interrupted} fits; the choice is made from these"
        warnings.warn(stopped, InterruptedFitWarning, stacklevel=3)
        left = [number for number in done if number not in tried]
        missing = f" Not tried: {', '.join(map(str, left))}." if left else ""
        remarks = (*remarks, f"Stopped after {n_done} of {interrupted} fits; compared on folds: {n_folds}.{missing}")
    return Choice(table, found.best, found.reason, remarks, found.left_out, bool(interrupted))


def _row(number: int, attempts: Sequence[Attempt]) -> Row:
    row: Row = {"n_topics": number, "folds": len(attempts)}
    row["log_likelihood"], row["log_likelihood_se"] = _mean([attempt.log_likelihood for attempt in attempts])
    row["perplexity"] = math.exp(-row["log_likelihood"])
    row["coherence"], row["coherence_se"] = _mean([attempt.coherence for attempt in attempts])
    found = stability(attempts)
    row |= {"stability": found.overlap, "nearest": found.nearest, "same": found.same}
    scores = [attempt.score for attempt in attempts if attempt.score is not None]
    if scores:
        row["score"], row["score_se"] = _mean(scores)
    return row


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Mean over folds, and its standard error; nan with one fold."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return mean, math.nan
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))

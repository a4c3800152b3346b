"""One call for all that applies to a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi.chain.model import TopicModel, check_whole
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.evaluate.chains import agreement_of_topics, chain_diagnostics
from topoi.evaluate.classification import ClassificationScores, classification_scores
from topoi.evaluate.coherence import c_v, mean_coherence, npmi, u_mass
from topoi.evaluate.held_out import document_completion, left_to_right
from topoi.evaluate.regression import RegressionScores, regression_scores
from topoi.evaluate.topics import corpus_of, diversity, exclusivity, known_of, models_of, top_columns, topic_names


@dataclass(frozen=True)
class Evaluation:
    """What there is to evaluate."""

    fitted: Any
    corpus: Corpus
    reference: Corpus
    y: Any
    documents: Sequence[Iterable[str]] | None
    n_words: int
    level: float
    seed: int
    n_jobs: int | None
    covariates: Any = None


@dataclass(frozen=True)
class Measure:
    """A measure: its values by name, why it does not apply ("" if it does), and whether it is quick."""

    values: Callable[[Evaluation], dict[str, Any]]
    missing: Callable[[Evaluation], str]
    quick: bool = True


def score_predictions(
    estimator: Any, X: Any, y: Any, *, level: float = 0.9, covariates: Any = None
) -> ClassificationScores | RegressionScores:
    """Scores on X and y: of a fitted classifier's labels and probabilities, or a regressor's numbers and intervals.

    `covariates` are those of X, if the fit had some.
    """
    kind = check_fitted(estimator).target_.kind
    if kind is None:
        raise ParameterError(
            "estimator", f"must be a MedLDAClassifier or MedLDARegressor, not {type(estimator).__name__}"
        )
    corpus = estimator.as_corpus(X)
    if corpus.n_documents == 0:
        raise ParameterError("X", "has no documents to predict")
    truth = estimator.as_truth(y, corpus.n_documents)
    predicted = estimator.predict(corpus, covariates=covariates)
    if kind == "numbers":
        bounds = estimator.predict_interval(corpus, level, covariates=covariates)
        return regression_scores(truth, predicted, bounds, level=level)
    probabilities = estimator.predict_proba(corpus, covariates=covariates)
    return classification_scores(truth, predicted, probabilities, labels=estimator.classes_)


def _always(given: Evaluation) -> str:
    return ""


def _one_model(given: Evaluation) -> str:
    n = len(models_of(given.fitted))
    return "" if n == 1 else f"the estimator has {n} topic models; ask estimators_[i]"


def _texts(given: Evaluation) -> str:
    if given.documents is None:
        return "the order of the words is needed; give `documents`, lists of tokens (npmi and u_mass do without)"
    return "" if models_of(given.fitted)[0].vocabulary is not None else "the model knows no words, only columns"


def _predicts(given: Evaluation) -> str:
    if isinstance(given.fitted, TopicModel) or given.fitted.target_.kind is None:
        return f"{type(given.fitted).__name__} predicts nothing"
    if given.y is None:
        return "the right labels or targets are needed; give `y`"
    return "" if given.corpus.n_documents else "X has no documents to predict"


def _has_chains(given: Evaluation) -> str:
    return "a TopicModel keeps no chains; give the estimator" if isinstance(given.fitted, TopicModel) else ""


def _several_chains(given: Evaluation) -> str:
    if isinstance(given.fitted, TopicModel):
        return _has_chains(given)
    least = min(len(one.chains_) for one in given.fitted.estimators_)
    return "" if least > 1 else "there is one chain; topics are compared between several (n_chains)"


def _left_to_right(given: Evaluation) -> dict[str, Any]:
    found = left_to_right(given.fitted, given.corpus, seed=given.seed, n_jobs=given.n_jobs)
    return {"left_to_right_log_likelihood": found.log_likelihood, "left_to_right_perplexity": found.perplexity}


def _completion(given: Evaluation) -> dict[str, Any]:
    found = document_completion(given.fitted, given.corpus, seed=given.seed, n_jobs=given.n_jobs)
    return {"log_likelihood": found.log_likelihood, "perplexity": found.perplexity}


def _probable(given: Evaluation) -> list[list[int]]:
    """The most probable words of every topic, of which coherence is told, so that others can compare."""
    return top_columns(given.fitted, given.n_words, "probability")


def _documents(given: Evaluation) -> Sequence[Iterable[str]]:
    assert given.documents is not None
    return given.documents


MEASURES: dict[str, Measure] = {
    "document_completion": Measure(_completion, _one_model),
    "left_to_right": Measure(_left_to_right, _one_model, quick=False),
    "u_mass": Measure(
        lambda given: {"u_mass": mean_coherence(u_mass(_probable(given), given.reference))},
        _always,
    ),
    "npmi": Measure(lambda given: {"npmi": mean_coherence(npmi(_probable(given), given.reference))}, _always),
    "c_npmi": Measure(
        lambda given: {
            "c_npmi": mean_coherence(
                npmi(topic_names(given.fitted, given.n_words, "probability"), _documents(given), window=10)
            )
        },
        _texts,
    ),
    "c_v": Measure(
        lambda given: {
            "c_v": mean_coherence(c_v(topic_names(given.fitted, given.n_words, "probability"), _documents(given)))
        },
        _texts,
    ),
    "diversity": Measure(lambda given: {"diversity": diversity(given.fitted)}, _always),
    "exclusivity": Measure(
        lambda given: {"exclusivity": mean_coherence(exclusivity(given.fitted, given.n_words))}, _always
    ),
    "predictions": Measure(
        lambda given: score_predictions(
            given.fitted, given.corpus, given.y, level=given.level, covariates=given.covariates
        ).as_dict(),
        _predicts,
    ),
    "chains": Measure(lambda given: dict(chain_diagnostics(given.fitted)), _has_chains),
    "topic_agreement": Measure(lambda given: agreement_of_topics(given.fitted), _several_chains),
}


def _of_topics(estimator: Any, covariates: Any) -> Any:
    """Covariates, unless predictions alone depend on them."""
    if isinstance(estimator, TopicModel) or check_fitted(estimator).target_.kind is None:
        return covariates
    return covariates if estimator.prevalence_covariates_ else None


def evaluate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measures: Sequence[str] | str | None = None,
    reference: Any = None,
    documents: Sequence[Iterable[str]] | None = None,
    n_words: int = 10,
    level: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = None,
    covariates: Any = None,
    topic_labels: Any = None,
) -> dict[str, Any]:
    """Measures of a fitted `LDA`, `MedLDAClassifier`, `MedLDARegressor` or `TopicModel` on documents X, best held out.

    Parameters
    ----------
    y : labels or targets of X, for the predictions of a supervised estimator.
    measures : names from `MEASURES`, "all", or None
        None is all quick ones that apply, "all" also the slow one, left to right. A measure that is named and does not
        apply is an error that says what is missing.
    reference : Corpus or counts
        Documents in which the words are counted for `u_mass` and `npmi`; X by default. Where X is small, the training
        documents, or any large collection with the same columns, say more.
    documents : lists of tokens, in the order of the text
        For the coherences of windows, `c_npmi` and `c_v`: X has no order. They need not be the documents of X.
    n_words : top words of a topic for coherence and exclusivity. (Diversity takes 25.)
    level : of the intervals of a regressor.
    seed : of the halves of documents, and of particles.
    covariates : those of X, if the fit had some: for predictions, and for the likelihoods where topics depend on them.
    topic_labels : those of X, if the fit had some, as `transform` takes them.

    Returns a flat dict of numbers, the means over topics for what is measured by topic; with predictions also
    `per_label` and `confusion`, or `per_output`, as lists. All of it is fit for JSON, where NaN is allowed.
    """
    check_whole("n_words", n_words)
    check_whole("seed", seed, 0)
    corpus = known_of(estimator, X, _of_topics(estimator, covariates), topic_labels)
    counted = corpus if reference is None else corpus_of(estimator, reference)
    given = Evaluation(estimator, corpus, counted, y, documents, n_words, level, seed, n_jobs, covariates)
    everything = [name for name, measure in MEASURES.items() if measure.quick or measures == "all"]
    if measures is None or measures == "all":
        chosen = [name for name in everything if not MEASURES[name].missing(given)]
    else:
        chosen = [measures] if isinstance(measures, str) else list(measures)
        for name in chosen:
            if name not in MEASURES:
                raise ParameterError("measures", f"has {name!r}; there are {', '.join(MEASURES)}, and 'all'")
            if why := MEASURES[name].missing(given):
                raise ParameterError("measures", f"{name}: {why}")
    out: dict[str, Any] = {}
    for name in chosen:
        out |= MEASURES[name].values(given)
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in out.items()}

"""Supervised topic models as scikit-learn estimators: topics and a predictor learned at once."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimator_base import TopicEstimator
from topoi.model import check_whole
from topoi.priors import resolve_alpha, resolve_beta
from topoi.responses import RESPONSES, Response
from topoi.run import Callback, Schedule
from topoi.scores import Chain, Reason, reasons, sample_scores
from topoi.supervision import Supervision, new_supervision

# The margin that suits a corpus grows with its documents' length: a token's pull is that of the whole document over
# its length. Labels that compete for a document need more of it than labels that are each there or not.
MARGIN_PER_TOKEN = {"one of many": 0.4, "yes or no": 0.2}
SMALLEST_MARGIN = 4.0


class SupervisedEstimator(TopicEstimator):
    """What classifier and regressor share."""

    _supervised: ClassVar[bool] = True
    loss: str
    cost: float | None
    weight_prior: float
    n_gibbs: int
    n_sweeps: int
    n_samples: int
    burn_in: int | None
    doc_topic_prior: Any
    topic_word_prior: Any
    _chains: list[Chain]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _fit(self, corpus: Corpus, y: NDArray[np.float64], weight: NDArray[np.float64], response: Response) -> None:
        """Run the chains for targets y (documents, tasks)."""
        self._seed = self._new_seed()
        alpha, self._learn_alpha = resolve_alpha(self.doc_topic_prior, self.n_topics)
        beta, self._learn_beta = resolve_beta(self.topic_word_prior)
        schedule = Schedule(self.n_sweeps, self.n_samples, self.burn_in)

        def supervise() -> Supervision:
            return new_supervision(
                response, y, self.n_topics, weight, nu=float(self.weight_prior), n_gibbs=self.n_gibbs
            )

        runs = self._run(corpus, alpha, beta, schedule, self._seed, None, supervise)
        self._chains = [Chain(result.model, result.weights) for result in runs]
        best = next(result for result in runs if result.model is self.model_)
        self.response_ = response
        self.topic_weights_ = best.weights.mean(0).astype(np.float64) / self._unit(response)
        self.topic_weights_std_ = best.weights.std(0).astype(np.float64) / self._unit(response)

    def _unit(self, response: Response) -> float:
        """What a score of 1 means, in the scores of the chain: for the hinge loss, the margin."""
        return float(getattr(response, "margin", 1.0))

    def _sample_scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        corpus = self._corpus(X, reset=False, allow_empty=True)
        with self._pool() as pool:
            scores = sample_scores(self._chains, corpus, self.infer_sweeps, self._seed, pool)
        return scores / self._unit(self.response_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_gibbs", self.n_gibbs, 0)
        for name in ("cost", "weight_prior"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, numbers.Real) and 0 < float(value) < np.inf):
                raise ParameterError(name, f"must be a positive number, not {value!r}")

    def _explain(self, X: Any, labels: Any, n_topics: int, n_words: int) -> list[list[Reason]]:
        check_is_fitted(self, "model_")
        corpus = self._corpus(X, reset=False, allow_empty=True)
        best = next(chain for chain in self._chains if chain.model is self.model_)
        return reasons(
            best, labels, corpus, self._unit(self.response_), self.infer_sweeps, self._seed, n_topics, n_words
        )


class MedLDAClassifier(ClassifierMixin, SupervisedEstimator):
    """Max-margin (or logistic) supervised topic model for labels: two, many, or several per document.

    Topics are learned to explain the words *and* to predict the labels. All classes share the topics of a document
    (multi-task learning); the weights of each class say which topics speak for it.

    Parameters
    ----------
    n_topics : int, default 20
        Number of topics K.
    loss : "hinge" or "logistic", default "hinge"
        MedLDA, or sLDA's logistic likelihood.
    cost : float or None, default None
        c: weight of the labels against the words. None is 1.6 (hinge) or 16 (logistic).
    margin : float or None, default None
        ℓ, hinge only: by how much a document should be on its label's side. None adapts it to the mean length of the
        documents.
    class_weight : dict, "balanced" or None, default None
        Multiplies the cost of documents by their class.
    weight_prior : float, default 1.0
        ν: prior precision of the weights.
    n_gibbs : int, default 2
        Passes of coordinate Gibbs over the weights per sweep; 0 draws them exactly by Cholesky (slow for large K).
    doc_topic_prior, topic_word_prior, sampler, sampler_options, n_sweeps, burn_in, n_samples, n_chains, … :
        As for `LDA`. Scores are averaged over all samples of all chains; topics shown are the best chain's.

    Attributes
    ----------
    classes_ : array
        Labels (column numbers for an indicator matrix).
    topic_weights_, topic_weights_std_ : array (n_tasks, n_topics)
        Mean and spread of the weights over the samples, in units of the margin. One task for two classes, else one per
        class.
    components_, doc_topic_, model_, log_joint_, rhat_, n_sweeps_, stopped_
        As for `LDA`.
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        loss: str = "hinge",
        cost: float | None = None,
        margin: float | None = None,
        class_weight: Any = None,
        weight_prior: float = 1.0,
        n_gibbs: int = 2,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        sampler: str = "auto",
        sampler_options: dict[str, Any] | None = None,
        n_sweeps: int = 100,
        burn_in: int | None = None,
        n_samples: int = 10,
        n_chains: int = 1,
        infer_sweeps: int = 30,
        max_seconds: float | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.loss = loss
        self.cost = cost
        self.margin = margin
        self.class_weight = class_weight
        self.weight_prior = weight_prior
        self.n_gibbs = n_gibbs
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.infer_sweeps = infer_sweeps
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # scikit-learn's checks score on Gaussian blobs, which are no counts
        return tags

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> MedLDAClassifier:
        """Learn topics and weights from documents X and labels y.

        y has one label per document (any type), or is an indicator matrix (documents, labels) of 0 and 1. `unlabelled`
        is a mask of documents whose labels are not known: their words take part, their y is not looked at.
        """
        corpus = self._corpus(X, reset=True)
        self._check_parameters()
        mask = _mask(unlabelled, corpus.n_documents)
        labels = self._labels(y, corpus.n_documents, mask)
        known = self._targets(labels)
        targets = np.full((corpus.n_documents, known.shape[1]), np.nan)
        weight = np.ones_like(targets)
        targets[~mask] = known
        weight[~mask] = self._weights(labels)[:, None]
        self._fit(corpus, targets, weight, self._response(corpus))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in ("hinge", "logistic"):
            raise ParameterError("loss", f'must be "hinge" or "logistic", not {self.loss!r}')
        if self.margin is not None and not (isinstance(self.margin, numbers.Real) and 0 < float(self.margin) < np.inf):
            raise ParameterError("margin", f"must be a positive number or None, not {self.margin!r}")

    def _response(self, corpus: Corpus) -> Response:
        settings: dict[str, float] = {} if self.cost is None else {"cost": float(self.cost)}
        if self.loss == "hinge":
            mean_length = corpus.n_tokens / max(int(np.count_nonzero(corpus.doc_lengths)), 1)
            question = "yes or no" if self._multilabel or self._binary else "one of many"
            adapted = max(MARGIN_PER_TOKEN[question] * mean_length, SMALLEST_MARGIN)
            settings["margin"] = adapted if self.margin is None else float(self.margin)
        return RESPONSES[self.loss](**settings)

    def _labels(self, y: Any, n_documents: int, mask: NDArray[np.bool_]) -> NDArray[Any]:
        """The labels of the documents that have one, checked; those of others are not looked at."""
        if y is None:
            raise ParameterError("y", "requires y to be passed, but the target y is None")
        every = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        if every.ndim == 0 or len(every) != n_documents:
            raise ParameterError("y", f"has shape {every.shape}, but there are {n_documents} documents")
        labels: NDArray[Any] = every[~mask]
        missing = np.zeros(labels.shape, bool)
        if labels.dtype.kind == "f":
            missing = ~np.isfinite(labels)
        elif labels.dtype == object:
            missing = np.array([value is None or value != value for value in labels.ravel()])  # NaN is not itself
        if missing.any():
            row = int(np.flatnonzero(~mask)[missing.reshape(len(labels), -1).any(1)][0])
            raise ParameterError(
                "y", f"label {row} is NaN or infinite; mark documents without a label by `unlabelled`. "
                "Input y contains NaN."
            )  # fmt: skip
        if labels.dtype == object:
            labels = np.array(labels.tolist())  # numbers, if they are, whatever stood between them
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise ParameterError("y", str(error)) from error
        return labels

    def _targets(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """−1 and +1 (documents, tasks) from labels; sets `classes_`."""
        self._multilabel = type_of_target(labels) == "multilabel-indicator"
        if self._multilabel:
            self.classes_ = np.arange(labels.shape[1])
            return np.where(labels > 0, 1.0, -1.0)
        if labels.ndim > 1 and labels.shape[1] != 1:
            raise ParameterError("y", "must be one label per document, or an indicator matrix of 0 and 1")
        labels = column_or_1d(labels, warn=True)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ParameterError(
                "y", f"has only one class, {self.classes_[0]!r}; a classifier needs at least two classes"
            )
        if len(self.classes_) == 2:
            return np.where(labels == self.classes_[1], 1.0, -1.0)[:, None]
        return np.where(labels[:, None] == self.classes_[None, :], 1.0, -1.0)

    def _weights(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Weight of the cost of every labelled document, from `class_weight`."""
        if self.class_weight is None:
            return np.ones(len(labels))
        if self._multilabel:
            raise ParameterError("class_weight", "cannot be used with an indicator matrix; leave it None")
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in self.classes_.tolist()]
            if unknown:
                raise ParameterError("class_weight", f"has the class {unknown[0]!r}, which y does not have")
        labels = labels.ravel()
        try:
            per_class = np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=labels), float)
        except (ValueError, TypeError) as error:
            raise ParameterError("class_weight", str(error)) from error
        if not (np.isfinite(per_class) & (per_class >= 0)).all():
            raise ParameterError("class_weight", f"must be finite and not negative, not {self.class_weight!r}")
        return per_class[np.searchsorted(self.classes_, labels)]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores in units of the margin: (n_documents,) for two classes, else (n_documents, n_classes)."""
        scores: NDArray[np.float64] = self._sample_scores(X).mean(0)
        return scores[:, 0] if self._binary else scores

    @property
    def _binary(self) -> bool:
        return not self._multilabel and len(self.classes_) == 2

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new documents; an indicator matrix if y was one."""
        scores = self.decision_function(X)
        if self._multilabel:
            return (scores > 0).astype(int)
        chosen: NDArray[Any] = self.classes_[(scores > 0).astype(int) if self._binary else scores.argmax(1)]
        return chosen

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label (n_documents, n_classes).

        Logistic loss: averaged over the posterior samples. Hinge loss has no probabilities: the share of the samples
        that vote for a label, with one more vote shared by all labels, so that no label is ever certain.
        """
        scores = self._sample_scores(X)
        one_of_many = not (self._multilabel or self._binary)
        if self.response_.name == "logistic":  # whatever `loss` was set to since
            p: NDArray[np.float64] = (1.0 / (1.0 + np.exp(-scores))).mean(0)
        else:
            n_samples, n_choices = len(scores), len(self.classes_) if one_of_many else 2
            if one_of_many:
                votes = (scores.argmax(2)[:, :, None] == np.arange(n_choices)).sum(0)
            else:
                votes = (scores > 0).sum(0)
            p = (votes + 1.0 / n_choices) / (n_samples + 1.0)
        if self._binary:
            return np.column_stack((1.0 - p[:, 0], p[:, 0]))
        return p / p.sum(1, keepdims=True) if one_of_many else p

    def explain(self, X: Any, n_topics: int = 5, n_words: int = 10) -> list[list[Reason]]:
        """For every document, a `Reason` per label: the topics, and the words through them, for and against it."""
        labels = self.classes_[1:] if hasattr(self, "classes_") and self._binary else getattr(self, "classes_", ())
        return self._explain(X, labels, n_topics, n_words)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; for an indicator matrix, the share of documents with all labels right."""
        return float(super().score(X, y, sample_weight))


class MedLDARegressor(RegressorMixin, SupervisedEstimator):
    """Supervised topic model for numbers: one target or several.

    Targets are standardised inside; predictions are in their own units. A target of NaN says that it is not known.

    Parameters
    ----------
    loss : "epsilon_insensitive" or "squared", default "epsilon_insensitive"
        MedLDA's loss, or sLDA's.
    cost : float or None, default None
        c: weight of the targets against the words, in standardised units. None is 1.6, or 4 for the squared loss.
    epsilon : float, default 0.001
        Errors up to ε cost nothing (in standard deviations of the target).
    n_topics, weight_prior, n_gibbs, … : as for `MedLDAClassifier`.
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        loss: str = "epsilon_insensitive",
        cost: float | None = None,
        epsilon: float = 1e-3,
        weight_prior: float = 1.0,
        n_gibbs: int = 2,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        sampler: str = "auto",
        sampler_options: dict[str, Any] | None = None,
        n_sweeps: int = 100,
        burn_in: int | None = None,
        n_samples: int = 10,
        n_chains: int = 1,
        infer_sweeps: int = 30,
        max_seconds: float | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.loss = loss
        self.cost = cost
        self.epsilon = epsilon
        self.weight_prior = weight_prior
        self.n_gibbs = n_gibbs
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.infer_sweeps = infer_sweeps
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True  # as for the classifier
        return tags

    def fit(self, X: Any, y: Any) -> MedLDARegressor:
        """Learn topics and weights from documents X and targets y, (documents,) or (documents, outputs)."""
        corpus = self._corpus(X, reset=True)
        self._check_parameters()
        response = self._response()
        if y is None:
            raise ParameterError("y", "requires y to be passed, but the target y is None")
        try:
            targets = np.asarray(y, np.float64)
        except (ValueError, TypeError) as error:
            raise ParameterError("y", f"must be numbers: {error}") from error
        if targets.ndim not in (1, 2) or len(targets) != corpus.n_documents:
            raise ParameterError("y", f"has shape {targets.shape}, but there are {corpus.n_documents} documents")
        self._one = targets.ndim == 1
        targets = targets.reshape(corpus.n_documents, -1)
        if np.isinf(targets).any():
            row = int(np.flatnonzero(np.isinf(targets).any(1))[0])
            raise ParameterError("y", f"target {row} is infinite (inf); use NaN for a target that is not known")
        if np.isnan(targets).all(0).any():
            raise ParameterError("y", "has an output without a single known target")
        self._mean = np.nanmean(targets, axis=0)
        spread = np.nanstd(targets, axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        targets = (targets - self._mean) / self._spread
        self._fit(corpus, targets, np.ones_like(targets), response)
        return self

    def _response(self) -> Response:
        if self.loss not in ("epsilon_insensitive", "squared"):
            raise ParameterError("loss", f'must be "epsilon_insensitive" or "squared", not {self.loss!r}')
        settings: dict[str, float] = {} if self.cost is None else {"cost": float(self.cost)}
        if self.loss == "epsilon_insensitive":
            if not (isinstance(self.epsilon, numbers.Real) and 0 <= float(self.epsilon) < np.inf):
                raise ParameterError("epsilon", f"must be a number of at least 0, not {self.epsilon!r}")
            settings["epsilon"] = float(self.epsilon)
        return RESPONSES[self.loss](**settings)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Expected targets of new documents."""
        scores = self._sample_scores(X).mean(0) * self._spread + self._mean
        return scores[:, 0] if self._one else scores

    def explain(self, X: Any, n_topics: int = 5, n_words: int = 10) -> list[list[Reason]]:
        """For every document, a `Reason` per output, in standard deviations from the mean target."""
        return self._explain(X, range(len(self._mean)) if hasattr(self, "_mean") else (), n_topics, n_words)


def _mask(unlabelled: Any, n_documents: int) -> NDArray[np.bool_]:
    if unlabelled is None:
        return np.zeros(n_documents, bool)
    mask = np.asarray(unlabelled)
    if mask.shape != (n_documents,) or mask.dtype != bool:
        raise ParameterError("unlabelled", f"must be a mask of {n_documents} booleans, one per document")
    if mask.all():
        raise ParameterError("unlabelled", "marks every document; at least some need a label")
    return mask

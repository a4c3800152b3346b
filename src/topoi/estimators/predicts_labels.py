"""Labels of new documents, with scores, probabilities and reasons: what a classifier does once it is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from topoi.estimators.given_labels import indicators, label_lists
from topoi.estimators.labels import Labels
from topoi.estimators.strategies import Strategy, strategy_for
from topoi.estimators.supervised import SupervisedEstimator
from topoi.predict.calibration import Calibration, to_probabilities
from topoi.predict.reasons import Reason


class PredictsLabels(ClassifierMixin, SupervisedEstimator):
    """A fitted classifier: one score for each class, or one for all of two classes and of classes in order."""

    classes_: NDArray[Any]
    response_: Any
    _labels: Labels
    _fitted_strategy: str  # whatever `strategy` was set to since
    _calibration: Calibration  # of the scores of the head
    _at_least_one: bool  # whether every document is given a label, where any number may be right

    @property
    def _strategy(self) -> Strategy:
        return strategy_for(self._fitted_strategy, self._labels)

    @property
    def _ordered(self) -> bool:
        """Whether one score stands for all classes, which are in order."""
        ordered: bool = self.estimators_[0].response_.ordered  # whatever `loss` was set to since
        return ordered

    def as_truth(self, y: Any, n_documents: int) -> NDArray[Any]:
        """Labels, or indicators, to compare predictions with; a label that the model does not know is an error."""
        check_is_fitted(self)
        return self._labels.check_known(as_matrix(y, self._labels), n_documents)

    def decision_function(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> NDArray[np.float64]:
        """Scores: (n_documents,) for two classes and for the ordinal loss, else (n_documents, n_classes).

        They are calibrated log odds; where any number of labels may be right, those beyond the threshold from which on
        a label is predicted. With `refit=False` they are scores of the chains. Hinge loss: in units of the margin,
        averaged over the samples. Logistic loss: the log odds of the averaged probability. Softmax: the logarithm of
        the averaged probability. For "ovo": the pairs that a class wins, and less than half of a pair for the sum of
        its scores, which breaks ties (as scikit-learn's `OneVsOneClassifier`). Ordinal loss, always: the score itself,
        averaged if it is that of the chains; a higher one speaks for later classes.
        """
        check_is_fitted(self)
        X = self._beside_topic_labels(X, topic_labels)
        if self._calibrated:
            log_odds = self._log_odds(X, covariates) - self._calibration.threshold
            return log_odds[:, 0] if self._labels.binary else log_odds
        models = zip(self.estimators_, self._samples(X, covariates), strict=True)
        together = np.concatenate([model.response_.average(*sample) for model, sample in models], axis=1)
        return together[:, 0] if self._labels.binary or self._ordered else self._strategy.decide(together)

    def predict(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> NDArray[Any]:
        """Labels of new documents; an indicator matrix if y was one.

        Where one label is right, the likeliest; for the ordinal loss too, though a median may be closer to the truth.
        Where any number may be right, those with a positive score, and at least the best one if every training document
        had a label. `topic_labels`, here and in the other methods, say which topics a document may have, as those of
        `fit` do; without them it may have all.
        """
        check_is_fitted(self)
        X = self._beside_topic_labels(X, topic_labels)
        if self._ordered:
            (sample,) = self._samples(X, covariates)
            best: NDArray[Any] = self.classes_[self.response_.chosen(*sample)]
            return best
        scores = self.decision_function(X, covariates)
        if self._labels.several:
            return self._chosen(scores).astype(int)
        chosen: NDArray[Any] = self.classes_[(scores > 0).astype(int) if self._labels.binary else scores.argmax(1)]
        return chosen

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which labels are predicted (documents, labels) by scores (documents, tasks)."""
        if self._labels.binary:
            return np.column_stack((scores[:, 0] <= 0, scores[:, 0] > 0))
        if self._labels.one_of_many:
            return np.asarray(scores.argmax(1)[:, None] == np.arange(scores.shape[1]))
        best = vars(self).get("_at_least_one", False) and scores.argmax(1)[:, None] == np.arange(scores.shape[1])
        return np.asarray((scores > 0) | best)

    def predict_proba(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> NDArray[np.float64]:
        """Probability of every label (n_documents, n_classes); rows sum to 1 unless several labels may be right.

        They are calibrated on training documents that were set aside. With `refit=False` those of a likelihood
        (logistic, softmax) are averaged over the posterior samples; for "ovo" those of the pairs are coupled (Wu, Lin &
        Weng 2004); the hinge loss has none, and they are the share of the samples that vote for a label, with one more
        vote shared by all labels, so that no label is ever certain. Those of the ordinal loss follow
        from its score and cut-points, which are fitted on the documents set aside.
        """
        check_is_fitted(self)
        X = self._beside_topic_labels(X, topic_labels)
        if self._calibrated:
            return self._labels.normalised(to_probabilities(self._log_odds(X, covariates), self._labels.one_of_many))
        samples, labels = self._samples(X, covariates), self._labels
        if self.estimators_[0].response_.probabilistic:  # whatever `loss` was set to since
            models = zip(self.estimators_, samples, strict=True)
            parts = [model.response_.link(*sample).mean(0) for model, sample in models]
            return self._strategy.probabilities(np.concatenate(parts, axis=1))
        n_samples = min(len(scores) for scores, _ in samples)  # a model that was stopped has fewer
        scores = self._strategy.decide(np.concatenate([part[:n_samples] for part, _ in samples], axis=2))
        n_choices = len(labels.classes) if labels.one_of_many else 2
        chosen = scores.argmax(2)[:, :, None] == np.arange(n_choices) if labels.one_of_many else scores > 0
        return labels.normalised((chosen.sum(0) + 1.0 / n_choices) / (n_samples + 1.0))

    def _log_odds(self, X: Any, covariates: Any) -> NDArray[np.float64]:
        """Calibrated log odds (documents, tasks) of the head."""
        return self._calibration.log_odds(self._head_scores(X, covariates))

    def _samples(self, X: Any, covariates: Any) -> list[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
        """Scores (samples, documents, tasks) of every model, and its loss's parameters (samples, tasks, …), if any."""
        if "_link" in vars(self):
            return [self._link.sample(self._head_scores(X, covariates))]
        corpus = self._beside_terms(self.as_corpus(X), covariates)
        columns = self._columns(covariates, corpus.n_documents)
        with self._pool() as pool:
            scores = self._sample_scores(corpus, pool, columns)
        return list(zip(scores, (one.loss_parameters_ for one in self.estimators_), strict=True))

    @property
    def _calibrated(self) -> bool:
        """Whether scores are calibrated log odds of a head."""
        return "_calibration" in vars(self)

    def explain(
        self, X: Any, n_topics: int = 5, n_words: int = 10, covariates: Any = None, topic_labels: Any = None
    ) -> list[list[Reason]]:
        """For every document, a `Reason` per label: what topics, words and covariates add to its score.

        For two classes one reason, for the second; for the ordinal loss one, for the last. With `refit=False` there are
        topics alone, and for "ovo" a score is made of votes: ask `estimators_[i]` for a pair.
        """
        check_is_fitted(self)
        X = self._beside_topic_labels(X, topic_labels)
        if "_link" in vars(self):
            last = self.classes_[-1:].tolist()
            return self._head_reasons(X, covariates, last, self._link.slope, np.zeros(1), n_topics, n_words)
        if self.refitted_:
            labels = self.classes_[1:] if self._labels.binary else self.classes_
            calibration = self._calibration
            base = calibration.intercept - calibration.threshold
            return self._head_reasons(X, covariates, labels.tolist(), calibration.slope, base, n_topics, n_words)
        corpus = self._beside_terms(self.as_corpus(X), covariates)
        explained = [self.classes_[-1:]] if self._ordered else self._strategy.explained()
        return self._reasons(corpus, explained, n_topics, n_words, covariates)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None, topic_labels: Any = None
    ) -> float:
        """Accuracy; for an indicator matrix, the share of documents with all labels right.

        A label that the model does not know is an error. `scoring="accuracy"` of scikit-learn counts it as wrong.
        """
        predicted = self.predict(X, covariates, topic_labels)
        return float(accuracy_score(self.as_truth(y, len(predicted)), predicted, sample_weight=sample_weight))


def as_matrix(y: Any, labels: Labels) -> Any:
    """Lists of labels as an indicator matrix; other labels as they are."""
    lists = label_lists(y) if labels.several else None
    return y if lists is None or None in lists else indicators(lists, labels.classes)

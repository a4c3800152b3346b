"""Documents with labels of every kind, and estimators for them: what the tests of the supervised models share."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import MedLDAClassifier, MedLDARegressor, ParameterError
from topoi.chain.responses import LabelResponse, NumberResponse, losses

N_TOPICS = 5
PER_TOPIC = 12
N_WORDS = N_TOPICS * PER_TOPIC
EFFECT = np.array([1.0, -1.0, 2.0, -2.0, 0.0])  # of the share of a topic on the target of a regression
#: Of labels that are learned each by itself, and of labels of which exactly one is right.
LOSSES = [name for name, loss in losses(LabelResponse).items() if not loss.joint]
JOINT_LOSSES = [name for name, loss in losses(LabelResponse).items() if loss.joint]
#: Of any numbers, and of counts.
REGRESSION_LOSSES = [name for name, loss in losses(NumberResponse).items() if not loss.predictive]
COUNT_LOSSES = [name for name, loss in losses(NumberResponse).items() if loss.predictive]
WORDS = [f"t{w // PER_TOPIC}w{w % PER_TOPIC}" for w in range(N_WORDS)]  # the topic that a word is of, and its number


def draw(n_documents, seed, length=40):
    """Counts and true shares: a main topic with some two thirds of a document, a second one, a trace of all."""
    rng = np.random.default_rng(seed)
    phi = np.kron(np.eye(N_TOPICS), np.full(PER_TOPIC, 0.95 / PER_TOPIC)) + 0.05 / N_WORDS
    theta = np.full((n_documents, N_TOPICS), 0.05 / N_TOPICS)
    topics = rng.permuted(np.tile(np.arange(N_TOPICS), (n_documents, 1)), axis=1)
    main = rng.uniform(0.6, 0.8, n_documents)
    rows = np.arange(n_documents)
    theta[rows, topics[:, 0]] += 0.95 * main
    theta[rows, topics[:, 1]] += 0.95 * (1 - main)
    return np.array([rng.multinomial(length, p) for p in theta @ phi]), theta


class Documents:
    """Counts `X` with labels of every kind that depend on the topics."""

    def __init__(self, n_documents, seed):
        self.X, self.theta = draw(n_documents, seed)
        self.many = self.theta.argmax(1)
        self.two = (self.many >= 3).astype(int)
        self.several = (self.theta > 0.1).astype(int)
        self.number = 10 + 3 * self.theta @ EFFECT
        self.numbers = np.column_stack((self.number, -self.theta @ EFFECT**2))
        rng = np.random.default_rng(seed + 1000)
        self.stars = np.digitize(self.theta @ EFFECT + rng.normal(0, 0.2, n_documents), [-1.2, -0.4, 0.4, 1.2]) + 1
        self.rate = np.exp(2 + self.theta @ EFFECT)
        self.count = rng.negative_binomial(4, 4 / (4 + self.rate)).astype(float)
        self.counts = np.column_stack((self.count, rng.poisson(1 + 10 * self.theta[:, 0])))


def classifier(**parameters):
    """Predicts by its chains; two of them: one may end in a mode where two topics are merged."""
    given = {"n_topics": 8, "n_sweeps": 40, "n_samples": 5, "n_chains": 2, "random_state": 0, "refit": False}
    return MedLDAClassifier(**{**given, **parameters})


def regressor(**parameters):
    given = {"n_topics": 8, "n_sweeps": 40, "n_samples": 5, "n_chains": 2, "random_state": 0, "refit": False}
    return MedLDARegressor(**{**given, **parameters})


def quick(**parameters):
    """A classifier that takes no time and need not be good."""
    return classifier(**{"n_topics": 4, "n_sweeps": 6, "n_samples": 2, "n_chains": 1, "infer_sweeps": 6, **parameters})


def quick_regressor(**parameters):
    return regressor(**{"n_topics": 4, "n_sweeps": 6, "n_samples": 2, "n_chains": 1, "infer_sweeps": 6, **parameters})


def fitted_bytes(model, X):
    """Everything that a fit gives, as bytes."""
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    arrays = (scores, model.topic_weights_, model.topic_weights_std_, model.components_, model.doc_topic_)
    return [array.tobytes() for array in (*arrays, model.transform(X))]


FOUR = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 4]])


def refuse(name, model, match="", /, *arguments, **more):
    with pytest.raises(ParameterError, match=rf"^{name}: .*{match}") as caught:
        model.fit(*arguments, **more)
    assert caught.value.parameter == name
    assert isinstance(caught.value, ValueError)

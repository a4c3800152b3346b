"""What fitted estimators show: the rooms above (evaluate, plot, report, cli) look at this, and at nothing else.

These attributes and methods are public, and documented with the estimators; here they stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.chain.model import TopicModel
from topoi.corpus import Corpus, Ngrams
from topoi.corpus.target import Target
from topoi.corpus.text import Preparation
from topoi.errors import ParameterError
from topoi.estimators.alignment import TopicAgreement


class Fitted(Protocol):
    """A fitted estimator: its topic models, what it predicts, the words that it knows, and how its runs went.

    The topics of several models (a classifier by "ovr" or "ovo") stand side by side in `components_` and `transform`,
    in the order of `estimators_`.
    """

    n_features_in_: int
    rhat_: float
    n_sweeps_: int
    stopped_: str

    @property
    def target_(self) -> Target:
        """What it predicts."""

    @property
    def estimators_(self) -> Sequence[OneModel]:
        """An estimator for each model: itself, where there is one."""

    @property
    def topic_models_(self) -> list[TopicModel]:
        """The topic model of each."""

    @property
    def topic_names_(self) -> list[str]:
        """What every topic is called: its name, or "topic 3"."""

    @property
    def hidden_topics_(self) -> list[int]:
        """Topics that tables and reports leave out, by number."""

    @property
    def components_(self) -> NDArray[np.float64]:
        """φ of all topics."""

    @property
    def vocabulary_(self) -> NDArray[Any] | None:
        """The words that it knows, if they have names."""

    @property
    def preparation_(self) -> Preparation | None:
        """How texts became these words; None if the fit was one of counts."""

    @property
    def ngrams_(self) -> Ngrams | None:
        """The n-grams that predictions need; None if they need none."""

    @property
    def burn_in_(self) -> int:
        """Sweeps before the first sample could be kept, of the runs whose traces are kept."""

    def topic_agreement(self) -> list[TopicAgreement]:
        """In how many chains each topic was found, in the order of `components_`; empty if there is one chain."""

    def as_corpus(self, X: Any) -> Corpus:
        """X as a corpus of the words that the models know; an error if it has others."""

    @property
    def prevalence_covariates_(self) -> dict[str, str]:
        """Covariates that topics depend on, each a "number", "category" or "spline"; empty without any."""

    def with_prevalence(self, X: Any, covariates: Any) -> Corpus:
        """New documents with the covariates that their topics depend on."""

    def with_topic_labels(self, X: Any, topic_labels: Any) -> Corpus:
        """New documents with the topics that they may have."""

    def transform(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> NDArray[np.float64]:
        """Topic shares of new documents."""


class OneModel(Fitted, Protocol):
    """A fitted estimator that is one model, with what the chains of one model leave."""

    model_: TopicModel  # of the best chain
    chains_: list[TopicModel]
    doc_topic_: NDArray[np.float32]
    log_joint_: NDArray[np.float64]
    traces_: list[NDArray[np.float64]]  # sweep and log joint, of every chain
    validation_traces_: list[NDArray[np.float64]]  # sweep and score; only if the fit was watched
    validation_measure_: str

    @property
    def seed_(self) -> int:
        """The seed of its chains, and of the draws for new documents."""


class Predictor(Fitted, Protocol):
    """A fitted estimator that predicts: `target_.kind` is not None."""

    topic_weights_: NDArray[np.float64]  # (tasks, topics): what topics add to scores, and how sure that is
    topic_weights_std_: NDArray[np.float64]

    def predict(self, X: Any) -> Any:
        """Labels, indicators of labels, or numbers of new documents."""

    def as_truth(self, y: Any, n_documents: int) -> NDArray[Any]:
        """y as what predictions are compared with; an error if it cannot be."""


def is_ours(estimator: Any) -> bool:
    """Whether an object is an estimator of topoi, fitted or not."""
    return hasattr(type(estimator), "topic_models_")


def check_fitted(estimator: Any) -> Fitted:
    """The estimator, if it is one of topoi and fitted; else an error."""
    if not is_ours(estimator):
        raise ParameterError(
            "estimator", f"must be a fitted LDA, MedLDAClassifier or MedLDARegressor, not {type(estimator).__name__}"
        )
    check_is_fitted(estimator)
    fitted: Fitted = estimator
    return fitted

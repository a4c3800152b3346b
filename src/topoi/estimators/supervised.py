"""What the supervised estimators share: topics and a predictor learned at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._disk.schema import array_of, instance_of, list_of
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import Checkpoints
from topoi.chain.loop import Run
from topoi.chain.model import check_whole
from topoi.chain.priors.dirichlet import resolve_alpha, resolve_beta
from topoi.chain.responses import Response, find_loss, losses
from topoi.chain.responses.settings import STRONGEST, check_setting
from topoi.chain.responses.supervision import Supervision, new_supervision
from topoi.chain.samples import Watch
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimators.base import Job, TopicEstimator, chain_seed
from topoi.estimators.saved import Savable
from topoi.predict.fold_in import FoldIn
from topoi.predict.scores import Chain, Reason, reasons, sample_scores


@dataclass(frozen=True)
class Lesson:
    """What one model is to learn: documents, targets (documents, tasks), weights of their costs, and the loss.

    And, if wanted, what it is watched on.
    """

    corpus: Corpus
    targets: NDArray[Any]
    weight: NDArray[Any]
    response: Response
    watch: Watch | None = None


class SupervisedEstimator(TopicEstimator):
    """What classifier and regressor share."""

    _supervised: ClassVar[bool] = True
    _kind: ClassVar[type[Response]]  # of the losses to choose from
    _fitted: ClassVar = Savable._fitted | {
        "_chains": list_of(instance_of(Chain)),
        "response_": instance_of(Response),
        "topic_weights_": array_of("float64"),
        "topic_weights_std_": array_of("float64"),
    }
    loss: str
    cost: float | None
    weight_prior: float
    n_gibbs: int
    doc_topic_prior: Any
    topic_word_prior: Any
    response_: Response
    _chains: list[Chain]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _learn(self, lessons: list[Lesson], seed: int, checkpoints: Checkpoints | None = None) -> list[list[Run]]:
        """Run the chains of a model for every lesson, each with its `model_seed`."""
        alpha, self._learn_alpha = resolve_alpha(self.doc_topic_prior, self.n_topics)
        beta, self._learn_beta = resolve_beta(self.topic_word_prior)
        nu = float(self.weight_prior)
        if not 1 / STRONGEST <= nu <= STRONGEST:  # a wider prior lets weights leave float32
            raise ParameterError("weight_prior", f"must be from {1 / STRONGEST:g} to {STRONGEST:g}, not {nu:g}")
        for lesson in lessons:
            lesson.response.check_limits(float(np.max(lesson.weight, initial=1.0)))

        def job(model: int, lesson: Lesson) -> Job:
            def supervise() -> Supervision:
                return new_supervision(
                    lesson.response, lesson.targets, self.n_topics, lesson.weight, nu=nu, n_gibbs=self.n_gibbs
                )

            return Job(lesson.corpus, model_seed(seed, model), supervise, watch=lesson.watch)

        jobs = [job(model, lesson) for model, lesson in enumerate(lessons)]
        return self._run(jobs, alpha, beta, self._schedule, checkpoints)

    def _adopt(self, runs: list[Run], response: Response, seed: int, watch: Watch | None = None) -> None:
        """Become the model of these chains."""
        best = self._keep(runs, self._schedule, watch)
        self._seed = seed
        self._chains = [Chain(result.model, result.weights) for result in runs]
        self.response_ = response
        self.topic_weights_ = best.weights.mean(0).astype(np.float64) / response.unit
        self.topic_weights_std_ = best.weights.std(0).astype(np.float64) / response.unit

    @property
    def weight_samples_(self) -> list[NDArray[np.float32]]:
        """Of every chain the weights (samples, tasks, topics) of its kept samples, in the scores of the chain."""
        return [chain.weights for chain in self._chains]

    def as_truth(self, y: Any, n_documents: int) -> NDArray[Any]:
        """y as what the predictions for so many documents are compared with; an error if it cannot be."""
        raise NotImplementedError

    @property
    def _fold_in(self) -> FoldIn:
        return FoldIn(self.infer_sweeps, self._seed, self.infer_method)

    def _sample_scores(self, corpus: Corpus, pool: Any) -> NDArray[np.float64]:
        """Scores (samples, documents, tasks) of the one model."""
        return sample_scores(self._chains, corpus, self._fold_in, pool) / self.response_.unit

    def _reasons(
        self, corpus: Corpus, labels: Any, n_topics: int, n_words: int, first_topic: int = 0
    ) -> list[list[Reason]]:
        """Reasons of the best chain of the one model."""
        best = next(chain for chain in self._chains if chain.model is self.model_)
        settings = (self.response_.unit, self._fold_in, n_topics, n_words, first_topic)
        return reasons(best, labels, corpus, *settings)

    @property
    def _n_tasks(self) -> int:
        """Number of scores of a document."""
        raise NotImplementedError

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if not any(chain.model is self.model_ for chain in self._chains):
            raise ModelError("the model is not one of its chains")
        for chain in self._chains:
            shape = (self._n_tasks, chain.model.n_topics)
            if chain.weights.ndim != 3 or chain.weights.shape[1:] != shape or not len(chain.weights):
                raise ModelError(f"weights must be samples of shape {shape}")
            if chain.model.n_words != self.n_features_in_ or not np.isfinite(chain.weights).all():
                raise ModelError("a chain has other words than the estimator, or weights that are not finite")
        shape = (self._n_tasks, self.model_.n_topics)
        if self.topic_weights_.shape != shape or self.topic_weights_std_.shape != shape:
            raise ModelError(f"topic_weights_ must be of shape {shape}")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_gibbs", self.n_gibbs, 0)
        check_setting("weight_prior", self.weight_prior, none=False)
        find_loss(self.loss, self._kind)
        for response in losses(self._kind).values():  # whichever `loss` is: a wrong margin is wrong
            response.check_settings(self.get_params(deep=False))


def model_seed(seed: int, model: int) -> int:
    """Seed of model number `model` of a fit; the first has that of the fit."""
    return chain_seed(seed, 0, model) if model else seed

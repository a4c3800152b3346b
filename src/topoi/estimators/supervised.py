"""What the supervised estimators share: topics and a predictor learned at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._disk.schema import array_of, instance_of, list_of
from topoi._disk.store import ModelError
from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Checkpoints
from topoi.chain.loop import Run
from topoi.chain.model import check_whole
from topoi.chain.responses import Response, find_loss, losses
from topoi.chain.responses.settings import check_setting
from topoi.corpus import Corpus
from topoi.estimators.base import TopicEstimator
from topoi.estimators.problem import SupervisedProblem
from topoi.estimators.saved import Savable
from topoi.predict.scores import Chain, Reason, reasons, sample_own, sample_scores


class SupervisedEstimator(TopicEstimator):
    """What classifier and regressor share."""

    _supervised: ClassVar[bool] = True
    _kind: ClassVar[type[Response]]  # of the losses to choose from
    saved_attributes: ClassVar = Savable.saved_attributes | {
        "_chains": list_of(instance_of(Chain)),
        "response_": instance_of(Response),
        "topic_weights_": array_of("float64"),
        "topic_weights_std_": array_of("float64"),
    }
    loss: str
    cost: float | None
    weight_prior: float
    n_gibbs: int
    part: int
    doc_topic_prior: Any
    topic_word_prior: Any
    response_: Response
    _chains: list[Chain]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _problem(
        self, corpus: Corpus, seed: int, targets: NDArray[Any], weight: NDArray[Any], response: Response
    ) -> SupervisedProblem:
        """What there is to learn, described for all that follows."""
        return SupervisedProblem(
            corpus=corpus, seed=seed, targets=targets, weight=weight, response=response, nu=float(self.weight_prior),
            n_gibbs=self.n_gibbs, part=int(self.part),
        )  # fmt: skip

    def _learn(self, problems: list[SupervisedProblem], checkpoints: Checkpoints | None = None) -> list[list[Run]]:
        """Run the chains of a model for every problem."""
        for problem in problems:
            problem.check_limits()
        return self._run(problems, self._schedule, checkpoints)

    @property
    def weight_samples_(self) -> list[NDArray[np.float32]]:
        """Of every chain the weights (samples, tasks, topics) of its kept samples, in the scores of the chain."""
        return [chain.weights for chain in self._chains]

    @property
    def loss_parameters_(self) -> NDArray[np.float64] | None:
        """Parameters of the loss of its own, in the samples of all chains (samples, tasks, …); None if it has none."""
        return sample_own(self._chains)

    def as_truth(self, y: Any, n_documents: int) -> NDArray[Any]:
        """y as what the predictions for so many documents are compared with; an error if it cannot be."""
        raise NotImplementedError

    def _sample_scores(self, corpus: Corpus, pool: Pool) -> list[NDArray[np.float64]]:
        """Scores (samples, documents, tasks) of every model."""
        return [
            sample_scores(_chains_of(one), corpus, self._fold_in(one.seed_), pool) / one.response_.unit
            for one in self.estimators_
        ]

    def _reasons(
        self, corpus: Corpus, explained: Sequence[Iterable[Any]], n_topics: int, n_words: int
    ) -> list[list[Reason]]:
        """For every document the reasons of every model, by its best chain, for the labels that it explains."""
        parts, first = [], 0
        for one, labels in zip(self.estimators_, explained, strict=True):
            best = next(chain for chain in _chains_of(one) if chain.model is one.model_)
            settings = (one.response_.unit, self._fold_in(one.seed_), n_topics, n_words, first)
            parts.append(reasons(best, labels, corpus, *settings))
            first += one.model_.n_topics
        return [[reason for part in parts for reason in part[d]] for d in range(corpus.n_documents)]

    @property
    def _n_tasks(self) -> int:
        """Number of scores of a document."""
        raise NotImplementedError

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if not any(chain.model is self.model_ for chain in self._chains):
            raise ModelError("the model is not one of its chains")
        if not 0 < self.response_.unit < np.inf:  # scores are divided by it
            raise ModelError(f"the unit of the scores must be a positive number, not {self.response_.unit:g}")
        for chain in self._chains:
            shape = (self._n_tasks, chain.model.n_topics)
            if chain.weights.ndim != 3 or chain.weights.shape[1:] != shape or not len(chain.weights):
                raise ModelError(f"weights must be samples of shape {shape}")
            if chain.model.n_words != self.n_features_in_ or not np.isfinite(chain.weights).all():
                raise ModelError("a chain has other words than the estimator, or weights that are not finite")
            own = self.response_.first_own(self._n_tasks)
            expected = {} if own is None else {"own": (len(chain.weights), *own.shape)}
            if {name: array.shape for name, array in chain.beside.items()} != expected or not all(
                array.dtype == np.float64 and np.isfinite(array).all() for array in chain.beside.values()
            ):
                raise ModelError(f"a chain must hold the parameters of its loss, {expected}, finite, and nothing else")
        shape = (self._n_tasks, self.model_.n_topics)
        if self.topic_weights_.shape != shape or self.topic_weights_std_.shape != shape:
            raise ModelError(f"topic_weights_ must be of shape {shape}")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_gibbs", self.n_gibbs, 0)
        check_whole("part", self.part, 1)
        check_setting("weight_prior", self.weight_prior, none=False)
        find_loss(self.loss, self._kind)
        for response in losses(self._kind).values():  # whichever `loss` is: a wrong margin is wrong
            response.check_settings(self.get_params(deep=False))


def _chains_of(one: SupervisedEstimator) -> list[Chain]:
    return [Chain(model, weights) for model, weights in zip(one.chains_, one.weight_samples_, strict=True)]

"""MedLDA for numbers, as a scikit-learn estimator."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from topoi._disk.schema import FLAG, array_of, instance_of
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import Checkpoints
from topoi.chain.loop import Callback, Run
from topoi.chain.responses import DEFAULT_NUMBER_LOSS, NumberResponse, find_loss
from topoi.corpus import Corpus
from topoi.corpus.target import Target
from topoi.errors import ParameterError
from topoi.estimators.base import as_checkpoints, as_validation
from topoi.estimators.covariates import Covariates
from topoi.estimators.learned import learned_with_weights
from topoi.estimators.pilot import SET_ASIDE, plan_pilots
from topoi.estimators.prevalent import beside_terms
from topoi.estimators.problem import SupervisedProblem, model_seed
from topoi.estimators.supervised import SupervisedEstimator, stopped
from topoi.estimators.terms import Terms
from topoi.estimators.watch import watch_targets
from topoi.predict.aims import NumberAim
from topoi.predict.intervals import N_DRAWS, Noise, Unseen, held_out_noise, measure_noise, spaced
from topoi.predict.reasons import Reason
from topoi.predict.scores import score_draws


class MedLDARegressor(RegressorMixin, SupervisedEstimator):
    """Supervised topic model for numbers: one target or several.

    Targets are standardised inside; predictions are in their own units. A target of NaN says that it is not known.

    Parameters
    ----------
    loss : "epsilon_insensitive", "squared" or "counts", default "epsilon_insensitive"
        MedLDA's loss, or sLDA's; "counts" is the negative binomial likelihood of counts, 0, 1, 2, …, which are not
        standardised: a prediction is the expected count, and weights of topics are logarithms of ratios.
    cost : float or None, default None
        c: weight of the targets against the words, in standardised units. None is 8, 4 for the squared loss, and 1 for
        counts, where it is a power of the likelihood.
    epsilon : float, default 0.001
        Errors up to ε cost nothing (in standard deviations of the target).
    held_out : float, default 0.0
        Share of the documents with targets, up to a half, that a second fit goes without, so that the errors which
        `predict_interval` and `return_std` are made of are those of new documents (those of counts are made of the
        likelihood, not of errors). Doubles the time; predictions are
        those of the first fit, of all documents. 0: errors of training documents, corrected, which are a little small.
    n_gibbs : int, default 8
        Passes of coordinate Gibbs over the weights per sweep; 0 draws them exactly by Cholesky. With two, as the
        classifier has, weights lag behind their topics while chains are short or `cost` is large: docs/experiments.md.
    n_topics, weight_prior, part, prevalence, … : as for `MedLDAClassifier`.

    Attributes
    ----------
    noise_std_ : array (n_outputs,)
        Standard deviation of the targets around the scores that topics and weights do not account for, in the targets'
        units.
    topic_weights_, topic_weights_std_, … : as for `MedLDAClassifier`, in standard deviations of the target.
    """

    saved_attributes: ClassVar = SupervisedEstimator.saved_attributes | {
        "_one": FLAG,
        "_mean": array_of("float64"),
        "_spread": array_of("float64"),
        "_noise": instance_of(Noise),
        "noise_std_": array_of("float64"),
    }

    _kind = NumberResponse
    response_: NumberResponse

    def __init__(
        self,
        n_topics: int | str = 20,
        *,
        loss: str = DEFAULT_NUMBER_LOSS,
        cost: float | None = None,
        epsilon: float = 1e-3,
        held_out: float = 0.0,
        weight_prior: float = 1.0,
        word_features: str | None = "tfidf",
        refit: bool = True,
        n_gibbs: int = 8,
        part: int = 8,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        seeds: Mapping[str, Sequence[Any]] | None = None,
        seed_strength: float = 1.0,
        topics_per_label: int = 1,
        prevalence: str | None = None,
        sampler: str = "auto",
        sampler_options: dict[str, Any] | None = None,
        n_sweeps: int | None = None,
        burn_in: int | None = None,
        n_samples: int = 10,
        n_chains: int = 1,
        infer_sweeps: int = 3,
        infer_method: str = "mean_field",
        keep_doc_topic: bool | None = None,
        max_seconds: float | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        engine: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.loss = loss
        self.cost = cost
        self.epsilon = epsilon
        self.held_out = held_out
        self.weight_prior = weight_prior
        self.word_features = word_features
        self.refit = refit
        self.n_gibbs = n_gibbs
        self.part = part
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.topics_per_label = topics_per_label
        self.prevalence = prevalence
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.infer_sweeps = infer_sweeps
        self.infer_method = infer_method
        self.keep_doc_topic = keep_doc_topic
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.progress = progress
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True  # as for the classifier
        return tags

    def fit(
        self, X: Any, y: Any, checkpoint: Any = None, validation: Any = None, covariates: Any = None,
        topic_labels: Any = None,
    ) -> MedLDARegressor:  # fmt: skip
        """Learn topics and weights from documents X and targets y, (documents,) or (documents, outputs).

        `checkpoint` as for `LDA`. `validation`, (X, y) or (X, y, covariates), are documents to watch the fit on, which
        it does not learn from: R² of the chains is in `validation_traces_`. `covariates` as for `MedLDAClassifier`.
        `topic_labels` say which topics a document may have: as for `LDA`.
        """
        with self._all_or_nothing():
            corpus = self._corpus(X, reset=True)
            self._check_parameters()
            corpus, of_topics = self._with_topic_labels(corpus, topic_labels, self.n_topics)
            corpus, of_terms = self._with_terms(corpus, covariates, by_default=False)
            targets = as_numbers(y, corpus.n_documents)
            one = targets.ndim == 1
            targets = targets.reshape(corpus.n_documents, -1)
            response = find_loss(self.loss, NumberResponse).adapted(self.get_params(deep=False), corpus, targets)
            response.check_targets(targets)
            if np.isnan(targets).all(0).any():
                raise ParameterError("y", "has an output without a single known target")
            mean, spread = response.units(targets)
            targets = (targets - mean) / spread
            checkpoints = as_checkpoints(checkpoint)
            out = self._to_hold_out(targets)
            beside, columns = self._learn_covariates(covariates, corpus.n_documents)
            seed = self._new_seed(checkpoints)
            problem = self._problem(corpus, seed, targets, np.ones_like(targets), response, columns, of_topics)
            watched = problem
            if validation is not None:
                terms = of_terms.get("_terms")
                unseen, right, new = self._to_watch(validation, corpus, response, len(mean), beside, terms)
                fold_in = self._fold_in(problem.seed)
                watch = watch_targets(unseen, (right - mean) / spread, fold_in, response, new)
                watched = replace(problem, watch=watch)
            refitted: dict[str, Any] = {}
            if self.refit and not response.linked:
                (runs,) = self._learn([watched], checkpoints)
                refitted, noise = self._refitted(problem, runs, checkpoints)
            else:
                runs, noise = self._not_refitted(watched, out, checkpoints)
                if self.refit:
                    refitted = self._linked_head(problem, response, [problem], [runs], lambda own: [own], checkpoints)
            units = {"_one": one, "_mean": mean, "_spread": spread}
            errors = {"_noise": noise, "noise_std_": np.sqrt(noise.variance) * spread}
            of_covariates = self._of_covariates(beside, problem, [problem], [runs])
            found = learned_with_weights(watched, runs, self._schedule)
            self._become(found | units | errors | of_covariates | of_topics | of_terms | refitted)
            return self

    def _not_refitted(
        self, problem: SupervisedProblem, out: NDArray[np.int64], checkpoints: Checkpoints | None
    ) -> tuple[list[Run], Noise]:
        """The chains, which predict by themselves, and their errors; of documents left out of a second fit, if any."""
        problems, response = [problem], problem.response
        assert isinstance(response, NumberResponse)
        if len(out):
            rest = problem.take(np.setdiff1d(np.arange(problem.corpus.n_documents), out))
            problems.append(replace(rest, seed=model_seed(problem.seed, 1), watch=None))
        runs = self._learn(problems, checkpoints)
        fold_in = self._fold_in(problems[-1].seed)
        with self._pool() as pool:
            if len(out):
                new = problem.take(out)
                unseen = Unseen(runs[1], new.corpus, new.targets[:], new.columns)
                noise = held_out_noise([unseen], response, fold_in, pool)
            else:
                given = (problem.corpus, problem.targets[:], response, fold_in, pool, problem.columns)
                noise = measure_noise(runs[0], *given)
        return runs[0], noise

    def _refitted(
        self, problem: SupervisedProblem, runs: list[Run], checkpoints: Checkpoints | None
    ) -> tuple[dict[str, Any], Noise]:
        """Fitted attributes of the head, whose settings a pilot has chosen, and the noise around it."""
        response = problem.response
        assert isinstance(response, NumberResponse)

        def aim_at(rows: Any) -> NumberAim:
            return NumberAim(problem.targets[rows], problem.weight[rows])

        settings, fold_in = self._usual_settings(problem.corpus), self._fold_in(problem.seed)
        pilots = (
            [] if stopped([runs]) else plan_pilots(problem.targets[:], problem.seed, float(self.held_out) or SET_ASIDE)
        )
        n_sweeps = min(run.n_sweeps for run in runs)
        outcome = self._piloted(problem, pilots, lambda own: [own], aim_at, n_sweeps, checkpoints)
        if outcome is not None:
            settings = outcome.settings
            ends = np.cumsum([len(new.targets) for new in outcome.unseen])[:-1]
            each = zip(outcome.chains, outcome.unseen, np.split(outcome.scores, ends), strict=True)
            unseen = [Unseen(chains[0], new.corpus, new.targets[:], new.columns, said) for chains, new, said in each]
            with self._pool() as pool:
                noise = held_out_noise(unseen, response, fold_in, pool)
        else:
            with self._pool() as pool:
                given = (problem.corpus, problem.targets[:], response, fold_in, pool, problem.columns)
                noise = measure_noise(runs, *given)
        head, _ = self._fitted_head(problem, [problem], [runs], aim_at(slice(None)), settings)
        return self._of_head(head, problem.corpus), noise

    def _to_watch(
        self, validation: Any, corpus: Corpus, response: NumberResponse, n_outputs: int, beside: Covariates | None,
        terms: Terms | None,
    ) -> tuple[Corpus, NDArray[np.float64], sparse.csr_array | None]:  # fmt: skip
        """Documents to watch the fit on, their targets, and the columns of their covariates."""
        X, y, covariates = as_validation(validation)
        documents = self._corpus(X, reset=False, allow_empty=True, like=corpus)
        documents = beside_terms(documents, terms, covariates)
        targets = check_targets(y, documents.n_documents, response).reshape(documents.n_documents, -1)
        if targets.shape[1] != n_outputs:
            raise ParameterError("validation", f"has {targets.shape[1]} outputs, but y has {n_outputs}")
        return documents, targets, None if beside is None else beside.encode(covariates, documents.n_documents)

    @property
    def target_(self) -> Target:
        """What is predicted: numbers, one output or several."""
        check_is_fitted(self)
        n = len(self._mean)
        return Target("numbers", list(range(n)), ["target"] if n == 1 else [f"output {j}" for j in range(n)])

    def as_truth(self, y: Any, n_documents: int) -> NDArray[np.float64]:
        """Targets in the shape of the predictions; NaN where one is not known."""
        check_is_fitted(self)
        truth = check_targets(y, n_documents, self.response_)
        shape = (n_documents,) if self._one else (n_documents, len(self._mean))
        if truth.size != np.prod(shape):
            raise ParameterError("y", f"has shape {truth.shape}, but predictions have {shape}")
        return truth.reshape(shape)

    @property
    def _n_tasks(self) -> int:
        return len(self._mean)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        noise, n = self._noise, self._n_tasks
        arrays = (self._mean, self._spread, self.noise_std_, noise.variance, noise.scale)
        if not all(array.shape == (n,) and np.isfinite(array).all() for array in arrays) or (self._one and n != 1):
            raise ModelError(f"means, spreads and noise must be {n} finite numbers each")
        if any((array < 0).any() for array in arrays[1:]):
            raise ModelError("spreads and noise must not be negative")
        if len(noise.errors) != n or not all(errors.ndim == 1 and len(errors) for errors in noise.errors):
            raise ModelError("every output needs the errors that its intervals are made of")
        self._check_head(sum(model.n_topics for model in self.chains_), n)
        self._check_effects(n)

    def _to_hold_out(self, targets: NDArray[np.float64]) -> NDArray[np.int64]:
        """Documents that the second fit goes without; none if there is no second fit."""
        if not (isinstance(self.held_out, numbers.Real) and 0 <= float(self.held_out) <= 0.5):
            raise ParameterError("held_out", f"must be a number from 0 to 0.5, not {self.held_out!r}")
        known = ~np.isnan(targets)
        labelled = np.flatnonzero(known.any(1))
        out = spaced(labelled, round(float(self.held_out) * len(labelled)))
        if self.held_out and not (len(out) and known[out].any(0).all() and np.delete(known, out, 0).any(0).all()):
            raise ParameterError("held_out", "leaves an output without a known target in one of the parts; use 0")
        return out

    def predict(self, X: Any, return_std: bool = False, covariates: Any = None, topic_labels: Any = None) -> Any:
        """Expected targets of new documents; with `return_std`, also how far the targets may be off (see intervals).

        `topic_labels`, here and in the other methods, say which topics a document may have, as those of `fit` do;
        without them it may have all.
        """
        X = self._beside_topic_labels(X, topic_labels)
        mean, spread = self._predict(X, return_std, covariates)
        if self._one:
            return (mean[:, 0], spread[:, 0]) if return_std else mean[:, 0]
        return (mean, spread) if return_std else mean

    def predict_interval(
        self, X: Any, level: float = 0.9, covariates: Any = None, topic_labels: Any = None
    ) -> NDArray[np.float64]:
        """Bounds (n_documents, 2) or (n_documents, n_outputs, 2) between which the target is with probability `level`.

        The width follows how sure the model is of a document's topics and weights; how wide that must be is taken from
        its errors on documents held out, or on training documents (`held_out`; see docs/supervised.md). For counts the
        bounds are counts, quantiles of the predictive distribution: the mixture over topics, weights and dispersions.
        """
        check_is_fitted(self)
        if not (isinstance(level, numbers.Real) and 0 < float(level) < 1):
            raise ParameterError("level", f"must be a number between 0 and 1, not {level!r}")
        X = self._beside_topic_labels(X, topic_labels)
        if self.response_.predictive:
            scores, own = self._draws(self._beside_terms(self.as_corpus(X), covariates), covariates)
            tail = (1.0 - float(level)) / 2.0
            both = np.stack([self.response_.quantiles(scores, own, p) for p in (tail, 1.0 - tail)], axis=2)
            return both[:, 0] if self._one else both
        mean, spread = self._predict(X, True, covariates)
        bounds = mean[:, :, None] + spread[:, :, None] * self._noise.bounds(float(level))
        return bounds[:, 0] if self._one else bounds

    def _predict(self, X: Any, with_spread: bool, covariates: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and, if asked for, standard deviation (documents, outputs) in the targets' units."""
        corpus = self._beside_terms(self.as_corpus(X), covariates)
        if self.refitted_ and not self.response_.linked:
            found = self._head_scores(corpus, covariates)
        elif self.refitted_:
            found = self.response_.average(*self._link.sample(self._head_scores(corpus, covariates)))
        else:
            columns = self._columns(covariates, corpus.n_documents)
            with self._pool() as pool:
                (scores,) = self._sample_scores(corpus, pool, columns)
            found = self.response_.average(scores, self.loss_parameters_)
        mean = found * self._spread + self._mean
        if not with_spread:
            return mean, np.empty(0)
        scores, own = self._draws(corpus, covariates)
        draws = self.response_.link(scores, own)
        if self.response_.predictive:
            return mean, np.sqrt(
                draws.var(0, ddof=min(1, len(draws) - 1)) + self.response_.variance(scores, own).mean(0)
            )
        return mean, self._noise.spread(draws) * self._spread

    def _draws(self, corpus: Corpus, covariates: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Scores (draws, documents, outputs) of drawn topics, and the parameters of the loss in the samples of each.

        Of a head that is linked to the loss a single draw: its errors are part of the likelihood.
        """
        if "_link" in vars(self):
            return self._link.sample(self._head_scores(corpus, covariates))
        with self._pool() as pool:
            columns = self._columns(covariates, corpus.n_documents)
            return score_draws(self._chains, corpus, N_DRAWS, self._seed, pool, columns)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None, topic_labels: Any = None
    ) -> float:
        """R² of the predictions; every target must be known."""
        predicted = self.predict(X, covariates=covariates, topic_labels=topic_labels)
        truth = self.as_truth(y, len(predicted))
        if np.isnan(truth).any():
            row = int(np.flatnonzero(np.isnan(truth).reshape(len(truth), -1).any(1))[0])
            raise ParameterError("y", f"target {row} is NaN; score only documents whose targets are known")
        return float(r2_score(truth, predicted, sample_weight=sample_weight))

    def explain(
        self, X: Any, n_topics: int = 5, n_words: int = 10, covariates: Any = None, topic_labels: Any = None
    ) -> list[list[Reason]]:
        """For every document, a `Reason` per output, in standard deviations from the mean target; counts: in logs."""
        check_is_fitted(self)
        X = self._beside_topic_labels(X, topic_labels)
        if self.refitted_:
            n = len(self._mean)
            slope = self._link.slope if self.response_.linked else np.ones(n)
            return self._head_reasons(X, covariates, list(range(n)), slope, np.zeros(n), n_topics, n_words)
        corpus = self._beside_terms(self.as_corpus(X), covariates)
        return self._reasons(corpus, [range(len(self._mean))], n_topics, n_words, covariates)


def check_targets(y: Any, n_documents: int, response: NumberResponse) -> NDArray[np.float64]:
    """Targets (documents,) or (documents, outputs) that a loss has a meaning for; NaN is one that is not known."""
    targets = as_numbers(y, n_documents)
    response.check_targets(targets)
    return targets


def as_numbers(y: Any, n_documents: int) -> NDArray[np.float64]:
    """Targets (documents,) or (documents, outputs) as numbers."""
    if y is None:
        raise ParameterError("y", "requires y to be passed, but the target y is None")
    try:
        targets = np.asarray(y, np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError("y", f"must be numbers: {error}") from error
    if targets.ndim not in (1, 2) or len(targets) != n_documents:
        raise ParameterError("y", f"has shape {targets.shape}, but there are {n_documents} documents")
    return targets

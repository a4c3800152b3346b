"""What the scikit-learn estimators share: a thin skin over corpus, run, model and infer."""

from __future__ import annotations

import numbers
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from topoi._disk.remote import locate
from topoi._machine.interrupt import Interrupt
from topoi._machine.pool import Pool, resolve_n_jobs
from topoi.chain.checkpoint import Checkpoints, Journal, fingerprint
from topoi.chain.engines.choose import NewChain, open_place
from topoi.chain.loop import Callback, Rules, Run, Schedule, run
from topoi.chain.model import TopicModel, check_dense, check_whole
from topoi.chain.names import name_topics, topic_labels
from topoi.chain.plan import check_priors, check_sampler, going_on, make_plan
from topoi.chain.priors import Priors
from topoi.chain.priors.seeds import check_seeds, find_seeds
from topoi.chain.state import State
from topoi.corpus import Corpus, Ngrams
from topoi.corpus.target import Target
from topoi.errors import ParameterError, TooLargeError
from topoi.estimators.alignment import TopicAgreement, agreement_of
from topoi.estimators.edited import HasEdits
from topoi.estimators.formula import parse_formula
from topoi.estimators.number_of_topics import (
    AUTO,
    SWEEPS_TO_FIND_TOPICS,
    TopicNumber,
    check_n_topics,
    first_priors,
    posterior,
    settling,
)
from topoi.estimators.prevalent import HasPrevalence
from topoi.estimators.problem import Problem, chain_seed
from topoi.estimators.progress import progress_bar, remarks
from topoi.estimators.saved import Savable
from topoi.estimators.shares_of_documents import SharesOfDocuments, check_keep, keeps_shares
from topoi.estimators.shown import ShowsItself
from topoi.estimators.takes_documents import TakesDocuments
from topoi.estimators.topics_of_labels import HasTopicLabels, first_names
from topoi.predict.fold_in import FoldIn, check_method


class InterruptedFitWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the estimator holds what had been learned by then."""


#: Fitted attributes that are there before a model is learned.
OF_THE_INPUT = ("n_features_in_", "feature_names_in_", "_preparation")


class TopicEstimator(
    TakesDocuments,
    HasTopicLabels,
    HasPrevalence,
    HasEdits,
    ShowsItself,
    Savable,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """What all estimators share: parameters of the same names, input as a corpus, runs, topics and `transform`."""

    n_topics: int | str
    doc_topic_prior: Any
    topic_word_prior: Any
    seeds: Any
    seed_strength: float
    n_sweeps: int | None
    n_samples: int
    burn_in: int | None
    sampler: str
    sampler_options: dict[str, Any] | None
    n_chains: int
    infer_sweeps: int
    infer_method: str
    keep_doc_topic: bool | None
    max_seconds: float | None
    tol: float | None
    random_state: Any
    n_jobs: int | None
    engine: Any
    progress: bool
    callbacks: Sequence[Callback] | None
    model_: TopicModel
    chains_: list[TopicModel]
    doc_topic_: Any = SharesOfDocuments()
    _supervised: ClassVar[bool] = False
    _usual_sweeps: ClassVar[int]  # where nobody says how many
    _seed: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # Counts are whole numbers. scikit-learn's only tag that makes its checks send whole numbers is this one.
        tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without a connection to a cluster, which cannot be written."""
        state: dict[str, Any] = super().__getstate__()
        return state if isinstance(state.get("engine"), str | None) else state | {"engine": None}

    def _run(
        self,
        problems: Sequence[Problem],
        schedule: Schedule,
        checkpoints: Checkpoints | None = None,
        name: str = "model",
        time_share: float = 1.0,
    ) -> list[list[Run]]:
        """Run the chains of every problem: over the threads if there are several, else with threads inside.

        `name` is that of their checkpoints. Callbacks are told of models alone, unless they say that they also hear
        pilots. `time_share` is that of `max_seconds`. Topic shares of documents are kept of models alone.
        """
        asked = (self.n_topics, self.doc_topic_prior, self.topic_word_prior)
        priors = [
            problem.priors or first_priors(*asked, problem.corpus, schedule.n_burn_in, problem.seeds)
            for problem in problems
        ]
        of_all = (self._supervised, self.sampler_options, self.engine is not None)
        plans = [
            make_plan(self.sampler, problem.corpus, prior.n_topics, *of_all, *said_of(prior))
            for problem, prior in zip(problems, priors, strict=True)
        ]
        if self.n_topics == AUTO:
            plans = list(map(settling, plans))
        plans = [
            plan if problem.start is None else going_on(plan) for plan, problem in zip(plans, problems, strict=True)
        ]
        for plan, prior in zip(plans, priors, strict=True):
            check_priors(plan, prior)
        folder = None if checkpoints is None else locate(checkpoints.folder)
        with (  # Ctrl-C stops at once while there is nothing to keep: workers come before `Interrupt`
            nullcontext() if checkpoints is None else checkpoints.locked(),
            self._pool() as pool, open_place(self.engine, pool, remarks(self.progress), folder) as place,
            Interrupt() as interrupt, progress_bar(self.progress) as show,
        ):  # fmt: skip
            for plan in plans:
                place.check(plan, self.sampler)
            told_of_all = (
                one for one in self.callbacks or [] if name == "model" or getattr(one, "hears_pilots", False)
            )
            callbacks = [*show, *told_of_all]
            todo = [(model, number) for model in range(len(problems)) for number in range(self.n_chains)]
            seconds = self.max_seconds
            if seconds is not None:  # a budget of the whole fit: chains that wait for a thread share it
                seconds = time_share * float(seconds) / -(-len(todo) // place.at_once(pool))
            rules = Rules(max_seconds=seconds, tol=self.tol)

            failed = threading.Event()

            def chain(model: int, number: int, inner: Pool) -> Run:
                problem, plan = problems[model], plans[model]
                seed = chain_seed(problem.seed, number) if number else problem.seed
                size = (problem.corpus.n_documents, priors[model].n_topics)
                of_documents = keeps_shares(self.keep_doc_topic if name == "model" else False, *size)

                def open_journal(state: State, *more: Any) -> Journal | None:
                    if checkpoints is None:
                        return None
                    if name == "model" and not of_documents:  # it cannot go on as one that keeps them
                        more = (*more, "without shares")
                    key = fingerprint(state, plan, schedule, self.tol, *more)
                    return checkpoints.journal(f"{name}-{model}-chain-{number}", key)

                new = NewChain(problem.corpus, priors[model], seed, problem.supervision(priors[model]), problem.start)
                engine, journal = place.begin(new, inner, open_journal)
                told = (callbacks, lambda: interrupt.requested or failed.is_set(), number, model)
                beside = (journal, problem.watch, engine, of_documents)
                try:
                    return run(engine.state, plan, schedule, rules, inner, *told, *beside)
                except BaseException:
                    failed.set()  # the others need not go on for hours before it is told
                    raise

            done = place.map(chain, todo, pool)
        for (model, _), result in zip(todo, done, strict=True):
            name_topics(result.model, problems[model].topic_names)
        if interrupt.requested:
            fewest = min(result.n_sweeps for result in done)
            warnings.warn(
                f"stopped by Ctrl-C after {fewest} of {schedule.n_sweeps} sweeps; the model is what was learned so far",
                InterruptedFitWarning,
                stacklevel=3,
            )
        return [done[first : first + self.n_chains] for first in range(0, len(done), self.n_chains)]

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Work that fails leaves the estimator as it was: a fitted one goes on predicting what it did."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _become(self, attributes: Mapping[str, Any]) -> None:
        """Take fitted attributes, in place of those of an earlier fit."""
        for name in (*self.saved_attributes, "_components"):
            if name not in OF_THE_INPUT:
                self.__dict__.pop(name, None)
        self.__dict__.update(attributes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_sweeps_")

    @property
    def target_(self) -> Target:
        """What is predicted: nothing, unless there are labels or numbers."""
        return Target()

    @property
    def estimators_(self) -> Sequence[Self]:
        """An estimator for each model: itself, where there is one."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("estimators_ is there only after fit")
        return [self]

    @property
    def topic_models_(self) -> list[TopicModel]:
        """The topic model of each of `estimators_`."""
        return [one.model_ for one in self.estimators_]

    @property
    def vocabulary_(self) -> NDArray[Any] | None:
        """The words that the columns of X are, if their names are known."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("vocabulary_ is there only after fit")
        if (known := self.topic_models_[0].vocabulary) is not None:
            return known
        return vars(self).get("feature_names_in_")

    @property
    def ngrams_(self) -> Ngrams | None:
        """The n-grams that documents are asked for: none, unless there are labels or numbers."""
        return None

    @property
    def topic_names_(self) -> list[str]:
        """What every topic is called, in the order of `components_`: its name, or "topic 3" if it has none."""
        return topic_labels(self.topic_models_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: those of the topics, or "lda3" where one has none."""
        check_is_fitted(self)
        return np.asarray(topic_labels(self.topic_models_, type(self).__name__.lower() + "{}"), dtype=object)

    @property
    def seed_(self) -> int:
        """The seed of the chains, and of the draws for new documents."""
        return self._seed

    @property
    def burn_in_(self) -> int:
        """Sweeps before the first sample could be kept, of the run whose traces are kept."""
        return self._schedule.n_burn_in

    @property
    def n_topics_(self) -> int:
        """The number of topics: as asked for or, with n_topics="auto", of those that are in the samples."""
        return self._n_features_out

    @property
    def n_topics_posterior_(self) -> TopicNumber:
        """With n_topics="auto", the posterior of the number of topics in use: mean, and ends of 90 % of it."""
        if not hasattr(self, "n_topics_trace_"):
            raise AttributeError('n_topics_posterior_ is there only after a fit with n_topics="auto"')
        return posterior(self.n_topics_trace_, self._schedule)

    @property
    def _schedule(self) -> Schedule:
        usual = SWEEPS_TO_FIND_TOPICS if self.n_topics == AUTO else self._usual_sweeps
        return Schedule(usual if self.n_sweeps is None else self.n_sweeps, self.n_samples, self.burn_in)

    @property
    def components_(self) -> NDArray[np.float64]:
        """φ (n_topics, n_features); rows sum to 1. Above 500 million numbers there is none: an AttributeError."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("components_ is there only after fit")
        try:
            check_dense(self._n_features_out, self.n_features_in_, "components_")
        except TooLargeError as error:
            raise AttributeError(str(error)) from error
        if self.__dict__.get("_components") is None:
            self._components: NDArray[np.float64] = np.concatenate([model.topic_word() for model in self.topic_models_])
        return self._components

    @property
    def _n_features_out(self) -> int:
        return sum(model.n_topics for model in self.topic_models_)

    def transform(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> NDArray[np.float64]:
        """Topic shares θ (n_documents, n_topics) of new documents; rows sum to 1, an empty one is the prior's mean.

        A document's answer depends on its words, its covariates of prevalence and its `topic_labels` alone, not on what
        else is in X. One of which no `covariates` are known is taken as an average document; without `topic_labels` it
        may have all topics.
        """
        corpus = self._known(X, covariates, topic_labels)
        with self._pool() as pool:
            parts = [self._fold_in(one.seed_)(one.model_, corpus, pool) for one in self.estimators_]
        return np.concatenate(parts, axis=1)

    def topic_agreement(self) -> list[TopicAgreement]:
        """In how many of the chains each topic was found, and how well they agree; empty if there is one chain.

        The topics of `model_`, the best chain, are matched with those of each other chain: see
        `topoi.evaluate.align_topics`. `pandas.DataFrame(model.topic_agreement())` makes a table of it.
        """
        check_is_fitted(self)
        out: list[TopicAgreement] = []
        for one in self.estimators_:
            chains = getattr(one, "chains_", [])  # somebody's file need not have them
            others = [chain for chain in chains if chain is not one.model_]
            out += agreement_of(one.model_, others) if others else []
        return out

    def _known(self, X: Any, covariates: Any, topic_labels: Any) -> Corpus:
        """New documents with what is known of their topics beside the words."""
        return self._label(self.with_prevalence(X, covariates), topic_labels)

    def _fold_in(self, seed: int) -> FoldIn:
        return FoldIn(self.infer_sweeps, seed, self.infer_method)

    def _pool(self) -> Pool:
        if self.n_jobs is not None:
            check_whole("n_jobs", self.n_jobs, None)
        return Pool(self.n_jobs)

    def _guided(self, corpus: Corpus, of_labels: Mapping[str, Any]) -> dict[str, Any]:
        """Of a problem with these documents: seeds, and the names that seeds or labels give to the first topics."""
        seeds = find_seeds(self.seeds, self.seed_strength, corpus)
        if seeds is None:
            return {"topic_names": first_names(of_labels)}
        if of_labels:
            raise ParameterError("seeds", "say what the first topics are, and so do topic_labels; give one of them")
        return {"seeds": seeds, "topic_names": seeds.names}

    def _new_seed(self, checkpoints: Checkpoints | None = None) -> int:
        try:
            drawn = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except (ValueError, TypeError) as error:
            raise ParameterError("random_state", str(error)) from error
        # Without a number for a random state, a run that goes on must find the one that it had.
        fixed = isinstance(self.random_state, numbers.Integral)
        return drawn if checkpoints is None or fixed else checkpoints.seed(drawn)

    def _check_parameters(self) -> None:
        check_n_topics(self.n_topics)
        for name in ("topics_per_label", "n_chains", "infer_sweeps"):
            check_whole(name, getattr(self, name))
        if self.n_jobs is not None:
            check_whole("n_jobs", self.n_jobs, None)
            resolve_n_jobs(self.n_jobs)
        check_keep(self.keep_doc_topic)
        for name in ("max_seconds", "tol"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, numbers.Real) and float(value) > 0):
                raise ParameterError(name, f"must be a positive number or None, not {value!r}")
        if not isinstance(self.callbacks, Sequence | None) or not all(map(callable, self.callbacks or ())):
            raise ParameterError("callbacks", f"must be a list of functions or None, not {self.callbacks!r}")
        check_seeds(self.seeds, self.seed_strength)
        if self.prevalence is not None:
            parse_formula(self.prevalence)
        check_sampler(self.sampler, self._supervised, self.sampler_options)
        check_method(self.infer_method)


def said_of(priors: Priors) -> tuple[bool, bool]:
    """What a plan asks of priors: whether they know words of topics, and whether documents have an α of their own."""
    return priors.words.pseudo_counts is not None, priors.topics.per_document


def as_validation(validation: Any) -> tuple[Any, Any, Any]:
    """What a user means by `validation` of a supervised model: documents and labels or targets, and covariates."""
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise ParameterError(
            "validation", f"must be (X, y), or (X, y, covariates), or None, not {type(validation).__name__}"
        )
    return (*validation, None) if len(validation) == 2 else tuple(validation)


def as_documents_to_watch(validation: Any, have_covariates: bool) -> tuple[Any, Any]:
    """What a user means by `validation` of a model without labels: documents, and covariates if the fit has some."""
    if not isinstance(validation, tuple):
        return validation, None
    if len(validation) != 2:
        raise ParameterError("validation", f"must be X or (X, covariates), not a tuple of {len(validation)}")
    if validation[1] is not None and not have_covariates:
        raise ParameterError("validation", "has covariates, but fit gets none that topics depend on")
    return validation


def as_checkpoints(checkpoint: Any) -> Checkpoints | None:
    """What a user means by `checkpoint`: a folder, or how often as well."""
    if checkpoint is None or isinstance(checkpoint, Checkpoints):
        return checkpoint
    if not isinstance(checkpoint, str | Path):
        raise ParameterError("checkpoint", f"must be a folder, Checkpoints(...) or None, not {checkpoint!r}")
    return Checkpoints(checkpoint)

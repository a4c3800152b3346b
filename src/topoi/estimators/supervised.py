"""What the supervised estimators share: topics and a predictor learned at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi._disk.schema import array_of, instance_of, list_of
from topoi._disk.store import ModelError
from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Checkpoints
from topoi.chain.loop import Run
from topoi.chain.model import check_whole
from topoi.chain.responses import Response, find_loss, losses
from topoi.chain.responses.settings import check_setting
from topoi.chain.responses.signs import Targets, TargetWeights
from topoi.corpus import Corpus, Ngrams
from topoi.errors import ParameterError
from topoi.estimators.base import TopicEstimator
from topoi.estimators.covariates import Covariates, learn_covariates
from topoi.estimators.edited import Moved, edited_chains, same_topics
from topoi.estimators.learned import weights_of
from topoi.estimators.pilot import Pilot, pilot_schedule, plan_pilots
from topoi.estimators.problem import SupervisedProblem, model_seed
from topoi.estimators.saved import Savable
from topoi.predict.aims import NumberAim
from topoi.predict.choice import Trial, choose_settings
from topoi.predict.effects import MOST_COLUMNS, Effect, Effects, estimate_effects
from topoi.predict.label_free import label_free_shares
from topoi.predict.link import Link, fit_link
from topoi.predict.reasons import Beside, Reason, Shown, head_reasons, reasons
from topoi.predict.refit import Aim, Head, ScoreParts, Settings, fit_head, parts_of, usual_settings, with_targets
from topoi.predict.scores import Chain, sample_own, sample_scores
from topoi.predict.word_features import bag_of_words, with_ngrams

#: The number of the model that the first pilot stands for, where seeds are made: no fit has as many.
PILOT = 2**31
#: Share of `max_seconds` that pilots have.
PILOTS_TIME = 0.25


def stopped(runs: list[list[Run]]) -> bool:
    """Whether somebody has stopped a chain, who does not want to wait for more."""
    return any(run.stopped in ("interrupted", "callback") for chains in runs for run in chains)


@dataclass(frozen=True)
class Outcome:
    """What pilots leave: of each the chains of its models and the documents that were set aside; the aim of all of
    these, the settings chosen, and their scores.
    """

    chains: list[list[list[Run]]]
    unseen: list[SupervisedProblem]
    aim: Aim
    settings: Settings
    scores: NDArray[np.float64]


class SupervisedEstimator(TopicEstimator):
    """What classifier and regressor share."""

    _supervised: ClassVar[bool] = True
    _usual_sweeps: ClassVar[int] = 100
    _kind: ClassVar[type[Response]]  # of the losses to choose from
    saved_attributes: ClassVar = Savable.saved_attributes | {
        "_chains": list_of(instance_of(Chain)),
        "response_": instance_of(Response),
        "topic_weights_": array_of("float64"),
        "topic_weights_std_": array_of("float64"),
        "_head": instance_of(Head),
        "_link": instance_of(Link),
        "_ngrams": instance_of(Ngrams),
        "_covariates": instance_of(Covariates),
        "_effects": instance_of(Effects),
    }
    loss: str
    word_features: str | None
    refit: bool
    cost: float | None
    weight_prior: float
    n_gibbs: int
    part: int
    doc_topic_prior: Any
    topic_word_prior: Any
    response_: Response
    _chains: list[Chain]
    _head: Head  # what predicts, unless the chains do: then there is none
    _link: Link  # of the head to a loss with parameters of its own
    _ngrams: Ngrams  # only if they have a part in the head
    _covariates: Covariates  # only if the fit had some
    _effects: Effects  # of these, unless they are too many

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _problem(
        self, corpus: Corpus, seed: int, targets: Targets, weight: TargetWeights, response: Response,
        columns: sparse.csr_array | None, of_topics: Mapping[str, Any],
    ) -> SupervisedProblem:  # fmt: skip
        """What there is to learn, described for all that follows."""
        return SupervisedProblem(
            corpus=corpus, seed=seed, targets=targets, weight=weight, response=response, nu=float(self.weight_prior),
            n_gibbs=self.n_gibbs, part=int(self.part), columns=columns, **self._guided(corpus, of_topics),
        )  # fmt: skip

    def _learn(self, problems: list[SupervisedProblem], checkpoints: Checkpoints | None = None) -> list[list[Run]]:
        """Run the chains of a model for every problem."""
        for problem in problems:
            problem.check_limits()
        share = 1.0 - PILOTS_TIME if self.refit else 1.0
        return self._run(problems, self._schedule, checkpoints, time_share=share)

    def _learn_covariates(self, given: Any, n_documents: int) -> tuple[Covariates | None, sparse.csr_array | None]:
        """What the covariates of a fit are, and their columns; nothing where there are none."""
        return (None, None) if given is None else learn_covariates(given, n_documents)

    def _columns(self, given: Any, n_documents: int) -> sparse.csr_array | None:
        """The columns of the covariates of new documents; None if the fit had none."""
        if (known := vars(self).get("_covariates")) is not None:
            return known.encode(given, n_documents)
        if given is not None:
            raise ParameterError("covariates", "were not given to fit, so predictions cannot use them")
        return None

    def _parts(
        self, corpus: Corpus, thetas: list[NDArray[Any]], columns: sparse.csr_array | None, has_words: bool,
        has_ngrams: bool,
    ) -> ScoreParts:  # fmt: skip
        """The parts of the score of documents, from the topic shares that the chains of all models give them."""
        bag = bag_of_words(corpus) if has_words else sparse.csr_array((corpus.n_documents, 0), dtype=np.float32)
        n_words = bag.shape[1]
        if has_ngrams:
            bag = with_ngrams(bag, corpus)
        return parts_of(bag, thetas, columns, bag.shape[1] - n_words)

    @property
    def ngrams_of_texts(self) -> int | None:
        """The words that topics do not count, if words have a part in predictions."""
        return 1 if self.refit and self.word_features else None

    def _usual_settings(self, corpus: Corpus) -> Settings:
        """Those of the head, before any are chosen."""
        return usual_settings(bool(self.word_features), bool(self.word_features and corpus.ngrams))

    def _fitted_head(
        self, whole: SupervisedProblem, problems: list[SupervisedProblem], runs: list[list[Run]], aim: Aim,
        settings: Settings,
    ) -> tuple[Head, NDArray[np.float64]]:  # fmt: skip
        """The head of all documents, whose weights are fitted on their label-free topics; and their scores."""
        with self._pool() as pool:
            thetas = self._label_free(whole.corpus, problems, runs, pool)
            parts = self._parts(whole.corpus, thetas, whole.columns, bool(self.word_features), settings.ngrams > 0)
            head = fit_head(parts, aim, settings, whole.seed, pool)
        return head, head.score(parts)

    def _label_free(
        self, corpus: Corpus, problems: list[SupervisedProblem], runs: list[list[Run]], pool: Pool
    ) -> list[NDArray[Any]]:
        """Topic shares of documents as if they were new, of every chain; also of those that a model has not seen."""
        thetas: list[NDArray[Any]] = []
        for problem, chains in zip(problems, runs, strict=True):
            for found in chains:
                own = label_free_shares(found, problem.corpus, self.infer_sweeps, pool)
                if problem.rows is not None:
                    theta = np.empty((corpus.n_documents, own.shape[1]), np.float32)
                    others = np.setdiff1d(np.arange(corpus.n_documents), problem.rows)
                    theta[problem.rows] = own
                    theta[others] = self._fold_in(problem.seed)(found.model, corpus.take(others), pool)
                    own = theta
                thetas.append(own)
        return thetas

    def _piloted(
        self, whole: SupervisedProblem, pilots: list[Pilot],
        share_out: Callable[[SupervisedProblem], list[SupervisedProblem]], aim_at: Callable[[Any], Aim], n_sweeps: int,
        checkpoints: Checkpoints | None,
    ) -> Outcome | None:  # fmt: skip
        """The settings that are best for the documents that pilots set aside, and the scores of these.

        `n_sweeps` are those that the model has had. None if the pilots were stopped, or there are too few documents.
        """
        if not pilots:
            return None
        parts = [
            replace(whole.take(pilot.learned), seed=model_seed(whole.seed, PILOT + number), rows=None, watch=None)
            for number, pilot in enumerate(pilots)
        ]
        problems = [share_out(part) for part in parts]
        schedule = pilot_schedule(self._schedule, n_sweeps, len(pilots))
        runs = self._run([problem for own in problems for problem in own], schedule, checkpoints, "pilot", PILOTS_TIME)
        if stopped(runs):
            return None
        trials, chains, unseen = [], [], []
        which = (bool(self.word_features), self._usual_settings(whole.corpus).ngrams > 0)
        with self._pool() as pool:
            for pilot, part, own in zip(pilots, parts, problems, strict=True):
                of_pilot, runs = runs[: len(own)], runs[len(own) :]
                label_free = self._label_free(part.corpus, own, of_pilot, pool)
                new = whole.take(pilot.set_aside)
                thetas = [
                    self._fold_in(problem.seed)(found.model, new.corpus, pool)
                    for problem, found_by in zip(own, of_pilot, strict=True)
                    for found in found_by
                ]
                learned = self._parts(part.corpus, label_free, part.columns, *which)
                unseen_parts = self._parts(new.corpus, thetas, new.columns, *which)
                trials.append(Trial(learned, aim_at(pilot.learned), unseen_parts))
                chains.append(of_pilot)
                unseen.append(new)
            aim = aim_at(np.concatenate([pilot.set_aside for pilot in pilots]))
            n_documents = len(with_targets(aim_at(slice(None))))
            return Outcome(chains, unseen, aim, *choose_settings(trials, aim, n_documents, whole.seed, pool))

    def _linked_head(
        self, whole: SupervisedProblem, response: Response, problems: list[SupervisedProblem], runs: list[list[Run]],
        share_out: Callable[[SupervisedProblem], list[SupervisedProblem]], checkpoints: Checkpoints | None,
    ) -> dict[str, Any]:  # fmt: skip
        """Fitted attributes of a head and its link to the loss; none where pilots were stopped: the chains predict."""
        numbers = response.as_numbers(whole.targets[:].astype(np.float64))
        spread = np.nanstd(numbers, axis=0)
        numbers = (numbers - np.nanmean(numbers, axis=0)) / np.where(spread > 0, spread, 1.0)

        def aim_at(rows: Any) -> NumberAim:
            return NumberAim(numbers[rows], whole.weight[rows])

        pilots = [] if stopped(runs) else plan_pilots(numbers, whole.seed)
        n_sweeps = min(run.n_sweeps for chains in runs for run in chains)
        outcome = self._piloted(whole, pilots, share_out, aim_at, n_sweeps, checkpoints)
        if outcome is None:
            return {}
        set_aside = np.concatenate([new.targets[:] for new in outcome.unseen])
        link = fit_link(response, set_aside, outcome.scores)
        head, _ = self._fitted_head(whole, problems, runs, aim_at(slice(None)), outcome.settings)
        return self._of_head(head, whole.corpus) | {"_link": link}

    def _of_head(self, head: Head, corpus: Corpus) -> dict[str, Any]:
        """Fitted attributes: the head, and the n-grams that it knows, if any."""
        return {"_head": head} | ({"_ngrams": corpus.ngrams} if head.n_ngrams else {})

    def _head_scores(self, X: Any, covariates: Any) -> NDArray[np.float64]:
        """Scores (documents, tasks) of the head."""
        parts, _, _ = self._parts_of_new(X, covariates)
        return self._head.score(parts)

    def _parts_of_new(self, X: Any, covariates: Any) -> tuple[ScoreParts, Corpus, list[NDArray[Any]]]:
        """The parts of the score of new documents; also these, and their topic shares by every chain."""
        corpus = self._beside_terms(self.as_corpus(X), covariates)
        if self.ngrams_ is not None:
            self.ngrams_.check_same(corpus.ngrams, "the model")
        columns = self._columns(covariates, corpus.n_documents)
        with self._pool() as pool:
            thetas = [
                self._fold_in(one.seed_)(model, corpus, pool) for one in self.estimators_ for model in one.chains_
            ]
        which = (bool(self._head.words.size), self.ngrams_ is not None)  # whatever `word_features` was set to since
        return self._parts(corpus, thetas, columns, *which), corpus, thetas

    def _edited(self, moved: Sequence[Moved]) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        if len(moved) == 1:
            changed = super()._edited(moved)
            chains = edited_chains(self._chains, self.model_, moved[0])
            changed |= {"_chains": chains, **weights_of(chains, moved[0].model, self.response_.unit)}
        if self.refitted_:
            flows = [
                own if model is one.model_ else same_topics(model)
                for one, own in zip(self.estimators_, moved, strict=True)
                for model in one.chains_
            ]
            ends = np.cumsum([flow.flow.shape[0] for flow in flows])[:-1]
            parts = zip(flows, np.split(self._head.topics, ends), strict=True)
            topics = np.concatenate([flow.root_weights(part) for flow, part in parts])
            changed["_head"] = replace(self._head, topics=topics)
        return changed

    @property
    def refitted_(self) -> bool:
        """Whether predictions are made by weights that were fitted anew at the end, not by those of the chains."""
        return "_head" in vars(self)

    @property
    def refit_settings_(self) -> dict[str, float]:
        """What was chosen for the weights that were fitted anew, of the parts that there are; empty if none were."""
        if not self.refitted_:
            return {}
        absent = {
            "power": not self._head.words.size, "covariates": not self._head.covariates.size,
            "ngrams": not self._head.n_ngrams, "ratio": not self._head.ratios.size,
        }  # fmt: skip
        return {name: value for name, value in asdict(self._head.settings).items() if not absent.get(name)}

    @property
    def covariates_(self) -> dict[str, str]:
        """The covariates of the fit by name, each a "number" or a "category"; empty without any."""
        if "_covariates" not in vars(self):
            return {}
        columns = zip(self._covariates.names, self._covariates.categories, strict=True)
        return {name: "category" if len(values) else "number" for name, values in columns}

    @property
    def word_weights_(self) -> NDArray[np.float32]:
        """Weights (n_tasks, n_features) of words by themselves, of their tf-idf columns; empty without them."""
        check_is_fitted(self)
        if not self.refitted_:
            return np.empty((0, 0), np.float32)
        return self._head.words[: len(self._head.words) - self._head.n_ngrams].T

    @property
    def ngram_weights_(self) -> NDArray[np.float32]:
        """Weights (n_tasks, n_ngrams) of n-grams, which `ngrams_` names, of their tf-idf columns; empty without any."""
        check_is_fitted(self)
        if self.ngrams_ is None:
            return np.empty((0, 0), np.float32)
        return self._head.words[len(self._head.words) - self._head.n_ngrams :].T

    @property
    def ngrams_(self) -> Ngrams | None:
        """The n-grams that documents need to be predicted: `Corpus.from_texts(texts, like=model)` counts them."""
        return vars(self).get("_ngrams")

    @property
    def posterior_(self) -> list[Chain]:
        """Of every chain its topics, and the weights of its kept samples."""
        return self._chains

    def effects(self, level: float = 0.9) -> list[Effect]:
        """The effect of every covariate on every label or output, among documents of the same topics, with an interval.

        Of a number it is the effect of one standard deviation, of a category that of having it against the average of
        all documents. Effects on labels are log odds (a label against all others), on numbers standard deviations of
        the target, on counts logarithms of ratios, on labels in order places in the order.
        `pandas.DataFrame(model.effects())` makes a table of them.
        """
        check_is_fitted(self)
        if "_covariates" not in vars(self):
            raise ParameterError("covariates", "were not given to fit: there are no effects")
        if "_effects" not in vars(self):
            few = f"effects are estimated by the whole estimator, and of {MOST_COLUMNS:,} columns at most"
            raise ParameterError("covariates", f"have no effects here: {few}; explain shows what they add to a score")
        return self._effects.listed(self.target_.answers, self._covariates.columns, level)

    def _of_covariates(
        self, beside: Covariates | None, whole: SupervisedProblem, problems: list[SupervisedProblem],
        runs: list[list[Run]],
    ) -> dict[str, Any]:  # fmt: skip
        """Fitted attributes: the covariates and their effects, if there are any."""
        if beside is None or whole.columns is None:
            return {}
        with self._pool() as pool:
            thetas = self._label_free(whole.corpus, problems, runs, pool)
        targets = whole.response.regressed(whole.targets[:].astype(np.float64))
        found = estimate_effects(whole.response.family, thetas, whole.columns, targets, beside.as_effects)
        return {"_covariates": beside} | ({} if found is None else {"_effects": found})

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

    def _sample_scores(self, corpus: Corpus, pool: Pool, columns: sparse.csr_array | None) -> list[NDArray[np.float64]]:
        """Scores (samples, documents, tasks) of every model."""
        return [
            sample_scores(one.posterior_, corpus, self._fold_in(one.seed_), pool, columns) / one.response_.unit
            for one in self.estimators_
        ]

    def _beside(self, covariates: Any, n_documents: int, weights: NDArray[Any] | None) -> Beside | None:
        """Covariates as reasons show them, with weights (tasks, r) of the columns of the score; None without any."""
        known = vars(self).get("_covariates")
        if known is None or weights is None:
            return None
        return Beside(known.columns, known.standard(covariates, n_documents), known.back(weights.astype(float)).T)

    def _reasons(
        self, corpus: Corpus, explained: Sequence[Iterable[Any]], n_topics: int, n_words: int, covariates: Any
    ) -> list[list[Reason]]:
        """For every document the reasons of every model, by its best chain, for the labels that it explains."""
        parts, first = [], 0
        for one, labels in zip(self.estimators_, explained, strict=True):
            best = next(chain for chain in one.posterior_ if chain.model is one.model_)
            unit = one.response_.unit
            columns = best.beside["columns"].mean(0) / unit if "columns" in best.beside else None
            beside = self._beside(covariates, corpus.n_documents, columns)
            settings = (unit, self._fold_in(one.seed_), n_topics, n_words, first, beside)
            parts.append(reasons(best, labels, corpus, *settings))
            first += one.model_.n_topics
        return [[reason for part in parts for reason in part[d]] for d in range(corpus.n_documents)]

    def _head_reasons(
        self, X: Any, covariates: Any, labels: list[Any], slope: NDArray[Any], base: NDArray[Any], n_topics: int,
        n_words: int,
    ) -> list[list[Reason]]:  # fmt: skip
        """For every document the reasons of the head for labels, whose scores are slope · f + base."""
        parts, corpus, thetas = self._parts_of_new(X, covariates)
        shown, chain, column, first = [], 0, 0, 0
        for one in self.estimators_:
            for model in one.chains_:
                if model is one.model_:
                    shown.append(Shown(model, first, chain, column))
                chain, column = chain + 1, column + model.n_topics
            first += one.model_.n_topics
        beside = self._beside(covariates, corpus.n_documents, self._head.covariates.T)
        return head_reasons(
            self._head, slope, base, labels, corpus, parts, thetas, shown, beside, n_topics, n_words, self.ngrams_
        )

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
            expected: dict[str, Any] = {}
            if own is not None:
                expected["own"] = (np.dtype(np.float64), (len(chain.weights), *own.shape))
            if (columns := self._n_columns) > 0:
                expected["columns"] = (np.dtype(np.float32), (len(chain.weights), self._n_tasks, columns))
            if {name: (array.dtype, array.shape) for name, array in chain.beside.items()} != expected or not all(
                np.isfinite(array).all() for array in chain.beside.values()
            ):
                raise ModelError(
                    f"a chain must hold the parameters of its loss and of covariates, {expected}, all finite"
                )
        shape = (self._n_tasks, self.model_.n_topics)
        if self.topic_weights_.shape != shape or self.topic_weights_std_.shape != shape:
            raise ModelError(f"topic_weights_ must be of shape {shape}")

    @property
    def _n_columns(self) -> int:
        """Columns of the covariates."""
        known = vars(self).get("_covariates")
        return 0 if known is None else int(known.n_columns)

    def _check_effects(self, n_tasks: int) -> None:
        """Raise unless the effects of covariates are those of so many tasks."""
        if "_effects" in vars(self):
            if "_covariates" not in vars(self):
                raise ModelError("there are effects of covariates, but no covariates")
            self._effects.check_fits(n_tasks, len(self._covariates.columns))

    def _check_head(self, n_topics: int, n_tasks: int) -> None:
        """Raise unless the head fits the chains, which have so many topics together."""
        if self.ngrams_ is not None and not self.refitted_:
            raise ModelError("there are n-grams, but no weights of theirs")
        if self.refitted_:
            n_ngrams = 0 if self.ngrams_ is None else len(self.ngrams_)
            self._head.check_fits(self.n_features_in_, n_topics, self._n_columns, n_tasks, n_ngrams)
            if "_link" in vars(self):
                self._link.check_fits(self.response_, n_tasks)
            elif self.estimators_[0].response_.linked:
                raise ModelError("the scores of the head have no link to the loss")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.word_features not in ("tfidf", None):
            raise ParameterError("word_features", f'must be "tfidf" or None, not {self.word_features!r}')
        if not isinstance(self.refit, bool | np.bool_):
            raise ParameterError("refit", f"must be True or False, not {self.refit!r}")
        check_whole("n_gibbs", self.n_gibbs, 0)
        check_whole("part", self.part, 1)
        check_setting("weight_prior", self.weight_prior, none=False)
        find_loss(self.loss, self._kind)
        for response in losses(self._kind).values():  # whichever `loss` is: a wrong margin is wrong
            response.check_settings(self.get_params(deep=False))

"""MedLDA for labels, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi._disk.schema import FLAG, TEXT, array_of, instance_of, list_of
from topoi._disk.store import ModelError
from topoi.chain.checkpoint import Checkpoints
from topoi.chain.loop import Callback, Run
from topoi.chain.responses import DEFAULT_LABEL_LOSS, LabelResponse, find_loss
from topoi.chain.responses.settings import check_setting
from topoi.chain.responses.signs import TargetWeights, as_array
from topoi.corpus.target import Kind, Target
from topoi.errors import ParameterError
from topoi.estimators.base import as_checkpoints, as_validation
from topoi.estimators.covariates import Covariates
from topoi.estimators.edited import Moved
from topoi.estimators.given_labels import read_given
from topoi.estimators.labels import Labels
from topoi.estimators.learned import learned_with_weights
from topoi.estimators.pilot import plan_pilots
from topoi.estimators.predicts_labels import PredictsLabels, as_matrix
from topoi.estimators.prevalent import beside_terms
from topoi.estimators.problem import SupervisedProblem
from topoi.estimators.several import OfOneModel, Several, SideBySide, several_models
from topoi.estimators.strategies import OneVsOne, Strategy, check_strategy, strategy_for
from topoi.estimators.supervised import SupervisedEstimator, stopped
from topoi.estimators.terms import Terms
from topoi.estimators.unpredicted import warn_of_unpredicted
from topoi.estimators.watch import watch_labels
from topoi.estimators.weighed import weigh
from topoi.predict.aims import LabelAim
from topoi.predict.calibration import Calibration, usual_calibration


class MedLDAClassifier(PredictsLabels):
    """Max-margin (or logistic) supervised topic model for labels: two, many, or several per document.

    Topics are learned to explain the words *and* to predict the labels. Unless said otherwise all classes share the
    topics of a document (multi-task learning); the weights of each class say which topics speak for it.

    Parameters
    ----------
    n_topics : int or "auto", default 20
        Number of topics K (of each model), or "auto": as many as the documents need. `n_topics_`, and
        `n_topics_posterior_`, `n_topics_trace_` and `concentrations_` of each model, are then as those of `LDA`.
    strategy : "multitask", "ovr" or "ovo", default "multitask"
        One model of all classes that share its topics; or a binary model, with topics of its own, for each class
        against the rest (for each column of an indicator matrix), or for each pair of classes, trained on the documents
        of the two. Documents without a label take part in every model. Two classes are one model all the same.
    loss : "hinge", "logistic", "softmax" or "ordinal", default "hinge"
        MedLDA, or sLDA's logistic likelihood of each label; "softmax", one likelihood of all classes together, whose
        probabilities sum to 1; "ordinal", of classes that are in order, as stars are: one score, and cut-points
        between the classes as they are sorted. The last two need one label for each document and "multitask".
    cost : float or None, default None
        c: weight of the labels against the words. None is 1.6 for the hinge loss, and adapts to the documents for the
        logistic loss and the softmax, as `margin` does. For the ordinal loss it is the precision of the noise of a
        score, and None is 4.
    margin : float or None, default None
        ℓ, hinge only: by how much a document should be on its label's side. None adapts it to the mean length of the
        documents and to the share of them that have a label.
    positive_weight : float or None, default None
        Weight of the documents that have a label against those that do not, for three classes or more and for an
        indicator matrix (not for "ovo", nor for the softmax and the ordinal loss). None adapts it to each label, the
        cube root of how many times rarer it is, for the hinge loss; for the logistic loss, whose probabilities it would
        shift, it is 1, which treats all alike.
    class_weight : dict, "balanced" or None, default None
        Multiplies the cost of documents by their class. Not for the ordinal loss.
    weight_prior : float, default 1.0
        ν: prior precision of the weights.
    word_features : "tfidf" or None, default "tfidf"
        Columns beside the topics in the final weights: the words of a document themselves; where X has texts, also the
        words that topics do not count (stop words, rare words, numbers, headers); and n-grams if X is a corpus in
        which they were counted (`Corpus.from_texts(texts, ngrams=(1, 2))`). None: topics alone.
    refit : bool, default True
        Fit the final weights anew, on the topics of the training documents as new documents would get them, on
        `word_features` and on covariates; how much say each has is chosen on documents that are set aside. False:
        predict with the weights of the chains, as the papers do, without word features.
    n_gibbs : int, default 2
        Passes of coordinate Gibbs over the weights per sweep; 0 draws them exactly by Cholesky (slow for large K).
    part : int, default 8
        Number of tokens of a document that share one table of tilts. The posterior is the same for every value; smaller
        parts cost more time and accept more moves. With 1 every token is drawn from its own conditional: Gibbs MedLDA
        as published is `sampler="collapsed", n_gibbs=0, part=1, init="random"`. The samplers "light_med" and
        "light_med_published" do not use it.
    init : "labels", "random" or None, default None
        How chains of three or more labels begin. "labels": most tokens begin in topics that belong to the labels of
        their document, which takes fewer sweeps to predict well. "random": topics are drawn uniformly, as the papers
        do; this is so in any case for two classes, for models of single labels ("ovr", "ovo", ordinal), and where
        `seeds` or `topic_labels` say what topics mean. None: "labels" where no class weighs more or less than 1, else
        "random": docs/experiments.md has the measurements. The posterior is the same, but a chain with a very large
        `cost` may stay where it began.
    infer_sweeps : int, default 3
        Sweeps over a new document, at most. Few are better: see docs/supervised.md.
    infer_method : "mean_field" or "gibbs", default "mean_field"
        Topics of a new document as expected counts, without noise, or by draws (then take 100 sweeps or more).
    prevalence : str or None, default None
        How the topics of a document depend on its `covariates`, as for `LDA`. None: not at all. Covariates are columns
        of the score in any case.
    doc_topic_prior, topic_word_prior, seeds, seed_strength, sampler, sampler_options, n_sweeps, burn_in, n_samples, \
    n_chains, keep_doc_topic, … :
        As for `LDA`, but 100 sweeps by default (200 with n_topics="auto"). Scores are averaged over all samples of all
        chains; topics shown are the best chain's.

    Attributes
    ----------
    classes_ : array
        Labels (column numbers for an indicator matrix), in order; where documents have lists of labels, those of the
        columns of the indicators that `predict` gives.
    topic_weights_, topic_weights_std_ : array (n_tasks, n_topics)
        Mean and spread of the weights over the samples, in units of the margin. One task for two classes, else one per
        class (per pair of classes for "ovo"); one for the ordinal loss.
    estimators_ : list of MedLDAClassifier
        The binary models of "ovr" (in the order of `classes_`) and "ovo" (pairs (0, 1), (0, 2), …), each a fitted
        classifier; the classifier itself where one model serves all.
    components_, doc_topic_, model_, chains_, log_joint_, traces_, rhat_, n_sweeps_, stopped_
        As for `LDA`.

    Several models: their topics stand side by side, in the order of `estimators_`, in `components_`, `transform` (where
    the shares of each model sum to 1), `top_words`, and the columns of `topic_weights_`, which are 0 for the topics of
    other models. `rhat_` is the largest, `n_sweeps_` the fewest. What belongs to one model (`model_`, `chains_`,
    `log_joint_`, `traces_`, `response_`, the priors; for "ovo" also `doc_topic_` and `explain`) is that of
    `estimators_[i]`.
    """

    saved_attributes: ClassVar = SupervisedEstimator.saved_attributes | {
        "_labels": instance_of(Labels),
        "classes_": array_of(),
        "_fitted_strategy": TEXT,
        "_several": list_of(instance_of(SupervisedEstimator)),
        "_calibration": instance_of(Calibration),
        "_at_least_one": FLAG,
    }
    _kind = LabelResponse
    _several: list[MedLDAClassifier]  # the models, where there are several
    # What belongs to one model: where there are several, to each of `estimators_`.
    model_: Any = OfOneModel()
    chains_: Any = OfOneModel()
    log_joint_: Any = OfOneModel()
    traces_: Any = OfOneModel()
    doc_topic_: Any = SideBySide()
    doc_topic_prior_: Any = OfOneModel()
    topic_word_prior_: Any = OfOneModel()
    response_: Any = OfOneModel()
    validation_traces_: Any = OfOneModel()
    validation_measure_: Any = OfOneModel()
    _seed: Any = OfOneModel("seed_")
    _chains: Any = OfOneModel("weight_samples_")

    def __init__(
        self,
        n_topics: int | str = 20,
        *,
        strategy: str = "multitask",
        loss: str = DEFAULT_LABEL_LOSS,
        cost: float | None = None,
        margin: float | None = None,
        positive_weight: float | None = None,
        class_weight: Any = None,
        weight_prior: float = 1.0,
        word_features: str | None = "tfidf",
        refit: bool = True,
        n_gibbs: int = 2,
        part: int = 8,
        init: str | None = None,
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
        self.strategy = strategy
        self.loss = loss
        self.cost = cost
        self.margin = margin
        self.positive_weight = positive_weight
        self.class_weight = class_weight
        self.weight_prior = weight_prior
        self.word_features = word_features
        self.refit = refit
        self.n_gibbs = n_gibbs
        self.part = part
        self.init = init
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
        tags.classifier_tags.multi_label = self.strategy != "ovo"
        tags.classifier_tags.poor_score = True  # scikit-learn's checks score on Gaussian blobs, which are no counts
        return tags

    def fit(
        self, X: Any, y: Any, unlabelled: Any = None, checkpoint: Any = None, validation: Any = None,
        covariates: Any = None, topic_labels: Any = None,
    ) -> MedLDAClassifier:  # fmt: skip
        """Learn topics and weights from documents X and labels y.

        X has texts, counts or a `Corpus`: as for `LDA`. y has one label per document (any type), a list of labels per
        document, or is an indicator matrix (documents, labels) of 0 and 1. Where it has None or NaN the labels are not
        known, and the words of the document take part alone; `unlabelled` is a mask of more such documents, whose y is
        not looked at. `checkpoint` as for `LDA`. `validation`, (X, y) or (X, y, covariates), are documents to watch the
        fit on, which it does not learn from: the accuracy of the chains (micro-F1 for an indicator matrix; of every
        model its own) is in `validation_traces_`.
        `covariates` is a data frame (or a mapping, an array, a sparse matrix) with a row for each document: numbers are
        standardised, other columns are categories. `topic_labels` say which topics a document may have: as for `LDA`.
        """
        with self._all_or_nothing():
            corpus = self._corpus(X, reset=True)
            self._check_parameters()
            corpus, of_topics = self._with_topic_labels(corpus, topic_labels, self.n_topics)
            corpus, of_terms = self._with_terms(corpus, covariates, by_default=False)
            known, names, mask = read_given(y, corpus.n_documents, unlabelled)
            labels, loss = Labels.of(known, names), find_loss(self.loss, LabelResponse)
            strategy = strategy_for(self.strategy, labels)
            loss.check_use(strategy.name, labels.several, self.class_weight, self.positive_weight)
            of_classes = labels.weights(known, self.class_weight)
            rare = strategy.balances and self.positive_weight is None and not loss.probabilistic
            targets, asked, weight = weigh(
                labels.numbers(known) if loss.ordered else labels.targets(known), loss.ordered, mask, of_classes,
                None if isinstance(strategy, OneVsOne) else self.positive_weight, rare,
            )  # fmt: skip
            checkpoints = as_checkpoints(checkpoint)
            beside, columns = self._learn_covariates(covariates, corpus.n_documents)
            whole = self._problem(corpus, self._new_seed(checkpoints), targets, weight, loss(), columns, of_topics)
            whole = replace(whole, init_by_targets=self._init_by_labels(of_classes))

            def share_out(problem: SupervisedProblem) -> list[SupervisedProblem]:
                return [own.adapted(self.get_params(deep=False)) for own in strategy.share_out(problem)]

            problems = share_out(whole)
            watched = problems
            if validation is not None:
                watched = self._watched(problems, validation, whole, strategy, beside, of_terms.get("_terms"))
            runs = self._learn(watched, checkpoints)
            of_covariates = self._of_covariates(beside, whole, problems, runs)
            of_topics = of_topics | of_terms
            of_each = of_topics | {name: value for name, value in of_covariates.items() if name == "_covariates"}
            each = [
                learned_with_weights(problem, chains, self._schedule) | _of_labels(own, "multitask") | of_each
                for own, problem, chains in zip(strategy.of_models(), watched, runs, strict=True)
            ]
            together = each[0] if len(each) == 1 else several_models(self, each)
            refitted: dict[str, Any] = {}
            scores = None
            if self.refit and loss.linked:
                refitted = self._linked_head(whole, problems[0].response, problems, runs, share_out, checkpoints)
            elif self.refit:
                refitted, scores = self._refitted(whole, asked, labels, problems, runs, share_out, checkpoints)
            self._become(together | _of_labels(labels, self.strategy) | of_covariates | of_topics | refitted)
            warn_of_unpredicted(self.classes_, self._seen(scores), as_array(targets), loss)
            return self

    def _refitted(
        self, whole: SupervisedProblem, weight: TargetWeights, labels: Labels, problems: list[SupervisedProblem],
        runs: list[list[Run]], share_out: Callable[[SupervisedProblem], list[SupervisedProblem]],
        checkpoints: Checkpoints | None,
    ) -> tuple[dict[str, Any], NDArray[np.float64]]:  # fmt: skip
        """Fitted attributes of the head, whose settings a pilot has chosen, and the scores of the training documents.

        `weight` is what the user asks for: that of rare labels in the chain would shift probabilities.
        """

        def aim_at(rows: Any) -> LabelAim:
            return LabelAim(whole.targets[rows], weight[rows], labels.one_of_many, labels.several)

        whole_aim = aim_at(slice(None))
        settings, calibration = self._usual_settings(whole.corpus), usual_calibration(whole.targets.shape[1])
        pilots = [] if stopped(runs) else plan_pilots(whole.targets[:], whole.seed)
        n_sweeps = min(run.n_sweeps for chains in runs for run in chains)
        if (outcome := self._piloted(whole, pilots, share_out, aim_at, n_sweeps, checkpoints)) is not None:
            assert isinstance(outcome.aim, LabelAim)
            settings, calibration = outcome.settings, outcome.aim.calibration(outcome.scores)
        head, scores = self._fitted_head(whole, problems, runs, whole_aim, settings)
        found = {"_calibration": calibration, "_at_least_one": whole_aim.at_least_one}
        return self._of_head(head, whole.corpus) | found, calibration.log_odds(scores) - calibration.threshold

    def _seen(self, log_odds: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        """Which classes are predicted for some training document, whose log odds these are; None: by the chains."""
        if log_odds is not None:
            return np.asarray(self._chosen(log_odds).any(0))
        if any("doc_topic_" not in vars(one) for one in self.estimators_):
            return np.ones(len(self.classes_), bool)  # not known
        if self._ordered:
            scores, own = (self.doc_topic_ @ self.topic_weights_.T)[None], np.asarray(self.loss_parameters_)
            return np.isin(np.arange(len(self.classes_)), self.response_.chosen(scores, own.mean(0, keepdims=True)))
        return self._strategy.predicted([(model.doc_topic_, model.topic_weights_) for model in self.estimators_])

    def _watched(
        self, problems: list[SupervisedProblem], validation: Any, whole: SupervisedProblem, strategy: Strategy,
        beside: Covariates | None, terms: Terms | None,
    ) -> list[SupervisedProblem]:  # fmt: skip
        """The problems, each with a watch on the documents of `validation` that it is about."""
        X, y, covariates = as_validation(validation)
        labels = strategy.labels
        documents = self._corpus(X, reset=False, allow_empty=True, like=whole.corpus)
        documents = beside_terms(documents, terms, covariates)
        known = labels.check_known(as_matrix(y, labels), documents.n_documents)
        loss = find_loss(self.loss, LabelResponse)
        targets = labels.numbers(known) if loss.ordered else labels.targets(known)
        measure = "micro_f1" if labels.several else "accuracy"
        columns = None if beside is None else beside.encode(covariates, documents.n_documents)
        about = replace(whole, corpus=documents, targets=targets, weight=np.ones_like(targets), columns=columns)
        unseen = strategy.share_out(about)
        watched = []
        for problem, new in zip(problems, unseen, strict=True):
            assert isinstance(problem.response, LabelResponse)
            how = (measure, self._fold_in(problem.seed), problem.response, new.columns)
            watch = watch_labels(new.corpus, new.targets[:], *how)
            watched.append(replace(problem, watch=watch))
        return watched

    @property
    def estimators_(self) -> Sequence[MedLDAClassifier]:
        """The models: the binary ones of "ovr" and "ovo", else the classifier itself."""
        return vars(self).get("_several") or super().estimators_

    def _edited(self, moved: Sequence[Moved]) -> dict[str, Any]:
        changed = super()._edited(moved)
        if len(moved) > 1:
            several = [one.rearranged([own]) for one, own in zip(self.estimators_, moved, strict=True)]
            changed |= Several(several).attributes() | {"_several": several}
        return changed

    @property
    def target_(self) -> Target:
        """What is predicted: the labels, one of each document or several."""
        check_is_fitted(self)
        values = self.classes_.tolist()
        kind: Kind = "several" if self._labels.several else "one"
        return Target(kind, values, [str(value) for value in values], self._fitted_strategy, self._ordered)

    @property
    def _n_tasks(self) -> int:
        return 1 if self._labels.binary or self._ordered else len(self.classes_)

    def _check_fitted(self) -> None:
        if self.classes_.ndim != 1 or not len(self.classes_) or (self.classes_ != self._labels.classes).any():
            raise ModelError("classes_ must be those of the labels")
        check_strategy(self._fitted_strategy)
        if len(self.estimators_) != (n := len(self._strategy.of_models())):
            raise ModelError(f"{self._fitted_strategy!r} needs {n} models, not {len(self.estimators_)}")
        if n == 1:
            super()._check_fitted()
            if self._ordered and self.response_.levels != len(self.classes_):
                raise ModelError(f"{self.response_.levels:g} levels are not the {len(self.classes_)} classes")
        else:
            Several(self.estimators_).check(self.n_features_in_)
        n_tasks = 1 if self._labels.binary or self._ordered else len(self.classes_)
        self._check_head(sum(model.n_topics for one in self.estimators_ for model in one.chains_), n_tasks)
        self._check_effects(n_tasks)
        if self.refitted_ and not self._ordered:
            if not self._calibrated:
                raise ModelError("the scores of the head have no calibration")
            self._calibration.check_fits(n_tasks)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strategy(self.strategy)
        check_setting("positive_weight", self.positive_weight)
        if self.init not in ("labels", "random", None):
            raise ParameterError("init", f'must be "labels", "random" or None, not {self.init!r}')

    def _init_by_labels(self, of_classes: NDArray[np.float64]) -> bool:
        """Whether chains begin with topics of the labels, given the weight that each document has by its class.

        A class that weighs much would hold its documents to the topics that they begin with, which new documents never
        use.
        """
        if self.init is None:
            return bool((of_classes == 1).all())
        return self.init == "labels"


def _of_labels(labels: Labels, strategy: str) -> dict[str, Any]:
    """Fitted attributes that say what is predicted."""
    return {"_labels": labels, "classes_": labels.classes, "_fitted_strategy": strategy}

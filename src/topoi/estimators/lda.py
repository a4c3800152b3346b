"""LDA as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi._disk.schema import WHOLE
from topoi.chain.diagnostics import completion_by
from topoi.chain.loop import Callback, Schedule
from topoi.chain.model import check_whole
from topoi.chain.state import Start
from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError
from topoi.estimators.base import TopicEstimator, as_checkpoints, as_documents_to_watch
from topoi.estimators.learned import learned
from topoi.estimators.marginal import TopicEffect
from topoi.estimators.number_of_topics import AUTO
from topoi.estimators.prevalent import beside_terms
from topoi.estimators.problem import Problem, chain_seed
from topoi.estimators.saved import Savable
from topoi.estimators.watch import watch_words
from topoi.predict.splitting import topics_of_tokens

#: Fitted attributes that have a row for every sweep that was looked at.
TRACES = ("log_joint_", "n_topics_trace_", "concentrations_")


class LDA(TopicEstimator):
    """Latent Dirichlet allocation by Gibbs sampling.

    Parameters
    ----------
    n_topics : int or "auto", default 20
        Number of topics K, or "auto": as many as the documents need, found while sampling by a hierarchical Dirichlet
        process (docs/howto/number_of_topics.md).
    doc_topic_prior : float, array of shape (n_topics,), "learn", "hdp" or None, default None
        α: how evenly a document spreads over topics. None is 0.1 (50/K above 500 topics); "learn" fits one α per
        topic while sampling; "hdp" draws them from a hierarchical Dirichlet process. None with n_topics="auto".
    topic_word_prior : float, array of shape (n_features,), "learn", "learn_words" or None, default None
        β: how evenly a topic spreads over words; an array has one for each word, of which all topics have more the
        larger it is. "learn" fits one β while sampling, "learn_words" one for the words of each frequency
        (docs/samplers.md). None is 0.01, and "learn" with n_topics="auto".
    seeds : dict of str and lists of words, or None, default None
        Guided topics: names of the first topics, and words that are expected in each; the other topics are free. A word
        may stand for several (``"econom*"``) and be in several lists. Columns without names have numbers for words.
    seed_strength : float, default 1.0
        A seed word counts as if this share of its tokens in the documents had the topic already, beside the tokens
        themselves; 1 is as many as there are. See docs/howto/guided_topics.md.
    topics_per_label : int, default 1
        Topics of each label of `topic_labels`, if `fit` gets any; see docs/howto/labelled_topics.md.
    prevalence : str or None, default None
        How the topics of a document depend on its `covariates`, as a formula: ``"~ party + s(year)"``; see
        docs/howto/covariates.md. None takes all columns of `covariates`, if `fit` gets any.
    sampler : str, default "auto"
        One of `topoi.samplers_table()`, or "auto": quick kernels for the burn-in and an exact one after it, all
        parallel (unless there are many topics for few tokens: docs/samplers.md).
    sampler_options : dict or None, default None
        Options of the sampler named by `sampler`, for instance ``{"n_mh": 4}`` for "light" (docs/samplers.md lists
        them). None with "auto".
    n_sweeps : int or None, default None
        Sweeps over all tokens, burn-in included. None is 50, and 200 with n_topics="auto".
    burn_in : int or None, default None
        Sweeps before the first sample is kept. None is half of them.
    n_samples : int, default 10
        Samples kept after the burn-in, evenly spaced, the last sweep included; topics are their average.
    n_chains : int, default 1
        Independent chains, in parallel. The one with the best log joint becomes the model; `rhat_` compares them, and
        `topic_agreement()` says in how many of them each topic was found.
    infer_sweeps : int, default 20
        Sweeps over a new document in `transform`, `score` aside.
    infer_method : "gibbs" or "mean_field", default "gibbs"
        Topics of a new document by draws, or as expected counts: no noise, and quicker, but not exact.
    keep_doc_topic : bool or None, default None
        Whether the topic shares of the training documents are kept, as `doc_topic_`. They take 4 bytes for each
        document and topic. Without them, what tells of the training documents (`topoi.topics_by`, `plot.embedding` …)
        must be given these documents. None keeps up to 500 million shares, which are 2 GB.
    max_seconds : float or None, default None
        Stop after the sweep in which this time has passed. Chains that wait for a thread share it.
    tol : float or None, default None
        Stop when the log joint gains less than this share of itself over 10 sweeps, three times running.
    random_state : int, RandomState or None, default None
        The same integer gives the same bytes, for any `n_jobs`.
    n_jobs : int or None, default None
        Threads: None is one for each core, but one where others work beside us (in workers of joblib or Dask); -1 is
        all cores. The bytes are the same.
    engine : Dask Client, address of a Dask scheduler, "blocks" or None, default None
        Who does the sweeps of `fit`: the workers of a cluster, or this process with topics in files ("blocks"), for a
        corpus larger than memory; see docs/cluster.md. The bytes are the same with the same samplers. None keeps all in
        memory.
    progress : bool, default False
        Show a progress bar on standard error.
    callbacks : list of callables or None, default None
        Each is called after every sweep with a `topoi.chain.loop.Progress`; the fit stops if one returns True.

    Attributes
    ----------
    components_ : array (n_topics, n_features)
        φ: probability of each word in each topic. Rows sum to 1.
    doc_topic_ : array (n_documents, n_topics)
        θ of the training documents, averaged over the samples; if it is kept: see `keep_doc_topic`.
    model_ : TopicModel
        The counts behind them, to save or to explore.
    log_joint_ : array (n_evaluations, 2)
        Sweep and log p(words, topics) over the run.
    traces_ : list of arrays (n_evaluations, 2)
        The same of every chain.
    validation_traces_ : list of arrays (n_evaluations, 2)
        Sweep and perplexity of the documents given as `validation` to `fit`, of every chain.
    doc_topic_prior_, topic_word_prior_
        α and β as used or learned.
    n_topics_ : int
        Number of topics; with n_topics="auto", of those found.
    n_topics_posterior_ : TopicNumber
        With n_topics="auto": `mean`, `low` and `high` of the number of topics over the sweeps after the burn-in; 90 %
        of them are from low to high.
    n_topics_trace_, concentrations_ : array (n_sweeps, 2), array (n_sweeps, 3)
        With n_topics="auto": sweep and number of topics; sweep, a (of documents) and γ (of the number of topics).
    n_sweeps_, stopped_ : int, str
        Sweeps done, and why the run ended: "finished", "time", "converged", "callback" or "interrupted".
    rhat_ : float
        Of the log joint after the burn-in, over the chains (nan with one).
    topic_names_ : list of str
        What each topic is called: its name if `seeds` gave it one, else "topic 3".
    vocabulary_, preparation_
        The words of the columns of X, if they are known, and how texts became these words, if X had texts.
    target_, topic_models_, estimators_, seed_, burn_in_
        What every fitted estimator of topoi has: see `topoi.estimators.fitted.Fitted`.

    Examples
    --------
    >>> from topoi import LDA
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
    >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(X)
    >>> lda.transform(X).shape
    (4, 2)

    Texts, of which stop words of their language and junk are left out (see `preparation_`):

    >>> texts = ["bread, butter", "butter, bread!", "rain, wind", "wind, rain"]
    >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(texts)
    >>> sorted(sorted(words) for words in lda.top_words(2))
    [['bread', 'butter'], ['rain', 'wind']]
    >>> lda.transform(["fresh bread"]).shape
    (1, 2)
    """

    _usual_sweeps: ClassVar[int] = 50
    saved_attributes: ClassVar = Savable.saved_attributes | {"_batches": WHOLE}

    def __init__(
        self,
        n_topics: int | str = 20,
        *,
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
        infer_sweeps: int = 20,
        infer_method: str = "gibbs",
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        checkpoint: Any = None,
        validation: Any = None,
        covariates: Any = None,
        topic_labels: Any = None,
    ) -> LDA:
        """Learn the topics of the documents X: texts, counts (n_documents, n_words), sparse or dense, or a `Corpus`.

        Texts are a list, an array or a column of a data frame; `Corpus.from_texts` says how they become words, and with
        which options. X may also be the folder of a saved corpus, which is then read when needed, not at once.

        With `checkpoint`, a folder or `topoi.Checkpoints`, the fit can be killed: the same call goes on where it was
        and ends with the same bytes. `validation`, X or (X, covariates), are documents to watch the fit on, which it
        does not learn from: callbacks and the progress bar are told their perplexity, and `validation_traces_` keeps
        it.

        `covariates`, a data frame, a mapping of columns or a matrix with a row for each document, say what else is
        known of the documents: how much of each topic a document has then depends on them, as `prevalence` says, and
        `effects` tells how.

        `topic_labels` say which topics a document may have (labelled LDA): of each document a list of names, or a table
        with a column of 0 and 1 for each name. Every name has `topics_per_label` topics, the first ones, named after
        it; the others of the `n_topics` are shared by all documents. A document with an empty list has shared topics
        only; one with None, whose labels are not known, may have all topics.
        """
        with self._all_or_nothing():
            corpus = self._corpus(X, reset=True)
            self._check_parameters()
            corpus, of_labels = self._with_topic_labels(corpus, topic_labels, self.n_topics)
            corpus, of_terms = self._with_terms(corpus, covariates, by_default=True)
            checkpoints = as_checkpoints(checkpoint)
            seed = self._new_seed(checkpoints)
            schedule = super()._schedule  # its own goes by `partial_fit`
            watch = None
            if validation is not None:
                new, beside = as_documents_to_watch(validation, "_terms" in of_terms)
                unseen = self._corpus(new, reset=False, allow_empty=True, like=corpus)
                watch = watch_words(beside_terms(unseen, of_terms.get("_terms"), beside))
            problem = Problem(corpus=corpus, seed=seed, watch=watch, **self._guided(corpus, of_labels))
            (runs,) = self._run([problem], schedule, checkpoints)
            self._become(learned(problem, runs, schedule) | {"_batches": 0} | of_labels | of_terms)
            return self

    def partial_fit(self, X: Any, y: Any = None, covariates: Any = None, topic_labels: Any = None) -> LDA:
        """Take new documents into a fitted model: their topics are sampled, those of earlier documents stay.

        Makes `infer_sweeps` sweeps over the new documents. `doc_topic_` and `log_joint_` are then theirs. On an
        estimator that is not fitted it is `fit`. Effects of covariates stay as they are: `covariates` of the new
        documents only say how much of each topic these may have. `topic_labels` of the new documents are those that the
        fit had.
        """
        with self._all_or_nothing():
            if not hasattr(self, "model_"):
                return self.fit(X, y, covariates=covariates, topic_labels=topic_labels)
            corpus = self._corpus(X, reset=False, learn=True)
            self._check_parameters()
            model = self.model_
            if self.n_topics not in (AUTO, model.n_topics):
                raise ParameterError("n_topics", f"is {self.n_topics}, but the model has {model.n_topics}; use fit")
            if corpus.vocabulary is None and model.vocabulary is not None:
                about = corpus.about
                corpus = Corpus(corpus.in_memory.words, corpus.doc_ptr, corpus.n_words, model.vocabulary)
                corpus = corpus.with_about(**about)
            self._check_used(covariates)
            corpus = self._beside_terms(self._label(corpus, topic_labels), covariates)
            seed = chain_seed(self._seed, 0, self._batches + 1)
            schedule = Schedule(self.infer_sweeps, self.n_samples)
            priors = model.priors.given(model.last_counts)
            held = priors.topics.held()
            names = model.topic_names or ()
            problem = Problem(corpus=corpus, seed=seed, priors=replace(priors, topics=held), topic_names=names)
            (runs,) = self._run([problem], schedule)
            if held is not priors.topics:  # what stays has the draws that it had
                for run in runs:
                    run.model.draws = model.draws
            same = {"_seed": self._seed, "_batches": self._batches + 1} | self._topic_labels_so_far | self._terms_so_far
            self._become(learned(problem, runs, schedule) | same)
            return self

    def resume(self, X: Any, n_sweeps: int, covariates: Any = None, topic_labels: Any = None) -> LDA:
        """A new fitted estimator that has sampled `n_sweeps` sweeps more, from the topics of this one, which stays.

        Sampling goes on after `apply`, for instance: words find their places in topics that were split or merged. `X`
        are the documents of the fit, `covariates` and `topic_labels` what `fit` had of them. A model does not keep the
        topics of the tokens: they are drawn again, with the topics of the model fixed, and then move by the sampler of
        the samples. Samples are kept from the second half of the new sweeps. Names and hidden topics stay, and so does
        the number of topics. The result depends on the seed of the fit, and not on the number of threads.

        Of several chains the best one goes on. `n_sweeps` and `burn_in` of the new estimator count all sweeps so far.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
        >>> lda = LDA(n_topics=3, n_sweeps=50, random_state=0).fit(X)
        >>> merge = {"format": "topoi edits", "version": 1, "edits": [{"edit": "merge", "topics": [0, 1]}]}
        >>> lda.apply(merge).resume(X, 30).n_sweeps_
        80
        """
        check_is_fitted(self)
        check_whole("n_sweeps", n_sweeps)
        self._check_parameters()
        if self.engine is not None:
            raise ParameterError("engine", "must be None: sampling goes on in this process")
        if getattr(self, "_batches", 0):
            raise ParameterError("X", "sampling cannot go on after partial_fit, which keeps no topics of documents")
        model, before = self.model_, int(self.n_sweeps_)
        corpus = self._known(X, covariates, topic_labels)
        if corpus.n_tokens != (learned_from := round(model.topic_counts.sum())):
            raise CorpusError(
                f"X has {corpus.n_tokens} tokens of the vocabulary, but the model has learned from {learned_from}; "
                "give the documents of the fit."
            )
        with self._pool() as pool:
            z = topics_of_tokens(model, corpus, self.infer_sweeps, self.seed_, pool)
        schedule = Schedule(before + n_sweeps, self.n_samples, before + n_sweeps // 2)
        counted = {"n_sweeps": schedule.n_sweeps, "burn_in": schedule.burn_in, "n_chains": 1}
        new = type(self)(**(self.get_params(deep=False) | counted))
        new.restore({name: value for name, value in vars(self).items() if name in self.saved_attributes}, trusted=True)
        problem = Problem(
            corpus=corpus, seed=self.seed_, priors=model.priors.found(), topic_names=model.topic_names or (),
            start=Start(z, before),
        )  # fmt: skip
        earlier = {name: vars(self)[name] for name in TRACES if name in vars(self)}
        return new.sample_on(problem, schedule, earlier, self._topic_labels_so_far | self._terms_so_far)

    def sample_on(
        self, problem: Problem, schedule: Schedule, earlier: Mapping[str, Any], beside: Mapping[str, Any]
    ) -> LDA:
        """Become what a run of `problem` leaves, with the traces of the run before; for `resume`, on its new estimator.

        `beside` are attributes that stay as they were.
        """
        hidden = self.model_.hidden
        (runs,) = self._run([problem], schedule)
        for run in runs:
            run.model.hidden = hidden
        found = learned(problem, runs, schedule)
        for name, trace in earlier.items():
            if name in found:
                found[name] = np.concatenate((trace, found[name]))
        self._become(found | {"traces_": [found["log_joint_"]], "_batches": 0} | dict(beside))
        return self

    def effects(self, level: float = 0.9, grid: int | None = None) -> list[TopicEffect]:
        """How topics vary with the covariates of the fit: see `topic_effects`.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
        >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(X, covariates={"party": ["a", "a", "b", "b"]})
        >>> lda.effects()[0]._fields
        ('topic', 'covariate', 'value', 'mean', 'low', 'high')
        """
        return self.topic_effects(level, grid)

    @property
    def _schedule(self) -> Schedule:
        """Of the last run: `fit`, or the last `partial_fit`, whose traces are kept."""
        if getattr(self, "_batches", 0):
            return Schedule(self.infer_sweeps, self.n_samples)
        return super()._schedule

    def score(self, X: Any, y: Any = None, covariates: Any = None, topic_labels: Any = None) -> float:
        """Held-out log-likelihood per token: half of each document is seen, the other half is predicted.

        `covariates` and `topic_labels` are those of X, as `transform` takes them.
        """
        return -float(np.log(self.perplexity(X, covariates, topic_labels)))

    def perplexity(self, X: Any, covariates: Any = None, topic_labels: Any = None) -> float:
        """exp(−score): of how many equally likely words a held-out token seems to be drawn. Lower is better.

        `covariates` and `topic_labels` are those of X, as `transform` takes them. Without covariates a document is
        taken as an average one; without topic labels it may have all topics.
        """
        corpus = self._known(X, covariates, topic_labels)
        with self._pool() as pool:
            alpha = self.model_.priors.topics.alpha_of(corpus)
            return completion_by(self.model_.word_probabilities, alpha, corpus, pool=pool).perplexity

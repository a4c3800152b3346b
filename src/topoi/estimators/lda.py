"""LDA as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi._disk.schema import WHOLE
from topoi.chain.diagnostics import completion
from topoi.chain.loop import Callback, Schedule
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimators.base import TopicEstimator, as_checkpoints
from topoi.estimators.learned import learned
from topoi.estimators.problem import Problem, chain_seed
from topoi.estimators.saved import Savable
from topoi.estimators.watch import watch_words


class LDA(TopicEstimator):
    """Latent Dirichlet allocation by Gibbs sampling.

    Parameters
    ----------
    n_topics : int, default 20
        Number of topics K.
    doc_topic_prior : float, array of shape (n_topics,), "learn" or None, default None
        α: how evenly a document spreads over topics. None is 0.1 (50/K above 500 topics); "learn" fits one α per
        topic while sampling.
    topic_word_prior : float, "learn" or None, default None
        β: how evenly a topic spreads over words. None is 0.01.
    sampler : str, default "auto"
        One of `topoi.samplers_table()`, or "auto": a quick kernel for the burn-in and an exact one after it.
    sampler_options : dict or None, default None
        Options of the sampler named by `sampler`, for instance ``{"n_mh": 4}`` for "light" (docs/samplers.md lists
        them). None with "auto".
    n_sweeps : int, default 200
        Sweeps over all tokens, burn-in included.
    burn_in : int or None, default None
        Sweeps before the first sample is kept. None is half of them.
    n_samples : int, default 10
        Samples kept after the burn-in, evenly spaced, the last sweep included; topics are their average.
    n_chains : int, default 1
        Independent chains, in parallel. The one with the best log joint becomes the model; `rhat_` compares them.
    infer_sweeps : int, default 20
        Sweeps over a new document in `transform`, `score` aside.
    infer_method : "gibbs" or "mean_field", default "gibbs"
        Topics of a new document by draws, or as expected counts: no noise, and quicker, but not exact.
    max_seconds : float or None, default None
        Stop after the sweep in which this time has passed. Chains that wait for a thread share it.
    tol : float or None, default None
        Stop when the log joint gains less than this share of itself over 10 sweeps, three times running.
    random_state : int, RandomState or None, default None
        The same integer gives the same bytes, for any `n_jobs`.
    n_jobs : int or None, default None
        Threads: None is 1, -1 all cores.
    engine : Dask Client, address of a Dask scheduler, "blocks" or None, default None
        Who does the sweeps of `fit`: the workers of a cluster, or this process with topics in files ("blocks"), for a
        corpus larger than memory; see docs/cluster.md. The bytes are the same. None keeps all in memory.
    progress : bool, default False
        Show a progress bar on standard error.
    callbacks : list of callables or None, default None
        Each is called after every sweep with a `topoi.chain.loop.Progress`; the fit stops if one returns True.

    Attributes
    ----------
    components_ : array (n_topics, n_features)
        φ: probability of each word in each topic. Rows sum to 1.
    doc_topic_ : array (n_documents, n_topics)
        θ of the training documents, averaged over the samples.
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
    n_sweeps_, stopped_ : int, str
        Sweeps done, and why the run ended: "finished", "time", "converged", "callback" or "interrupted".
    rhat_ : float
        Of the log joint after the burn-in, over the chains (nan with one).
    target_, topic_models_, estimators_, seed_, burn_in_
        What every fitted estimator of topoi has: see `topoi.estimators.fitted.Fitted`.

    Examples
    --------
    >>> from topoi import LDA
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
    >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(X)
    >>> lda.transform(X).shape
    (4, 2)
    """

    saved_attributes: ClassVar = Savable.saved_attributes | {"_batches": WHOLE}

    def __init__(
        self,
        n_topics: int = 20,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        sampler: str = "auto",
        sampler_options: dict[str, Any] | None = None,
        n_sweeps: int = 200,
        burn_in: int | None = None,
        n_samples: int = 10,
        n_chains: int = 1,
        infer_sweeps: int = 20,
        infer_method: str = "gibbs",
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
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.infer_sweeps = infer_sweeps
        self.infer_method = infer_method
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.progress = progress
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any = None, checkpoint: Any = None, validation: Any = None) -> LDA:
        """Learn the topics of the documents X: counts (n_documents, n_words), sparse or dense, or a `Corpus`.

        X may also be the folder of a saved corpus, which is then read when needed, not at once.

        With `checkpoint`, a folder or `topoi.Checkpoints`, the fit can be killed: the same call goes on where it was
        and ends with the same bytes. `validation` are documents to watch the fit on, which it does not learn from:
        callbacks and the progress bar are told their perplexity, and `validation_traces_` keeps it.
        """
        with self._all_or_nothing():
            corpus = self._corpus(X, reset=True)
            self._check_parameters()
            checkpoints = as_checkpoints(checkpoint)
            seed = self._new_seed(checkpoints)
            schedule = Schedule(self.n_sweeps, self.n_samples, self.burn_in)
            watch = None
            if validation is not None:
                watch = watch_words(self._corpus(validation, reset=False, allow_empty=True, like=corpus))
            problem = Problem(corpus=corpus, seed=seed, watch=watch)
            (runs,) = self._run([problem], schedule, checkpoints)
            self._become(learned(problem, runs, schedule) | {"_batches": 0})
            return self

    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Take new documents into a fitted model: their topics are sampled, those of earlier documents stay.

        Makes `infer_sweeps` sweeps over the new documents. `doc_topic_` and `log_joint_` are then theirs. On an
        estimator that is not fitted it is `fit`.
        """
        with self._all_or_nothing():
            if not hasattr(self, "model_"):
                return self.fit(X, y)
            corpus = self._corpus(X, reset=False, learn=True)
            self._check_parameters()
            model = self.model_
            if self.n_topics != model.n_topics:
                raise ParameterError("n_topics", f"is {self.n_topics}, but the model has {model.n_topics}; use fit")
            if corpus.vocabulary is None and model.vocabulary is not None:
                corpus = Corpus(corpus.in_memory.words, corpus.doc_ptr, corpus.n_words, model.vocabulary)
            seed = chain_seed(self._seed, 0, self._batches + 1)
            schedule = Schedule(self.infer_sweeps, self.n_samples)
            problem = Problem(corpus=corpus, seed=seed, priors=model.priors.given(model.last_counts))
            (runs,) = self._run([problem], schedule)
            same = {"_seed": self._seed, "_batches": self._batches + 1}
            self._become(learned(problem, runs, schedule) | same)
            return self

    @property
    def _schedule(self) -> Schedule:
        """Of the last run: `fit`, or the last `partial_fit`, whose traces are kept."""
        if getattr(self, "_batches", 0):
            return Schedule(self.infer_sweeps, self.n_samples)
        return super()._schedule

    def score(self, X: Any, y: Any = None) -> float:
        """Held-out log-likelihood per token: half of each document is seen, the other half is predicted."""
        return -float(np.log(self.perplexity(X)))

    def perplexity(self, X: Any) -> float:
        """exp(−score): of how many equally likely words a held-out token seems to be drawn. Lower is better."""
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False, allow_empty=True)
        with self._pool() as pool:
            return completion(self.components_, self.model_.alpha, corpus, pool=pool).perplexity

"""scikit-learn estimators: thin skins over corpus, run, model and infer."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from topoi._pool import Pool
from topoi._rng import CHAIN, bits, new_stream
from topoi.corpus import Corpus
from topoi.diagnostics import document_completion, rhat_ess
from topoi.errors import CorpusError, ParameterError
from topoi.infer import infer
from topoi.interrupt import Interrupt
from topoi.model import TopicModel, check_whole
from topoi.plan import check_sampler, make_plan
from topoi.priors import resolve_alpha, resolve_beta
from topoi.progress import progress_bar
from topoi.run import Callback, Rules, Run, Schedule, run
from topoi.state import new_state


class InterruptedFitWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the estimator holds what had been learned by then."""


class LDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    max_seconds : float or None, default None
        Stop after the sweep in which this time has passed.
    tol : float or None, default None
        Stop when the log joint gains less than this share of itself over 10 sweeps, three times running.
    random_state : int, RandomState or None, default None
        The same integer gives the same bytes, for any `n_jobs`.
    n_jobs : int or None, default None
        Threads: None is 1, -1 all cores.
    progress : bool, default False
        Show a progress bar on standard error.
    callbacks : list of callables or None, default None
        Each is called after every sweep with a `topoi.run.Progress`; the fit stops if one returns True.

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
    doc_topic_prior_, topic_word_prior_
        α and β as used or learned.
    n_sweeps_, stopped_ : int, str
        Sweeps done, and why the run ended: "finished", "time", "converged", "callback" or "interrupted".
    rhat_ : float
        Of the log joint after the burn-in, over the chains (nan with one).

    Examples
    --------
    >>> from topoi import LDA
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
    >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(X)
    >>> lda.transform(X).shape
    (4, 2)
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        sampler: str = "auto",
        n_sweeps: int = 200,
        burn_in: int | None = None,
        n_samples: int = 10,
        n_chains: int = 1,
        infer_sweeps: int = 20,
        max_seconds: float | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.sampler = sampler
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.infer_sweeps = infer_sweeps
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # Counts are whole numbers. scikit-learn's only tag that makes its checks send whole numbers is this one.
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None) -> LDA:
        """Learn the topics of the documents X: counts (n_documents, n_words), sparse or dense, or a `Corpus`."""
        corpus = self._corpus(X, reset=True)
        self._check_parameters()
        self._seed = self._new_seed()
        self._batches = 0
        alpha, self._learn_alpha = resolve_alpha(self.doc_topic_prior, self.n_topics)
        beta, self._learn_beta = resolve_beta(self.topic_word_prior)
        return self._run(corpus, alpha, beta, Schedule(self.n_sweeps, self.n_samples, self.burn_in), self._seed)

    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Take new documents into a fitted model: their topics are sampled, those of earlier documents stay.

        Makes `infer_sweeps` sweeps over the new documents. `doc_topic_` and `log_joint_` are then theirs. On an
        estimator that is not fitted it is `fit`.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y)
        corpus = self._corpus(X, reset=False)
        self._check_parameters()
        model = self.model_
        if self.n_topics != model.n_topics:
            raise ParameterError("n_topics", f"is {self.n_topics}, but the model has {model.n_topics}; use fit")
        seed = _chain_seed(self._seed, 0, self._batches + 1)
        schedule = Schedule(self.infer_sweeps, self.n_samples)
        self._run(corpus, model.alpha, model.beta, schedule, seed, model.last_counts.toarray())
        self._batches += 1
        return self

    def _run(
        self,
        corpus: Corpus,
        alpha: NDArray[np.float64],
        beta: float,
        schedule: Schedule,
        seed: int,
        base: NDArray[Any] | None = None,
    ) -> LDA:
        plan = make_plan(self.sampler, corpus, self.n_topics)
        rules = Rules(self._learn_alpha, self._learn_beta, max_seconds=self.max_seconds, tol=self.tol)
        with Interrupt() as interrupt, self._pool() as pool, progress_bar(self.progress) as show:
            callbacks = [*show, *(self.callbacks or [])]

            def chain(number: int, inner: Pool) -> Run:
                state = new_state(corpus, alpha, beta, _chain_seed(seed, number) if number else seed, base)
                return run(state, plan, schedule, rules, inner, callbacks, lambda: interrupt.requested, number)

            if self.n_chains == 1:
                runs = [chain(0, pool)]
            else:
                runs = pool.map(lambda number: chain(number, Pool(1)), range(self.n_chains))
        if interrupt.requested:
            done = min(result.n_sweeps for result in runs)
            warnings.warn(
                f"stopped by Ctrl-C after {done} of {schedule.n_sweeps} sweeps; the model is what was learned so far",
                InterruptedFitWarning,
                stacklevel=3,
            )
        self._keep(runs, schedule)
        return self

    def _keep(self, runs: list[Run], schedule: Schedule) -> None:
        best = max(runs, key=lambda result: result.trace.log_joint[-1] if result.trace.log_joint else -np.inf)
        self.model_: TopicModel = best.model
        self.doc_topic_ = best.doc_topic
        self.doc_topic_prior_ = best.model.alpha
        self.topic_word_prior_ = best.model.beta
        self.log_joint_ = np.column_stack((best.trace.sweep, best.trace.log_joint))
        self.n_sweeps_ = best.n_sweeps
        self.stopped_ = best.stopped
        self.n_iter_ = best.n_sweeps
        self.chains_ = [result.model for result in runs]
        self._components: NDArray[np.float64] | None = None
        self.rhat_ = _rhat([result.trace.after(schedule.n_burn_in) for result in runs])

    @property
    def components_(self) -> NDArray[np.float64]:
        """φ (n_topics, n_features); rows sum to 1."""
        if not hasattr(self, "model_"):
            raise AttributeError("components_ is there only after fit")
        if self._components is None:
            self._components = self.model_.topic_word()
        return self._components

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_topics

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Topic shares θ (n_documents, n_topics) of new documents; rows sum to 1, an empty one is the prior's mean.

        A document's answer depends on its words alone, not on what else is in X.
        """
        check_is_fitted(self, "model_")
        corpus = self._corpus(X, reset=False, allow_empty=True)
        with self._pool() as pool:
            return infer(self.model_, corpus, self.infer_sweeps, self._seed, pool)

    def score(self, X: Any, y: Any = None) -> float:
        """Held-out log-likelihood per token: half of each document is seen, the other half is predicted."""
        return -float(np.log(self.perplexity(X)))

    def perplexity(self, X: Any) -> float:
        """exp(−score): of how many equally likely words a held-out token seems to be drawn. Lower is better."""
        check_is_fitted(self, "model_")
        corpus = self._corpus(X, reset=False, allow_empty=True)
        with self._pool() as pool:
            return document_completion(self.components_, self.model_.alpha, corpus, pool=pool).perplexity

    def top_words(self, n: int = 10, vocabulary: Sequence[str] | None = None) -> list[list[str]]:
        """The n most probable words of every topic. `vocabulary` names the columns where X did not."""
        check_is_fitted(self, "model_")
        if vocabulary is None:
            return self.model_.top_words(n)
        if len(vocabulary) != self.n_features_in_:
            raise ParameterError("vocabulary", f"has {len(vocabulary)} words, but the model {self.n_features_in_}")
        numbered = TopicModel(**{**vars(self.model_), "vocabulary": np.asarray(vocabulary, dtype=object)})
        return numbered.top_words(n)

    def _corpus(self, X: Any, reset: bool, allow_empty: bool = False) -> Corpus:
        """X as a corpus, checked against what the estimator was fitted on."""
        if isinstance(X, Corpus):
            if X.n_tokens == 0 and not allow_empty:
                raise CorpusError(f"every document is empty: none of {X.n_documents} has a word of the vocabulary.")
            if reset:
                self.n_features_in_ = X.n_words
                self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
            elif X.n_words != self.n_features_in_:
                raise CorpusError(f"X has {X.n_words} words, but the model was fitted on {self.n_features_in_}.")
            else:
                self._check_vocabulary(X)
            return X
        if getattr(X, "dtype", None) == np.dtype(object) and np.size(X) and not isinstance(np.ravel(X)[0], str):
            X = check_array(X, dtype=np.float64, ensure_all_finite=False)  # numbers stored as objects
        corpus = Corpus.from_counts(X, allow_empty=allow_empty)
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as error:  # the number or the names of the columns, in scikit-learn's words
            raise CorpusError(str(error)) from error
        if not reset:
            self._check_vocabulary(corpus)
        return corpus

    def _check_vocabulary(self, corpus: Corpus) -> None:
        """Raise if the columns are known to be other words than those of the model."""
        fitted, given = self.model_.vocabulary, corpus.vocabulary
        if fitted is None or given is None or (wrong := np.flatnonzero(fitted != given)).size == 0:
            return
        w = int(wrong[0])
        raise CorpusError(f"column {w} is {given[w]!r}, but {fitted[w]!r} in the model's vocabulary.", column=w)

    def _pool(self) -> Pool:
        if self.n_jobs is not None:
            check_whole("n_jobs", self.n_jobs, None)
        return Pool(self.n_jobs)

    def _new_seed(self) -> int:
        try:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except (ValueError, TypeError) as error:
            raise ParameterError("random_state", str(error)) from error

    def _check_parameters(self) -> None:
        for name in ("n_topics", "n_chains", "infer_sweeps"):
            check_whole(name, getattr(self, name))
        for name in ("max_seconds", "tol"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, numbers.Real) and float(value) > 0):
                raise ParameterError(name, f"must be a positive number or None, not {value!r}")
        if not isinstance(self.callbacks, Sequence | None) or not all(map(callable, self.callbacks or ())):
            raise ParameterError("callbacks", f"must be a list of functions or None, not {self.callbacks!r}")
        check_sampler(self.sampler)


def _rhat(traces: list[list[float]]) -> float:
    """R-hat of the log joint over the chains; chains that stopped early are compared over the sweeps of all."""
    shortest = min(map(len, traces))
    return rhat_ess(np.array([trace[:shortest] for trace in traces]).reshape(len(traces), shortest))["rhat"]


def _chain_seed(seed: int, number: int, batch: int = 0) -> int:
    """Seed of chain `number` of a fit, or of a later `batch` of documents."""
    return int(bits(new_stream(seed, CHAIN, batch, number)) >> np.uint64(33))

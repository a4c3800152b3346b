"""The peers as competitors, each as its manual says, with the priors of the comparison. Only training is timed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Problem, priors
from benchmarks.harness import Recorder
from topoi.corpus import Corpus

Topics = NDArray[Any]


# ---- tomotopy ----------------------------------------------------------------------------------------------


def tomotopy_documents(corpus: Corpus) -> Iterator[list[str]]:
    """The documents as lists of words; a word is its number, as text."""
    names = np.array([str(w) for w in range(corpus.n_words)], dtype=object)
    for d in range(corpus.n_documents):
        yield names[corpus.document(d)].tolist()


def tomotopy_model(problem: Problem, n_topics: int, seed: int, learn_alpha: bool = False) -> Any:
    """A model that holds the training documents and is ready to train."""
    import tomotopy

    alpha, beta = priors(n_topics)
    model = tomotopy.LDAModel(k=n_topics, alpha=alpha, eta=beta, seed=seed + 1)
    model.optim_interval = 10 if learn_alpha else 0
    for words in tomotopy_documents(problem.corpus):
        if words:
            model.add_doc(words)
    tomotopy_train(model, 0)  # makes the first topics
    return model


def tomotopy_train(model: Any, n_sweeps: int) -> None:
    """Sweeps on one thread."""
    import tomotopy

    model.train(n_sweeps, workers=1, parallel=tomotopy.ParallelScheme.NONE)


def tomotopy_words(model: Any) -> NDArray[np.int64]:
    """Our number of each of the model's words."""
    return np.array([int(word) for word in model.used_vocabs])


def tomotopy_topics(model: Any, n_words: int) -> Topics:
    """φ (K, V); a word that the model does not know has probability 0."""
    phi = np.zeros((model.k, n_words))
    words = tomotopy_words(model)
    for k in range(model.k):
        phi[k, words] = model.get_topic_word_dist(k)
    return _normalised(phi)


def fit_tomotopy(problem: Problem, n_topics: int, seed: int, recorder: Recorder, learn_alpha: bool = False) -> None:
    """tomotopy's LDAModel."""
    model = tomotopy_model(problem, n_topics, seed, learn_alpha)
    recorder.begin()
    while True:
        tomotopy_train(model, 1)
        if recorder.step(lambda: tomotopy_topics(model, problem.corpus.n_words)):
            return


def fit_tomotopy_learned(problem: Problem, n_topics: int, seed: int, recorder: Recorder) -> None:
    """The same as it comes: α is learned every 10 sweeps."""
    fit_tomotopy(problem, n_topics, seed, recorder, learn_alpha=True)


# ---- lda ---------------------------------------------------------------------------------------------------


def fit_lda(problem: Problem, n_topics: int, seed: int, recorder: Recorder) -> None:
    """`lda.LDA`: the loop of its `fit`, without the log-likelihoods that it logs."""
    import lda

    logging.getLogger("lda").setLevel(logging.ERROR)
    alpha, beta = priors(n_topics)
    generator = np.random.RandomState(seed)  # what the package takes
    model = lda.LDA(n_topics, alpha=alpha, eta=beta, random_state=generator)
    model._initialize(problem.train.tocsr())
    numbers = model._rands.copy()
    recorder.begin()
    while True:
        generator.shuffle(numbers)
        model._sample_topics(numbers)
        if recorder.step(lambda: _normalised(model.nzw_ + beta)):
            return


# ---- Variational Bayes -------------------------------------------------------------------------------------


class _EnoughError(Exception):
    """The only way out of gensim's loop."""


def fit_gensim(problem: Problem, n_topics: int, seed: int, recorder: Recorder) -> None:
    """gensim's LdaModel; a step is a pass."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel
    from gensim.models.callbacks import Metric

    class Watch(Metric):  # type: ignore[misc]
        """Called by gensim after every pass."""

        logger = title = None

        def get_value(self, **state: Any) -> None:
            if recorder.step(lambda: _normalised(state["model"].get_topics())):
                raise _EnoughError

    alpha, beta = priors(n_topics)
    documents = list(Sparse2Corpus(problem.train, documents_columns=False))
    model = LdaModel(
        num_topics=n_topics,
        id2word={w: str(w) for w in range(problem.corpus.n_words)},
        alpha=[alpha] * n_topics,
        eta=beta,
        passes=max(recorder.check_points),
        eval_every=None,
        random_state=seed,
        callbacks=[Watch()],
    )
    recorder.begin()
    try:
        model.update(documents)
    except _EnoughError:
        return


def fit_sklearn(problem: Problem, n_topics: int, seed: int, recorder: Recorder) -> None:
    """scikit-learn's online variational Bayes; a step is a pass."""
    from sklearn.decomposition import LatentDirichletAllocation

    alpha, beta = priors(n_topics)
    model = LatentDirichletAllocation(
        n_topics,
        doc_topic_prior=alpha,
        topic_word_prior=beta,
        learning_method="online",
        total_samples=problem.train.shape[0],
        random_state=seed,
    )
    recorder.begin()
    while True:
        model.partial_fit(problem.train)
        if recorder.step(lambda: _normalised(model.components_)):
            return


def _normalised(weights: NDArray[Any]) -> Topics:
    topics = np.asarray(weights, np.float64)
    shares: Topics = topics / topics.sum(1, keepdims=True)
    return shares


Fit = Callable[[Problem, int, int, Recorder], None]

#: Name: (how it is fitted, whether a step is a sweep of a sampler, its settings in words).
PEERS: dict[str, tuple[Fit, bool, str]] = {
    "tomotopy": (fit_tomotopy, True, "`LDAModel`, 1 worker, no parallel scheme, α fixed (`optim_interval=0`)"),
    "tomotopy, α learned": (fit_tomotopy_learned, True, "the same with `optim_interval=10`, as it comes"),
    "lda": (fit_lda, True, "`lda.LDA`, without its log-likelihoods"),
    "gensim": (fit_gensim, False, "`LdaModel`, 2,000 documents a chunk, no evaluation; a step is a pass"),
    "scikit-learn": (
        fit_sklearn,
        False,
        "`LatentDirichletAllocation`, online, 128 documents a batch; a step is a pass",
    ),
}

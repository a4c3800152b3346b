"""The corpora of the figures, found through TOPOI_DATA, whole or as a sample of their documents."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

from benchmarks.data import data_set
from benchmarks.labelled import Labelled, newsgroups
from topoi.corpus import Corpus

UNLABELLED = {
    "kos": ("uci_kos", "counts.npz"),
    "nips": ("uci_nips", "counts.npz"),
    "reuters": ("reuters_modapte20", "train.npz"),
    "arxiv": ("arxiv_120k", "train.npz"),
}
NAMES = {
    "kos": "UCI KOS",
    "nips": "UCI NIPS",
    "20ng": "20 Newsgroups",
    "reuters": "Reuters ModApte",
    "arxiv": "arXiv abstracts",
}


@cache
def counts(name: str) -> sparse.csr_array:
    """Documents × words of one of NAMES; 20 Newsgroups without stop words."""
    if name == "20ng":
        return newsgroups().X
    folder, file = UNLABELLED[name]
    return sparse.csr_array(sparse.load_npz(data_set(folder, file) / file))


def corpus(name: str, n_documents: int | None = None, seed: int = 0, least: int = 1) -> Corpus:
    """A corpus, or a random sample of so many of its documents; words with fewer than `least` tokens are left out."""
    matrix = rows(counts(name), n_documents, seed)
    occurrences = np.asarray(matrix.sum(0)).ravel()
    # Documents may lose all their words.
    return Corpus.from_counts(matrix[:, np.flatnonzero(occurrences >= least)], allow_empty=True)


def rows(matrix: sparse.csr_array, n: int | None, seed: int = 0) -> sparse.csr_array:
    """A random sample of `n` rows in their order, or all if there are no more than that."""
    if n is None or n >= matrix.shape[0]:
        return matrix
    return sparse.csr_array(matrix[_sample(matrix.shape[0], n, seed)])


def sample(data: Labelled, n_train: int, n_test: int, seed: int = 0) -> Labelled:
    """A labelled data set with fewer documents, over the words that occur in those to learn from."""
    train, test = _sample(data.X.shape[0], n_train, seed), _sample(data.X_test.shape[0], n_test, seed + 1)
    X, X_test = sparse.csr_array(data.X[train]), sparse.csr_array(data.X_test[test])
    words = np.unique(X.indices)
    about = f"{data.about}, a sample of {len(train):,} and {len(test):,} documents"
    return Labelled(X[:, words], data.y[train], X_test[:, words], data.y_test[test], about)


def _sample(n: int, size: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(n)[:size])

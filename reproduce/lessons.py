"""What the supervised figures learn from: the labelled data sets, whole as in the papers or in part for quick runs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import labelled
from benchmarks.labelled import Labelled

#: Settings that are not the papers', for figures to name.
NEWSGROUP_WORDS = (
    "stop words, words of one letter and words in fewer than five training documents are removed, where the paper has "
    "all 61,188 words"
)
#: Gibbs MedLDA removes "a standard list of stop words" (§4).
GIBBS_WORDS = (
    "beside stop words, which the paper removes as well (by a list that it does not give), words of one letter and "
    "words in fewer than five training documents are removed"
)
WEIGHED = (
    "documents with a label are weighed by the cube root of how much rarer it is, topoi's default for the hinge loss"
)
MEAN_FIELD = (
    "topics of test documents are by mean field; by Gibbs sampling until the likelihood settles, the papers' way, they "
    "stand beside"
)
#: A cost that the paper claims without saying how; docs/paper_errors.md derives what it takes.
BOOKKEEPING = (
    "differences of tilts cost O(tasks) for each step that wants to move: the bookkeeping of §4.1 needs a table of "
    "pairs of topics for every document, which takes more than it saves from some 65 topics on (docs/paper_errors.md)"
)
TABLE_AGES = (
    "of forms as published, the table of a word has two parts of different age, which the papers make at one time "
    "(docs/samplers.md)"
)
#: Of newsgroups: classes, and documents to learn from and to test of each, where all of them take too long.
FITTING = (10, 60, 60)
FITTING_SAID = f"{FITTING[0]} of the 20 newsgroups, the first {FITTING[1]} + {FITTING[2]} documents of each"
N_LABELS = 20  # of Wikipedia in the paper, and of arXiv here


@cache
def binary() -> Labelled:
    """alt.atheism against talk.religion.misc, all 856 + 569 documents."""
    return labelled.two_newsgroups()


@cache
def newsgroups(n_classes: int = 20, n_train: int = 0, n_test: int = 0) -> Labelled:
    """20 Newsgroups; or classes at equal distances, the first `n_train` and `n_test` documents of each."""
    data = labelled.newsgroups()
    if n_classes == 20 and not n_train:
        return data
    classes = np.arange(n_classes) * 20 // n_classes
    rows, rows_test = (
        np.concatenate([np.flatnonzero(y == label)[:n] for label in classes])
        for y, n in ((data.y, n_train), (data.y_test, n_test))
    )
    return _part(data, rows, rows_test)


@cache
def hotels(n_train: int = 0, n_test: int = 0) -> Labelled:
    """Hotel reviews, or a random sample of them."""
    data = labelled.hotels()
    if not n_train:
        return data
    return _part(data, _sample(data.X.shape[0], n_train), _sample(data.X_test.shape[0], n_test))


@cache
def arxiv(n_train: int = 0, n_test: int = 0) -> Labelled:
    """arXiv abstracts with any of the 20 most frequent labels; or a random sample of them."""
    data = labelled.arxiv()
    top = np.sort(np.argsort(-data.y.sum(0), kind="stable")[:N_LABELS])
    rows, rows_test = (np.flatnonzero(y[:, top].any(1)) for y in (data.y, data.y_test))
    if n_train:
        rows, rows_test = rows[_sample(len(rows), n_train)], rows_test[_sample(len(rows_test), n_test)]
    return _part(data, rows, rows_test, top)


def _sample(n: int, size: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def _part(data: Labelled, rows: Any, rows_test: Any, labels: Any = None) -> Labelled:
    """Some documents and labels, with the words that occur in those to learn from."""
    X, X_test = sparse.csr_array(data.X[rows]), sparse.csr_array(data.X_test[rows_test])
    words = np.unique(X.indices)
    y, y_test = data.y[rows], data.y_test[rows_test]
    if labels is not None:
        y, y_test = y[:, labels], y_test[:, labels]
    return Labelled(X[:, words], y, X_test[:, words], y_test, data.about)

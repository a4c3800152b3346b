"""Corpora of no meaning: counts drawn from LDA, a table by hand, and when two corpora are the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from topoi.corpus import Corpus


def random_counts(n_documents, n_words, mean_length, seed, n_topics=5):
    """Counts from LDA itself, some documents empty."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    lengths = rng.poisson(mean_length, n_documents)
    lengths[:: max(n_documents // 7, 2)] = 0
    return np.array([rng.multinomial(n, p) for n, p in zip(lengths, theta @ phi, strict=True)])


FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]
TABLE = np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 1]])
WORDS = [1, 1, 2, 0, 0, 0, 3]


def assert_same(a: Corpus, b: Corpus) -> None:
    np.testing.assert_array_equal(a.words, b.words)
    np.testing.assert_array_equal(a.doc_ptr, b.doc_ptr)
    assert a.n_words == b.n_words
    assert (a.vocabulary is None) == (b.vocabulary is None)
    if a.vocabulary is not None:
        assert a.vocabulary.tolist() == b.vocabulary.tolist()


def random_corpus(n_documents=300, n_words=400, mean=150, seed=0) -> Corpus:
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(rng.choice([0, mean, 3 * mean], n_documents))
    doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.zipf(1.3, doc_ptr[-1]) % n_words
    for start, end in pairwise(doc_ptr):
        words[start:end].sort()
    return Corpus(words.astype(np.int32), doc_ptr.astype(np.int64), n_words)

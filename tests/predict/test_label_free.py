"""Topics of training documents as if they were new: against a few lines of NumPy that take the document out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain.priors import fixed_priors
from topoi.predict.label_free import label_free_shares

K, V, ALPHA, BETA = 5, 12, 0.3, 0.05


@pytest.fixture(scope="module")
def run():
    """What is left of a chain: topics of tokens, and counts that contain them."""
    rng = np.random.default_rng(0)
    corpus = Corpus.from_counts(rng.poisson(0.7, (9, V)), allow_empty=True)
    z = rng.integers(0, K, corpus.n_tokens)
    counts = np.zeros((V, K), np.int64)
    np.add.at(counts, (corpus.words, z), 1)

    def topics(documents):
        return np.concatenate([z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]] for d in documents])

    alpha = np.full(K, ALPHA) * np.arange(1, K + 1)
    model = SimpleNamespace(priors=fixed_priors(alpha, BETA))
    return SimpleNamespace(corpus=corpus, z=z, counts=sparse.csr_array(counts), topics=topics, model=model, alpha=alpha)


def naive(run, d, n_sweeps):
    """The mean-field estimate of one document, with its own tokens taken out of the counts."""
    own = slice(run.corpus.doc_ptr[d], run.corpus.doc_ptr[d + 1])
    words, counts = np.asarray(run.corpus.words[own]), run.counts.toarray().astype(float)
    np.add.at(counts, (words, run.z[own]), -1)
    phi = (counts + BETA) / (counts.sum(0) + V * BETA)
    distinct, times = np.unique(words, return_counts=True)
    gamma = phi[distinct] / phi[distinct].sum(1, keepdims=True)
    n = times @ gamma
    for _ in range(n_sweeps):
        for j, (w, c) in enumerate(zip(distinct, times, strict=True)):
            n = n - c * gamma[j]
            gamma[j] = (n + (c - 1) * gamma[j] + run.alpha) * phi[w]
            gamma[j] /= gamma[j].sum()
            n = n + c * gamma[j]
    return (n + run.alpha) / (n + run.alpha).sum()


@pytest.mark.parametrize("n_sweeps", [1, 2])
def test_as_the_naive_twin(run, n_sweeps):
    found = label_free_shares(run, run.corpus, n_sweeps, Pool(2))
    expected = np.array([naive(run, d, n_sweeps) for d in range(run.corpus.n_documents)])
    np.testing.assert_allclose(found, expected, atol=2e-5)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)


def test_the_own_topics_have_no_say(run):
    """With its own tokens among the counts a document would look more like its own topics."""
    found = label_free_shares(run, run.corpus, 2, Pool(1))
    own = np.array([np.bincount(run.topics([d]), minlength=K) for d in range(run.corpus.n_documents)], float)
    with_own = np.zeros_like(found)
    kept = SimpleNamespace(**{**vars(run), "z": run.z})
    for d in range(run.corpus.n_documents):
        counts = run.counts.toarray().astype(float)
        add = np.zeros_like(counts)
        np.add.at(add, (np.asarray(run.corpus.document(d)), run.topics([d])), 1)
        kept.counts = sparse.csr_array((counts + add).astype(np.int64))
        with_own[d] = naive(kept, d, 2)
    assert (found * own).sum() < (with_own * own).sum() - 0.5

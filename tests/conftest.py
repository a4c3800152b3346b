"""Shared fixtures: corpora, and a copy of topoi that runs without the compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from copies import interpreted

from topoi.corpus import Corpus


def random_counts(n_documents, n_words, mean_length, seed, n_topics=5):
    """Counts from LDA itself, some documents empty."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    lengths = rng.poisson(mean_length, n_documents)
    lengths[:: max(n_documents // 7, 2)] = 0
    return np.array([rng.multinomial(n, p) for n, p in zip(lengths, theta @ phi, strict=True)])


@pytest.fixture(scope="session")
def small_corpus():
    """A corpus for the interpreter: some 150 tokens."""
    return Corpus.from_counts(random_counts(12, 15, 14, seed=1))


@pytest.fixture(scope="session")
def blocks_corpus():
    """A corpus of several blocks of documents and of words."""
    corpus = Corpus.from_counts(random_counts(400, 300, 60, seed=2))
    assert len(corpus.block_ptr) > 4
    assert len(corpus.word_block_ptr) > 4
    return corpus


@pytest.fixture(scope="session")
def plain_samplers():
    """The samplers, run without the compiler."""
    return interpreted().SAMPLERS

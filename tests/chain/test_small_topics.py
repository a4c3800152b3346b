"""Topics without a place in a model go to the topic under which their words are most probable."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy import sparse

from topoi.chain.small_topics import find_places


def number_of(phi, counts, stays):
    """The numbers that topics get, of a model with these φ (words, topics) and counts of the same shape."""
    model = SimpleNamespace(
        topic_counts=counts.sum(0), counts=sparse.csr_array(counts), word_probabilities=lambda words: phi[words]
    )
    topics = SimpleNamespace(places=lambda n_k, n: np.array(stays))
    priors = SimpleNamespace(topics=topics, words=SimpleNamespace(pseudo_counts=None))
    return find_places(model, sparse.csr_array(np.zeros_like(counts)), priors)[1].tolist()


def test_the_most_probable():
    phi = np.array([[0.7, 0.1, 0.3], [0.2, 0.8, 0.3], [0.1, 0.1, 0.4]])
    counts = np.array([[50, 9, 0], [9, 50, 2], [9, 9, 1]])
    assert number_of(phi, counts, [True, True, False]) == [0, 1, 1]
    assert number_of(phi, counts[:, ::-1], [False, True, True]) == [0, 0, 1]


def test_a_tie_is_one_on_every_processor():
    """The same probabilities in two orders, whose sums of floats differ by how they are rounded: the first has it."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        p = rng.dirichlet(np.ones(6))
        phi = np.column_stack((p, rng.permutation(p), p))
        assert number_of(phi, np.array([[9, 9, 1]] * 6), [True, True, False]) == [0, 1, 0]

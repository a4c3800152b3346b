"""Targets of one byte, and weights as factors, are the arrays that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.corpora import random_counts
from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain import checkpoint
from topoi.chain.counts.shares import design_of
from topoi.chain.priors import fixed_priors
from topoi.chain.responses import RESPONSES, signs
from topoi.chain.responses.signs import Signs, SignWeights, as_array, largest
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.state import new_state

N, N_LABELS = 90, 20
SOME = np.array([3, 80, 3, 41])
KEYS = [
    slice(None), slice(0, 0), slice(10, 50), SOME, (slice(None), slice(4, 5)), (slice(None), 7), (SOME, slice(2, 9)),
    (slice(5, 60), 0),
]  # fmt: skip


def both():
    """Arrays of targets and weights, and what takes less memory."""
    rng = np.random.default_rng(4)
    y = rng.choice(np.array([-1, 1, np.nan], np.float32), (N, N_LABELS))
    of_document, of_label = rng.random(N).astype(np.float32), 1 + rng.random(N_LABELS).astype(np.float32)
    weight = np.where(y > 0, of_label, np.float32(1)) * of_document[:, None]
    targets = Signs.of(y)
    return y, weight, targets, SignWeights(targets, of_document, of_label)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_any_part_is_that_of_the_array(key):
    y, weight, targets, weights = both()
    for array, other in ((y, targets), (weight, weights)):
        assert other.shape == array.shape
        found = other[key]
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array[key])
    assert len(targets) == N


def test_a_byte_each():
    _, _, targets, weights = both()
    assert targets.codes.nbytes == N * N_LABELS
    assert weights.targets is targets
    assert np.shares_memory(as_array(targets), targets.codes)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_largest_weight(chunk, monkeypatch):
    monkeypatch.setattr(signs, "CHUNK", chunk)
    _, weight, _, weights = both()
    assert weight.max() > 1
    assert largest(weight) == largest(weights) == weight.max()
    assert largest(weight * np.float32(1e-3)) == 1


def test_a_chain_is_the_same():
    """To the bit, and so is its fingerprint: checkpoints of one go on with the other."""
    y, weight, targets, weights = both()
    corpus = Corpus.from_counts(random_counts(N, 40, 30, seed=5))
    found = []
    for given in ((y, weight), (targets, weights)):
        state = new_state(corpus, fixed_priors(np.full(5, 0.1), 0.1), 6)
        s = state.supervision = new_supervision(RESPONSES["hinge"](), given[0], 5, given[1])
        print_of_chain = checkpoint.fingerprint(state, None, None)
        with Pool(2) as pool:
            s.refresh(state, pool)
            for _ in range(2):
                state.sweep += 1
                s.update(state, pool)
            scores = s.scores(design_of(state, pool), pool)
        found.append((print_of_chain, *(array.tobytes() for array in (s.eta, s.kappa, s.omega, scores))))
    assert found[0] == found[1]
    assert replace(s, y=y).real is np.float32

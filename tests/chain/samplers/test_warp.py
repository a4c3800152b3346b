"""What only `warp` has: several passes in a sweep, none of which may leave anything to the next sweep."""

from __future__ import annotations

import numpy as np
import pytest

from topoi.chain.priors import fixed_priors
from topoi.chain.samplers.warp import Warp
from topoi.chain.state import State, new_state, topic_counts


def state_of(corpus, base=None):
    return new_state(corpus, fixed_priors(np.linspace(0.05, 0.4, 6), 0.05, base), 3)


def test_every_pass_has_streams_of_its_own(blocks_corpus, monkeypatch):
    """With the random numbers of another pass a token would be answered by those that had proposed to it."""
    keys = []

    def noting(plain):
        def noted(self, first, last, stream):
            keys.append(stream[:2].tobytes())
            return plain(self, first, last, stream)

        return noted

    for name in ("ask", "word_block", "block"):
        monkeypatch.setattr(Warp, name, noting(getattr(Warp, name)))
    Warp(state_of(blocks_corpus), n_mh=3).sweep()
    corpus = blocks_corpus
    assert len(keys) == 3 * (2 * (len(corpus.block_ptr) - 1) + len(corpus.word_block_ptr) - 1)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("with_base", [False, True])
def test_counts_are_made_anew_by_every_pass(with_base, blocks_corpus):
    """The documents' last answers are given with n_k as the pass over words has left it, pseudo-counts included."""
    base = np.random.default_rng(0).integers(0, 3, (blocks_corpus.n_words, 6)) if with_base else None
    state = state_of(blocks_corpus, base)
    sampler = Warp(state, n_mh=2)
    seen = []
    plain = sampler.block
    sampler.block = lambda *given: (seen.append((sampler.n_k.copy(), topic_counts(state)[1])), plain(*given))[1]
    sampler.sweep()
    n_blocks = len(blocks_corpus.block_ptr) - 1
    for first in (0, n_blocks):  # of the answers between the rounds, and of the last ones
        n_k, counted = seen[first]
        np.testing.assert_array_equal(n_k, counted + (0 if base is None else base.sum(0)))


def test_topics_that_were_changed_between_sweeps(blocks_corpus):
    """As a checkpoint or a merge of topics does: a sampler that has been running begins with them as a new one does."""
    state = state_of(blocks_corpus)
    sampler = Warp(state)
    sampler.sweep()
    state.z[:] = state.z[::-1].copy()
    other = State(**{**vars(state), "z": state.z.copy()})
    sampler.sweep()
    Warp(other).sweep()
    assert state.z.tobytes() == other.z.tobytes()

"""What only samplers have whose blocks go on with counts of their own."""

from __future__ import annotations

import numpy as np
import pytest

from support import naive
from support.exact import REPEATED, stationary
from support.own_alpha import priors_by_length
from support.tilted_topics import supervised_state
from topoi._machine.pool import Pool
from topoi._machine.rng import TOPICS, new_stream
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samplers._own_counts import copy_counts
from topoi.chain.state import State, new_state, topic_counts

OWN = [name for name in sorted(SAMPLERS) if SAMPLERS[name].live_in_block]
#: The sampler whose kernel moves the tokens of a block.
INSIDE = {"ad_lda": "collapsed", "ad_fast": "fast"}
assert set(INSIDE) == set(OWN)


def state_of(corpus, base=None, own=False):
    priors = priors_by_length(0.05, base) if own else fixed_priors(np.linspace(0.05, 0.4, 6), 0.05, base)
    return new_state(corpus, priors, 3)


def swept(name, state, n=3):
    """The state after some sweeps from the same topics."""
    state = State(**{**vars(state), "z": state.z.copy()})
    sampler = SAMPLERS[name](state)
    for _ in range(n):
        sampler.sweep()
    return state.z.tolist()


@pytest.mark.parametrize("name", OWN)
def test_bias_by_enumeration(name):
    """No noise: where the chain of the twin, whose transitions are the sampler's own, ends."""
    end = stationary(naive.blocks_matrix(REPEATED))
    assert SAMPLERS[name].bias == round(0.5 * np.abs(end - REPEATED.posterior()).sum(), 3)


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("name", OWN)
def test_one_block_is_sampled_exactly(name, with_base, small_corpus):
    assert len(small_corpus.block_ptr) == 2
    base = np.random.default_rng(0).integers(0, 3, (small_corpus.n_words, 6)) if with_base else None
    for own in (False, True)[: 1 + SAMPLERS[name].alpha_per_document]:
        state = state_of(small_corpus, base, own)
        assert swept(name, state) == swept(INSIDE[name], state) != state.z.tolist()


@pytest.mark.parametrize("name", [name for name in OWN if SAMPLERS[name].tilts])
def test_one_block_is_sampled_exactly_with_responses(name, small_corpus):
    found = []
    for sampler in (name, INSIDE[name]):
        state = supervised_state(small_corpus, "hinge")
        made = SAMPLERS[sampler](state)
        for _ in range(3):
            made.sweep()
        found.append((state.z.tolist(), state.supervision.eta.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", OWN)
def test_several_blocks_are_not_one_and_not_frozen(name, blocks_corpus):
    """Each is moved as if it were the only one; with counts that follow its tokens."""
    state = state_of(blocks_corpus)
    found = swept(name, state, 1)
    assert found not in (swept(INSIDE[name], state, 1), swept("delayed", state, 1))
    ptr = blocks_corpus.block_ptr
    for block in range(len(ptr) - 1):
        alone = State(**{**vars(state), "z": state.z.copy()})
        sampler = SAMPLERS[INSIDE[name]](alone)
        sampler.begin()
        sampler.block(int(ptr[block]), int(ptr[block + 1]), new_stream(state.seed, TOPICS, state.sweep, block))
        tokens = slice(*blocks_corpus.doc_ptr[ptr[block : block + 2]])
        assert found[tokens] == alone.z[tokens].tolist()


@pytest.mark.parametrize("name", OWN)
def test_blocks_leave_the_counts_of_the_start(name, blocks_corpus):
    state = state_of(blocks_corpus)
    with Pool(2) as pool:
        sampler = SAMPLERS[name](state, pool)
        sampler.begin()
        factor = sampler.factor
        before = [array.copy() for array in (factor.table, factor.n_k, factor.scale)]
        z = state.z.copy()
        sampler.move()
    assert (state.z != z).mean() > 0.1
    for was, array in zip(before, (factor.table, factor.n_k, factor.scale), strict=True):
        np.testing.assert_array_equal(was, array)


def test_a_copy_has_the_words_of_its_block_alone(blocks_corpus):
    """Its memory is bounded by them, whatever the vocabulary."""
    state = state_of(blocks_corpus)
    sampler = SAMPLERS["ad_lda"](state)
    sampler.begin()
    first, last = (int(d) for d in blocks_corpus.block_ptr[1:3])
    words = blocks_corpus.words[slice(*blocks_corpus.doc_ptr[[first, last]])]
    tokens, counts = copy_counts(state, sampler.factor, first, last)
    distinct, place = np.unique(words, return_index=True)
    assert len(counts.n_wk) == len(distinct) < len(words)
    np.testing.assert_array_equal(counts.n_wk[tokens.words[place], :6], topic_counts(state)[0][distinct])
    np.testing.assert_array_equal(words[np.unique(tokens.words, return_index=True)[1]][tokens.words], words)
    assert np.shares_memory(tokens.z, state.z)
    assert not np.shares_memory(counts.n_wk, sampler.factor.table)

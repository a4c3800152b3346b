"""What every word factor must pass. A new factor is covered by being in the registry."""

from __future__ import annotations

import inspect
import re
import sys

import numpy as np
import pytest

from topoi._machine.pool import Pool
from topoi.chain.factors import FACTORS
from topoi.chain.factors._table import TableFactor
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state

FIXED = sorted(name for name, factor in FACTORS.items() if factor.fixed)


def state_of(corpus, sweep=0):
    state = new_state(corpus, fixed_priors(np.linspace(0.05, 0.4, 6), 0.05), 3)
    state.sweep = sweep
    return state


def made(name, state, pool=None):
    """A factor of every word of a state; with masses where those are an option."""
    kind = FACTORS[name]
    factor = kind(state, pool or Pool(1), **({"masses": True} if issubclass(kind, TableFactor) else {}))
    factor.begin()
    return factor


def contents(factor):
    return [getattr(factor, part.name).tobytes() for part in factor.given] + [factor.scale.tobytes()]


@pytest.mark.parametrize("name", sorted(FACTORS))
def test_declares_itself(name):
    factor = FACTORS[name]
    assert factor.name == name
    assert name.isidentifier()
    assert name == name.lower()
    assert isinstance(factor.exact, bool)
    assert isinstance(factor.fixed, bool)
    assert (factor.bias > 0) == (not factor.exact)
    assert re.search(r"\(20[0-3]\d\)", factor.reference)
    assert factor.__doc__
    module = sys.modules[factor.__module__]
    assert len(module.__doc__) > 200, "say the formula, whether it is exact, and what it costs"
    assert len(inspect.getsource(module).splitlines()) <= 200


@pytest.mark.parametrize("n_topics", [6, 300])  # of 300 some have no tokens, which the Dirichlet draws anew
@pytest.mark.parametrize("name", FIXED)
def test_says_whether_the_scale_has_changed_rows(name, n_topics, blocks_corpus):
    """Where rows are in a file, other machines may not see a change that nobody tells of."""
    state = new_state(blocks_corpus, fixed_priors(np.full(n_topics, 0.1), 0.001), 3)
    state.z[state.z > n_topics - 3] = 0
    factor = FACTORS[name](state, Pool(1))
    sums = factor.draw()
    changes = factor.changes_rows(sums)
    before = [getattr(factor, part.name).copy() for part in factor.drawn]
    factor.set_scale(sums)
    same = all(np.array_equal(getattr(factor, part.name), was) for part, was in zip(factor.drawn, before, strict=True))
    assert same or changes
    assert changes == (name == "dirichlet")
    if n_topics == 6:
        state.z[:] = np.arange(len(state.z)) % n_topics
        assert not factor.changes_rows(factor.draw()), "every topic has tokens"


@pytest.mark.parametrize("name", FIXED)
def test_arrays_are_as_declared(name, blocks_corpus):
    """They go through files as they are declared: another type would be read as other numbers."""
    factor = made(name, state_of(blocks_corpus))
    assert factor.given
    assert factor.drawn
    n_entries = {len(getattr(factor, part.name)) for part in (*factor.drawn, *factor.given) if part.row is None}
    assert len(n_entries) <= 1, "arrays with an item for each entry of a row have as many"
    for part in (*factor.drawn, *factor.given):
        array = getattr(factor, part.name)
        assert array.dtype == part.dtype
        n = n_entries if part.row is None else {blocks_corpus.n_words}
        assert array.shape == (*n, *(part.row or ()))
    assert type(factor)(factor.state, Pool(1), **factor.settings).settings == factor.settings


@pytest.mark.parametrize("name", FIXED)
def test_probabilities(name, blocks_corpus):
    phi = made(name, state_of(blocks_corpus)).to_dense()
    assert phi.shape == (blocks_corpus.n_words, 6)
    assert phi.min() >= 0
    np.testing.assert_allclose(phi.sum(0), 1, rtol=1e-4)  # of float32


@pytest.mark.parametrize("name", FIXED)
def test_same_with_any_number_of_threads(name, blocks_corpus):
    expected = contents(made(name, state_of(blocks_corpus)))
    for n_jobs in (2, 4):
        with Pool(n_jobs) as pool:
            assert contents(made(name, state_of(blocks_corpus), pool)) == expected


@pytest.mark.parametrize("name", FIXED)
def test_nothing_is_left_of_the_sweep_before(name, blocks_corpus):
    factor = made(name, state_of(blocks_corpus))
    before = contents(factor)
    factor.state.sweep = 1
    factor.state.z[:] = factor.state.z[::-1].copy()
    factor.begin()
    other = state_of(blocks_corpus, sweep=1)
    other.z[:] = factor.state.z
    assert contents(factor) == contents(made(name, other)) != before


@pytest.mark.parametrize("name", FIXED)
def test_masses_are_sums_of_the_rows(name, blocks_corpus):
    factor = made(name, state_of(blocks_corpus))
    np.testing.assert_allclose(factor.mass, factor.to_dense() @ factor.state.alpha, rtol=1e-5)

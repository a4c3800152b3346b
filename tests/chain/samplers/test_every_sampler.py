"""What every sampler must pass. A new sampler is covered by being in the registry."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

from support.checks import (
    cases,
    check_alias_tables,
    check_counts,
    check_pseudo_counts,
    check_transitions,
    check_word_factor,
    options,
)
from support.exact import OWN, REPEATED, THREE_TOPICS, WORDS, chi_square, simulate, visit
from support.own_alpha import all_allowed, priors_by_length, priors_of
from support.variants import slow_but
from topoi._machine.pool import Pool
from topoi.chain.factors import FACTORS
from topoi.chain.plan import Plan, check_priors
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state, topic_counts
from topoi.errors import ParameterError

ALL = sorted(SAMPLERS)
EXACT = [name for name in ALL if SAMPLERS[name].exact]
INEXACT = [name for name in ALL if not SAMPLERS[name].exact]
FIXED = [name for name in ALL if SAMPLERS[name].factor_class.fixed]


#: Every sampler with one α and one β, and those that can with documents or with words that have their own.
WITH_OWN = [pytest.param(name, "", id=name) for name in ALL]
WITH_OWN += [pytest.param(name, "alpha", id=f"{name} own") for name in ALL if SAMPLERS[name].alpha_per_document]
WITH_OWN += [pytest.param(name, "beta", id=f"{name} words") for name in ALL if SAMPLERS[name].takes_beta_per_word()]


def seeded_state(corpus, own="", seed=3, base=None):
    beta = 0.05 if own != "beta" else np.array([0.3, 0.02, 0.7, 0.05])[np.arange(corpus.n_words) % 4]
    alpha = np.linspace(0.05, 0.4, 6)
    priors = priors_by_length(beta, base) if own == "alpha" else fixed_priors(alpha, beta, base)
    return new_state(corpus, priors, seed)


@pytest.mark.parametrize("name", ALL)
def test_declares_itself(name):
    sampler = SAMPLERS[name]
    assert sampler.name == name
    assert name.isidentifier()
    assert name == name.lower()
    assert isinstance(sampler.exact, bool)
    assert sampler.factor_class in FACTORS.values()
    assert sampler.factor_class.exact or not sampler.exact, "no draw makes up for a factor that is not exact"
    assert sampler.draw in ("gibbs", "mh", "mean_field")
    assert sampler.cost.startswith("O(")
    assert any(year in sampler.reference for year in map(str, range(2004, 2027)))
    assert sampler.__doc__
    module = sys.modules[sampler.__module__]
    assert len(module.__doc__) > 300, "say the target, the trick, the cost and where we differ from the paper"
    assert len(inspect.getsource(module).splitlines()) <= 200
    assert (sampler.bias > 0) == (not sampler.exact)


#: Variants of other samplers.
VARIANTS = {"fast_333", "light_published", "light_med_published"}


@pytest.mark.parametrize("name", slow_but([name for name in ALL if name not in VARIANTS], ALL))
def test_transitions(name, plain_samplers):
    """Enumeration: the source's transition matrix is its naive twin's and leaves the posterior unchanged."""
    kind = plain_samplers[name]
    for tiny in cases(kind).values():
        for option in options(kind):
            check_transitions(kind, tiny, **option)


#: Samplers whose enumerated steps leave the posterior unchanged: all that are exact, or that are Gibbs steps given φ.
UNCHANGED = [name for name in ALL if SAMPLERS[name].exact or SAMPLERS[name].draw == "gibbs"]


@pytest.mark.parametrize("name", slow_but([name for name in UNCHANGED if name not in VARIANTS], UNCHANGED))
def test_transitions_with_pseudo_counts(name, plain_samplers):
    """Enumeration of the posterior with seeds: the words that they favour count as tokens of their topics."""
    for option in options(plain_samplers[name]):
        check_pseudo_counts(plain_samplers[name], **option)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if SAMPLERS[name].draw != "mh"])
def test_transitions_of_more_states(name, plain_samplers):
    for option in options(plain_samplers[name]):
        check_transitions(plain_samplers[name], THREE_TOPICS, **option)
        check_transitions(plain_samplers[name], REPEATED, together=True, **option)


@pytest.mark.parametrize("name", FIXED)
def test_word_factor(name, plain_samplers):
    for tiny in cases(plain_samplers[name]).values():
        check_word_factor(plain_samplers[name], tiny)


@pytest.mark.parametrize("name", [name for name in ALL if "n_mh" in SAMPLERS[name].options])
def test_alias_tables(name, plain_samplers):
    check_alias_tables(plain_samplers[name])


@pytest.mark.parametrize("name", ALL)
def test_counts_of_tiny(name, plain_samplers):
    for tiny in cases(plain_samplers[name]).values():
        check_counts(plain_samplers[name], tiny)


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize(("name", "own"), WITH_OWN)
def test_counts_kept_are_counts_rebuilt(name, own, with_base, blocks_corpus):
    base = None
    if with_base:
        base = np.random.default_rng(0).integers(0, 3, (blocks_corpus.n_words, 6))
    state = seeded_state(blocks_corpus, own, base=base)
    sampler = SAMPLERS[name](state)
    for _ in range(4):
        before = state.z.copy()
        sampler.sweep()
        assert (state.z != before).mean() > 0.02
        assert state.z.max() < 6
        assert all_allowed(state)
        if not sampler.factor.fixed:
            expected = topic_counts(state)[0] + (0 if base is None else base)
            np.testing.assert_array_equal(sampler.factor.kept_counts(), expected)


# Each of the next two tests runs for every exact sampler and corpus: at 1e-4 each, the family's level is below 0.4 %.
@pytest.mark.parametrize(
    "tiny",
    slow_but([REPEATED, OWN, WORDS], [REPEATED, THREE_TOPICS, OWN, WORDS]),
    ids=["repeated", "three_topics", "own", "words"],
)
@pytest.mark.parametrize("name", EXACT)
def test_compiled_sweep_keeps_the_posterior(name, tiny):
    """One compiled sweep from exact draws of the posterior gives draws of the posterior, φ drawn anew each time."""
    if tiny is OWN and not SAMPLERS[name].alpha_per_document:
        pytest.skip("documents have the same α")
    if tiny is WORDS and not SAMPLERS[name].takes_beta_per_word():
        pytest.skip("words have the same β")
    posterior = tiny.posterior()
    start = np.random.default_rng(11).choice(len(posterior), 6000, p=posterior)
    assert chi_square(start, posterior) > 1e-4
    assert chi_square(simulate(tiny, name, 6000, seed=12, start=start), posterior) > 1e-4


@pytest.mark.parametrize("name", slow_but(["collapsed", "light", "partial"], EXACT))
def test_compiled_chain_finds_the_posterior(name):
    """Twenty-five compiled sweeps from one corner end in the posterior."""
    posterior = REPEATED.posterior()
    start = np.full(1500, np.argmin(posterior))
    found = simulate(REPEATED, name, 1500, seed=13, start=start, sweeps=25)
    assert chi_square(found, posterior) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", INEXACT)
def test_bias_is_as_declared(name):
    """Total variation of a long compiled run from the posterior, where the counts are as small as they get."""
    chains, sweeps = 10, 3000
    posterior = REPEATED.posterior()
    share = np.zeros((chains, len(posterior)))
    for chain in range(chains):
        state_index = [REPEATED.states[chain]]
        share[chain] = visit(name, state_index[0], seed=chain, sweeps=sweeps)
    mean = share.mean(0)
    found = 0.5 * np.abs(mean - posterior).sum()
    # Total variation is at most half the sum of the standard errors away from its value for endless chains.
    noise = 0.5 * (share.std(0, ddof=1) / np.sqrt(chains)).sum()
    assert abs(found - SAMPLERS[name].bias) < 2 * noise, (found, noise)


@pytest.mark.parametrize(("name", "own"), WITH_OWN)
def test_same_bytes_for_any_number_of_threads(name, own, blocks_corpus):
    results = []
    for n_jobs in (1, 2, 4):
        state = seeded_state(blocks_corpus, own)
        with Pool(n_jobs) as pool:
            sampler = SAMPLERS[name](state, pool)
            for _ in range(3):
                sampler.sweep()
        results.append(state.z.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize(("name", "own"), WITH_OWN)
def test_resumed_is_uninterrupted(name, own, blocks_corpus):
    """A sampler made anew from the topics goes on as the one that had been running."""
    through = seeded_state(blocks_corpus, own)
    sampler = SAMPLERS[name](through)
    for _ in range(2):
        sampler.sweep()
    resumed = State(**{**vars(through), "z": through.z.copy()})
    again = SAMPLERS[name](resumed)
    for _ in range(2):
        sampler.sweep()
        again.sweep()
    assert through.z.tobytes() == resumed.z.tobytes()


@pytest.mark.parametrize(("name", "own"), WITH_OWN)
def test_compiled_is_interpreted(name, own, small_corpus, plain_samplers):
    for option in [{}, *(options(SAMPLERS[name]) if own else [])]:
        results = []
        for kind in (SAMPLERS[name], plain_samplers[name]):
            state = seeded_state(small_corpus, own)
            sampler = kind(state, **option)
            for _ in range(3):
                sampler.sweep()
            results.append(state.z.tolist())
        assert results[0] == results[1]


@pytest.mark.parametrize("name", [name for name in ALL if SAMPLERS[name].alpha_per_document])
def test_rows_that_are_all_the_same(name, blocks_corpus):
    """Are no other α than one for all: the same draws, where the kernel is the same."""
    alpha = np.linspace(0.05, 0.4, 6)
    found = []
    for rows in (alpha, np.tile(alpha, (blocks_corpus.n_documents, 1))):
        state = new_state(blocks_corpus, priors_of(rows, 0.05), 3)
        sampler = SAMPLERS[name](state)
        for _ in range(2):
            sampler.sweep()
        found.append(state.z.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("name", [name for name in ALL if SAMPLERS[name].takes_beta_per_word()])
def test_a_beta_for_each_word_that_is_the_same(name, blocks_corpus):
    """Is no other β than one for all: the same draws, whatever the form of the factor."""
    alpha = np.linspace(0.05, 0.4, 6)
    for option in [{}, *options(SAMPLERS[name])]:
        found = []
        for beta in (0.05, np.full(blocks_corpus.n_words, 0.05)):
            state = new_state(blocks_corpus, fixed_priors(alpha, beta), 3)
            sampler = SAMPLERS[name](state, **option)
            for _ in range(2):
                sampler.sweep()
            found.append(state.z.tolist())
        assert found[0] == found[1]


@pytest.mark.parametrize("name", [name for name in ALL if not SAMPLERS[name].takes_beta_per_word()])
def test_samplers_that_know_one_beta_are_refused(name):
    choices = ", ".join(other for other in ALL if SAMPLERS[other].takes_beta_per_word())
    message = f"{name!r} uses the same β for all words, but the prior 'fixed_of_words' .* has a β for each; .*{choices}"
    with pytest.raises(ParameterError, match=message) as caught:
        check_priors(Plan(name, name), fixed_priors(np.full(3, 0.1), np.full(4, 0.1)))
    assert caught.value.parameter == "sampler"

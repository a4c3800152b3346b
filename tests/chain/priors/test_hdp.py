"""The hierarchical Dirichlet process: pieces of the stick, their order, and Geweke's joint test of it all."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from support.compiler import printed
from support.geweke import z_scores
from topoi._disk.store import ModelError
from topoi._machine.pool import Pool
from topoi._machine.rng import TOPIC_PRIOR, new_stream
from topoi.chain.engines.local import Local
from topoi.chain.priors import FixedBeta, Priors
from topoi.chain.priors.hdp import HDP, RATE, SHAPE, TOP_RATE, TOP_SHAPE, reserve
from topoi.chain.priors.positive import SMALLEST
from topoi.chain.priors.sticks import draw_order, draw_sticks, log_density
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State
from topoi.corpus import Corpus

# ---- The order of the pieces --------------------------------------------------------------------------------------


def order_probabilities(tables, gamma):
    """p(σ | l) by the beta functions that are left when the breaks are integrated out."""
    found = {}
    for order in permutations(range(len(tables))):
        own = np.array(tables, float)[list(order)]
        behind = own[::-1].cumsum()[::-1]
        log_p = 0.0
        for j in range(len(own) - 1):
            log_p += gammaln(1 + own[j]) + gammaln(gamma + behind[j + 1]) - gammaln(1 + gamma + behind[j])
        found[order] = log_p
    p = np.exp(np.array(list(found.values())) - max(found.values()))
    return dict(zip(found, p / p.sum(), strict=True))


@pytest.mark.parametrize(("tables", "gamma"), [([3, 0, 1, 0], 0.7), ([0, 5], 2.0), ([40, 7, 0], 0.05), ([1], 1.0)])
def test_a_step_leaves_the_law_of_the_order(tables, gamma):
    """By enumeration: begun with any order, drawn by its probability, a step ends with the same probabilities."""
    expected = order_probabilities(tables, gamma)
    orders, p = list(expected), np.array(list(expected.values()))
    rng, stream, n = np.random.default_rng(3), new_stream(2, TOPIC_PRIOR), 40_000
    found = dict.fromkeys(orders, 0)
    for which in rng.choice(len(orders), n, p=p):
        order = np.array(orders[which])
        draw_order(order, np.array(tables), gamma, stream)
        found[tuple(order.tolist())] += 1
    some = p * n > 5
    assert sum(found[order] for order, rare in zip(orders, ~some, strict=True) if rare) <= 40
    if some.sum() > 1:
        seen = np.array([found[order] for order in orders])[some]
        assert stats.chisquare(seen, p[some] / p[some].sum() * seen.sum()).pvalue > 1e-4


def test_large_topics_come_first():
    """From any order: an empty topic leaves its place among large ones at once."""
    tables = np.zeros(60, np.int64)
    tables[10:50] = 200
    stream = new_stream(4, TOPIC_PRIOR)
    order = np.arange(60)
    draw_order(order, tables, 3.0, stream)
    assert np.median(np.flatnonzero(tables[order] == 0)) > 35


def test_the_last_place_of_a_stick_that_is_broken_often():
    """Γ(γ + l) of a large γ and many tables is no float: the step is made all the same."""
    order = np.arange(3)
    draw_order(order, np.array([10**6, 5, 0]), 1000.0, new_stream(4, TOPIC_PRIOR))
    assert sorted(order) == [0, 1, 2]


# ---- The pieces ---------------------------------------------------------------------------------------------------


def test_pieces_are_those_of_a_stick():
    tables, order, share = np.array([4, 0, 9, 0]), np.array([2, 0, 3, 1]), np.zeros(4)
    stream = new_stream(6, TOPIC_PRIOR)
    drawn = []
    for _ in range(4000):
        draw_sticks(order, tables, 1.5, TOP_SHAPE, TOP_RATE, share, stream)
        drawn.append(np.exp(share))
    drawn = np.array(drawn)
    np.testing.assert_allclose(drawn.sum(1), 1)
    assert stats.kstest(drawn[:, 2], stats.beta(1 + 9, 1.5 + 4).cdf).pvalue > 1e-3
    assert stats.kstest(drawn[:, 0] / (1 - drawn[:, 2]), stats.beta(1 + 4, 1.5).cdf).pvalue > 1e-3


def test_density_of_the_pieces():
    """Its integral over the pieces, by a change of variables to independent breaks, is 1 for each order."""
    rng, gamma = np.random.default_rng(0), 1.7
    breaks = rng.random((20_000, 3))
    order, values = np.array([1, 3, 0, 2]), []
    for x in breaks:
        left = np.cumprod(np.append(1, 1 - x))
        share = np.zeros(4)
        share[order] = left * np.append(x, 1)
        jacobian = left[:-1].prod()
        values.append(np.exp(log_density(order, share, gamma)) * jacobian)
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - 1 / 24) < 4 * error


# ---- Geweke's joint test ------------------------------------------------------------------------------------------

LENGTHS = np.array([4, 0, 1, 3, 7])
DOCUMENT = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
DOC_PTR = np.concatenate(([0], np.cumsum(LENGTHS))).astype(np.int64)
K, V, BETA = 4, 4, 0.3


def prior_from_prior(rng):
    a, gamma = rng.gamma(SHAPE) / RATE, rng.gamma(TOP_SHAPE) / TOP_RATE
    broken = rng.beta(1, gamma, K - 1)
    pieces = np.append(broken, 1) * np.cumprod(np.append(1, 1 - broken))
    order = rng.permutation(K)
    share = np.zeros(K)
    share[order] = pieces
    return HDP(np.maximum(a * share, SMALLEST), order, a, gamma, K, K)


def topics_from_prior(rng, alpha):
    z = []
    for n in LENGTHS:
        weight = alpha.copy()
        for _ in range(n):
            z.append(rng.choice(K, p=weight / weight.sum()))
            weight[z[-1]] += 1
    return np.array(z)


def state_of(rng, prior, z, seed, sweep):
    """With words drawn anew for the topics; see support/geweke.py for their order."""
    phi = rng.dirichlet(np.full(V, BETA), K)
    words = np.array([rng.choice(V, p=phi[k]) for k in z])
    order = np.lexsort((words, DOCUMENT))
    corpus = Corpus(words[order].astype(np.int32), DOC_PTR, V)
    return State(corpus, Priors(prior, FixedBeta(BETA)), z[order].astype(np.uint16), seed, sweep)


def functions(state):
    """Thirty-six functions of topics, words, a, γ, Ψ and the order."""
    prior, z = state.priors.topics, state.z.astype(int)
    n_dk, n_wk = np.zeros((len(LENGTHS), K)), np.zeros((V, K))
    np.add.at(n_dk, (DOCUMENT, z), 1)
    np.add.at(n_wk, (state.corpus.words, z), 1)
    n_k, a, gamma = n_dk.sum(0), prior.concentration, prior.top_concentration
    share = prior.alpha / a
    pieces = share[prior.order]
    tables = np.minimum(n_dk, 1).sum(0)  # at least so many
    return np.concatenate(
        [
            n_k,
            share,
            pieces,
            pieces[:2] ** 2,
            n_k[prior.order],
            prior.order[:2],
            [a, np.log(a), a < 0.3, np.minimum(gamma, 20), np.log(gamma), gamma < 2, np.log(a) * np.log(gamma)],
            [(n_k > 0).sum(), (n_k**2).sum(), (n_dk**2).sum(), (n_wk**2).sum(), tables @ share, (n_k @ share) * a],
            [np.sort(share)[-1], np.log(np.maximum(pieces[-1], 1e-6)), n_wk[0, 0] * share[0]],
        ]
    )


N_GEWEKE = 10_000


@pytest.fixture(scope="module")
def prior_draws():
    rng, found = np.random.default_rng(31), []
    for _ in range(N_GEWEKE):
        prior = prior_from_prior(rng)
        found.append(functions(state_of(rng, prior, topics_from_prior(rng, prior.alpha), 0, 0)))
    return np.array(found)


def successive(sampler, n, seed, spoil=lambda prior: prior):
    """Alternate: topics, what is drawn of the prior, words."""
    rng = np.random.default_rng(seed)
    prior = prior_from_prior(rng)
    z, found, pool = topics_from_prior(rng, prior.alpha), [], Pool(1)
    for sweep in range(n):
        state = state_of(rng, prior, z, seed, sweep)
        SAMPLERS[sampler](state).sweep()
        Local(state, pool).update_priors()
        found.append(functions(state))
        prior, z = spoil(state.priors.topics), state.z.astype(int)
    return np.array(found)


@pytest.mark.parametrize("sampler", ["collapsed", pytest.param("partial", marks=pytest.mark.slow)])
def test_geweke(sampler, prior_draws):
    scores = z_scores(prior_draws, successive(sampler, N_GEWEKE, 32))
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["concentration", "top_concentration"])
def test_geweke_sees_a_small_error(name, prior_draws):
    """Its power: a concentration that is a tenth too high after every update is noticed."""

    def spoil(prior):
        return replace(prior, **{name: 1.1 * getattr(prior, name)})

    assert np.abs(z_scores(prior_draws, successive("collapsed", N_GEWEKE, 33, spoil))).max() > 5


# ---- The number of topics that a chain has ---------------------------------------------------------------------------


def state_with(n_used, n_topics, most=1000, until=100, sweep=4):
    """A state with tokens in some of the topics."""
    corpus = Corpus(np.zeros(2 * n_used, np.int32), np.array([0, 2 * n_used]), 1)
    z = np.repeat(np.arange(n_used), 2).astype(np.uint16)
    return State(corpus, Priors(HDP.begin(n_topics, most, 3, until), FixedBeta(0.1)), z, 0, sweep)


def topics_after(state):
    Local(state, Pool(1)).update_priors()
    state.priors.check()
    return state.n_topics


def test_a_reserve_of_empty_topics():
    assert topics_after(state_with(30, 30)) == 30 + reserve(30)
    assert topics_after(state_with(30, 30 + reserve(30) // 2)) == 30 + reserve(30) // 2  # half of it is left
    assert topics_after(state_with(200, 200)) == 200 + reserve(200) == 220
    assert topics_after(state_with(30, 30, most=33)) == 33
    assert topics_after(state_with(30, 30, until=4)) == 30  # the burn-in is over
    assert topics_after(state_with(30, 30, sweep=2)) == 30  # it is too early
    assert topics_after(state_with(3, 300)) == 300  # they do not become fewer


def test_new_topics_have_pieces():
    state = state_with(30, 30)
    topics_after(state)
    prior = state.priors.topics
    assert (prior.alpha >= SMALLEST).all()
    assert prior.alpha.sum() == pytest.approx(prior.concentration)
    assert prior.alpha[30:].min() > SMALLEST


PROGRAM = """
import numpy as np
from topoi import LDA
rng = np.random.default_rng(0)
phi = np.kron(np.eye(4), np.full(5, 0.2))
X = np.array([rng.multinomial(20, rng.dirichlet(np.full(4, 0.3)) @ phi) for _ in range(40)])
found = {"n_topics": "auto", "n_sweeps": 40, "burn_in": 38}  # topics are joined and added from sweep 20 on
for settings in (found, {"n_topics": 6, "n_sweeps": 10, "doc_topic_prior": "hdp"}):
    steps = []
    watch = [lambda progress: steps.append({name: float(value) for name, value in progress.info.items()})]
    model = LDA(random_state=0, sampler="partial", callbacks=watch, **settings).fit(X)
    prior = model.model_.priors.topics
    print(model.n_topics_, prior.order.tolist(), prior.alpha.tolist(), steps, model.model_.last_counts.data.tolist())
"""


def test_compiled_or_not_gives_the_same():
    """To the bit: topics that are added and joined, tables, the order, the breaks of the stick, a and γ."""
    compiled, interpreted = printed(PROGRAM)
    assert int(compiled.split()[0]) < 25  # of 50 to begin with: some were joined
    assert compiled == interpreted


def test_topics_joined():
    state = state_with(6, 9)
    topics_after(state)
    prior, number = state.priors.topics, np.array([0, 1, 1, 0, 2, 2, 0, 1, 2, 2, 2, 2, 2, 2])
    joined = prior.joined(number)
    joined.check()
    assert joined.alpha.sum() == pytest.approx(prior.alpha.sum())
    assert joined.alpha[1] == pytest.approx(prior.alpha[[1, 2, 7]].sum())
    assert joined.order[0] == number[prior.order[0]]
    assert joined.found().most == 3
    assert not joined.found().settles(5)
    assert joined.settles(5)


def test_topics_with_a_place():
    n_k = np.array([0, 99, 100, 5])
    assert HDP.begin(4, 9, 1, 5).places(n_k, 10**6).tolist() == [False, False, True, False]
    assert HDP.begin(4, 9, 1, 5).places(n_k, 5_000).tolist() == [False, True, True, True]
    assert HDP.begin(4, 9).places(n_k, 10**6).all()  # a number that was given stays


@pytest.mark.parametrize(
    "change",
    [
        {"order": np.array([0, 0, 1])},
        {"order": np.array([0, 1])},
        {"n_found": 4},
        {"n_found": 0},
        {"most_topics": 2},
        {"grows_from": 0},
        {"grows_until": 0},
        {"concentration": np.inf},
        {"top_concentration": 0.0},
    ],
    ids=lambda change: " ".join(change),
)
def test_fields_that_cannot_be(change):
    prior = HDP.begin(3, 5, 1, 7)
    prior.check()
    with pytest.raises(ModelError):
        replace(prior, **change).check()


def test_more_topics_from_a_checkpoint_or_a_worker():
    prior, larger = HDP.begin(3, 5, 1, 7), HDP.begin(5, 5, 1, 7)
    assert len(prior.with_arrays(larger.arrays()).alpha) == 5
    with pytest.raises(ModelError, match="at most 5 topics"):
        prior.with_arrays(HDP.begin(6, 6, 1, 7).arrays())

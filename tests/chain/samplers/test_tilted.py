"""Topics under the tilt of responses: exact transitions, same bytes, and mutants of all of it."""

from __future__ import annotations

import copy
import functools
import itertools

import numpy as np
import pytest

from support.exact import REPEATED, block_matrix
from support.own_alpha import all_allowed, priors_by_length
from support.tilted_checks import COMPILED, INTEGRALS, check_bridge, check_response, integral_of, interpreted_core
from support.tilted_topics import (
    APART,
    LONG,
    OWN_APART,
    THREE,
    check_tilted,
    check_update,
    check_weights_see_topics,
    quick_options,
    supervised_state,
    supervision_of,
    tilted_cases,
    tilted_maker,
    twin_matrix,
)
from support.variants import slow_but
from support.weight_checks import check_coordinate, check_design, check_exact, small_problem
from topoi._machine.pool import Pool
from topoi.chain.responses import RESPONSES
from topoi.chain.samplers import SAMPLERS, _tilted
from topoi.chain.samplers._tilted import FLOOR
from topoi.chain.state import State, topic_counts

TILTING = [name for name in sorted(SAMPLERS) if SAMPLERS[name].tilts]
OWN_ALPHA = [name for name in TILTING if SAMPLERS[name].alpha_per_document]
LOSSES = sorted(RESPONSES)


@pytest.fixture(scope="module")
def plain_core():
    return interpreted_core()


def test_some_samplers_tilt():
    assert {"collapsed", "partial"} <= set(TILTING)


# ---- Transitions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampler", "loss"),
    slow_but(
        # Other samplers have their enumerations below: documents that are apart, and strong tilts.
        [("collapsed", "hinge"), *(("partial", loss) for loss in LOSSES)],
        itertools.product(TILTING, LOSSES),
    ),
)
def test_transitions(sampler, loss, plain_core):
    """Two tasks, an empty and a one-word document, documents with no or half a label."""
    for tiny, part, option in tilted_cases(SAMPLERS[sampler]):
        check_tilted(plain_core, sampler, tiny, loss, part, option=option)


@pytest.mark.parametrize("sampler", slow_but([name for name in TILTING if name != "light_med"], TILTING))
def test_documents_of_a_block_are_apart(sampler, plain_core):
    check_tilted(plain_core, sampler, APART, "hinge", 8, together=True, option=quick_options(SAMPLERS[sampler]))


@pytest.mark.parametrize("part", slow_but([8], [1, 8]))
@pytest.mark.parametrize("sampler", OWN_ALPHA)
def test_documents_with_an_alpha_of_their_own(sampler, part, plain_core):
    check_tilted(plain_core, sampler, OWN_APART, "hinge", part, together=part == 8)


@pytest.mark.parametrize(
    ("sampler", "part"), slow_but([("partial", 8)], [("collapsed", 1), ("partial", 8), ("polya_urn", 8)])
)
def test_transitions_of_three_topics(sampler, part, plain_core):
    check_tilted(plain_core, sampler, THREE, "hinge", part)


@pytest.mark.parametrize("part", slow_but([8], [2, 8]))
@pytest.mark.parametrize("sampler", slow_but(["partial"], ["partial", "polya_urn"]))
def test_transitions_of_longer_parts(sampler, part, plain_core):
    check_tilted(plain_core, sampler, LONG, "squared", part)


@pytest.mark.parametrize("part", slow_but([8], [1, 8]))
@pytest.mark.parametrize("sampler", TILTING)
def test_strong_tilts_are_exact(sampler, part, plain_core):
    """Tilts beyond what the table can hold: the posterior is still unchanged, whatever was proposed."""
    option = quick_options(SAMPLERS[sampler])
    check_tilted(plain_core, sampler, APART, "hinge", part, strength=40.0, twin=False, option=option)
    if not option:
        check_tilted(plain_core, sampler, REPEATED, "hinge", part, strength=40.0, twin=False)


@pytest.mark.parametrize("common", [-30.0, -400.0])
def test_common_tilt_does_not_matter(common, plain_core):
    """What pulls at all topics alike must not push all their tilts to the floor: they would be proposed blindly."""
    s = supervision_of(plain_core, REPEATED, "squared", part=1)
    s.kappa[:, 0] = common
    s.eta[0, :2] = 1.0, 1.02
    s.eta[1] = 0
    make, phi = tilted_maker(plain_core, "partial", REPEATED, s)
    found = block_matrix(REPEATED, 0, 1, make)
    expected = twin_matrix(SAMPLERS["partial"], REPEATED, 0, s, 1, phi)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


# ---- Without a tilt: LDA -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampler", TILTING)
def test_no_weight_is_lda(sampler, loss, blocks_corpus):
    """Cost 0 gives LDA's topics to the byte, by either kernel, from the same streams."""
    tilted = supervised_state(blocks_corpus, loss, weight=0)
    plain = State(**{**vars(tilted), "z": tilted.z.copy(), "supervision": None})
    ours, theirs = SAMPLERS[sampler](tilted), SAMPLERS[sampler](plain)
    start = plain.z.copy()
    for _ in range(3):
        ours.sweep()
        theirs.sweep()
        assert tilted.z.tobytes() == plain.z.tobytes()
    assert (plain.z != start).mean() > 0.05
    assert not tilted.supervision.omega.any()
    assert not tilted.supervision.kappa.any()
    assert tilted.supervision.eta[:, :6].all(), "weights follow their prior"


# ---- Same bytes ----------------------------------------------------------------------------------------------------


def bytes_of(state):
    s = state.supervision
    return [a.tobytes() for a in (state.z, s.eta, s.kappa, s.omega)]


@pytest.mark.parametrize(("loss", "n_gibbs"), [("hinge", 2), ("logistic", 0), ("epsilon_insensitive", 1)])
@pytest.mark.parametrize("sampler", TILTING)
def test_same_bytes_for_any_number_of_threads(sampler, loss, n_gibbs, blocks_corpus):
    results = []
    for n_jobs in (1, 2, 4):
        state = supervised_state(blocks_corpus, loss, n_gibbs=n_gibbs)
        with Pool(n_jobs) as pool:
            made = SAMPLERS[sampler](state, pool)
            for _ in range(3):
                made.sweep()
        results.append(bytes_of(state))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampler", TILTING)
def test_resumed_is_uninterrupted(sampler, loss, blocks_corpus):
    through = supervised_state(blocks_corpus, loss)
    made = SAMPLERS[sampler](through)
    for _ in range(2):
        made.sweep()
    resumed = State(
        **{**vars(through), "z": through.z.copy(), "supervision": copy.deepcopy(through.supervision)},
    )
    again = SAMPLERS[sampler](resumed)
    for _ in range(2):
        made.sweep()
        again.sweep()
    assert bytes_of(through) == bytes_of(resumed)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampler", TILTING)
def test_counts_and_acceptance(sampler, loss, blocks_corpus):
    """Counts kept are counts rebuilt, proposals are accepted for the most part, topics move."""
    state = supervised_state(blocks_corpus, loss)
    made = SAMPLERS[sampler](state)
    for _ in range(4):
        before = state.z.copy()
        report = made.sweep()
        assert (state.z != before).mean() > 0.02
        assert state.z.max() < 6
        # A table of all that matters is accepted often; one proposal of three, each blind to two factors, less so.
        assert (0.3 if made.draw == "gibbs" else 0.03) < report["acceptance"] <= 1
        if not made.factor.fixed:
            np.testing.assert_array_equal(made.factor.kept_counts(), topic_counts(state)[0])
            np.testing.assert_array_equal(made.factor.n_k[:6], topic_counts(state)[1])


@pytest.mark.parametrize(
    ("sampler", "loss"),
    slow_but(
        [("collapsed", "hinge"), ("partial", "hinge")],
        itertools.product(TILTING, LOSSES),
    ),
)
def test_compiled_is_interpreted(sampler, loss, small_corpus, plain_core):
    found = []
    for core in (COMPILED, plain_core):
        state = supervised_state(small_corpus, loss)
        state.real = np.float64
        response = core.responses.RESPONSES[loss](**integral_of(loss).settings[0])
        state.supervision = core.supervision.Supervision(**{**vars(state.supervision), "response": response})
        made = core.samplers.SAMPLERS[sampler](state)
        for _ in range(2):
            made.sweep()
        found.append(state)
    assert found[0].z.tolist() == found[1].z.tolist()
    # Weights are rounded to float32: a last place or two.
    np.testing.assert_allclose(found[0].supervision.eta, found[1].supervision.eta, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[0].supervision.omega, found[1].supervision.omega, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("sampler", OWN_ALPHA)
def test_own_alpha_compiled_is_interpreted(sampler, small_corpus, plain_core):
    found = []
    for core in (COMPILED, plain_core):
        state = supervised_state(small_corpus, "hinge", priors=priors_by_length(0.05))
        state.real = np.float64
        response = core.responses.RESPONSES["hinge"](**integral_of("hinge").settings[0])
        state.supervision = core.supervision.Supervision(**{**vars(state.supervision), "response": response})
        made = core.samplers.SAMPLERS[sampler](state)
        for _ in range(2):
            made.sweep()
            assert all_allowed(state)
        found.append(state.z.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("n_tasks", [1, 3, 4, 11])
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_table_compiled_is_interpreted(real, n_tasks, plain_core):
    rng = np.random.default_rng(75)
    eta = rng.normal(0, 3 / np.sqrt(n_tasks), (n_tasks, 16)).astype(np.float32)
    linear, b = rng.normal(size=n_tasks).astype(real), rng.gamma(1, 0.4, n_tasks)
    tables = np.zeros((2, 16), real)
    block = plain_core.samplers.SAMPLERS["partial"].tilted_block
    plain = block.__globals__["sweep_tilted"].__wrapped__.__globals__
    for core, table in zip((vars(_tilted), plain), tables, strict=True):
        curve = np.zeros(16, real)
        core["fill_curve"](eta, b, curve)
        core["fill_tilt"](eta, linear, curve, 16, FLOOR, table)
    exponent = (eta * (linear[:, None] - 0.5 * b[:, None] * eta)).sum(0)
    np.testing.assert_allclose(tables[0], np.exp(exponent - exponent.max()), rtol=1e-4)
    np.testing.assert_allclose(tables[0], tables[1], rtol=4 * np.finfo(real).eps)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampler", TILTING)
def test_update(sampler, loss, plain_core):
    check_update(plain_core, sampler, REPEATED, loss)
    check_weights_see_topics(plain_core, sampler, REPEATED, loss)


# ---- Mutants -------------------------------------------------------------------------------------------------------

T, W, R, L = (
    "topoi.chain.samplers._tilted",
    "topoi.chain.responses.weights",
    "topoi.chain.responses",
    "topoi._machine.lanes",
)


@functools.cache
def tilt(sampler="partial", loss="hinge", part=8, tiny=REPEATED, **options):
    return lambda core: check_tilted(core, sampler, tiny, loss, part, **options)


@functools.cache
def response(name):
    return lambda core: check_response(core, name, n=300, weights=(0.5,))


@functools.cache
def update(sampler="partial", loss="hinge"):
    return lambda core: check_update(core, sampler, REPEATED, loss)


def weights_see_topics(core):
    check_weights_see_topics(core, "partial", REPEATED, "hinge")


def coordinate(core):
    check_coordinate(core, 2)


def exact(core):
    check_exact(core, n=400)


def design(core):
    check_design(core, small_problem()[0])


# name: (check that must fail, module, what it says, what it is to say)
MUTANTS = {
    "correction dropped": (tilt(), T, "log_ratio >= 0.0 or ...", "True or ..."),
    "correction without the table": (tilt(), T, "... + math.log(tilt[old] / tilt[new])", "..."),
    "table's ratio upside down": (tilt(), T, "math.log(tilt[old] / tilt[new])", "math.log(tilt[new] / tilt[old])"),
    "wrong sign of ω": (tilt(), T, "a[task] - b[task] * (m[task] + ...)", "a[task] + b[task] * (m[task] + ...)"),
    "wrong sign of ω in the table": (
        tilt(), T, "a[task] - b[task] * linear[task] * scale", "a[task] + b[task] * linear[task] * scale"),
    "token not left out of the scores": (tilt(), T, "m[task] + 0.5 * change", "m[task] + 1.5 * change"),
    "table with its own part": (tilt(), T, "linear[task] -= eta_t[k, task]", ""),
    "scores not updated": (tilt(), T, "m[task] += np.float64(eta_t[t, task]) - eta_t[s, task]", ""),
    "one token's table scaled up": (tilt(part=1), T, "(1.0 if inside == 1 else n / (n - inside))", "n / (n - inside)"),
    "larger part's table not scaled up": (tilt(), T, "(1.0 if inside == 1 else n / (n - inside))", "1.0"),
    "ω over N, not N²": (tilt(), T, "omega[task] / (np.float64(n) * n)", "omega[task] / n"),
    "square of the weight forgotten": (
        tilt(), T, "add_weighted_squares(eta, (0.5 * b).astype(curve.dtype), curve)", ""),
    "tilt left over for a document without a label": (
        tilt("collapsed", tiny=APART, together=True), T, "tilt[k] = 1.0", ""),
    "live scale without the tilt": (
        tilt("collapsed"), T, "tilted_scale[new] = scale[new] * tilt[new]", "tilted_scale[new] = scale[new]"),
    "live count not taken off": (update("collapsed"), T, "table[w, old] -= one", ""),
    "label of the first task overlooked": (
        tilt(), T, "for task in range(n_tasks): labelled = ...", "for task in range(1, n_tasks): labelled = ..."),
    "hinge: κ without the margin": (response("hinge"), f"{R}.hinge", "sign * (c + w * margin)", "sign * (c + w)"),
    "hinge: shape c": (response("hinge"), f"{R}.hinge", "inverse_gaussian(..., c * c)", "inverse_gaussian(..., c)"),
    "hinge: label forgotten": (
        response("hinge"), f"{R}.hinge", "margin - np.float64(sign * ...)", "margin - np.float64(...)"),
    "ε-insensitive: c for c², as printed": (
        response("epsilon_insensitive"), f"{R}.epsilon_insensitive", "a = min(c * c * ..., LARGEST)",
        "a = min(c * ..., LARGEST)"),
    "ε-insensitive: edges swapped": (
        response("epsilon_insensitive"), f"{R}.epsilon_insensitive", "(target - epsilon) * a + (target + epsilon) * b",
        "(target + epsilon) * a + (target - epsilon) * b"),
    "logistic: κ without the half": (response("logistic"), f"{R}.logistic", "0.5 * c * sign", "c * sign"),
    "logistic: weight forgotten": (
        response("logistic"), f"{R}.logistic", "polya_gamma(stream, c, ...)", "polya_gamma(stream, cost, ...)"),
    "squared: weight forgotten": (
        response("squared"), f"{R}.squared", "self.cost * weight[rows]", "self.cost * (weight[rows] > 0)"),
    "counts: κ of the shifted score": (
        response("counts"), f"{R}.negative_binomial", "0.5 * c * (target - r) - w * offset", "0.5 * c * (target - r)"),
    "counts: shape without the dispersion": (
        response("counts"), f"{R}.negative_binomial", "polya_gamma(stream, c * (target + r), ...)",
        "polya_gamma(stream, c * target + 1.0, ...)"),
    "counts: tilt without the level": (
        response("counts"), f"{R}.negative_binomial", "np.float64(f[d, task]) + offset", "np.float64(f[d, task])"),
    "counts: dispersion for its logarithm": (
        response("counts"), f"{R}.negative_binomial", "own[task, 1] - math.log(r)", "own[task, 1] - r"),
    "ordinal: precision for its root": (
        response("ordinal"), f"{R}.ordinal", "root * truncated_normal(...)", "c * truncated_normal(...)"),
    "ordinal: utility without the score": (response("ordinal"), f"{R}.ordinal", "c * score + ...", "..."),
    "ordinal: cut-point below": (
        response("ordinal"), f"{R}.ordinal", "edge(own[task], level + 1)", "edge(own[task], level + 2)"),
    "coordinate: own part not removed": (coordinate, L, "(f[d] - old * x)", "f[d]"),
    "coordinate: scores not kept": (coordinate, W, "spread(start[k], start[k + 1], doc, share, f, change, 0)", ""),
    "coordinate: variance for deviation": (
        coordinate, W, "normal(streams[task]) / math.sqrt(precision[task])", "normal(streams[task]) / precision[task]"),
    "coordinate: prior forgotten": (coordinate, W, "precision[task] = nu", "precision[task] = 1e-9"),
    "exact: factor not transposed": (
        exact, W, "solve_triangular(..., lower=True, trans='T')", "solve_triangular(..., lower=True)"),
    "exact: prior twice": (exact, W, "nu * np.eye(n_topics)", "2 * nu * np.eye(n_topics)"),
    "design: share by the wrong length": (
        design, "topoi.chain.counts.shares", "share[at[k] - 1] /= hi - lo", "share[at[k] - 1] /= hi - lo + 1"),
    "design: place not advanced": (design, "topoi.chain.counts.shares", "share[at[k]] = 0.0", "share[at[k]] = 1.0"),
    "update: auxiliary variables of the old weights": (
        update(), "topoi.chain.responses.supervision",
        "self.draw_auxiliary(state, design or ..., 2 * state.sweep + 1, pool)", ""),
    "update: auxiliary variables without scores": (update(), W, "add_block_scores(...)", ""),
    "update: scores of the next documents": (
        update(), W, "begin, end = design.blocks[block:block + 2]", "begin, end = design.blocks[block:block + 2] + 1"),
    "update: auxiliary variables of the old topics": (
        weights_see_topics, "topoi.chain.responses.supervision",
        "self.draw_auxiliary(state, design, 2 * state.sweep, pool)", ""),
    "update: passes begin without scores": (
        weights_see_topics, W, "add_scores(part.start, part.doc, part.share, by_topic[own].astype(...), score)", ""),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a bug may divide by zero
@pytest.mark.parametrize("mutant", slow_but(sorted(MUTANTS)[::3], sorted(MUTANTS)))
def test_mutant_is_caught(mutant):
    check, module, old, new = MUTANTS[mutant]
    core = interpreted_core({module: [(old, new)]})
    with pytest.raises((AssertionError, IndexError, ZeroDivisionError, ValueError)):
        check(core)


OF_A_RESPONSE = {name: module.rpartition(".")[2] for name, (_, module, *_) in MUTANTS.items()}
OF_A_RESPONSE = {name: loss for name, loss in OF_A_RESPONSE.items() if loss in RESPONSES}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", sorted(OF_A_RESPONSE))
def test_mutant_of_a_loss_is_caught_by_what_holds_for_any(mutant, monkeypatch):
    """A new loss has no integral of its own in the tests: the check that needs none sees these bugs too."""
    _, module, old, new = MUTANTS[mutant]
    monkeypatch.delitem(INTEGRALS, OF_A_RESPONSE[mutant])
    with pytest.raises(AssertionError):
        check_bridge(interpreted_core({module: [(old, new)]}), OF_A_RESPONSE[mutant])


@pytest.mark.slow
def test_unchanged_source_passes(plain_core):
    """The same checks pass without a mutant: what catches them is the bug, not the check."""
    for check in {check for check, *_ in MUTANTS.values()}:
        check(plain_core)

"""LightMedLDA and the tilted urn: what test_tilted.py does not ask of every sampler, and mutants of both."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from support.exact import PROPOSALS, REPEATED, block_matrix, stationary
from support.tilted_checks import interpreted_core
from support.tilted_topics import (
    APART,
    HALVES,
    LONG,
    SINGLE,
    check_tilted,
    check_update,
    phi_seeds,
    quick_options,
    supervised_state,
    supervision_of,
    tilted_maker,
    tilted_posterior,
)
from support.variants import slow_but
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samplers._exp import COMPOSITIONS
from topoi.chain.state import State

# Counts of tokens that are not in the corpus, one word far from even.
BASE = np.array([[3.0, 0.0], [1.0, 2.0]])


@pytest.fixture(scope="module")
def plain_core():
    return interpreted_core()


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_every_state_is_reached(composition, plain_core):
    """Each proposal alone may propose any topic: no state is out of reach for long."""
    option = {"composition": composition, "n_mh": 1}
    (sweep,) = check_tilted(plain_core, "light_med", PROPOSALS, "hinge", 8, option=option)
    assert (np.linalg.matrix_power(sweep, 3) > 0).all()


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_base_is_part_of_the_target(composition, plain_core):
    option = {"composition": composition, "n_mh": 1}
    check_tilted(plain_core, "light_med", APART, "hinge", 8, base=BASE, twin=False, option=option)


COUNTING = [n for n, kind in SAMPLERS.items() if kind.exact and kind.tilts and not kind.factor_class.fixed]


@pytest.mark.parametrize("sampler", COUNTING)
def test_base_of_every_tilted_sampler(sampler, plain_core):
    option = quick_options(SAMPLERS[sampler])
    check_tilted(plain_core, sampler, APART, "squared", 8, base=BASE, twin=False, option=option)


def test_every_kind_of_phi_is_met(plain_core):
    """The urn's transitions are followed with words that have both topics, one, and none."""
    s = supervision_of(plain_core, REPEATED, "hinge", 8)
    seeds = phi_seeds(SAMPLERS["polya_urn"])
    factors = [tilted_maker(plain_core, "polya_urn", REPEATED, s, seed)[1][:2] for seed in seeds]
    assert {0, 1, 2} == {int(n) for phi in factors for n in (phi > 0).sum(1)}


# Total variation from the tilted posterior of where one proposal alone ends, REPEATED, hinge loss (docs/exactness.md).
BIAS = {"doc": 0.1290, "exp": 0.0453}


@pytest.mark.parametrize("composition", slow_but(["exp"], BIAS))
def test_published_form_is_biased(composition, plain_core):
    """By enumeration, under a tilt; the exact form's distance is rounding."""
    s = supervision_of(plain_core, REPEATED, "hinge", 8, strength=8.0)
    posterior = tilted_posterior(REPEATED, s)
    distance = {}
    for sampler in ("light_med", "light_med_published"):
        make, _ = tilted_maker(plain_core, sampler, REPEATED, s, option={"composition": composition, "n_mh": 1})
        sweep = np.eye(len(REPEATED.states))
        for d in range(len(REPEATED.documents)):
            sweep = sweep @ block_matrix(REPEATED, d, d + 1, make)
        distance[sampler] = 0.5 * np.abs(stationary(sweep) - posterior).sum()
    assert distance["light_med"] < 1e-10
    np.testing.assert_allclose(distance["light_med_published"], BIAS[composition], atol=1e-4)


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("sampler", ["light_med", "light_med_published"])
def test_report(sampler, composition, blocks_corpus):
    """Acceptance is reported for all steps and for each proposal that is made, and every composition moves topics."""
    state = supervised_state(blocks_corpus, "hinge")
    made = SAMPLERS[sampler](state, composition=composition, n_mh=3)
    before = state.z.copy()
    report = made.sweep()
    asked = ("word", "doc", "exp") if composition in ("mixture", "cycle") else (composition,)
    assert set(report) == {"acceptance", *(f"acceptance_{name}" for name in asked)}
    assert all(0 < value < 1 for value in report.values())
    assert (state.z != before).mean() > 0.02


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("sampler", ["light_med", "light_med_published"])
def test_no_label_is_lda(sampler, composition, blocks_corpus):
    """Cost 0 gives LDA's topics to the byte, however steps are composed."""
    tilted = supervised_state(blocks_corpus, "hinge", weight=0)
    plain = State(**{**vars(tilted), "z": tilted.z.copy(), "supervision": None})
    for state in (tilted, plain):
        made = SAMPLERS[sampler](state, composition=composition, n_mh=2)
        for _ in range(2):
            made.sweep()
    assert tilted.z.tobytes() == plain.z.tobytes()


# ---- Mutants -------------------------------------------------------------------------------------------------------

L, P, U, X, T = (
    f"topoi.chain.samplers.{name}" for name in ("light_med", "light_med_published", "polya_urn", "_exp", "_tilted")
)
Q = "topoi.chain.samplers._tilted_sparse"


@functools.cache
def light(composition="cycle", tiny=HALVES, sampler="light_med", base=None, n_mh=1, **more):
    option = {"composition": composition, "n_mh": n_mh}
    counts = None if base is None else BASE
    return lambda core: check_tilted(
        core, sampler, tiny, "hinge", 8, option=option, base=counts, twin=base is None, **more
    )


@functools.cache
def urn(tiny=REPEATED, **more):
    return lambda core: check_tilted(core, "polya_urn", tiny, "hinge", 8, **more)


def counts_kept(core):
    check_update(core, "light_med", REPEATED, "hinge")


# name: (check that must fail, module, what it says, what it is to say)
MUTANTS = {
    "own token in the document's counts": (light(), L, "n_d[s] -= 1", ""),
    "own token in the word's counts": (
        light(), "topoi.chain.counts.moves", "counts.n_wk[w, k] += counts.n_wk.dtype.type(step)", ""),
    "own token proposes": (
        light("doc"), L, "propose_document(z, lo, hi, i, False, ...)", "propose_document(z, lo, hi, i, True, ...)"),
    "exp table from its own half": (
        light("exp"), L, "slopes(z, lo, hi, lo + half, ...)", "slopes(z, lo, hi, lo + 1 - half, ...)"),
    "exp table from all tokens": (light("exp"), T, "linear[task] -= eta_t[k, task]", ""),
    "exp table of the first half for both": (
        light("exp"), L, "if tables: inside = ...; ...", "if tables and half == 0: inside = ...; ..."),
    "exp table not corrected": (light("exp"), L, "if proposal == EXP: to *= ...; ...", "if False: to *= ...; ..."),
    "exp table's correction upside down": (
        light("exp"), L, "to *= tilt[s]; back *= tilt[t]", "to *= tilt[t]; back *= tilt[s]"),
    "exp drawn without its aliases": (light("exp"), X, "k = np.int64(other[k])", ""),
    "tilt not in the acceptance": (
        light("word"), L, "to *= math.exp(min(difference(eta_t, a, b, m, s, t), LARGEST))", ""),
    "scores not updated": (light("doc"), L, "move_scores(eta_t, m, s, t)", ""),
    "scores updated for every proposal": (
        light("doc"), L, "steps[0, proposal] += 1", "steps[0, proposal] += 1; move_scores(eta_t, m, s, t)"),
    "scores updated the wrong way": (light("doc"), L, "move_scores(eta_t, m, s, t)", "move_scores(eta_t, m, t, s)"),
    "word proposal without the document's factor": (light("word"), L, "proposal != DOC", "proposal == EXP"),
    "document proposal without the word's factor": (
        light("doc"), L, "proposal != WORD or ...", "proposal == EXP or ..."),
    "base not in the target": (light("word", APART, base=True), L, "proposal != WORD or ...", "proposal != WORD"),
    "base in the proposal": (
        light("word", APART, base=True), L, "to *= n_wk[w, s] - base[w, s] + beta", "to *= n_wk[w, s] + beta"),
    "acceptance swapped": (light(), L, "uniform(stream) * back < to", "uniform(stream) * to < back"),
    "topic's total forgotten": (light(), L, "to = n_k[s] + beta_sum", "to = n_k[t] + beta_sum"),
    "mixture of two": (light("mixture", SINGLE), X, "return integer(stream, 3)", "return integer(stream, 2)"),
    "cycle that stays": (light("cycle", PROPOSALS), L, "turn += 1", ""),
    "one step too few": (light("cycle", PROPOSALS, n_mh=2), L, "range(n_mh)", "range(1)"),
    "table left over for a document without a label": (
        light("exp", APART, together=True), L, "draw_exp(labelled, ...)", "draw_exp(True, ...)"),
    "document's counts not cleared": (light("cycle", APART, together=True), L, "n_d[z[i]] = 0", ""),
    "word's count not put back": (counts_kept, L, "count_token(counts, w, s, 1.0)", "n_k[s] += 1.0"),
    "published: table corrected upside down": (
        light("exp", PROPOSALS, "light_med_published"), P, "to *= tilt[s]", "to *= tilt[t]"),
    "published: exp table made exact": (
        light("exp", PROPOSALS, "light_med_published"), P, "(a - b * m).astype", "(a - b).astype"),
    "published: own token not in the document's proposal": (
        light("doc", PROPOSALS, "light_med_published"), P, "propose_document(z, lo, hi, i, True, ...)",
        "propose_document(z, lo, hi, i, False, ...)"),
    "published: word proposal not corrected": (
        light("word", PROPOSALS, "light_med_published"), P, "to *= weight_word(tables, w, s)",
        "to *= weight_word(tables, w, t)"),
    "urn: tilt of the tokens inside": (urn(), Q, "inside[z[i]] += 1", ""),
    "urn: tilts not scaled": (urn(), Q, "tilt[k] *= tokens / total", "tilt[k] *= 1.0"),
    "urn: inside not cleared": (urn(), Q, "inside[z[i]] = 0", ""),
    "urn: square forgotten": (urn(), Q, "(linear[task] - 0.5 * b[task] * eta_t[k, task])", "linear[task]"),
    "urn: correction dropped": (urn(), U, "leaves or log_ratio >= 0.0 or ...", "True or ..."),
    "urn: correction without the table": (urn(), U, "... + math.log(to / back)", "..."),
    "urn: correction upside down": (urn(), U, "math.log(to / back)", "math.log(back / to)"),
    "urn: scores not updated": (urn(), U, "move_scores(eta_t, m, old, new)", ""),
    "urn: token not taken out of the weights": (urn(), U, "weight[old] = n_d[old] * tilt[old]", ""),
    "urn: token not put into the weights": (urn(tiny=LONG), U, "weight[new] = n_d[new] * tilt[new]", ""),
    "urn: weights of the last part": (
        urn(), U, "weight[active[j]] = n_d[active[j]] * tilt[active[j]]", "weight[active[j]] = n_d[active[j]]"),
    "urn: tilt of the last part left over": (urn(tiny=LONG), U, "tilt[active[j]] = 1.0", ""),
    "urn: weights not cleared": (urn(tiny=APART, together=True), U, "weight[active[j]] = 0.0", ""),
    "urn: stays where φ is gone": (urn(), U, "leaves = find(topics, row, row_end, old) < 0", "leaves = False"),
}  # fmt: skip


@pytest.mark.slow  # those of test_mutants.py and test_tilted.py are in the plain run
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a bug may divide by zero
@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    check, module, old, new = MUTANTS[mutant]
    core = interpreted_core({module: [(old, new)]})
    with pytest.raises((AssertionError, IndexError, ZeroDivisionError, ValueError)):
        check(core)


@pytest.mark.slow
def test_unchanged_source_passes(plain_core):
    """The same checks pass without a mutant: what catches them is the bug, not the check."""
    for check in {check for check, *_ in MUTANTS.values()}:
        check(plain_core)

"""More tasks than the kernels take at a time: four in a sum over tasks, sixteen in a draw of weights."""

from __future__ import annotations

import numpy as np
import pytest

from support.copies import interpreted
from support.tilted_checks import COMPILED, interpreted_core
from support.weight_checks import check_coordinate, small_problem
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES, pad
from topoi.chain.counts.shares import design_of
from topoi.chain.responses.weights import draw_coordinate, fill_scores
from topoi.chain.samplers._tilted import difference

MANY = 2 * LANES + 3


def check_difference(difference, n_tasks):
    """The change of Σ_l a_l f − ½ b_l f² when a token goes from topic s to t, from the scores before and after."""
    rng = np.random.default_rng(n_tasks)
    eta_t = rng.normal(0, 2, (5, n_tasks)).astype(np.float32)
    a, b, m = rng.normal(size=n_tasks), rng.gamma(1.0, size=n_tasks), rng.normal(0, 3, n_tasks)
    for s, t in ((0, 1), (4, 2), (3, 3)):
        after = m - eta_t[s].astype(float) + eta_t[t]
        expected = (a * after - b * after**2 / 2).sum() - (a * m - b * m**2 / 2).sum()
        assert difference(eta_t, a, b, m, s, t) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("n_tasks", [1, 2, 3, 4, 5, 7, 8, 11, 20])
def test_difference(n_tasks):
    check_difference(difference, n_tasks)


def plain_difference(edits=None):
    samplers = interpreted({"topoi.chain.samplers._tilted": edits} if edits else None)
    return samplers.polya_urn.sweep_documents.__wrapped__.__globals__["difference"]


def test_difference_without_the_compiler():
    check_difference(plain_difference(), 11)


MUTANTS = {
    "last of four forgotten": ("sum_3 += term(eta_t, a, b, m, s, t, task + 3)", ""),
    "one task twice": (
        "sum_2 += term(eta_t, a, b, m, s, t, task + 2)", "sum_2 += term(eta_t, a, b, m, s, t, task + 1)"),
    "rest forgotten": ("range(n_tasks - n_tasks % 4, n_tasks)", "range(n_tasks, n_tasks)"),
    "fours begin too late": ("range(0, n_tasks - 3, 4)", "range(4, n_tasks - 3, 4)"),
    "fours reach into the rest": ("range(0, n_tasks - 3, 4)", "range(0, n_tasks, 4)"),
    "sums not all added": ("(sum_0 + sum_1) + (sum_2 + sum_3)", "(sum_0 + sum_1) + sum_2"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_of_the_difference_is_caught(mutant):
    with pytest.raises((AssertionError, IndexError)):
        check_difference(plain_difference([MUTANTS[mutant]]), 11)


@pytest.mark.parametrize("n_tasks", [LANES, LANES + 1, MANY])
def test_coordinate_draws(n_tasks):
    check_coordinate(COMPILED, 2, n_tasks=n_tasks)


def test_coordinate_draws_without_the_compiler():
    check_coordinate(interpreted_core(), 1, n_tasks=MANY)


def test_same_bytes_for_any_number_of_threads():
    state, kappa, omega = small_problem(n_tasks=MANY)
    results = []
    for n_jobs in (1, 2, 4):
        eta = np.zeros((MANY, pad(state.n_topics)), np.float32)
        f = np.zeros(kappa.shape)
        with Pool(n_jobs) as pool:
            design = design_of(state, pool)
            draw_coordinate(design, eta, f, kappa, omega, 0.7, 2, 5, 6, pool)
            anew = np.full_like(f, np.nan)
            fill_scores(design, eta, anew, pool)
            results.append((eta.tobytes(), f.tobytes(), anew.tobytes()))
    assert results[0] == results[1] == results[2]

"""Verdicts of reproduce/ follow from an interval over seeds: they agree with the t interval of a single number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from reproduce.decided import SURE, decide
from reproduce.harness import Verdict
from reproduce.verdicts import together


def rows(values):
    return [[{"K": 1, "x": float(value)}] for value in values]


def above(limit):
    return lambda table: Verdict("yes" if table.mean("x", K=1) > limit else "no", "told")


@pytest.mark.parametrize("n", [2, 3, 8])
def test_a_limit_inside_the_t_interval_is_not_decided(n):
    values = np.random.default_rng(n).normal(0, 1, n)
    values -= values.mean()  # of both signs: not by logarithms
    # One-sided: the share of draws on the side of the mean is SURE where the limit is that quantile away.
    far = stats.t.ppf(SURE, n - 1) * values.std(ddof=1) / np.sqrt(n)
    assert decide(above(-2 * far), rows(values), ["K"]).holds == "yes"
    assert decide(above(2 * far), rows(values), ["K"]).holds == "no"
    found = decide(above(-0.4 * far), rows(values), ["K"])
    assert found.holds == "not decided"
    assert f"The means of the {n} seeds would say 'yes'" in found.text


def test_one_seed_decides_nothing():
    assert decide(above(0), rows([100]), ["K"]).holds == "not decided"


def test_numbers_without_noise_decide():
    assert decide(above(0.999), rows([1, 1]), ["K"]).holds == "yes"


def test_what_is_the_same_in_all_seeds_cancels():
    """Differences within a seed are sure though the seeds differ a lot: the numbers of a seed are drawn together."""
    seeds = [[{"K": k, "x": level + 0.1 * k} for k in (1, 2)] for level in (-5.0, 0.0, 7.0)]

    def judge(table):
        return Verdict("yes" if table.mean("x", K=2) > table.mean("x", K=1) else "no", "")

    assert decide(judge, seeds, ["K"]).holds == "yes"


@pytest.mark.parametrize(
    ("parts", "holds"),
    [((1, 1), "yes"), ((1, 0), "in part"), ((1, 0, 0), "no"), ((1, 0, 0, 0, 0), "no"), ((1, 1, 1, 0, 0), "in part")],
)
def test_parts_of_a_claim(parts, holds):
    assert together(*map(bool, parts)) == holds

"""The link of a linear score to a likelihood: the parameters of the highest likelihood, and labels that no one has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import ndtr

from topoi._disk.store import ModelError
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.ordinal import log_between, logs_between
from topoi.predict.link import Link, fit_link

N = 4000
LINKED = [name for name, response in RESPONSES.items() if response.linked]


def ordinal(n, seed, slope=1.5, cuts=(-1.0, 0.2, 1.4), cost=4.0):
    rng = np.random.default_rng(seed)
    f = rng.normal(0, 1, n)
    utility = slope * f + rng.normal(0, 1 / np.sqrt(cost), n)
    return f, np.digitize(utility, cuts).astype(float)


def counts(n, seed, slope=0.8, r=2.0, level=1.0):
    rng = np.random.default_rng(seed)
    f = rng.normal(0, 1, n)
    return f, rng.negative_binomial(r, r / (r + np.exp(slope * f + level))).astype(float)


def likelihood(response, y, f, slope, own):
    return float(np.sum(response.log_loss(y, slope * f, own[None])))


@pytest.mark.parametrize("cost", [0.25, 4.0, 1e6])
def test_cut_points_are_found(cost):
    """Those that the targets were made with, in the unit of the noise, whatever `cost` is."""
    f, y = ordinal(N, 0, cost=cost, slope=1.5 * 2 / np.sqrt(cost), cuts=np.array([-1.0, 0.2, 1.4]) * 2 / np.sqrt(cost))
    slope, own = RESPONSES["ordinal"](cost=cost, levels=4.0).fit_link(y, f)
    unit = np.sqrt(cost) / 2
    assert slope * unit == pytest.approx(1.5, abs=0.08)
    np.testing.assert_allclose(own * unit, [-1.0, 0.2, 1.4], atol=0.08)


def test_dispersion_is_found():
    f, y = counts(N, 0)
    slope, (r, level) = RESPONSES["counts"]().fit_link(y, f)
    assert slope == pytest.approx(0.8, abs=0.06)
    assert level == pytest.approx(1.0, abs=0.06)
    assert r == pytest.approx(2.0, rel=0.12)


def test_no_parameters_near_are_likelier():
    """Neither a slope nor a parameter that is a little different has a higher likelihood."""
    for name, (f, y) in (("ordinal", ordinal(N, 1)), ("counts", counts(N, 1))):
        response = RESPONSES[name]() if name == "counts" else RESPONSES[name](levels=4.0)
        slope, own = response.fit_link(y, f)

        def at(x, response=response, y=y, f=f):
            return likelihood(response, y, f, x[0], x[1:])

        gradient = approx_fprime(np.append(slope, own), at, 1e-6)
        np.testing.assert_allclose(gradient / N, 0, atol=2e-3)  # the prior, and a document of each label, are in it too


def test_a_label_that_no_document_has_stays_possible():
    f, y = ordinal(300, 2)
    y[y == 2] = 1
    slope, own = RESPONSES["ordinal"](levels=4.0).fit_link(y, f)
    p = RESPONSES["ordinal"](levels=4.0).link(slope * f[:, None], own[None])
    assert (np.diff(own) > 0).all()
    assert p[:, 2].max() > 1e-3
    np.testing.assert_allclose(p.sum(1), 1)


def test_labels_that_scores_tell_apart_entirely():
    """The likelihood grows without end with the slope, which stays finite."""
    f = np.linspace(-1, 1, 200)
    slope, own = RESPONSES["ordinal"](levels=2.0).fit_link((f > 0).astype(float), f)
    assert np.isfinite(slope)
    assert slope > 2
    assert np.isfinite(own).all()


def test_scores_that_say_nothing():
    rng = np.random.default_rng(3)
    f, y = rng.normal(0, 1, N), rng.integers(0, 3, N).astype(float)
    slope, _ = RESPONSES["ordinal"](levels=3.0).fit_link(y, f)
    assert abs(slope) < 0.05
    slope, _ = RESPONSES["counts"]().fit_link(rng.poisson(3, N).astype(float), f)
    assert abs(slope) < 0.05


def test_counts_that_are_all_zero():
    slope, own = RESPONSES["counts"]().fit_link(np.zeros(50), np.linspace(-1, 1, 50))
    assert np.isfinite([slope, *own]).all()
    assert np.exp(own[1]) < 0.1


def test_logarithms_of_arrays():
    """They agree with those of the kernel, in both tails too."""
    rng = np.random.default_rng(4)
    low = np.concatenate((rng.normal(0, 10, 500), [-np.inf, -np.inf, 30.0, -3.0]))
    high = np.concatenate((low[:500] + rng.exponential(1, 500), [0.0, -20.0, np.inf, np.inf]))
    expected = [log_between(a, b) for a, b in zip(low, high, strict=True)]
    np.testing.assert_allclose(logs_between(low, high), expected, rtol=1e-7)
    assert logs_between(np.zeros(1), np.ones(1))[0] == pytest.approx(np.log(ndtr(1) - 0.5))


def test_several_tasks_and_unknown_targets():
    (f, y), (g, z) = counts(N, 5), counts(N, 6, slope=-0.4)
    z[::3] = np.nan
    link = fit_link(RESPONSES["counts"](), np.column_stack((y, z)), np.column_stack((f, g)))
    assert link.slope[1] == pytest.approx(-0.4, abs=0.06)
    alone = fit_link(RESPONSES["counts"](), z[:, None], g[:, None])
    np.testing.assert_array_equal(link.own[1:], alone.own)
    scores, own = link.sample(np.column_stack((f, g)))
    assert scores.shape == (1, N, 2)
    assert own.shape == (1, 2, 2)


@pytest.mark.parametrize("link", [
    Link(np.ones(2), np.ones((1, 2))), Link(np.ones(1), np.ones((1, 3))), Link(np.array([np.nan]), np.ones((1, 2))),
    Link(np.ones(1), np.array([[1.0, np.inf]])),
])  # fmt: skip
def test_a_link_that_does_not_fit_is_refused(link):
    with pytest.raises(ModelError, match="link"):
        link.check_fits(RESPONSES["counts"](), 1)
    with pytest.raises(ModelError, match="link"):
        Link(np.ones(1), np.ones((1, 2))).check_fits(RESPONSES["hinge"](), 1)


def test_every_loss_with_parameters_of_its_own_is_linked():
    for name, response in RESPONSES.items():
        assert response.linked == (response().first_own(1) is not None), name
    assert LINKED

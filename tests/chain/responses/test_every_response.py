"""What every response must pass. A new one is covered by being in the registry."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from scipy import integrate

from support.tilted_checks import (
    COMPILED,
    INTEGRALS,
    by_document,
    check_bridge,
    check_response,
    draw,
    integral_of,
    interpreted_core,
    log_loss,
    own_of,
    targets_for,
)
from topoi.chain.responses import RESPONSES, LabelResponse, NumberResponse, Response

ALL = sorted(RESPONSES)
DRAWN = [name for name in ALL if getattr(integral_of(name), "drawn", True)]


@pytest.fixture(scope="module")
def plain_core():
    return interpreted_core()


def made(name, number=0):
    return RESPONSES[name](**integral_of(name).settings[number])


def some_targets(name, n=40, tasks=3, seed=51):
    rng = np.random.default_rng(seed)
    return targets_for(name, (n, tasks), rng), rng.normal(0, 2, (n, tasks))


@pytest.mark.parametrize("name", ALL)
def test_declares_itself(name):
    kind = RESPONSES[name]
    assert issubclass(kind, Response)
    assert kind.name == name
    assert name.isidentifier()
    assert name == name.lower()
    assert kind.predicts in ("labels", "numbers")
    assert issubclass(kind, {"labels": LabelResponse, "numbers": NumberResponse}[kind.predicts])
    assert "f" in kind.loss_formula
    assert "c" in kind.loss_formula
    assert kind.__doc__
    for method in (kind.draw, kind.log_loss):
        assert method.__doc__
    module = sys.modules[kind.__module__]
    assert kind.loss_formula.split("(")[0] in module.__doc__, "say the loss"
    assert "ω" in module.__doc__
    assert "κ" in module.__doc__
    assert dataclasses.is_dataclass(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind().cost = 2.0
    assert kind().cost > 0
    assert kind() == kind()
    assert hash(kind()) == hash(kind())
    for field in dataclasses.fields(kind):
        assert isinstance(getattr(kind(), field.name), float)


def test_integrals_are_of_responses():
    assert set(INTEGRALS) <= set(RESPONSES)


@pytest.mark.parametrize("name", ALL)
def test_draws_at_two_scores_differ_as_the_loss_does(name):
    check_bridge(COMPILED, name)


@pytest.mark.parametrize("name", INTEGRALS)
def test_the_checks_of_a_new_loss_are_right_for_this_one(name, monkeypatch):
    """A loss without an integral is checked by what can be said of any: so can these be."""
    monkeypatch.delitem(INTEGRALS, name)
    assert integral_of(name).settings[0].keys() == integral_of(name).settings[1].keys()
    check_bridge(COMPILED, name, n=1000)
    check_response(COMPILED, name, n=20)


@pytest.mark.parametrize("name", INTEGRALS)
def test_augmentation_integrates_to_the_loss(name):
    """∫ exp(κ f − ½ω f²) (mixing density) = ψ(y | f), by quadrature, up to a factor free of f."""
    integral = integral_of(name)
    for settings in integral.settings:
        response = RESPONSES[name](**settings)
        for y in integral.targets:
            edge = [f for target, f in integral.on_the_edge(response) if target == y]
            scores = np.array([*integral.scores, *edge])
            found = np.array([integral.log_integral(response, response.cost, y, f) for f in scores])
            loss = np.array([log_loss(response, y, f) for f in scores])
            assert np.ptp(loss) > 0.1
            # The exact edge has the square-root singularity of an integrand of infinite mean: hence not 1e-9.
            assert np.ptp(found - loss) < 2e-6, (settings, y, found - loss)


@pytest.mark.parametrize("name", [name for name in INTEGRALS if INTEGRALS[name].log_conditional])
def test_law_is_the_integrand(name):
    """The law that draws are held to is the integrand itself, normalised: by quadrature, at the law's quantiles."""
    integral = integral_of(name)
    for settings in integral.settings:
        response = RESPONSES[name](**settings)
        y, f = integral.targets[0], integral.scores[1]
        cdf = integral.laws(response, response.cost, y, f, np.ones(1), np.ones(1))[0][1]
        t = np.linspace(-14, 14, 20001)  # ω = e^t
        log_p = integral.log_conditional(response, response.cost, y, f, np.exp(t)) + t
        p = np.exp(log_p - log_p.max())
        found = integrate.cumulative_trapezoid(p, t, initial=0)
        np.testing.assert_allclose(found / found[-1], cdf(np.exp(t)), rtol=0, atol=2e-4)


@pytest.mark.parametrize("name", ALL)
def test_draws_follow_their_conditional(name):
    check_response(COMPILED, name, n=4000)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("how", ["target", "weight"])
def test_no_label_is_no_tilt(name, how):
    y, f = some_targets(name)
    weight = np.ones_like(y)
    before = draw(made(name), y, f, weight)
    one = slice(None) if by_document(name) else 1
    if how == "target":
        y[7, one] = np.nan
        y[9] = np.nan
    else:
        weight[7, one] = 0
        weight[9] = 0
    after = draw(made(name), y, f, weight)
    others = np.delete(np.arange(len(y)), [7, 9])
    for old, new in zip(before, after, strict=True):
        assert (new[7, one] == 0).all()
        assert (new[9] == 0).all()
        assert by_document(name) or (new[7, [0, 2]] != 0).all()
        assert old[others].tobytes() == new[others].tobytes(), "streams are per document"


@pytest.mark.parametrize("name", ALL)
def test_blocks_do_not_matter(name):
    y, f = some_targets(name)
    whole = draw(made(name), y, f)
    for cuts in ([(0, 13), (13, 14), (14, 40)], [(14, 40), (0, 13), (13, 14)]):
        kappa, omega = np.full(y.shape, np.nan), np.full(y.shape, np.nan)
        for first, last in cuts:
            made(name).draw(y, f, np.ones_like(y), kappa, omega, 0, 0, first, last, 0, own_of(made(name), 3))
        assert kappa.tobytes() == whole[0].tobytes()
        assert omega.tobytes() == whole[1].tobytes()
    untouched = np.full(y.shape, -5.0)
    made(name).draw(y, f, np.ones_like(y), untouched, untouched.copy(), 0, 0, 3, 5, 0, own_of(made(name), 3))
    assert (np.delete(untouched, [3, 4], axis=0) == -5).all()


@pytest.mark.parametrize("name", DRAWN)
def test_seed_sweep_and_document_make_the_draw(name):
    y, f = some_targets(name)
    y, f = np.full_like(y[:, :1], y[0, 0]), np.full_like(f[:, :1], f[0, 0])
    draws = [sum(draw(made(name), y, f, seed=seed, sweep=sweep)) for seed in (0, 1) for sweep in (0, 1)]
    assert len(np.unique(draws)) == np.size(draws)


@pytest.mark.parametrize("name", ALL)
def test_finite_on_the_edge(name):
    """A score exactly on the margin, or hugely off it: finite in float32, and so are sums over many documents."""
    for number in range(len(integral_of(name).settings)):
        response = made(name, number)
        for y, f in [*integral_of(name).on_the_edge(response), (integral_of(name).targets[0], 1e6)]:
            for nudge in (0.0, 1e-300, 1e-12):
                targets = np.full((500, 2), y)
                if by_document(name) and not response.ordered:
                    targets[:, 1] = -y
                scores, own = np.full_like(targets, f + nudge), own_of(response, 2)
                kappa, omega = np.zeros((2, 500, 2), np.float32)
                response.draw(targets, scores, np.ones_like(targets), kappa, omega, 1, 2, 0, 500, 0, own)
                assert np.isfinite(kappa).all()
                assert (omega >= 0).all()
                assert (omega.max(1) > 0).all()
                assert by_document(name) or (omega > 0).all()
                assert np.isfinite(omega.sum() ** 2)


@pytest.mark.parametrize("name", ALL)
def test_compiled_is_interpreted(name, plain_core):
    y, f = some_targets(name, n=12)
    y[3, 1] = np.nan
    f[0], y[0] = integral_of(name).on_the_edge(made(name))[0][::-1]
    plain = plain_core.responses.RESPONSES[name](**integral_of(name).settings[0])
    for compiled, interpreted in zip(draw(made(name), y, f), draw(plain, y, f), strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-12)

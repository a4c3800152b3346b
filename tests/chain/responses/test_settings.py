"""What a response says about itself to users: its settings, the targets it takes, and the answers it gives."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import topoi
from support.cli_files import call
from topoi import Corpus, ParameterError
from topoi.chain.responses import (
    DEFAULT_LABEL_LOSS,
    DEFAULT_NUMBER_LOSS,
    RESPONSES,
    LabelResponse,
    NumberResponse,
    find_loss,
    losses,
)
from topoi.chain.responses.settings import STRONGEST
from topoi.chain.responses.supervision import new_supervision

ALL = sorted(RESPONSES)
WRONG = {"labels": (0.0, 2.0, -0.5, np.inf), "numbers": (np.inf, -np.inf, 1e101)}
#: Of losses with a domain of their own.
WRONG_OF = {"ordinal": (-1.0, 3.0, 0.5, np.inf, -np.inf), "counts": (-1.0, 0.5, 1e10, np.inf, -np.inf)}
CORPUS = Corpus.from_counts(np.full((4, 3), 2))


def test_every_loss_is_of_one_kind():
    assert losses(LabelResponse).keys() | losses(NumberResponse).keys() == RESPONSES.keys()
    assert not losses(LabelResponse).keys() & losses(NumberResponse).keys()
    assert find_loss(DEFAULT_LABEL_LOSS, LabelResponse) is RESPONSES[DEFAULT_LABEL_LOSS]
    assert find_loss(DEFAULT_NUMBER_LOSS, NumberResponse) is RESPONSES[DEFAULT_NUMBER_LOSS]
    assert topoi.MedLDAClassifier().loss == DEFAULT_LABEL_LOSS
    assert topoi.MedLDARegressor().loss == DEFAULT_NUMBER_LOSS


@pytest.mark.parametrize("kind", [LabelResponse, NumberResponse])
@pytest.mark.parametrize("name", ["", "absolute?", None, 3, ["hinge"]])
def test_the_error_has_the_choices_of_the_kind(kind, name):
    others = RESPONSES.keys() - losses(kind).keys()
    for wrong in (name, *others):
        with pytest.raises(ParameterError, match=r"^loss: must be .* or .*, not ") as caught:
            find_loss(wrong, kind)
        before = str(caught.value).split(", not ")[0]
        assert all(f'"{choice}"' in before for choice in losses(kind))
        assert not any(f'"{other}"' in before for other in others)


@pytest.mark.parametrize("name", ALL)
def test_targets_outside_the_domain_are_refused_by_row(name):
    response = RESPONSES[name]()
    y = np.resize(response.examples, (9, 2)).astype(float)
    y[2] = np.nan
    response.check_targets(y)
    for wrong in WRONG_OF.get(name, WRONG[response.predicts]):
        for column in (0, 1):
            bad = y.copy()
            bad[[5, 7], column] = wrong
            with pytest.raises(ParameterError, match=r"^y: target 5 "):
                response.check_targets(bad)
            with pytest.raises(ParameterError, match=r"^y: target 5 "):
                new_supervision(response, bad, 3)


@pytest.mark.parametrize("name", ALL)
def test_settings_are_checked_and_taken(name):
    kind = RESPONSES[name]
    for setting in kind.setting_names():
        for wrong in (-1.0, np.nan, np.inf, "1", [1.0], np.ones(2)):
            with pytest.raises(ParameterError, match=rf"^{setting}: must be a"):
                kind.check_settings({setting: wrong, "n_topics": "many"})
        kind.check_settings({setting: np.float32(2)})
        given = {setting: 7, "n_topics": "many"}
        assert getattr(kind.adapted(given, CORPUS, np.ones((4, 1))), setting) == 7.0
        with pytest.raises(ParameterError, match=rf"^{setting}: must be at most 1e\+12"):
            kind(**{setting: 2 * STRONGEST}).check_limits(1.0)
    kind().check_limits(1.0)
    with pytest.raises(ParameterError, match=r"^cost: .*times the largest weight of a document, 1e"):
        kind(cost=1e7).check_limits(1e7)


@pytest.mark.parametrize("name", ALL)
def test_what_is_not_given_is_what_suits(name):
    kind = RESPONSES[name]
    suited = kind.suited(CORPUS, np.ones((4, 1)))
    assert suited.keys() <= {field.name for field in dataclasses.fields(kind)}
    for none in ({}, dict.fromkeys(kind.setting_names())):
        assert kind.adapted(none, CORPUS, np.ones((4, 1))) == kind(**suited)
    assert all(value > 0 for value in suited.values())


@pytest.mark.parametrize("name", ALL)
def test_answers(name):
    """One sample is its own average; a label's average speaks for it if all samples do; probabilities rise."""
    response = RESPONSES[name]()
    f = np.linspace(-3, 3, 14).reshape(7, 2)
    if getattr(response, "joint", False):  # scores of two labels are one
        f = np.linspace(-3, 3, 7)[:, None]
    one = response.average(f[None])
    assert one.shape == f.shape
    assert response.unit > 0
    if isinstance(response, NumberResponse) or response.probabilistic:
        assert response.unit == 1, "a link is given the scores as users see them"
    if isinstance(response, LabelResponse):
        np.testing.assert_allclose(one, f, rtol=1e-9)
        samples = np.abs(np.random.default_rng(1).normal(size=(5, *f.shape)))
        assert (response.average(samples) > 0).all()
        assert (response.average(-samples) < 0).all()
        assert (response.chosen(f[None, :, :1]) == (f[:, 0] > 0)).all() or response.ordered
        if response.probabilistic and not response.ordered:
            p = response.link(np.sort(f, axis=None)[:, None])[:, 0]
            assert (np.diff(p) > 0).all()
            assert 0 < p.min() < 0.5 < p.max() < 1
            averaged = response.link(np.stack([f, f + 1])).mean(0)
            np.testing.assert_allclose(response.link(response.average(np.stack([f, f + 1]))), averaged, rtol=1e-9)
    else:
        np.testing.assert_allclose(one, response.link(f), rtol=1e-12)
        mean, spread = response.units(np.column_stack((f[:, 0], np.full(7, 2.0))))
        assert mean.shape == spread.shape == (2,)
        assert (spread > 0).all()


@pytest.mark.parametrize("name", [name for name in ALL if getattr(RESPONSES[name], "joint", False)])
@pytest.mark.parametrize("n_labels", [2, 3, 4])
def test_answers_for_labels_of_which_one_is_right(name, n_labels):
    """Probabilities sum to 1, what is chosen is the likeliest, and one sample is its own average."""
    response = RESPONSES[name](levels=float(n_labels)) if RESPONSES[name].ordered else RESPONSES[name]()
    n_tasks = 1 if response.ordered or n_labels == 2 else n_labels
    rng = np.random.default_rng(2)
    samples = rng.normal(0, 1, (40, n_tasks)) + rng.normal(0, 0.1, (5, 40, n_tasks))
    own = response.first_own(n_tasks)
    if own is not None:
        own = own + rng.normal(0, 0.1, (5, *own.shape))
    p = response.link(samples, own)
    mean = p.mean(0)
    if n_labels == 2:
        assert p.shape == samples.shape
        assert ((p > 0) & (p < 1)).all()
        mean = np.column_stack((1 - mean, mean))
    else:
        assert p.shape == (5, 40, n_labels)
        np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-12)
        assert (p > 0).all()
    chosen = response.chosen(samples, own)
    assert (chosen == mean.argmax(1)).all()
    assert len(np.unique(chosen)) == n_labels
    if not response.ordered and n_labels > 2:
        np.testing.assert_allclose(np.exp(response.average(samples)), mean, rtol=1e-12)
    if not response.ordered and n_labels > 2:  # log ψ is the log probability, to the power of the cost
        one_hot = 2.0 * np.eye(n_labels) - 1
        loss = np.array([response.log_loss(one_hot, f) for f in samples[0]])
        np.testing.assert_allclose(np.exp(loss / response.cost), p[0], rtol=1e-9)


def test_ordinal_probabilities_are_the_loss():
    response = RESPONSES["ordinal"](levels=4.0, cost=2.0)
    own = np.array([[[-1.0, 0.2, 0.9]]])
    f = np.linspace(-4, 4, 9)
    p = response.link(f[None, :, None], own)[0]
    for y in range(4):
        np.testing.assert_allclose(np.log(p[:, y]), response.log_loss(y, f, own[0]), rtol=1e-9)
    assert (np.diff(p @ np.arange(4)) > 0).all(), "a higher score speaks for later labels"


def test_the_command_line_lists_the_losses():
    table = topoi.losses_table()
    assert [row["name"] for row in table] == list(RESPONSES)
    shown = call("info").output
    assert all(row["name"] in shown for row in table)
    assert json.loads(call("info", "--json").stdout)["losses"] == table

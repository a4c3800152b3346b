"""A class that is never predicted is told of; one that is predicted is not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from support.cli_files import call, records, write_csv
from topoi import MedLDAClassifier, NeverPredictedWarning
from topoi.estimators.labels import Labels
from topoi.estimators.unpredicted import CHUNK, predicted

N, RARE = 300, 6
rng = np.random.default_rng(11)
common, other = rng.dirichlet(np.full(60, 0.1), 2)
y = (np.arange(N) < RARE).astype(int)
X = np.array([rng.multinomial(30, 0.6 * common + 0.4 * other if rare else common) for rare in y])


def never(labels, **settings):
    """The warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MedLDAClassifier(6, n_sweeps=40, random_state=0, **{"refit": False, **settings}).fit(X, labels)
    return model, [w for w in caught if issubclass(w.category, NeverPredictedWarning)]


def test_a_rare_class_of_two():
    model, found = never(np.array(["often", "seldom"])[y])
    (warning,) = found
    assert warning.filename == __file__
    assert (warning.message.classes, warning.message.counts) == (["seldom"], [RARE])
    assert f"not one of the {N} training documents is predicted to be 'seldom' (which {RARE} have)" in str(
        warning.message
    )
    assert (model.predict(X) == "often").all()  # it is true


def test_a_rare_class_with_words_of_its_own():
    """Words by themselves tell what a few topics do not."""
    model, found = never(y, refit=True)
    assert not found
    assert (model.predict(X) == 1).any()


def test_of_the_refit():
    """Labels that no word tells are never predicted by the refit, which says so."""
    blind = (np.arange(N) % 50 == 0).astype(int)
    model, (warning,) = never(blind, refit=True)
    assert warning.message.classes == [1]
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("settings", [{"class_weight": "balanced"}, {"loss": "logistic"}])
def test_what_it_says_to_do_helps(settings):
    model, found = never(y, **settings)
    assert not found
    assert (model.predict(X) == 1).any()


@pytest.mark.parametrize("strategy", ["multitask", "ovr", "ovo"])
def test_three_classes(strategy):
    """The rare one of three, with a weight that takes it away."""
    three = np.where(y == 1, 2, np.arange(N) % 2)
    _, found = never(three, strategy=strategy, class_weight={0: 1.0, 1: 1.0, 2: 1e-9}, positive_weight=1e-9)
    assert 2 in found[0].message.classes
    assert found[0].message.counts[-1] == RARE


def test_several_labels():
    """A column that nobody has is told of elsewhere; one that is rare is told of here."""
    columns = np.column_stack((np.arange(N) % 2, y, np.zeros(N, int)))
    _, found = never(columns, positive_weight=1e-9)
    assert found[0].message.classes[-1] == 1


def test_ordinary_classes():
    easy = np.arange(N) % 3
    counts = np.array([rng.multinomial(30, np.eye(60)[label] * 0.5 + common * 0.5) for label in easy])
    with warnings.catch_warnings():
        warnings.simplefilter("error", NeverPredictedWarning)
        for strategy in ("multitask", "ovr", "ovo"):
            MedLDAClassifier(6, n_sweeps=20, random_state=0, strategy=strategy).fit(counts, easy)


def test_all_documents_are_looked_at():
    """The only one of its class may be the last."""
    shares = np.zeros((CHUNK + 1, 2))
    shares[:, 0] = 1.0
    labels = Labels(np.array([0, 1]), False)
    weights = np.array([[-1.0, 1.0]])
    assert predicted([(shares, weights)], labels).tolist() == [True, False]
    shares[-1] = 0.0, 1.0
    assert predicted([(shares, weights)], labels).tolist() == [True, True]
    both = Labels(np.array([0, 1, 2]), False)
    three = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, -9.0]])
    assert predicted([(shares, three[:2]), (shares, three[2:])], both).tolist() == [True, True, False]
    assert predicted([(shares, three - 0.5)], Labels(np.arange(3), True)).tolist() == [True, True, False]


def test_command_line(tmp_path):
    """Labels and options in its own words; several labels by their names."""
    rows = records()
    for number, row in enumerate(rows):
        row["tags"] = "fruit;metal" if number % 2 else "fruit"
        row["subject"] = "rare" if number == 3 else "common"
    write_csv(tmp_path / "posts.csv", rows)
    options = ("--text", "body", "--topics", 3, "--sweeps", 10, "--jobs", 1, "--no-refit")
    result = call("fit", tmp_path / "posts.csv", *options, "--label", "subject", "-o", tmp_path / "a")
    assert result.exit_code == 0
    assert "predicted to be 'rare' (which 1 have)" in result.stderr
    assert '--loss "logistic" or more sweeps.' in result.stderr
    assert '(--class-weight "balanced" for two classes, a larger --positive-weight for more)' in result.stderr
    more = ("--label", "tags", "--label-separator", ";", "--cost", 1e-9, "-o", tmp_path / "b")
    result = call("fit", tmp_path / "posts.csv", *options, *more)
    assert result.exit_code == 0
    assert "'metal' (which 30 have)" in result.stderr
    assert '--loss "logistic" or more sweeps.' in result.stderr

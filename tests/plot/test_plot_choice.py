"""The picture of a choice of the number of topics."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from topoi import ParameterError, TopoiError
from topoi.selection import Choice
from topoi.selection.recommend import recommend

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

from topoi import plot  # noqa: E402


def choice(*numbers, **more):
    table = [
        {"n_topics": number, "folds": 3, "log_likelihood": -7.0 - (place - 1) ** 2, "log_likelihood_se": 0.25,
         "perplexity": 1000.0, "coherence": 0.1 * place, "coherence_se": 0.01, "stability": 0.8 - 0.1 * place,
         "nearest": 0.2, "same": 0.5, **more}
        for place, number in enumerate(numbers)
    ]  # fmt: skip
    found = recommend(table)
    return Choice(table, found.best, found.reason, found.remarks, found.left_out)


def titles(panels):
    return [panel.get_title(loc="left") for panel in panels]


def test_panels_have_the_numbers_of_the_table():
    chosen = choice(10, 20, 40)
    panels = chosen.plot()
    assert titles(panels) == ["Held-out log-likelihood", "Coherence (NPMI)", "Stability"]
    for panel, column in zip(panels, ("log_likelihood", "coherence", "stability"), strict=True):
        line = panel.lines[0]
        np.testing.assert_array_equal(line.get_xdata(), [10, 20, 40])
        np.testing.assert_allclose(line.get_ydata(), [row[column] for row in chosen.table])
        assert [label.get_text() for label in panel.get_xticklabels()] == ["10", "20", "40"]
        assert any(list(line.get_xdata()) == [chosen.best, chosen.best] for line in panel.lines)
    (band,) = panels[0].patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-7.25, -6.75))
    assert [len(panel.patches) for panel in panels] == [1, 0, 0]
    panels[0].figure.canvas.draw()


def test_scores_come_first():
    chosen = choice(2, 5, score=0.5, score_se=0.1)
    panels = plot.choice(chosen)
    assert titles(panels)[0] == "Score of predictions"
    assert len(panels) == 4
    assert len(panels[0].patches) == 1
    assert len(panels[1].patches) == 0


def test_close_numbers_do_not_run_into_each_other():
    chosen = choice(*range(10, 40))
    panel = chosen.plot()[0]
    panel.figure.canvas.draw()
    shown = [label for label in panel.get_xticklabels() if label.get_text()]
    assert str(chosen.best) in [label.get_text() for label in shown]
    ends = [(box.x0, box.x1) for box in (label.get_window_extent() for label in shown)]
    assert all(left[1] < right[0] for left, right in pairwise(ends))


def test_what_is_not_a_number_is_not_drawn():
    chosen = choice(10, 20, log_likelihood=math.nan, log_likelihood_se=math.nan, stability=math.nan)
    assert chosen.best is None
    panels = chosen.plot()
    panels[0].figure.canvas.draw()
    assert len(panels[0].patches) == 0
    choice(10).plot()[0].figure.canvas.draw()


def test_on_given_axes():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    panels = choice(10, 20).plot(ax=right)
    assert set(figure.axes) == {left, *panels}
    with pytest.raises(TopoiError, match="subplots"):
        choice(10, 20).plot(ax=figure.add_axes((0, 0, 1, 1)))
    with pytest.raises(ParameterError, match="nothing was measured"):
        replace(choice(10, 20), table=[]).plot()


def test_numbers_that_were_left_out_are_hollow():
    chosen = choice(10, 20, 40, 80, coherence=0.1)
    for row in chosen.table[1:]:
        row["coherence"] = -0.1
    found = recommend(chosen.table)
    assert found.left_out == (20, 40, 80)
    panel = replace(chosen, best=found.best, left_out=found.left_out).plot()[0]
    (band,) = panel.patches
    assert band.get_y() + 0.25 == pytest.approx(chosen.table[0]["log_likelihood"])  # the best of those that are left
    hollow = panel.lines[-2]
    assert hollow.get_markerfacecolor() == "white"
    assert np.isfinite(hollow.get_ydata()).tolist() == [False, True, True, True]

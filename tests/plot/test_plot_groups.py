"""Pictures of topics over time and by group: what is drawn has the numbers that it should have."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import LDA, Corpus, ParameterError, topics_by

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from topoi import plot

N, K = 240, 8
RNG = np.random.default_rng(0)
X = RNG.poisson(1.0, (N, 12))
MONTHS = np.array([0, 1, 2, 5, 6])[np.arange(N) % 5]
DATES = np.datetime64("2024-01-01", "M") + MONTHS
PLACES = np.array([f"place {i:02}" for i in range(40)])[np.arange(N) % 40]


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_counts(X, [f"word{w}" for w in range(12)])
    return LDA(K, n_sweeps=8, n_samples=2, random_state=0).fit(corpus)


def test_over_time(model):
    table = topics_by(model, DATES, X, name="date", period="month")
    panels = plot.over_time(model, table, topics=[3, 1])
    assert len(panels) == 2
    for panel, k in zip(panels, (3, 1), strict=True):
        assert panel.get_title(loc="left").endswith(f"  {k}")
        overall, before, after = panel.lines[:3]  # broken, since two months are not there
        assert overall.get_ydata()[0] == table.overall[k]
        np.testing.assert_array_equal(before.get_ydata(), table.share[:3, k])
        np.testing.assert_array_equal(after.get_ydata(), table.share[3:, k])
        band = panel.collections[0].get_paths()[0].vertices[:, 1]
        assert band.min() == table.low[:3, k].min()
        assert band.max() == table.high[:3, k].max()
    panels[0].figure.draw_without_rendering()
    same = plot.over_time(model, DATES, X, topics=[3], name="date", period="month")[0]
    np.testing.assert_array_equal(same.lines[1].get_ydata(), table.share[:3, 3])


def test_over_numbers_and_on_axes(model):
    years = 1990 + np.arange(N) % 4
    panels = plot.over_time(model, years, n_topics=3, order="largest", n_words=0)
    table = topics_by(model, years)
    assert [panel.get_title(loc="left") for panel in panels] == [str(k) for k in table.largest(3)]
    ax = Figure().add_subplot()
    (same,) = plot.over_time(model, years, ax=ax)
    assert same is ax
    assert len(ax.get_legend().get_texts()) == 6


def test_by_group(model):
    table = topics_by(model, PLACES, X, name="place")
    ax = plot.by_group(model, table, n_topics=5)
    chosen = table.most_varying(5)
    assert [int(text.get_text().split()[-1]) for text in ax.get_yticklabels()] == chosen
    assert len(ax.get_xticklabels()) == 30
    assert ax.get_xticklabels()[0].get_text() == "place 00 (6)"
    assert "the 30 largest of 40 groups" in ax.get_xlabel()
    shown = float(ax.texts[0].get_text())
    assert shown == pytest.approx(100 * table.share[0, chosen[0]], abs=0.5)
    ratio = np.clip(np.log2((table.share[0, chosen[0]] + 1e-6) / (table.overall[chosen[0]] + 1e-6)), -3, 3)
    value = ax.images[0].get_array()[0, 0]
    inside = table.low[0, chosen[0]] <= table.overall[chosen[0]] <= table.high[0, chosen[0]]
    assert value == pytest.approx(0.25 * ratio if inside else ratio, abs=1e-3)
    ax.figure.draw_without_rendering()


def test_errors(model):
    with pytest.raises(ParameterError, match=r"see plot\.by_group"):
        plot.over_time(model, PLACES, X)
    with pytest.raises(ParameterError, match="has the topic 8"):
        plot.by_group(model, PLACES, X, topics=[8])
    with pytest.raises(ParameterError, match="order"):
        plot.by_group(model, PLACES, X, order="alphabet")
    table = topics_by(model, PLACES, X)
    for more in ({"documents": X}, {"period": "day"}):
        with pytest.raises(ParameterError, match="leave it out"):
            plot.by_group(model, table, **more)

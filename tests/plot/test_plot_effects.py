"""The picture of effects on topics: what is drawn has the numbers that it should have."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import LDA, Corpus, ParameterError
from topoi.evaluate import topic_effects

pytest.importorskip("matplotlib")
from topoi import plot

N = 80
RNG = np.random.default_rng(0)
X = RNG.poisson(1.0, (N, 12))
GIVEN = {"party": np.array(["a", "b", "c", "d"])[np.arange(N) % 4], "year": 1990 + np.arange(N) % 9}


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_counts(X, [f"word{w}" for w in range(12)])
    return LDA(8, n_sweeps=12, n_samples=4, random_state=0).fit(corpus, covariates=GIVEN)


def test_dots(model):
    ax = plot.effects(model, topics=[3, 1], level=0.8)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert [int(label.split()[-1]) for label in labels] == [3, 1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list("abcd")
    rows = {(row.topic, row.value): row for row in model.effects(level=0.8)}
    for party, container in zip("abcd", ax.containers, strict=True):
        points, _, (bars,) = container.lines
        np.testing.assert_allclose(points.get_xdata(), [rows[3, party].mean, rows[1, party].mean])
        low = [segment[0, 0] for segment in bars.get_segments()]
        np.testing.assert_allclose(low, [rows[3, party].low, rows[1, party].low])
    ax.figure.draw_without_rendering()


def test_lines(model):
    ax = plot.effects(model, "year")
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 2]
    assert len(lines) == 6
    rows = [row for row in model.effects(grid=25) if row.covariate == "year"]
    shown = {int(line.get_label().split()[-1]): line for line in lines}
    for topic, line in shown.items():
        np.testing.assert_allclose(line.get_ydata(), [row.mean for row in rows if row.topic == topic])
    assert ax.get_xlabel() == "year"
    varies = {k: np.ptp([row.mean for row in rows if row.topic == k]) for k in range(8)}
    assert set(shown) == set(sorted(varies, key=lambda k: -varies[k])[:6])


def test_topics_are_called_by_their_names(model):
    edits = [{"edit": "name", "topic": 3, "name": "sport"}]
    named = model.apply({"format": "topoi edits", "version": 1, "edits": edits})
    words = model.top_words(3)
    labels = plot.effects(named, topics=[3, 1]).get_yticklabels()
    assert [text.get_text() for text in labels] == [f"{' '.join(words[3])}  sport", f"{' '.join(words[1])}  1"]
    legend = plot.effects(named, "year", topics=[3, 1], n_words=0).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["sport", "topic 1"]


def test_effects_of_another_model():
    plain = LDA(3, n_sweeps=5, random_state=0).fit(X)
    rows = topic_effects(plain, GIVEN, X)
    ax = plot.effects(plain, "year", rows=rows, n_words=0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["+1 sd"]
    own = plot.effects(plain, rows=rows, ax=ax)
    assert own is ax


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"covariate": "colour"}, "covariate: is 'colour'; effects are known of party, year"),
        ({"topics": [99]}, "topics: has 99; there are topics 0 to 7"),
        ({"rows": []}, "rows: has no effects"),
    ],
)
def test_what_cannot_be_shown(model, more, message):
    with pytest.raises(ParameterError, match=message):
        plot.effects(model, **more)

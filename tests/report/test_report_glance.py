"""What the page at a glance is made of: places, an order by similarity, and texts that leave it small."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from topoi import LDA
from topoi.report import write_report
from topoi.report.distances import by_similarity, pulled_in


def test_places_far_out_are_pulled_in():
    ring = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)])
    places = np.vstack((ring, [[20.0, 0.0], [0.0, -40.0]]))
    found = pulled_in(places)
    centre = np.median(places, axis=0)
    near = np.hypot(*(places - centre).T) <= 2 * np.median(np.hypot(*(places - centre).T))
    np.testing.assert_allclose(found[near], places[near])
    away, far = np.hypot(*(found - centre).T), np.hypot(*(places - centre).T)
    assert (away[-2:] < far[-2:] / 2).all()
    assert away[-1] > away[-2] > away[near].max()  # they stay beyond the others, in their order
    direction = (found - centre) / away[:, None]
    np.testing.assert_allclose(direction[-2:], ((places - centre) / far[:, None])[-2:])
    same = np.zeros((4, 2))
    np.testing.assert_array_equal(pulled_in(same), same)


def test_topics_that_are_alike_are_neighbours():
    side = np.array([0, 1, 0, 1, 0, 1])
    divergence = np.where(side[:, None] == side, 0.1, 0.6)
    np.fill_diagonal(divergence, 0)
    order = by_similarity(divergence)
    assert sorted(order.tolist()) == list(range(6))
    assert np.count_nonzero(np.diff(side[order])) == 1
    assert by_similarity(np.zeros((2, 2))).tolist() == [0, 1]


@pytest.mark.parametrize(("letter", "most"), [("a", 4000), ("字", 2200)])  # of one byte, and of three
def test_long_texts_share_the_room_that_there_is(letter, most, tmp_path):
    n = 620
    X = np.tile([[2, 1, 0], [0, 1, 2]], (n // 2, 1))
    texts = [letter * 5000 if d % 2 else "short" for d in range(n)]
    lda = LDA(2, n_sweeps=3, n_samples=1, infer_sweeps=2, random_state=0).fit(X)
    write_report(tmp_path / "report.html", lda, X=X, texts=texts)
    assert (tmp_path / "report.html").stat().st_size < 2_800_000
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    shown = data["sections"]["documents"]["shown"]
    assert all(document["text"] == "short" for document in shown[::2])
    lengths = {len(document["text"]) for document in shown[1::2]}
    assert len(lengths) == 1
    assert 0.9 * most < lengths.pop() <= most

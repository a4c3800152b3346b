"""A vocabulary and a β so small that an empty topic's φ is below what a float can hold."""

from __future__ import annotations

import numpy as np

from support.exact import chi_square, simulate
from support.naive import Tiny


def test_partial_is_exact_when_topics_are_empty():
    tiny = Tiny([[0, 1], [0, 1]], alpha=[2.0, 2.0], beta=0.01, n_words=2)
    posterior = tiny.posterior()
    start = np.random.default_rng(31).choice(len(posterior), 8000, p=posterior)
    found = simulate(tiny, "partial", 8000, seed=32, start=start, sweeps=4)
    assert chi_square(found, posterior) > 1e-4

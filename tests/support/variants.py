"""Which variants of a test the plain run takes. `pytest -m slow` runs the others: see CONTRIBUTING.md."""

from __future__ import annotations

import pytest


def slow_but(quick, values):
    """Parameters for a test: those in `quick` as they are, all others marked slow."""
    values, quick = list(values), list(quick)
    assert all(value in values for value in quick), "a variant that there is not"
    sets = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*given, marks=[] if value in quick else pytest.mark.slow)
        for given, value in zip(sets, values, strict=True)
    ]

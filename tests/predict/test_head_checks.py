"""Heads from files are checked: an idf that cannot be is refused before it overflows."""

from __future__ import annotations

import numpy as np
import pytest

from topoi._disk.store import ModelError
from topoi.predict.refit import Head, Settings


@pytest.mark.parametrize("idf", [1e200, 101.0, 0.0, -1.0, np.nan])
def test_idf_that_cannot_be(idf):
    arrays = (np.zeros((2, 1), np.float32), np.zeros((3, 1)), np.zeros((0, 1)), np.zeros(1))
    Head(Settings(), np.array([1.0, 40.0]), *arrays).check_fits(2, 3, 0, 1)
    with pytest.raises(ModelError, match="idf"):
        Head(Settings(), np.array([1.0, idf]), *arrays).check_fits(2, 3, 0, 1)

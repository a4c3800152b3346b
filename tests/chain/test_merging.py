"""Topics that are alike become one while a chain burns in; others, and those that a user has named, do not."""

from __future__ import annotations

import pytest

from support.joining import CHECKS


@pytest.mark.parametrize("check", CHECKS)
def test_check(check):
    CHECKS[check]()

"""Waiting for others, as long as it takes: a machine may be busy.

No test asserts how long anything takes. PATIENCE is there to end a test that hangs.
"""

from __future__ import annotations

import time

PATIENCE = 600.0  # seconds


def wait_until(condition, what):
    """Return when condition() is true; after PATIENCE say what has not come about."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)

"""Programs with and without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys

from support.places import TESTS


def printed(program):
    """What a program prints with the compiler, and without it: two texts."""
    found = []
    for off in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": off}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=TESTS, env=environment, check=True, capture_output=True, text=True
        )
        found.append(done.stdout)
    return found

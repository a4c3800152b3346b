"""Where chains run: what is not asked for is not loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
from topoi import LDA
LDA(2, n_sweeps=2, engine={engine}).fit(np.eye(6, dtype=int) + 1)
print("topoi.chain.engines.cluster" in sys.modules, "distributed" in sys.modules)
"""


@pytest.mark.parametrize(("engine", "loaded"), [("None", "False False"), ("'blocks'", "True False")])
def test_what_is_loaded(engine, loaded):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(engine=engine)], capture_output=True, text=True, check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},  # nothing has to be compiled for it
    )  # fmt: skip
    assert done.stdout.split() == loaded.split()

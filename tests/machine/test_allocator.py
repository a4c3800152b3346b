"""A worker of Dask reuses freed memory; nobody else is told anything."""

import os
import subprocess
import sys

import pytest

# Page faults of arrays that come and go, in a process of its own: what glibc is told stays told.
PROGRAM = """
import resource, sys
import numpy as np
from topoi._machine.allocator import keep_freed_memory
told = keep_freed_memory() if sys.argv[1] == "keep" else False
assert keep_freed_memory.cache_info().currsize <= 1
for _ in range(3):
    np.ones(250_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    np.ones(250_000)
print(told, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def outcome(how: str, setting: str | None) -> tuple[str, int]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    env |= {} if setting is None else {"MALLOC_TRIM_THRESHOLD_": setting}
    command = [sys.executable, "-c", PROGRAM, how]
    said, faults = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.split()
    return said, int(faults)


@pytest.mark.skipif(sys.platform != "linux", reason="page faults are counted as Linux does")
def test_arrays_come_and_go_without_page_faults():
    said, faults = outcome("keep", "65536")
    if said == "False":
        pytest.skip("not glibc")
    assert faults < 1000
    assert outcome("as it is", "65536")[1] > 10_000  # 100 arrays of 489 pages


@pytest.mark.parametrize("setting", [None, "131072"])
@pytest.mark.skipif(sys.platform != "linux", reason="page faults are counted as Linux does")
def test_what_others_have_set_stays(setting):
    assert outcome("keep", setting)[0] == "False"

"""The same answer everywhere: hashes of fits are what they were, with any number of threads, compiled or not."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest

from support.hashes import SIZES, hashes
from support.places import GOLDEN, TESTS

THERE = sys.platform == "linux" and platform.machine() == "x86_64"


def golden(size):
    return json.loads((GOLDEN / "hashes.json").read_text("utf-8"))[size]


@pytest.fixture(scope="module")
def one_thread():
    return {size: hashes(size) for size in SIZES}


@pytest.mark.skipif(not THERE, reason="exp and log may round in another way on other systems")
@pytest.mark.parametrize("size", SIZES)
def test_golden(size, one_thread):
    """A change here is a change of what a seed gives: say so in CHANGELOG.md, and run tests/support/hashes.py anew."""
    assert one_thread[size] == golden(size)


@pytest.mark.parametrize("n_jobs", [2, 4, 8])
def test_threads(n_jobs, one_thread):
    assert hashes("blocks", n_jobs) == one_thread["blocks"]


def test_interpreter(one_thread):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "support.hashes", "tiny"]
    found = subprocess.run(command, cwd=TESTS, env=environment, check=True, capture_output=True)
    assert json.loads(found.stdout) == one_thread["tiny"]


def test_different_fits_have_different_hashes(one_thread):
    """None is trivial: samplers that are told apart differ, but for those that make the same draws."""
    every = [*one_thread["tiny"].values(), *one_thread["blocks"].values()]
    assert len(set(every)) > len(every) * 3 / 4

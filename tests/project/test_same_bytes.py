"""The same answer everywhere: hashes of fits are what they were, with any number of threads, compiled or not."""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
import sys

import pytest

from support.hashes import MEMBERS, SIZES, hash_of, line
from support.places import GOLDEN, TESTS

HASHES = json.loads((GOLDEN / "hashes.json").read_text("utf-8"))
THERE = sys.platform == "linux" and platform.machine() == "x86_64"
one_thread = functools.cache(hash_of)


@pytest.mark.skipif(not THERE, reason="exp and log may round in another way on other systems")
@pytest.mark.parametrize("member", MEMBERS)
def test_golden(member):
    """A change here is a change of what a seed gives: say so in CHANGELOG.md, and make the line anew."""
    if member not in HASHES:
        pytest.fail(
            f"{member} is new: once all its other tests pass, add a line to tests/golden/hashes.json:\n{line(member)}"
        )
    assert {size: one_thread(member, size) for size in SIZES} == HASHES[member]


def test_every_line_has_its_member():
    assert set(HASHES) <= set(MEMBERS), "a sampler or loss that there is no more: take its line out of hashes.json"


@pytest.mark.parametrize("n_jobs", [2, 4, 8])
@pytest.mark.parametrize("member", MEMBERS)
def test_threads(member, n_jobs):
    assert hash_of(member, "blocks", n_jobs) == one_thread(member, "blocks")


PROGRAM = """
import json
from support.hashes import MEMBERS, hash_of
print(json.dumps({member: hash_of(member, "tiny") for member in MEMBERS}))
"""


@pytest.fixture(scope="module")
def interpreted():
    """Hashes of tiny fits from a process without the compiler."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    found = subprocess.run([sys.executable, "-c", PROGRAM], cwd=TESTS, env=environment, check=True, capture_output=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("member", MEMBERS)
def test_interpreter(member, interpreted):
    assert interpreted[member] == one_thread(member, "tiny")


def test_different_fits_have_different_hashes():
    """None is trivial: samplers that are told apart differ, but for those that make the same draws."""
    every = [one_thread(member, size) for member in MEMBERS for size in SIZES]
    assert len(set(every)) > len(every) * 3 / 4

"""The sampler that CONTRIBUTING.md tells people to copy passes every test, once added the way the guide says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import copies
from support.checks import check_all
from support.places import ROOT

SKELETON = ROOT / "docs" / "skeletons" / "sampler.py"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of topoi with the skeleton in it: a file, an import and a registry line."""
    folder = tmp_path_factory.mktemp("with_skeleton")
    shutil.copytree(copies.SOURCE, folder / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    samplers = folder / "topoi" / "chain" / "samplers"
    shutil.copy(SKELETON, samplers / "plain.py")
    registry = (samplers / "__init__.py").read_text(encoding="utf-8")
    for old, new in [
        (
            "from topoi.chain.samplers.polya_urn",
            "from topoi.chain.samplers.plain import Plain\nfrom topoi.chain.samplers.polya_urn",
        ),
        ("        PolyaUrn,\n", "        Plain,\n        PolyaUrn,\n"),
    ]:
        assert registry.count(old) == 1
        registry = registry.replace(old, new)
    (samplers / "__init__.py").write_text(registry, encoding="utf-8")
    return folder


def test_skeleton_passes_the_checks(package, monkeypatch):
    monkeypatch.setattr(copies, "SOURCE", package / "topoi")
    check_all(copies.interpreted().SAMPLERS["plain"])


@pytest.mark.slow
def test_skeleton_passes_the_tests_of_every_sampler(package):
    """Compiled too, in a process of its own that imports the copy."""
    options = ["-p", "no:cacheprovider", "-n", "0", "-m", "", "-k", "plain"]
    command = [sys.executable, "-m", "pytest", *options, Path(__file__).with_name("test_every_sampler.py")]
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    n_passed = int(done.stdout.split(" passed")[0].split()[-1])
    assert n_passed >= 10, done.stdout

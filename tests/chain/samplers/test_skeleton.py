"""The sampler that docs/architecture.md tells people to copy passes every test, once added as the recipe says."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import copies
from support.checks import check_all
from support.skeletons import package_with, passed_with


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of topoi with the skeleton in it: a file and a registry line."""
    edits = [(line := '    "polya_urn": "polya_urn:PolyaUrn",\n', f'    "plain": "plain:Plain",\n{line}')]
    folder = tmp_path_factory.mktemp("with_skeleton")
    return package_with(folder, "chain/samplers", {"plain.py": "sampler.py"}, edits)


def test_skeleton_passes_the_checks(package, monkeypatch):
    monkeypatch.setattr(copies, "SOURCE", package / "topoi")
    check_all(copies.interpreted().SAMPLERS["plain"])


@pytest.mark.slow
def test_skeleton_passes_the_tests_of_every_sampler(package):
    """Compiled too, in a process of its own that imports the copy."""
    assert passed_with(package, "plain", Path(__file__).with_name("test_every_sampler.py")) >= 10

"""The word factor that docs/architecture.md tells people to copy passes every test, once added as the recipe says."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import copies
from support.checks import check_all
from support.places import TESTS
from support.skeletons import package_with, passed_with, run_with

NAME = "plain_dirichlet"
#: Fits of both engines: blocks so small that a few documents are several groups, and their words several shards.
FIT = """
import numpy as np
from topoi import LDA, Corpus, MedLDAClassifier
from topoi.chain.engines.cluster._job import Layout

Corpus._block_size = 400
rng = np.random.default_rng(0)
X, y = rng.poisson(0.6, (30, 25)), np.arange(30) % 3
X[:, 0] += 1
layout = Layout.of(Corpus.from_counts(X), 4)
assert min(layout.n_groups, layout.n_shards) > 1
for kind, labels, options in [(LDA, None, {}), (LDA, None, {"dense_up_to": 0}), (MedLDAClassifier, y, {})]:
    settings = dict(n_topics=4, n_sweeps=3, sampler="plain_dirichlet", sampler_options=options, random_state=0)
    here, there = (kind(**settings, engine=engine).fit(X, labels) for engine in (None, "blocks"))
    assert here.doc_topic_.tobytes() == there.doc_topic_.tobytes()
    assert here.components_.tobytes() == there.components_.tobytes()
    assert here.log_joint_.tobytes() == there.log_joint_.tobytes()
    print("same")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of topoi with the skeleton in it: a file and a registry line."""
    edits = [(line := '        "urn": "urn:UrnFactor",\n', f'        "{NAME}": "{NAME}:PlainFactor",\n{line}')]
    folder = tmp_path_factory.mktemp("with_factor")
    return package_with(folder, "chain/factors", {f"{NAME}.py": "factor.py"}, edits)


def test_skeleton_passes_the_checks(package, monkeypatch):
    """Its φ has its distribution, and draws given it leave the posterior unchanged."""
    monkeypatch.setattr(copies, "SOURCE", package / "topoi")
    check_all(copies.interpreted().SAMPLERS[NAME])


def test_both_engines_fit_with_it(package):
    assert run_with(package, "-c", FIT, NUMBA_DISABLE_JIT="1").split() == ["same"] * 3


@pytest.mark.slow
def test_both_engines_fit_with_it_compiled(package):
    assert run_with(package, "-c", FIT).split() == ["same"] * 3


@pytest.mark.slow
def test_skeleton_passes_the_tests_of_every_factor_and_sampler(package):
    """Compiled, in a process of its own that imports the copy."""
    samplers, cluster = TESTS / "chain" / "samplers", TESTS / "chain" / "engines" / "cluster"
    assert passed_with(package, NAME, Path(__file__).with_name("test_every_factor.py")) >= 6
    assert passed_with(package, NAME, samplers / "test_every_sampler.py", cluster / "test_cluster.py") >= 10

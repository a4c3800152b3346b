"""The scalar Gibbs MedLDA that the figures compare with: its transitions are those of the conditional."""

from __future__ import annotations

import shutil

import pytest

from support import copies
from support.exact import REPEATED
from support.places import ROOT
from support.tilted_checks import interpreted_core
from support.tilted_topics import APART, THREE, check_tilted

SOURCE = ROOT / "reproduce" / "gibbs_scalar.py"


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """A copy of topoi that runs without the compiler and has the sampler in its registry."""
    folder = tmp_path_factory.mktemp("with_scalar")
    shutil.copytree(copies.SOURCE, folder / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    samplers = folder / "topoi" / "chain" / "samplers"
    text = SOURCE.read_text(encoding="utf-8")
    own = "\n\n# Known to the estimators"  # the copy's registry knows it from the start
    assert text.count(own) == 1
    assert text.count("from topoi.chain.samplers import SAMPLERS\n") == 1
    text = text[: text.index(own)].replace("from topoi.chain.samplers import SAMPLERS\n", "")
    (samplers / "gibbs_scalar.py").write_text(text, encoding="utf-8")
    registry = (samplers / "__init__.py").read_text(encoding="utf-8")
    more = "\nfrom topoi.chain.samplers.gibbs_scalar import GibbsScalar\n\nSAMPLERS[GibbsScalar.name] = GibbsScalar\n"
    (samplers / "__init__.py").write_text(registry + more, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "SOURCE", folder / "topoi")
        yield interpreted_core()


def test_transitions_are_gibbs(core):
    """Two tasks, an empty and a one-word document, documents with no or half a label."""
    check_tilted(core, "gibbs_scalar", REPEATED, "hinge", part=1)


def test_transitions_of_three_topics_and_of_a_block(core):
    check_tilted(core, "gibbs_scalar", THREE, "hinge", part=1)
    check_tilted(core, "gibbs_scalar", APART, "hinge", part=1, together=True)


def test_strong_tilts(core):
    check_tilted(core, "gibbs_scalar", APART, "hinge", part=1, strength=40.0, twin=False)

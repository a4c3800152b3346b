"""Registries: a member is imported when it is asked for, and every line is right."""

from __future__ import annotations

import subprocess
import sys

import pytest

from topoi._registry import Registry
from topoi.chain.factors import FACTORS
from topoi.chain.priors import TOPIC_PRIORS, WORD_PRIORS
from topoi.chain.responses import RESPONSES
from topoi.chain.samplers import SAMPLERS
from topoi.estimators.saved import ESTIMATORS

FIT = """
import sys
from topoi import LDA

LDA(2, n_sweeps=2, random_state=0, sampler="collapsed").fit([[1, 2, 0], [0, 1, 1]])
print(*(name for name in sys.modules if name.startswith("topoi.")))
"""


@pytest.mark.parametrize("registry", [FACTORS, RESPONSES, SAMPLERS, TOPIC_PRIORS, WORD_PRIORS], ids=repr)
def test_a_member_has_the_name_of_its_line(registry):
    assert len(registry) >= 2
    assert {name: member.name for name, member in registry.items()} == {name: name for name in registry}


def test_estimators_have_the_names_of_their_classes():
    assert {name: member.__name__ for name, member in ESTIMATORS.items()} == {name: name for name in ESTIMATORS}


def test_a_fit_imports_what_it_uses():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "topoi.chain.samplers.collapsed" in imported
    families = ("chain.samplers", "chain.factors", "chain.responses", "chain.priors", "estimators")
    others = ["samplers.light", "samplers.partial", "factors.urn", "responses.hinge", "priors.learned_alpha"]
    assert not imported & {f"topoi.chain.{name}" for name in others}
    assert not imported & {"topoi.estimators.classifier", "topoi.estimators.regressor"}
    assert all(any(name.startswith(f"topoi.{family}") for name in imported) for family in families)


@pytest.fixture
def registry():
    return Registry("topoi", {"one": "errors:TopoiError", "two": "errors:FileError"}, lambda: {"three": int})


def test_as_a_mapping(registry):
    from topoi.errors import FileError, TopoiError

    assert registry["two"] is FileError
    assert dict(registry) == {"one": TopoiError, "two": FileError, "three": int}
    assert list(registry) == ["one", "two", "three"]
    assert "four" not in registry
    with pytest.raises(KeyError):
        registry["four"]


def test_members_that_are_added(registry, monkeypatch):
    """By tests, and by studies that have samplers of their own."""
    with monkeypatch.context() as patch:
        patch.setitem(registry, "four", float)
        patch.setitem(registry, "one", bool)
        assert registry["four"] is float
        assert next(iter(registry.values())) is bool
        assert registry.class_names()["float"] == "four"
    assert sorted(registry) == ["one", "three", "two"]
    assert registry["one"].__name__ == "TopoiError"
    del registry["one"]
    assert "one" not in registry
    with pytest.raises(KeyError):
        del registry["one"]


def test_others_are_asked_for_late():
    def others():
        raise AssertionError("asked for")

    registry = Registry("topoi", {"one": "errors:TopoiError"}, others)
    assert registry["one"].__name__ == "TopoiError"
    assert registry.class_names() == {"TopoiError": "one"}
    for ask in (list, len, lambda found: found.get("two")):
        with pytest.raises(AssertionError, match="asked for"):
            ask(registry)


@pytest.mark.parametrize(("line", "error"), [("nowhere:A", ModuleNotFoundError), ("errors:Nobody", AttributeError)])
def test_a_wrong_line(line, error):
    with pytest.raises(error):
        Registry("topoi", {"one": line})["one"]

"""A package with a figure that takes no time, for the tests of reproduce/."""

from __future__ import annotations

import sys

import pytest

from support.places import ROOT


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one figure and one helper, whose name no other test has imported."""
    from reproduce import ran
    from support.tiny_figure import TINY

    name = f"figures_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "helper.py").write_text("x = 1\n", "utf-8")
    (folder / "tiny.py").write_text(TINY, "utf-8")
    log = tmp_path / "log"
    log.touch()
    monkeypatch.setenv("TINY_LOG", str(log))
    # The process of a seed imports the figure too.
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # an edit within a second, of no more letters, is one too
    monkeypatch.setattr(ran, "HOMES", {})  # in this process topoi is not read: to do so takes seconds
    ran.source.cache_clear()
    yield name
    ran.source.cache_clear()


@pytest.fixture
def in_process(monkeypatch):
    """Seeds are measured right here, which is quicker."""
    monkeypatch.setattr("reproduce.harness.alone", lambda function, *arguments: function(*arguments))


@pytest.fixture
def measured(tmp_path):
    """Which seeds were measured so far, sorted: two run at a time."""
    return lambda: sorted((tmp_path / "log").read_text("utf-8").splitlines())

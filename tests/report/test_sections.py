"""Sections of the report: each is two files and a registry line, and so is a new one, made from the skeletons."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topoi
from topoi.report.sections import SECTIONS

SOURCE = Path(topoi.__file__).parent
FOLDER = SOURCE / "report" / "sections"
SKELETONS = Path(__file__).parents[2] / "docs" / "skeletons"


def test_a_section_is_two_files():
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == set(SECTIONS)
    assert {path.stem for path in FOLDER.glob("*.js")} == set(SECTIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_files_have_the_name_of_the_section(name):
    assert SECTIONS[name].__module__ == f"topoi.report.sections.{name}"
    assert re.findall(r'^section\("(\w+)"', (FOLDER / f"{name}.js").read_text("utf-8"), re.MULTILINE) == [name]


WRITE = """
from topoi import LDA
from topoi.report import write_report

X = [[4, 2, 0, 1], [1, 0, 0, 0], [3, 3, 9, 2]]
lda = LDA(2, n_sweeps=3, n_samples=1, random_state=0).fit(X)
write_report("with.html", lda, X=X, ids=["</script>", "b", "c"])
write_report("without.html", lda)
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports by a copy of topoi with the skeleton in it: two files, an import and a registry line."""
    folder = tmp_path_factory.mktemp("with_section")
    shutil.copytree(SOURCE, folder / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    sections = folder / "topoi" / "report" / "sections"
    for ending in ("py", "js"):
        shutil.copy(SKELETONS / f"section.{ending}", sections / f"longest.{ending}")
    registry = (sections / "__init__.py").read_text(encoding="utf-8")
    for old, new in [
        ("documents, labels,", "documents, labels, longest,"),
        ('    "scores": scores.data,\n', '    "longest": longest.data,\n    "scores": scores.data,\n'),
    ]:
        assert registry.count(old) == 1
        registry = registry.replace(old, new)
    (sections / "__init__.py").write_text(registry, encoding="utf-8")
    # Without the compiler: three documents need none.
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", WRITE], cwd=folder, env=environment, check=True)
    return folder


def parts(page):
    """The data of the page, and the places and scripts of its sections in their order."""
    text = page.read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    places = re.findall(r'^ *<section id="(\w+)"', text, re.MULTILINE)
    return data, places, re.findall(r'^section\("(\w+)"', text, re.MULTILINE)


def test_a_section_from_the_skeleton(pages):
    data, places, scripts = parts(pages / "with.html")
    assert places == scripts == list(data["sections"])
    assert places == ["topics", "documents", "longest", "convergence", "settings"]
    assert data["sections"]["longest"] == [
        {"name": "c", "tokens": 17},
        {"name": "</script>", "tokens": 7},
        {"name": "b", "tokens": 1},
    ]


def test_a_section_with_nothing_to_show_is_left_out(pages):
    data, places, scripts = parts(pages / "without.html")
    assert places == scripts == list(data["sections"]) == ["topics", "convergence", "settings"]

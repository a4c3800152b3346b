"""Sections of the report: each is two files and a registry line, and so is a new one, made from the skeletons."""

from __future__ import annotations

import json
import re

import pytest

from support.copies import SOURCE
from support.skeletons import package_with, run_with
from topoi.report.sections import SECTIONS

FOLDER = SOURCE / "report" / "sections"


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
    edits = [
        ("documents, labels,", "documents, labels, longest,"),
        ('    "scores": scores.data,\n', '    "longest": longest.data,\n    "scores": scores.data,\n'),
    ]
    files = {"longest.py": "section.py", "longest.js": "section.js"}
    folder = package_with(tmp_path_factory.mktemp("with_section"), "report/sections", files, edits)
    run_with(folder, "-c", WRITE, NUMBA_DISABLE_JIT="1")  # three documents need no compiler
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

"""Sections of the report: each is two files and a registry line, and so is a new one, made from the skeletons."""

from __future__ import annotations

import json
import re

import pytest

from support.copies import SOURCE
from topoi.report.sections import SECTIONS

FOLDER = SOURCE / "report" / "sections"


def test_a_section_is_two_files():
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == set(SECTIONS)
    assert {path.stem for path in FOLDER.glob("*.js")} == set(SECTIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_files_have_the_name_of_the_section(name):
    assert SECTIONS[name].__module__ == f"topoi.report.sections.{name}"
    assert re.findall(r'^section\("(\w+)"', (FOLDER / f"{name}.js").read_text("utf-8"), re.MULTILINE) == [name]


def parts(page):
    """The data of the page, and the places and scripts of its sections in their order."""
    text = page.read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    places = re.findall(r'^ *<section id="(\w+)"', text, re.MULTILINE)
    return data, places, re.findall(r'^section\("(\w+)"', text, re.MULTILINE)


def test_a_section_from_the_skeleton(pages_with_section):
    data, places, scripts = parts(pages_with_section / "with.html")
    assert places == scripts == list(data["sections"])
    order = [after for name in SECTIONS for after in (["longest"] if name == "scores" else []) + [name]]
    assert places == [name for name in order if name in places]
    assert data["sections"]["longest"] == [
        {"name": "c", "tokens": 17},
        {"name": "</script>", "tokens": 7},
        {"name": "b", "tokens": 1},
    ]


def test_a_section_with_nothing_to_show_is_left_out(pages_with_section):
    data, places, scripts = parts(pages_with_section / "without.html")
    assert places == scripts == list(data["sections"])
    assert "topics" in places
    assert "longest" not in places

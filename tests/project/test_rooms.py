"""The pictures of the rooms in docs/architecture.md are those of the source."""

from __future__ import annotations

import importlib.util

import pytest

from support.places import ROOT

pytest.importorskip("grimp", reason="needs grimp: pip install import-linter")


def load_rooms():
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "docs" / "pictures" / "rooms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rooms = load_rooms()


def test_pictures_are_of_this_source():
    for path, picture in rooms.pictures().items():
        assert path.read_text("utf-8") == picture, f"{path.name} is old: run `python docs/pictures/rooms.py`"


def test_what_a_room_imports():
    (upper,), (lower,) = [[rooms.Room("up", "Rises.", frozenset({"down"}))], [rooms.Room("down", "<b>", frozenset())]]
    drawn = rooms.draw("Title", [[upper], [lower]])
    assert drawn.count("<circle") == 1
    assert "up imports down" in drawn
    assert "&lt;b&gt;" in drawn

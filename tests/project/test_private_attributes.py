"""Nobody reads another's underscored attributes: what a room shows to others has a public name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import topoi

HOUSE = Path(topoi.__file__).parent
ROOMS = ("predict", "estimators", "evaluate", "plot", "report", "cli")
#: Calls that read or write an attribute whose name is a string.
BY_NAME = ("getattr", "hasattr", "setattr", "delattr")


def private(name: str) -> bool:
    """Whether a name is somebody's own; names of Python itself (`__len__`) are everybody's."""
    return name.startswith("_") and not name.endswith("__")


def own(node: ast.expr) -> bool:
    """Whether an expression is the object, or the class, whose method this is."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def foreign(source: str) -> list[str]:
    """The underscored attributes of others that a module reads or writes, with their lines."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and private(node.attr) and not own(node.value):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_NAME:
            name = node.args[1]
            if isinstance(name, ast.Constant) and private(name.value) and not own(node.args[0]):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_use_public_names(room):
    files = sorted((HOUSE / room).rglob("*.py"))
    assert files
    wrong = [f"{file.relative_to(HOUSE)}:{line}" for file in files for line in foreign(file.read_text("utf-8"))]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("def f(model): return model._labels", 1),
        ("def f(model): model.chains[0]._seed = 3", 1),
        ("def f(model): return hasattr(model, '_parts')", 1),
        ("def f(self): return self.model._seed", 1),
        ("def f(self): return self._seed + super()._seed", 0),
        ("def f(cls): return cls._fitted | getattr(cls, '_more')", 0),
        ("def f(model): return model.__class__, getattr(model, 'name')", 0),
    ],
)
def test_the_rule(source, n):
    assert len(foreign(source)) == n

"""One name for one idea: no public class or function of one module has the name of another's."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import topoi

HOUSE = Path(topoi.__file__).parent
#: Members of a family have the same parts, which bear the same names. A command is named for what it does.
FAMILIES = ("chain/samplers", "chain/factors", "chain/priors", "chain/responses", "readers", "report/sections", "cli")
#: Functions that do the same to different arrays.
THE_SAME = {"normalise"}


def family(module: str) -> str:
    """The family of a module; a module of none is its own."""
    return next((name for name in FAMILIES if module.startswith(f"{name}/")), module)


def twice(modules: dict[str, str]) -> dict[str, list[str]]:
    """Public names that modules of different families define, by the sources of the modules."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, source in modules.items():
        if any(part.startswith("_") for part in module.removesuffix("__init__.py").split("/")):
            continue
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found[node.name].add(family(module))
    return {name: sorted(places) for name, places in found.items() if len(places) > 1 and name not in THE_SAME}


def test_no_name_means_two_things():
    files = {file.relative_to(HOUSE).as_posix(): file.read_text("utf-8") for file in HOUSE.rglob("*.py")}
    assert len(files) > 100
    commands = {file.stem for file in (HOUSE / "cli").glob("[a-z]*.py")}
    assert {name: places for name, places in twice(files).items() if name not in commands} == {}


def test_the_rule():
    modules = {
        "chain/samplers/a.py": "def sweep(): pass",
        "chain/samplers/b.py": "def sweep(): pass",
        "evaluate/held_out.py": "class Score: pass\ndef _own(): pass",
        "estimators/lda.py": "class Score: pass\ndef _own(): pass",
        "plot/_score.py": "class Score: pass\ndef sweep(): pass",
    }
    assert twice(modules) == {"Score": ["estimators/lda.py", "evaluate/held_out.py"]}

"""One name for one idea: no public module, class or function has the name of another one that is something else."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import topoi

HOUSE = Path(topoi.__file__).parent
#: Members of a family have the same parts, which bear the same names. A command is named for what it does.
FAMILIES = ("chain/samplers", "chain/factors", "chain/priors", "chain/responses", "readers", "report/sections", "cli")
#: Modules that are named for what they show or do, whatever else has to do with it: sections of the page, commands.
NAMED_FOR_OTHERS = ("report/sections", "cli")
#: Names that mean the same thing in several places.
THE_SAME = {
    "normalise": "the same, done to different arrays",
    "base": "what the members of a family share",
    "delayed": "a word factor, and the sampler that draws with it",
    "expected": "a word factor, and the sampler that draws with it",
    "split": "rows of counts, and the sampler that draws with them",
}


def family(module: str) -> str:
    """The family of a module; a module of none is its own."""
    return next((name for name in FAMILIES if module.startswith(f"{name}/")), module)


def names(modules: dict[str, str]) -> dict[str, set[str]]:
    """Where every public name is: of modules and packages, and of the classes and functions in them."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, source in modules.items():
        module = path.removesuffix(".py").removesuffix("/__init__")
        if any(part.startswith("_") for part in module.split("/")):
            continue
        room, _, name = module.rpartition("/")
        # A module with the name of its room is what the room is about.
        if not module.startswith(tuple(f"{place}/" for place in NAMED_FOR_OTHERS)):
            found[name].add(room if room.split("/")[-1] == name else module)
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                # So is a function with the name of its module or room.
                own = [place for place in (module, room) if place.split("/")[-1] == node.name]
                found[node.name].add(own[0] if own else family(path).removesuffix(".py"))
    return found


def twice(modules: dict[str, str]) -> dict[str, list[str]]:
    """Public names that are in more than one place, by the sources of the modules."""
    return {name: sorted(places) for name, places in names(modules).items() if len(places) > 1 and name not in THE_SAME}


def test_no_name_means_two_things():
    files = {file.relative_to(HOUSE).as_posix(): file.read_text("utf-8") for file in HOUSE.rglob("*.py")}
    assert len(files) > 100
    commands = {file.stem for file in (HOUSE / "cli").glob("[a-z]*.py")}
    assert {name: places for name, places in twice(files).items() if name not in commands} == {}
    assert {name for name in THE_SAME if len(names(files)[name]) < 2} == set(), "no longer in two places"


def test_the_rule():
    modules = {
        "chain/samplers/a.py": "def sweep(): pass",
        "chain/samplers/b.py": "def sweep(): pass",
        "chain/factors/dirichlet.py": "",
        "chain/priors/dirichlet.py": "",
        "evaluate/held_out.py": "class Score: pass\ndef _own(): pass\ndef evaluate(): pass",
        "evaluate/__init__.py": "",
        "estimators/lda.py": "class Score: pass\ndef _own(): pass",
        "estimators/__init__.py": "def rows(): pass",
        "chain/counts/rows.py": "def rows(): pass",
        "corpus/__init__.py": "",
        "corpus/corpus.py": "",
        "plot/_score.py": "class Score: pass\ndef sweep(): pass",
        "report/sections/held_out.py": "",
    }
    assert twice(modules) == {
        "Score": ["estimators/lda", "evaluate/held_out"],
        "dirichlet": ["chain/factors/dirichlet", "chain/priors/dirichlet"],
        "rows": ["chain/counts/rows", "estimators/__init__"],
    }

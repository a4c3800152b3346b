"""A second copy of topoi that runs without the compiler, with an oracle for a stream, and with bugs put in at will."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from pathlib import Path

import numba

import topoi
from support.edits import edited
from support.oracle import Oracle

SOURCE = Path(topoi.__file__).parent
REGISTRIES = [f"topoi.chain.{family}" for family in ("factors", "priors", "responses", "samplers")]


class _Finder(importlib.abc.MetaPathFinder):
    """Loads topoi's modules from changed source."""

    def __init__(self, edits):
        self.edits = edits  # {module: [(old, new), …]}: see edits.py
        self.used = set()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "topoi":
            return None
        file = SOURCE.joinpath(*name.split(".")[1:])
        package = file.is_dir()
        file = file / "__init__.py" if package else file.with_suffix(".py")
        loader = _Loader(name, str(file), self)
        return importlib.util.spec_from_file_location(
            name, file, loader=loader, submodule_search_locations=[str(file.parent)] if package else None
        )


class _Loader(importlib.abc.SourceLoader):
    def __init__(self, name, file, finder):
        self.name, self.file, self.finder = name, file, finder

    def get_filename(self, name):
        return self.file

    def get_data(self, path):
        text = Path(self.file).read_text(encoding="utf-8")
        for old, new in self.finder.edits.get(self.name, []):
            text = edited(text, old, new)
            self.finder.used.add((self.name, old))
        return text.encode()

    def exec_module(self, module):
        super().exec_module(module)
        if self.name == "topoi._machine.rng":
            follow_oracles(module)


def follow_oracles(rng):
    """Let an oracle take the place of a stream in `uniform` and `integer`."""
    plain_uniform, plain_integer = rng.uniform, rng.integer
    rng.uniform = lambda s: s.uniform() if isinstance(s, Oracle) else plain_uniform(s)
    rng.integer = lambda s, n: s.integer(n) if isinstance(s, Oracle) else plain_integer(s, n)
    plain_branch = rng.branch
    rng.branch = lambda s, number: s if isinstance(s, Oracle) else plain_branch(s, number)


def interpreted(edits=None, modules=("topoi.chain.samplers", "topoi.chain.state", "topoi.corpus.corpus")):
    """Import topoi once more, without the compiler and with `edits`; returns its module `topoi.chain.samplers`."""
    return interpreted_modules(edits, modules)["topoi.chain.samplers"]


def interpreted_modules(edits, modules):
    """These modules by name, imported once more, without the compiler and with `edits`."""
    edits = edits or {}
    finder = _Finder(edits)
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "topoi"}
    was = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = 1
    sys.meta_path.insert(0, finder)
    try:
        loaded = {name: importlib.import_module(name) for name in modules}
        for name in REGISTRIES:  # what they would import later would be of the other topoi
            for registry in list(vars(importlib.import_module(name)).values()):
                if type(registry).__name__ == "Registry":
                    list(registry.values())
    finally:
        sys.meta_path.remove(finder)
        numba.config.DISABLE_JIT = was
        for name in [name for name in sys.modules if name.split(".")[0] == "topoi"]:
            del sys.modules[name]
        sys.modules.update(saved)
    wanted = {(module, old) for module, changes in edits.items() for old, _ in changes}
    assert finder.used == wanted, f"edits not applied: {wanted - finder.used}"
    return loaded

"""The compile cache: used again when nothing changed, never after an edit that a kernel could see."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from topoi._machine.jit import PACKAGE, kernel_files

HELPER = "from topoi._machine.jit import kernel\n\n@kernel\ndef helper():\n    return {}\n"
CALLER = """from topoi._machine.jit import kernel
from topoi._b import helper

@kernel
def caller():
    return helper()
"""


@pytest.fixture
def package(tmp_path):
    """A package of the name topoi with a kernel that calls a kernel of another file."""
    package = tmp_path / "topoi"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for folder in ("_disk", "_machine"):
        (package / folder).mkdir()
    machine = (PACKAGE / "_machine" / f"{name}.py" for name in ("__init__", "arrays", "jit"))
    for file in (PACKAGE / "errors.py", *machine, *(PACKAGE / "_disk").glob("*.py")):
        (package / file.relative_to(PACKAGE)).write_bytes(file.read_bytes())
    (package / "_a.py").write_text(CALLER)
    (package / "_b.py").write_text(HELPER.format(1))
    return package


def call(package: Path) -> tuple[int, int]:
    """What the kernel returns in a new process, and how often its code was read from the cache."""
    code = "from topoi._a import caller; print(caller(), sum(caller.stats.cache_hits.values()))"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(package.parent / "cache")}  # not one that others fill
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, env=environment, capture_output=True, text=True, check=True
    )
    value, hits = result.stdout.split()
    return int(value), int(hits)


def test_cached_until_a_helper_in_another_file_changes(package):
    assert call(package) == (1, 0)
    assert call(package) == (1, 1)
    (package / "_b.py").write_text(HELPER.format(5))
    assert call(package) == (5, 0)


def test_other_files_do_not_matter(package):
    call(package)
    (package / "cli.py").write_text("from topoi._a import caller\n")
    assert call(package) == (1, 1)


def test_files_that_count(package):
    (package / "inner").mkdir()
    for name in ("__init__.py", "one.py"):
        (package / "inner" / name).write_text("")
    (package / "_b.py").write_text(HELPER.format(1) + "from topoi.inner import one\n")
    (package / "cli.py").write_text("from topoi._a import caller\n")
    names = {path.relative_to(package).as_posix() for path in kernel_files(package)}
    disk = ("folders", "inside", "locks", "moved", "patience", "private", "remote", "whole")
    below = {"errors.py", *(f"_disk/{name}.py" for name in disk)}
    assert names - below == {
        "_a.py", "_b.py", "_machine/arrays.py", "_machine/jit.py", "inner/__init__.py", "inner/one.py",
    }  # fmt: skip


def test_every_import_of_a_file_that_counts_counts():
    """What is found in the text is checked against Python's own parser."""
    files = set(kernel_files())
    assert len(files) > 30
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topoi."):
                base = PACKAGE.joinpath(*node.module.split(".")[1:])
                assert base.with_suffix(".py") in files or base / "__init__.py" in files, (path, node.module)
            assert not (isinstance(node, ast.ImportFrom) and node.level), path  # relative ones would be missed


def test_no_kernel_assigns_an_array_to_a_slice():
    """The compiler would add its message about unlike shapes, strings and all: 3 s more for the first fit."""
    found = []
    for path in kernel_files():
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and "kernel" in map(ast.unparse, function.decorator_list):
                found += [
                    f"{path.name}: {ast.unparse(node)}"
                    for node in ast.walk(function)
                    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant)
                    if any(isinstance(part, ast.Slice) for target in node.targets for part in ast.walk(target))
                ]
    assert found == []

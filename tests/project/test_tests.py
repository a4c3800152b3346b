"""How the tests are laid out: as the source is, each for itself, without a clock."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from support.places import ROOT, TESTS

FILES = {path.relative_to(TESTS).as_posix(): path for path in sorted(TESTS.rglob("*.py"))}
#: Folders that are not of the source.
OTHERS = {"golden", "project", "support"}
#: What no test may use, and what it should do.
FORBIDDEN = {
    r"(.+\.)?(test_\w+|conftest)(\..+)?": "put what tests share into tests/support",
    r"sys\.path\.(insert|append|extend)": "pytest has tests/ and the root of the repository on it: pyproject.toml",
    r"time\.(time|monotonic|perf_counter|process_time|thread_time)(_ns)?": "count work; wait with support.waiting",
}


def used(source):
    """Modules that are imported, what is imported from them, and attributes: all with dots."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def faults(source):
    return [
        f"{name}: {advice}" for name in used(source) for wrong, advice in FORBIDDEN.items() if re.fullmatch(wrong, name)
    ]


@pytest.mark.parametrize("file", sorted(set(FILES) - {"support/waiting.py"}))
def test_a_file(file):
    assert faults(FILES[file].read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import test_lda",
        "from test_lda import quick",
        "from tests.chain.test_run import fresh",
        "import conftest",
        "sys.path.insert(0, here)",
        "start = time.perf_counter()",
        "from time import monotonic",
        "assert time.time_ns() < 1",
    ],
)
def test_faults_are_seen(source):
    assert len(faults(source)) == 1


def test_folders_are_those_of_the_source():
    """`tests/machine` has the tests of `src/topoi/_machine`."""
    source = ROOT / "src" / "topoi"
    there = {path.parent.relative_to(source).as_posix().replace("_", "") for path in source.rglob("*.py")}
    here = {path.parent.relative_to(TESTS).as_posix() for path in FILES.values() if path.name.startswith("test_")}
    assert {folder for folder in here if folder.split("/")[0] not in OTHERS} <= there


def test_no_two_have_one_name():
    """pytest imports a test by the name of its file alone."""
    names = Counter(path.name for path in FILES.values() if path.name.startswith("test_"))
    assert [name for name, n in names.items() if n > 1] == []

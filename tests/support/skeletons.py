"""Copies of topoi to which a skeleton from docs/skeletons has been added, as docs/architecture.md tells people to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from support import copies
from support.places import ROOT

SKELETONS = ROOT / "docs" / "skeletons"


def package_with(folder, room, files, edits, registry="__init__.py"):
    """Copy topoi into `folder`, with skeletons as `files` (name there: skeleton) of a room and its registry edited.

    An edit is a pair of texts, the old one and the new one; the old one must stand there once.
    """
    shutil.copytree(copies.SOURCE, folder / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    place = folder / "topoi" / room
    for name, skeleton in files.items():
        shutil.copy(SKELETONS / skeleton, place / name)
    text = (place / registry).read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, f"{room}/{registry} has {text.count(old)} times: {old!r}"
        text = text.replace(old, new)
    (place / registry).write_text(text, encoding="utf-8")
    return folder


def run_with(package, *arguments, **environment):
    """Run Python in a process of its own that imports the copy; returns what it printed."""
    found = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache"), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=package, env=found, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def passed_with(package, name, *files):
    """Run the tests of some files that have `name` in theirs, slow ones too; all must pass: returns how many."""
    options = ["-p", "no:cacheprovider", "-n", "0", "-m", "", "-k", name, "--rootdir", str(ROOT)]
    printed = run_with(package, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options, *map(str, files))
    return int(printed.split(" passed")[0].split()[-1])

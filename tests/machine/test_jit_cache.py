"""The compile cache: nobody else can put code into it, nothing of others is removed, and no damage stops a fit."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.variants import slow_but
from topoi._disk import private
from topoi._disk.private import MARKER, private_folder, prune, unsafe
from topoi._machine.jit import PACKAGE

POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
NAME = "kernels-0123456789abcdef"
CALL = """
import numpy as np
from topoi._machine.jit import cache_dir
from topoi._machine.rng import new_stream, uniform
print(uniform(new_stream(1, 2, 3, 4)), sum(uniform.stats.cache_hits.values()), cache_dir())
"""


def run(code=CALL, prefix="", **environment):
    """What a script prints in a process of its own, and what it complains about."""
    given = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(prefix) + code],
        env=given | {"PYTHONPATH": str(PACKAGE.parent)} | environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


@pytest.fixture
def foreign(monkeypatch):
    """Let some paths belong to another user, which only root could make true."""
    others = set()
    true = Path.lstat

    def lstat(path):
        found = true(path)
        if str(path) in others:
            found = os.stat_result((*found[:4], os.geteuid() + 1, *found[5:10]))
        return found

    monkeypatch.setattr(Path, "lstat", lstat)
    return others


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_nobody_else_can_write_to_it(umask, tmp_path):
    before = os.umask(umask)
    try:
        folder, why = private_folder(tmp_path / "base", NAME) if umask != 0o277 else private_folder(tmp_path, NAME)
    finally:
        os.umask(before)
    assert why == ""
    assert mode(folder) == 0o700
    assert not mode(folder.parent) & 0o022
    assert (folder / MARKER).is_file()
    assert private_folder(folder.parent, NAME) == (folder, "")


@POSIX
def test_a_planted_folder(foreign, tmp_path):
    (tmp_path / NAME).mkdir(mode=0o700)
    foreign.add(str(tmp_path / NAME))
    folder, why = private_folder(tmp_path, NAME)
    assert folder is None
    assert "belongs to another user" in why


@POSIX
@pytest.mark.parametrize("bits", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_could_have_filled(bits, tmp_path):
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME).chmod(bits)
    folder, why = private_folder(tmp_path, NAME)
    assert folder is None
    assert "can write to" in why


@POSIX
@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_no_folder(kind, tmp_path):
    (tmp_path / "true").mkdir(mode=0o700)
    if kind == "link":
        (tmp_path / NAME).symlink_to(tmp_path / "true")
    else:
        (tmp_path / NAME).write_text("")
    assert private_folder(tmp_path, NAME) == (None, f"{tmp_path.resolve() / NAME} is not a folder")
    assert not list((tmp_path / "true").iterdir())


@POSIX
def test_the_way_to_it(foreign, tmp_path):
    """Who can rename a folder above, or turn a link on the way, chooses what we run."""
    way = tmp_path / "a" / "b"
    way.mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    assert unsafe(way) == unsafe(tmp_path / "link") == ""
    for bits, safe in ((0o777, False), (0o1777, True), (0o757, False), (0o755, True)):
        (tmp_path / "a").chmod(bits)
        for path in (way, tmp_path / "link"):
            assert (unsafe(path) == "") == safe
    foreign.add(str(tmp_path / "link"))
    assert "is not yours" in unsafe(tmp_path / "link")
    assert unsafe(way) == ""
    foreign.add(str(tmp_path / "a"))
    assert "belongs to another user" in unsafe(way)
    assert private_folder(way, NAME)[0] is None
    assert not list(way.iterdir())


@POSIX
def test_a_group_of_ones_own(tmp_path, monkeypatch):
    """Systems that give every user a group make folders that it can write to."""
    tmp_path.chmod(0o775)
    for own in (True, False):
        monkeypatch.setattr(private, "_own_group", lambda gid, own=own: own)
        assert (unsafe(tmp_path) == "") == own
    tmp_path.chmod(0o777)
    monkeypatch.setattr(private, "_own_group", lambda gid: True)
    assert unsafe(tmp_path)


@POSIX
def test_a_shared_folder_is_not_used(tmp_path):
    """A fit compiles, keeps nothing, and says why: once."""
    tmp_path.chmod(0o777)
    (value, hits, where), told = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert (hits, where) == ("0", "None")
    assert told.count("CompileCacheWarning") == 1
    assert f"other users can write to {tmp_path}" in told
    assert not list(tmp_path.iterdir())
    tmp_path.chmod(0o755)
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[0][0] == value


def old_cache(base, number, marked=True):
    folder = base / f"kernels-{number:016x}"
    folder.mkdir(mode=0o700)
    (folder / "code.nbc").write_text("")
    if marked:
        (folder / MARKER).write_text("")
    os.utime(folder, (number, number))
    return folder


@POSIX
def test_only_our_own_caches_are_removed(foreign, tmp_path):
    ours = [old_cache(tmp_path, number) for number in range(1, 6)]
    others = [old_cache(tmp_path, 9, marked=False), tmp_path / "kernels-of-linux", tmp_path / "kernels-0123"]
    for path in others[1:]:
        path.mkdir()
        (path / MARKER).write_text("")
        os.utime(path, (0, 0))
    strange = old_cache(tmp_path, 0xA)
    os.utime(strange, (0, 0))
    foreign.add(str(strange))
    target = old_cache(tmp_path.parent, 0xB)
    link = tmp_path / target.name
    link.symlink_to(target)
    try:
        prune(tmp_path)
        assert [path.exists() for path in ours] == [False, False, True, True, True]
        assert all(path.exists() for path in (*others, strange, link, target / "code.nbc"))
    finally:
        (target / "code.nbc").unlink()


DAMAGES = {
    "empty": lambda raw: b"",
    "cut": lambda raw: raw[: len(raw) // 2],
    "cut short": lambda raw: raw[:-1],
    "nonsense": lambda raw: b"nonsense" * 100,
    "a byte": lambda raw: raw[: len(raw) // 2] + bytes([raw[len(raw) // 2] ^ 1]) + raw[len(raw) // 2 + 1 :],
    "the last byte but a few": lambda raw: raw[:-40] + bytes([raw[-40] ^ 1]) + raw[-39:],
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    base = tmp_path_factory.mktemp("cache")
    base.chmod(0o755)
    first = run(NUMBA_CACHE_DIR=str(base))[0]
    assert first[1] == "0"
    assert run(NUMBA_CACHE_DIR=str(base))[0] == [first[0], "1", first[2]]
    return base, first[0]


@pytest.mark.parametrize(
    ("damage", "which"),
    slow_but(
        [("cut", "*.nbi"), ("a byte", "*.nbc")], [(damage, which) for damage in DAMAGES for which in ("*.nbi", "*.nbc")]
    ),
)
def test_a_damaged_cache_is_compiled_anew(damage, which, filled):
    base, value = filled
    files = list(base.rglob(which))
    assert files
    for path in files:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    (found, _, _), told = run(NUMBA_CACHE_DIR=str(base))
    assert (found, told) == (value, "")
    (found, hits, _), told = run(NUMBA_CACHE_DIR=str(base))
    assert (found, hits, told) == (value, "1", ""), "and kept again"


def test_code_of_another_signature_or_function_is_not_run(filled):
    """As an entry may lead to, if a write was cut short after others had been removed; or if files were mixed up."""
    base, value = filled
    files = sorted(base.rglob("rng.*.nbc"), key=lambda path: path.stat().st_size)
    assert len(files) > 2
    raw = [path.read_bytes() for path in files]
    for shift in range(1, len(files)):  # every file once in the place of every other, those of the same signature too
        for path, other in zip(files, raw[shift:] + raw[:shift], strict=True):
            path.write_bytes(other)
        assert run(NUMBA_CACHE_DIR=str(base))[0][0] == value


FULL = """
import builtins
true = builtins.open
def full(path, mode="r", *more, **named):
    if "w" in mode and {what!r} in str(path):
        raise OSError(28, "No space left on device")
    return true(path, mode, *more, **named)
builtins.open = full
"""


@pytest.mark.parametrize("what", slow_but([".nbc"], [".nbi", ".nbc"]))
def test_a_full_disk(what, filled, tmp_path):
    tmp_path.chmod(0o755)
    for _ in range(2):
        (found, hits, _), told = run(prefix=FULL.format(what=what), NUMBA_CACHE_DIR=str(tmp_path))
        assert (found, hits, told) == (filled[1], "0", "")
    assert not list(tmp_path.rglob("*.nb*"))


def test_a_cache_that_goes_in_the_meantime(filled, tmp_path):
    tmp_path.chmod(0o755)
    gone = """
    import shutil
    from topoi._machine.jit import cache_dir
    shutil.rmtree(cache_dir())
    """
    for _ in range(2):
        assert run(prefix=gone, NUMBA_CACHE_DIR=str(tmp_path))[0][:2] == [filled[1], "0"]


@POSIX
def test_no_home_and_no_entry_among_the_users(filled):
    """As in a container that is run under any number; the package cannot be written there either."""
    nobody = """
    import os, pwd
    def unknown(uid):
        raise KeyError(f"getpwuid(): uid not found: {uid}")
    pwd.getpwuid = unknown
    del os.environ["HOME"]
    import topoi._disk.private as private
    def read_only(path):
        raise PermissionError(13, "Permission denied")
    private._make = read_only
    """
    (found, hits, where), told = run(prefix=nobody)
    assert (found, hits, where, told) == (filled[1], "0", "None", "")


#: Kernels of samplers that are imported late, the first of which is edited before that, and one that was there already.
LATE = """
from topoi._machine.jit import PACKAGE
from topoi.chain.samplers import SAMPLERS, base
if {edited}:
    with open(PACKAGE / "chain" / "samplers" / "sparse.py", "a") as file:
        file.write("# edited")
SAMPLERS["sparse"], SAMPLERS["fast"]
from topoi.chain.samplers import fast, sparse
for kernel in (base.sweep_dense, sparse.sweep_documents, fast.sweep_documents):
    print(type(kernel._cache).__name__)
"""


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_was_edited_before_it_was_imported(edited, tmp_path):
    """Its code is not that of the stamp, nor is that of kernels which may call it: they are not kept."""
    shutil.copytree(PACKAGE, tmp_path / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    kept, _ = run(LATE.format(edited=edited), PYTHONPATH=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert kept == ["_PackageCache"] + (["NullCache"] if edited else ["_PackageCache"]) * 2

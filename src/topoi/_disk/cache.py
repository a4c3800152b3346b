"""Copies of objects on this machine: made once, used by all processes of a user, and removed, the oldest ones first.

They are in a folder that nobody else can write to (`private`), since they are believed: digests of what was published
are compared when a copy is made, sizes when it is used. Of the files of a run the name says all, so that a copy is
never out of date; one that is written twice must not be copied (`anywhere.read_now`). TOPOI_CACHE names another folder
to have it in, TOPOI_CACHE_GB says how many gigabytes it may hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from topoi._disk import remote
from topoi._disk.blocks import new_file
from topoi._disk.folders import make_inside, remove_file, remove_tree, remove_with, rename, temporary_folder
from topoi._disk.inside import look
from topoi._disk.locks import locked
from topoi._disk.private import private_folder, user_cache
from topoi._disk.remote import Location, Remote
from topoi.errors import BusyError, ParameterError

USUAL_GB = 20.0
#: Seconds after its last use in which a copy stays, however many there are: somebody has its name and will open it.
GRACE = 60.0
#: Seconds that a process waits for another one that fetches the same file: then it fetches it itself.
PATIENCE = 300.0
_locks = [threading.Lock() for _ in range(64)]
_NAMES = re.compile(r"\.?[a-z]+-[0-9a-f]{16,32}(-[a-z0-9_]+)?")  # of copies, and of those that a killed process began


def cached_folder(name: str, fill: Callable[[Path], None], sizes: Mapping[str, int]) -> Path:
    """The folder of this name in the cache, with files of these sizes; `fill` writes them, if need be, to a new one."""
    folder = _place() / name
    if not _is_whole(folder, sizes):
        new = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
        try:
            fill(new)
            remove_tree(folder)
            with contextlib.suppress(OSError):  # another process was faster, which has the same
                new.rename(folder)
        finally:
            remove_tree(new)
        if not _is_whole(folder, sizes):
            raise OSError(f"{folder} cannot be made, or is removed at once; see TOPOI_CACHE and TOPOI_CACHE_GB")
        _prune(sum(sizes.values()))
    _touch(folder)
    return folder


def cached_file(key: str, fill: Callable[[Path], None]) -> Path:
    """The file of this key in the cache; `fill` writes it, if need be, under a name at which there is nothing.

    Tasks at the same time ask for the same files: one of them fetches it, the others wait, in other processes too.
    """
    path = _file(key)
    number = int(path.name[-2:], 16) % len(_locks)
    with _locks[number]:
        if look(path) is None:
            with _alone(path, number):
                if look(path) is None:
                    _fill(path, fill)
    _touch(path)
    return path


@contextlib.contextmanager
def _alone(path: Path, number: int) -> Iterator[None]:
    """Be the only process that fetches a file, or come when another one has, or has taken too long."""
    folder, begun = make_inside(path.parent, f"lock-{number}"), time.monotonic()
    with contextlib.ExitStack() as lock:
        while look(path) is None and time.monotonic() - begun < PATIENCE:
            try:
                lock.enter_context(locked(folder))  # which goes with its process, however that ends
            except BusyError:  # it has waited a moment
                continue
            break
        yield


def held(key: str) -> bool:
    """Whether there is a copy."""
    return look(_file(key)) is not None


def here(place: Location) -> Path:
    """A file to read: the one of a path, or a copy of an object whose bytes follow from its URL."""
    if isinstance(place, Path):
        return place
    return cached_file(place.url, lambda new: remote.fetch(place, new))


def renew(place: Remote, write: Callable[[BinaryIO], object]) -> Path:
    """A copy in the cache of an object that is to be put."""

    def fill(new: Path) -> None:
        with new_file(new) as file:
            write(file)

    path = _file(place.url)
    _fill(path, fill)
    return path


def forget(key: str) -> None:
    """Remove a file from the cache."""
    remove_file(_file(key))


def _file(key: str) -> Path:
    return _place() / f"object-{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def _fill(path: Path, fill: Callable[[Path], None]) -> None:
    new = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        fill(new)
        size = new.stat().st_size
        try:
            rename(new, path.name)
        except PermissionError:  # Windows replaces no file that is mapped, which has the same bytes
            if look(path) is None:
                raise
    finally:
        remove_file(new)
    _prune(size)


def _is_whole(folder: Path, sizes: Mapping[str, int]) -> bool:
    found = [look(folder / name) for name in sizes]
    return all(
        it is not None and stat.S_ISREG(it.st_mode) and it.st_size == size
        for it, size in zip(found, sizes.values(), strict=True)
    )


def _touch(path: Path) -> None:
    """Note that a copy was used."""
    with contextlib.suppress(OSError):
        os.utime(path)


# ---- The folder --------------------------------------------------------------------------------------------


class _Process:
    """Owner of a folder that goes with the process."""


_process = _Process()


def _place() -> Path:
    """The folder of the copies: the first that nobody else can write to."""
    given = os.environ.get("TOPOI_CACHE")
    return _folder(Path(given) if given else user_cache())


_found: dict[Path | None, Path] = {}


def _folder(base: Path | None) -> Path:
    folder = _found.get(base)
    if folder is None or not folder.is_dir():  # removed since
        folder = None if base is None else private_folder(base, "objects")[0]
        if folder is None:
            folder = temporary_folder("topoi-objects-")
            remove_with(_process, folder)
        _found[base] = folder
    return folder


# ---- What is removed ---------------------------------------------------------------------------------------

_lock = threading.Lock()
_added: dict[Path, float] = {}  # bytes that this process has added since it looked for copies to remove


def most() -> float:
    """The bytes that copies may take."""
    given = os.environ.get("TOPOI_CACHE_GB", "")
    try:
        gigabytes = float(given) if given else USUAL_GB
    except ValueError:
        gigabytes = -1.0
    if not gigabytes >= 0:
        raise ParameterError("TOPOI_CACHE_GB", f"must be a number of gigabytes, not {given!r}")
    return gigabytes * 1e9


def _prune(added: int) -> None:
    """Remove the copies that were used longest ago, if there are too many; looked after now and then."""
    place, room = _place(), most()
    with _lock:
        before = _added.get(place, room)  # the first time there may be some of another process
        _added[place] = before + added
        if _added[place] < room / 20:
            return
        _added[place] = 0.0
    now, total = time.time(), 0
    for used, n_bytes, path in sorted(_copies(place), reverse=True):
        total += n_bytes
        if total > room and now - used > GRACE:
            remove_tree(path)
            with contextlib.suppress(OSError):  # Windows removes no file that is mapped
                remove_file(path)


def _copies(place: Path) -> Iterator[tuple[float, int, Path]]:
    """When the copies were used last, and how many bytes they have."""
    for path in place.iterdir():
        found = look(path)
        if found is None or not _NAMES.fullmatch(path.name):
            continue
        sizes = [found.st_size]
        if stat.S_ISDIR(found.st_mode):
            with contextlib.suppress(OSError):
                sizes = [inner.stat().st_size for inner in path.iterdir()]
        yield found.st_mtime, sum(sizes), path

"""Folders of caches: code is run from one, and copies of objects are believed, so nobody else may write to them.

It is one of ours (mode 0700, whatever the umask), and so is the way to it: every folder above, and every link on the
way, belongs to us or to root, and nobody else can rename things in it. A folder with the sticky bit, as /tmp, will do:
there, others cannot touch what is ours. On Windows, where modes say little, the folder is the user's by its place.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from pathlib import Path

from topoi._disk.folders import remove_tree
from topoi._disk.inside import is_link, look, opened
from topoi._disk.whole import write_whole

MARKER = "made-by-topoi"
NAMES = re.compile(r"kernels-[0-9a-f]{16}")
_MOST_LINKS = 40
USER_CACHE = {
    "win32": Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")),
    "darwin": Path("~/Library/Caches"),
}.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache"))


def user_cache() -> Path | None:
    """Where topoi keeps what the user can do without; None if this system says nothing of it."""
    try:
        home = USER_CACHE.expanduser()
    except RuntimeError:  # neither HOME nor an entry in the list of users, as in some containers
        return None
    # A relative path, as of a home that cannot be told, must not become a folder in the working directory.
    return home / "topoi" if home.is_absolute() else None


def private_folder(base: Path, name: str) -> tuple[Path | None, str]:
    """The folder base/name, made if need be; or None and, if that is what is wrong, why others could write to it."""
    base = Path(os.path.abspath(base))
    try:
        _make(base)
        if why := unsafe(base):
            return None, why
        folder = base.resolve() / name
        with contextlib.suppress(FileExistsError):
            with opened(folder.parent) as parent:
                parent.make(name, 0o700)
            folder.chmod(0o700)  # the umask may have taken too much
        found = folder.lstat()
        if why := _ours_alone(folder, found):
            return None, why
        write_whole(folder / MARKER, b"A cache of topoi; it may be removed.\n", sync=False, follow=False)
    except OSError:
        return None, ""
    return folder, ""


def prune(base: Path, keep: int = 3) -> None:
    """Remove the code of all but the newest few states of the source; another process may be doing the same.

    Only folders that are ours: by their name, their owner, and the file in them that says so.
    """
    with contextlib.suppress(OSError):
        old = [folder for folder in base.iterdir() if NAMES.fullmatch(folder.name) and _is_cache(folder)]
        for folder in sorted(old, key=lambda path: path.stat().st_mtime)[:-keep]:
            remove_tree(folder)


def _is_cache(folder: Path) -> bool:
    found, marker = look(folder), look(folder / MARKER)
    return found is not None and not _ours_alone(folder, found) and marker is not None and stat.S_ISREG(marker.st_mode)


def _make(path: Path) -> None:
    """Make a folder and those above it that are missing; whatever the umask, others cannot write to them."""
    if not path.is_dir():
        _make(path.parent)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o755)


def unsafe(path: Path) -> str:
    """Why others could put something else in the place of a folder; "" if they cannot."""
    if sys.platform == "win32":
        return ""
    todo, way = list(reversed(path.parts[1:])), Path(path.anchor)
    links = 0
    if why := _shared(way, way.lstat()):
        return why
    while todo:
        step = todo.pop()
        if step in (".", ".."):
            way = way.parent if step == ".." else way
            continue
        found = (way / step).lstat()
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MOST_LINKS or found.st_uid not in (0, os.geteuid()):
                return f"the link {way / step} is not yours"
            target = Path(os.readlink(way / step))
            if target.is_absolute():
                way = Path(target.anchor)
            todo += [part for part in reversed(target.parts) if part != target.anchor]
            continue
        way /= step
        if why := _shared(way, found):
            return why
    return ""


def _shared(folder: Path, found: os.stat_result) -> str:
    """Why others could rename what is in a folder."""
    if sys.platform == "win32":
        return ""
    if found.st_uid not in (0, os.geteuid()):
        return f"{folder} belongs to another user"
    writers = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not writers or found.st_mode & stat.S_ISVTX:
        return ""
    if writers == stat.S_IWGRP and _own_group(found.st_gid):
        return ""
    return f"other users can write to {folder}"


def _ours_alone(folder: Path, found: os.stat_result) -> str:
    """Why a folder is not one that only we can write to."""
    if is_link(found) or not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder"
    if sys.platform == "win32":
        return ""
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {folder}"
    return ""


def _own_group(gid: int) -> bool:
    """Whether a group is the private one of this user, as many systems make one: then nobody else is in it."""
    if sys.platform == "win32":
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}

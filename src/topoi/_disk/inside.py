"""Single steps in a folder, in which a link is never followed.

Where the system has it (Linux, macOS) the folder is opened, and names are looked up in what was opened: whoever changes
its path meanwhile changes nothing. Elsewhere (Windows) the folder is looked at before every step.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from topoi.errors import DiskError

#: Whether names can be looked up in an open folder.
BY_DESCRIPTOR = (
    hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.mkdir, os.rename, os.rmdir, os.stat, os.unlink} <= os.supports_dir_fd
    and os.listdir in os.supports_fd
)
#: Flags that not every system has; text mode of Windows would change line breaks.
FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
WHAT = "which topoi does not follow in a folder of its own; remove it, or name another folder"


def is_link(found: os.stat_result) -> bool:
    """Whether it leads elsewhere: a symbolic link, or a junction of Windows."""
    # Of Windows' tags, those with this bit stand for another place; those of files in a cloud do not.
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0) & 0x20000000)


def look(path: Path) -> os.stat_result | None:
    """What is at a path, which is not followed; None if there is nothing."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def keeps_what_is_in_use(error: OSError) -> bool:
    """Whether a file or folder may not have been replaced because somebody uses it, as on Windows."""
    return isinstance(error, PermissionError) and not BY_DESCRIPTOR


def not_replaced(path: Path, error: OSError) -> DiskError:
    """What Windows' refusal to replace a file or a folder means for whoever saves."""
    return DiskError(
        f"{path} cannot be replaced ({error.strerror or error}). It may be in use: Windows replaces no file "
        "that is open, as are those from which a large model or a corpus has been loaded. "
        "Save under another name, or end what uses it; what was saved there before is unchanged"
    )


class Folder:
    """A folder, open or looked at; names in it are single names, never paths."""

    def __init__(self, path: Path, fd: int | None) -> None:
        self.path = path
        self.fd = fd

    def _at(self, name: str) -> str:
        if name in ("", ".", "..") or Path(name).name != name:
            raise DiskError(f"{name!r} is no name in {self.path}")
        return name if self.fd is not None else str(self.path / name)

    def look(self, name: str) -> os.stat_result | None:
        """What has this name; None if nothing has."""
        try:
            return os.stat(self._at(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """The names in it, in their order."""
        return sorted(os.listdir(self.path if self.fd is None else self.fd))

    def open(self, name: str, flags: int) -> int:
        """Open a file that has this name itself; the descriptor of it."""
        found = self.look(name)
        if found is not None:
            self._check_file(name, found)
        fd = os.open(self._at(name), flags | FLAGS, 0o666, dir_fd=self.fd)
        try:
            self._check_file(name, os.fstat(fd))  # of what was opened: it may have come since
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _check_file(self, name: str, found: os.stat_result) -> None:
        if is_link(found):
            raise DiskError(f"{self.path / name} is a link, {WHAT}")
        if not stat.S_ISREG(found.st_mode):
            raise DiskError(f"{self.path / name} is not a file; remove it, or name another folder")

    def make(self, name: str, mode: int = 0o777) -> None:
        """Make a folder; there must be nothing of this name."""
        os.mkdir(self._at(name), mode, dir_fd=self.fd)

    def rename(self, old: str, new: str) -> None:
        """Give a file or a link another name; what had that name is gone."""
        if self.fd is None:
            os.replace(self._at(old), self._at(new))
        else:
            os.rename(self._at(old), self._at(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Remove a file, or a link itself, if there is one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self.fd)

    def remove_empty(self, name: str) -> None:
        """Remove a folder in which there is nothing."""
        os.rmdir(self._at(name), dir_fd=self.fd)

    def remove_tree(self, name: str) -> None:
        """Remove a folder and all that is in it, as far as that can be done; links in it go, not what they lead to."""
        found = self.look(name)
        if found is not None and stat.S_ISDIR(found.st_mode) and not is_link(found):
            shutil.rmtree(self._at(name), ignore_errors=True, dir_fd=self.fd)

    @contextlib.contextmanager
    def inner(self, name: str) -> Iterator[Folder]:
        """A folder in it."""
        with _opened(self.path / name, self._at(name), self.fd) as folder:
            yield folder


@contextlib.contextmanager
def opened(path: str | os.PathLike[str], follow: bool = False) -> Iterator[Folder]:
    """A folder to do something in. Unless `follow`, as for one that a user has named, it must not be a link."""
    path = Path(os.path.realpath(path) if follow else path)
    with _opened(path, str(path), None) as folder:
        yield folder


@contextlib.contextmanager
def _opened(path: Path, at: str, dir_fd: int | None) -> Iterator[Folder]:
    found = os.stat(at, dir_fd=dir_fd, follow_symlinks=False)
    if is_link(found):
        raise DiskError(f"{path} is a link, {WHAT}")
    if not stat.S_ISDIR(found.st_mode):
        raise DiskError(f"{path} is not a folder; remove it, or name another folder")
    if not BY_DESCRIPTOR:
        yield Folder(path, None)
        return
    fd = os.open(at, os.O_RDONLY | os.O_DIRECTORY | FLAGS, dir_fd=dir_fd)
    try:
        yield Folder(path, fd)
    finally:
        os.close(fd)

"""One process at a time fills a folder: a second one is told at once who does.

The lock is one of the operating system on a small file in the folder, so that it goes with its process, however that
ends. The file says who has it; one that a killed process left behind is taken over. Where the system has no locks (some
network disks) the file itself is the lock, and goes by whether the process that it names is alive.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from topoi._disk.inside import Folder, opened
from topoi.errors import BusyError, DiskError

LOCK = ".topoi.lock"
_FAR = 2**30  # Windows locks bytes, and a locked one cannot be read: one that is not there is locked
_TRIES, _PAUSE = 5, 0.05  # seconds: another process may be taking over the same file
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}

_held: set[tuple[int, int]] = set()  # folders, by device and number: the system's lock does not tell threads apart
_guard = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child has none of its parent's locks
    os.register_at_fork(after_in_child=_held.clear)


@dataclass(frozen=True)
class Holder:
    """Who has a lock, as its file says: which is not believed further than to be shown."""

    pid: int = 0
    host: str = ""
    since: str = ""

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        return f"process {self.pid} on {self.host}, since {self.since}"

    @property
    def gone(self) -> bool:
        """Whether it is known to have ended."""
        if os.name != "posix" or not self.pid or self.host != _clean(socket.gethostname()):
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
        return False


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Be the only one who fills a folder that a user has named; a BusyError if somebody else does."""
    with opened(path, follow=True) as folder:
        place = os.stat(folder.path)
        key = place.st_dev, place.st_ino
        _enter(key, folder)
        try:
            fd, pid = _take(folder), os.getpid()
            try:
                yield
            finally:
                if os.getpid() == pid:  # not a child that was forked in between
                    _release(folder, fd)
        finally:
            _held.discard(key)


def check_free(path: str | os.PathLike[str]) -> None:
    """Raise a BusyError if a process fills the folder."""
    if not Path(path, LOCK).exists():
        return
    with locked(path):
        pass


def _enter(key: tuple[int, int], folder: Folder) -> None:
    with _guard:
        if key in _held:
            raise _busy(folder, f"another call in this process ({os.getpid()})")
        _held.add(key)


def _take(folder: Folder) -> int:
    """The descriptor of the lock file, which is ours now."""
    holder = Holder()
    for _ in range(_TRIES):
        fd = None
        try:
            fd, new = _open(folder)
            got = _lock(fd)
            again = os.name == "nt" and os.fstat(fd).st_nlink == 1  # Windows removes no file that is open
            if got is not False and (new or again) and _is(folder, fd):
                _sign(fd)
                mine, fd = fd, None
                return mine
            if got and _is(folder, fd):
                folder.remove(LOCK)  # of a process that is gone; not written to, since it may have a second name
                continue
        except FileNotFoundError:  # it has just gone
            continue
        except PermissionError:  # another user's
            got = None
        finally:
            if fd is not None:
                os.close(fd)
        holder = _holder(folder)
        if got is None and holder.gone:  # no lock to be had: the file alone can tell
            folder.remove(LOCK)
        else:
            time.sleep(_PAUSE)
    raise _busy(folder, f"{holder} (if that is gone, remove {folder.path / LOCK})")


def _open(folder: Folder) -> tuple[int, bool]:
    """The lock file, and whether it is new."""
    try:
        return folder.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL), True
    except FileExistsError:
        return folder.open(LOCK, os.O_RDWR), False


def _release(folder: Folder, fd: int) -> None:
    """Remove the file, then let go of it, so that nobody takes what is about to go; Windows wants the other order."""
    with contextlib.suppress(OSError):
        if os.name != "nt":
            folder.remove(LOCK)
    os.close(fd)
    with contextlib.suppress(OSError):
        if os.name == "nt":
            folder.remove(LOCK)


def _busy(folder: Folder, who: str) -> BusyError:
    return BusyError(
        f"{folder.path}: is being written to by {who}. Wait until it ends, or stop it, or choose another folder."
    )


def _is(folder: Folder, fd: int) -> bool:
    """Whether the file is still the one of that name: who had it may have removed it meanwhile."""
    found, own = folder.look(LOCK), os.fstat(fd)
    return found is not None and os.path.samestat(found, own)


def _sign(fd: int) -> None:
    """Say who we are."""
    since = datetime.now().astimezone().isoformat(" ", "seconds")
    os.lseek(fd, 0, os.SEEK_SET)
    os.ftruncate(fd, 0)
    os.write(fd, json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode())


def _holder(folder: Folder) -> Holder:
    """Whom the file names."""
    try:
        with os.fdopen(folder.open(LOCK, os.O_RDONLY), "rb") as file:
            found = json.loads(file.read(1000))
        return Holder(int(found["pid"]), _clean(found["host"]), _clean(found["since"]))
    except (OSError, DiskError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Holder()


def _clean(text: object) -> str:
    """A text that a terminal can be given."""
    return "".join(letter for letter in str(text)[:100] if letter.isprintable())


def _lock(fd: int) -> bool | None:
    """Take the system's lock: whether we have it, None if there is none to be had."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(fd, _FAR, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True

"""What a case of a fuzzer must leave alone: a watch on what the process does, and looks at folders before and after."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any, ClassVar

NOBODY = 65534


class Watch:
    """What this process changes elsewhere than in some folders, and what it starts, by Python's audit events."""

    WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    #: Events whose first arguments, so many, are paths.
    CHANGES: ClassVar = {"os.remove": 1, "os.rmdir": 1, "os.mkdir": 1, "os.chmod": 1, "os.chown": 1, "os.truncate": 1,
                         "os.utime": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2}  # fmt: skip
    NEVER = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "pickle.find_class",
             "ctypes.dlopen")  # fmt: skip

    def __init__(self, allowed: list[Path]) -> None:
        self.allowed = [f"{os.path.realpath(path)}{os.sep}" for path in allowed]
        self.on = self.network = self.strict = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(arguments[0], str | bytes) and arguments[2] & self.WRITES:
            self._note(event, os.path.realpath(os.fsdecode(arguments[0])))
        elif event in self.CHANGES:
            for number in range(self.CHANGES[event]):
                if isinstance(arguments[number], str | bytes | os.PathLike):
                    self._note(event, self._place(arguments, number, self.CHANGES[event]))
        elif self._forbidden(event):
            self.seen.append(f"{event} {arguments!r:.100}")

    def _forbidden(self, event: str) -> bool:
        if event == "socket.connect":
            return not self.network
        return (event in self.NEVER or (event == "exec" and self.strict)) and not self._importing()

    @staticmethod
    def _importing() -> bool:
        """Whether a module is being imported, which runs code and may load a library."""
        frame: Any = sys._getframe(2)
        while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        return frame is not None

    @staticmethod
    def _place(arguments: tuple[Any, ...], number: int, paths: int) -> str:
        """Where a name is; the last part of it is not followed."""
        at = arguments[number - paths]  # descriptors of open folders come last; a mode, which is none, is below
        folder = f"/proc/self/fd/{at}" if isinstance(at, int) and os.path.exists(f"/proc/self/fd/{at}") else ""
        above, name = os.path.split(os.fsdecode(arguments[number]).rstrip(os.sep))
        return os.path.join(os.path.realpath(os.path.join(folder, above)), name)

    def _note(self, event: str, place: str) -> None:
        if not place.startswith("/dev/") and not f"{place}{os.sep}".startswith(tuple(self.allowed)):
            self.seen.append(f"{event} {place}")


# ---- What must not change ------------------------------------------------------------------------------------------


def plant_canaries(folder: Path) -> None:
    """Files and folders with names that topoi gives its own, and others."""
    for name in (
        "precious.txt", "topoi.json", "estimator.topoi", "unfinished.json", ".topoi.lock", "sweep-000000001.topoi",
        "0123456789ab/layout", "sweep-000000002/model", "model-0-chain-0/sweep-000000001.topoi", "corpus-0/words.npy",
        "kernels-0123456789abcdef/index.nbi", "folder/deep/er/precious.txt",
    ):  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} is nobody else's business\n")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("precious.txt")


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All that is below a folder: kind, mode, owner, size, time and bytes of each."""
    found: dict[str, tuple[Any, ...]] = {}
    todo = [str(folder)]
    while todo:
        path = todo.pop()
        state = os.lstat(path)
        is_file = stat.S_ISREG(state.st_mode)
        more: Any = None
        if stat.S_ISDIR(state.st_mode):
            todo += [os.path.join(path, name) for name in os.listdir(path)]
        elif stat.S_ISLNK(state.st_mode):
            more = os.readlink(path)
        elif is_file:
            more = hashlib.blake2b(Path(path).read_bytes()).digest()
        size = state.st_size if is_file else 0
        found[path] = state.st_mode, state.st_uid, size, state.st_mtime_ns, more
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """In which paths two snapshots differ."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def empty(folder: Path) -> None:
    """Remove all that is in a folder, whatever its permissions."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        for path, folders, _ in os.walk(folder):
            for name in [".", *folders]:
                inner = os.path.join(path, name)
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
        shutil.rmtree(folder)
    folder.mkdir()
    hand_over(folder)


def hand_over(folder: Path) -> None:
    """Make `nobody` the owner, where cases run as that user."""
    if os.geteuid() == 0:
        for path in snapshot(folder):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

"""Folders from strangers: whatever is in them, commands end with success or one clear message, and touch nothing else.

    python verify/fuzz_folders.py [--cases 10000] [--seed 0]

Folders of models, of fits that were killed, of blocks of topics and of corpora are changed in one to three ways: links
to files and folders elsewhere (also dangling, and in circles), second names (hard links), named pipes, sockets,
permissions, files that are missing, added, renamed, swapped, folders in place of files and the reverse, names that are
no UTF-8 or very long. Then a command is run on them. Files that were in such a folder and are not topoi's must be there
afterwards, as they were. `fuzzing.py` says what else is checked.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import fuzzing
import numpy as np
from fuzz_inputs import COLUMNS, TINY, make_all
from fuzzing import Fault, Place, Tell, command, library
from untouched import changes, snapshot

from topoi import LDA, Corpus
from topoi.chain.checkpoint import Checkpoints

FOLDERS = ("lda", "classifier", "regressor", "unfinished", "blocks", "corpus")
#: Names that topoi gives, or gave, or could be thought to give.
OURS = (
    "estimator.topoi", "topoi.json", "unfinished.json", ".topoi.lock", ".estimator.topoi.new", "checkpoints",
    ".estimator.topoi.0123456789abcdef0123456789abcdef.new", "sweep-000000099.topoi", "sweep-000000001.damaged",
    "seed.json", "blocks", "corpus-0", "model-0-chain-0", "model-0-chain-1", "0123456789ab", "sweep-000000009",
    "shares-000000009", "layout", "words.npy", "corpus.json", "doc_ptr.npy", "vocabulary.json",
)  # fmt: skip
#: Names that are nobody's: what has one is not topoi's to touch.
STRANGE = (
    "notes.txt", "thesis", b"not\xffutf8".decode("utf-8", "surrogateescape"), "x" * 255, "\x1b[31mred", " ",
    "new\nline", "-rf", "*", "estimator.topoi.bak", "ünïcode", "sweep-1", "my blocks", "sweep-x.topoi", "z-copy",
    "model-of-mine", "sweep-000000001 (copy).topoi",
)  # fmt: skip


# ---- Changes -------------------------------------------------------------------------------------------------------


def tree(folder: Path) -> list[Path]:
    """The folder and all that is below it, links not followed."""
    found = [folder]
    for path, folders, files in os.walk(folder):
        found += [Path(path, name) for name in (*folders, *files)]
    return sorted(found, key=os.fsencode)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


class Change:
    """Changes of one folder; each takes the path of something in it, and says what it did."""

    def __init__(self, rng: np.random.Generator, top: Path, place: Place) -> None:
        self.rng, self.top, self.place = rng, top, place
        self.added: list[Path] = []

    def pick(self, things: list[Path] | tuple[str, ...]) -> Path | str:
        """One of them."""
        return things[int(self.rng.integers(len(things)))]

    def elsewhere(self, folders: bool | None = None) -> Path:
        """A path outside."""
        every = [path for path in tree(self.place.outside) if not path.is_symlink()]
        return Path(self.pick([path for path in every if folders is None or path.is_dir() == folders]))

    def link(self, path: Path) -> str:
        """A link in the place of something, or beside it."""
        like = path.is_dir() if self.rng.random() < 0.7 else None
        kind = str(self.pick(("absolute", "relative", "dangling", "circle", "up", "inside")))
        if kind in ("absolute", "relative"):
            target = str(self.elsewhere(like))
            target = os.path.relpath(target, path.parent) if kind == "relative" else target
        elif kind == "inside":
            target = str(self.pick(tree(self.top)))
        else:
            target = {"dangling": str(self.place.outside / "nothing"), "circle": path.name, "up": ".."}[kind]
        remove(path)
        path.symlink_to(target)
        return f"link to {target}"

    def hard_link(self, path: Path) -> str:
        """A second name of a file outside."""
        target = self.elsewhere(folders=False)
        remove(path)
        os.link(target, path)
        return f"hard link to {target}"

    def pipe(self, path: Path) -> str:
        """A named pipe, which hangs whoever opens it."""
        remove(path)
        os.mkfifo(path)
        return "named pipe"

    def sock(self, path: Path) -> str:
        """A socket."""
        remove(path)
        here = Path.cwd()
        os.chdir(path.parent)  # its path would be too long
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(path.name)
        finally:
            os.chdir(here)
        return "socket"

    def mode(self, path: Path) -> str:
        """Permissions."""
        mode = int(self.rng.choice([0o000, 0o555, 0o444, 0o222, 0o111, 0o777]))
        if not path.is_symlink() and (path.is_dir() or path.stat().st_nlink == 1):  # else it is one outside
            path.chmod(mode)
        return f"mode {mode:o}"

    def missing(self, path: Path) -> str:
        """Nothing."""
        remove(path)
        return "missing"

    def swap_kind(self, path: Path) -> str:
        """A folder in place of a file, or the reverse."""
        was_folder = path.is_dir()
        remove(path)
        if was_folder:
            path.write_bytes(b"not a folder")
            return "a file"
        path.mkdir()
        (path / "in it").write_bytes(b"x")
        self.added.append(path / "in it")
        return "a folder"

    def other_bytes(self, path: Path) -> str:
        """Another file's bytes, none, or many."""
        if path.is_dir():
            return self.missing(path)
        remove(path)  # it may be a link
        path.write_bytes([b"", b"{}", b"[]", b"null", b"\0" * 1000, b"[" * 100_000][int(self.rng.integers(6))])
        return "other bytes"

    def rename(self, path: Path) -> str:
        """Another name."""
        name = str(self.pick(OURS))
        if not os.path.lexists(path.parent / name):
            path.rename(path.parent / name)
        return f"called {name}"

    def swap(self, path: Path) -> str:
        """The name of another thing, which takes this one's."""
        other = Path(self.pick(tree(self.top)[1:]))
        if path in (other, *other.parents) or other in path.parents:
            return "as it was"
        aside = self.place.work / "aside"
        path.rename(aside)
        other.rename(path)
        aside.rename(other)
        return f"swapped with {other.relative_to(self.top)!s:.60}"

    def add(self, path: Path) -> str:
        """Something more, which is nobody's or has a name of ours."""
        folder = path if path.is_dir() and not path.is_symlink() else path.parent
        ours = self.rng.random() < 0.5
        new = folder / str(self.pick(OURS if ours else STRANGE))
        if os.path.lexists(new):
            return "as it was"
        if not ours:
            self.added.append(new)
        if self.rng.random() < 0.4:
            new.mkdir()
            (new / "a thesis").write_bytes(b"years of work")
            self.added.append(new / "a thesis")
            return f"with a folder {new.name!r:.60}"
        new.write_bytes(b"years of work")
        if not ours or self.rng.random() < 0.5:
            return f"with a file {new.name!r:.60}"
        return f"with {new.name!r:.60}, a {self.link(new)}"


CHANGES: tuple[Callable[[Change, Path], str], ...] = (
    Change.link, Change.link, Change.link, Change.hard_link, Change.pipe, Change.sock, Change.mode, Change.missing,
    Change.swap_kind, Change.other_bytes, Change.rename, Change.swap, Change.add, Change.add,
)  # fmt: skip


def change(change: Change) -> str:
    """Change a folder in one to three ways; what was done."""
    done = []
    for _ in range(int(change.rng.integers(1, 4))):
        paths = tree(change.top)[1:]
        if not paths:
            break
        path = Path(change.pick(paths))
        # Links are not gone through: what they lead to must not be changed by us either.
        how = CHANGES[int(change.rng.integers(len(CHANGES)))]
        try:
            done.append(f"{path.relative_to(change.top)!s:.80}: {how(change, path)}")
        except PermissionError:  # by a mode of before
            continue
        except OSError as error:
            done.append(f"({error})")
    return "; ".join(done)


# ---- Commands ------------------------------------------------------------------------------------------------------


def commands(kind: str) -> list[list[str]]:
    """What can be done with a folder; DOCUMENTS is replaced by the path of the documents."""
    fits = [["fit", "DOCUMENTS", "-o", "folder", *TINY, *COLUMNS, *more] for more in ([], ["--force"])]
    # Checkpoints are only written over where they are of the same fit.
    fits.append([*fits[1], "--checkpoint-seconds", "0"])
    fits.append([*fits[2], "--dask", "blocks"])
    uses = [
        ["topics", "folder"], ["info", "folder"], ["export", "folder", "-f", "topic-word", "-o", "out.csv"],
        ["predict", "folder", "DOCUMENTS", "-o", "out.csv"], ["transform", "folder", "DOCUMENTS", "-o", "out.csv"],
        ["report", "folder", "DOCUMENTS", "-o", "out.html"], ["evaluate", "folder", "DOCUMENTS"],
        ["explain", "folder", "--text", "apple zinc"], ["convert", "folder", "out.jsonl"],
        ["fit", "folder", "-o", "other", *TINY],
    ]  # fmt: skip
    resumes = [["resume", "folder"], ["resume", "folder", "--json"], ["resume", "folder", "-q"]]
    if kind in ("unfinished", "blocks"):
        return [*resumes, *resumes, *fits[1:], *uses[:3]]
    if kind == "corpus":
        return [["LOAD"], ["LOAD"], ["SAVE"], *fits[:2], *uses[-2:]]
    return [*uses, *fits, *resumes[:1]]


def act(arguments: list[str], place: Place) -> str:
    """Carry out a command, or what only the library does."""
    folder = place.work / "folder"
    if arguments == ["LOAD"]:
        # Read to the end, and used.
        return library(lambda: LDA(2, n_sweeps=2, n_samples=1).fit(Corpus.load(folder)))
    if arguments == ["SAVE"]:
        return library(lambda: Corpus.from_counts(np.eye(3, dtype=int)).save(folder))
    if arguments == ["CHECKPOINT"]:
        estimator = LDA(2, n_sweeps=3, n_samples=1, random_state=None)
        points = Checkpoints(folder / "checkpoints", every_sweeps=1)
        return library(lambda: estimator.fit(np.eye(3, dtype=int), checkpoint=points))
    return command([str(place.outside / "documents.csv") if word == "DOCUMENTS" else word for word in arguments])


def case(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """Change a folder, run a command on it."""
    kind = FOLDERS[int(rng.integers(len(FOLDERS)))]
    top = place.work / "folder"
    shutil.copytree(place.outside / kind, top, symlinks=True)
    changing = Change(rng, top, place)
    done = change(changing)
    every = [*commands(kind), ["CHECKPOINT"]]
    arguments = every[int(rng.integers(len(every)))]
    if arguments == ["CHECKPOINT"] and (top / "checkpoints").is_symlink():
        arguments = ["resume", "folder"]  # which names the folder above: a link that a user names may be followed
    tell(f"{kind}: {done}: topoi {' '.join(arguments)}".encode("ascii", "backslashreplace").decode())
    before = {str(path): seen(path) for path in changing.added}
    outcome = act(arguments, place)
    if arguments == ["SAVE"] and outcome == "done":
        return outcome  # documented: all that is in the folder of a corpus is replaced
    if lost := changes(before, {str(path): seen(path) for path in changing.added}):
        raise Fault(f"strangers' files in the folder are gone or changed: {lost}")
    if outcome == "refused: memory":
        raise Fault("a small folder asks for much memory")
    return outcome


def seen(path: Path) -> object:
    """A file or folder that is not topoi's, as it is now."""
    try:
        return [(state[0], state[2], state[4]) for state in snapshot(path).values()]
    except OSError:
        return None


if __name__ == "__main__":
    fuzzing.main(__doc__ or "", make_all, case)

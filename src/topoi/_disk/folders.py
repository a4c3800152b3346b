"""Folders that are made, checked and cleared. What is cleared is known by its name, so that nothing else goes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topoi._disk.inside import Folder, is_link, keeps_what_is_in_use, look, not_replaced, opened
from topoi._disk.locks import LOCK

#: A file that was being written when its process was killed.
TEMPORARY = r"\.[^/]+\.[0-9a-f]{32}\.new"
_CORPUS = r"(corpus\.json|words\.npy|doc_ptr\.npy|vocabulary\.json|ngrams\.json|ngrams_[a-z]+\.npy)"
#: The names before those of the factor are today's; table, topics, … and urn were its files in version 0.1.
_BLOCK = (
    r"(model|(scale|factor-[a-z_]+)(-\d{5,})?|table|topics|phi|start|mass"
    r"|(now|total|last)-(data|indices|\d{5,})|counts-\d{5,}-\d{5,}"
    r"|(z|sum|pairs|counts\d*|seen\d+|rows|urn)-\d{5,})(\.\d{15})?"  # parts of a file, in an object store
)
_SWEEP = rf"(sweep|shares|kept)-\d{{9}}(/({_BLOCK}|{TEMPORARY}))?"
_BLOCKS = rf"[0-9a-f]{{12}}(/(layout|y\.npy|weight\.npy|pseudo_counts|(columns|about)-\d{{5,}}|{TEMPORARY}|{_SWEEP}))?"
_CHAIN = rf"(sweep-\d{{9,}}\.(topoi|damaged)|doc_topic-[0-9a-f]{{12}}\.npy|{TEMPORARY}|blocks(/{_BLOCKS})?)"
#: Every path, below a folder of checkpoints, of a file or folder that topoi makes there.
CHECKPOINT_NAMES = re.compile(
    rf"seed\.json|{re.escape(LOCK)}|{TEMPORARY}|(model|pilot)-\d+-chain-\d+(/{_CHAIN})?|corpus-\d+(/{_CORPUS})?"
    rf"|\.corpus-\d+-[a-z0-9_]{{8}}(/(new|old)(/{_CORPUS})?)?"
)  # fmt: skip
#: Of these, what is below a folder of runs with topics in files, and below the folder of one run.
RUN_NAMES, SWEEP_NAMES = re.compile(_BLOCKS), re.compile(_SWEEP)


def make_folder(path: Path) -> None:
    """Make a folder that a user has named, and those above it, unless they are there."""
    path.mkdir(parents=True, exist_ok=True)


def make_inside(root: str | os.PathLike[str], *names: str) -> Path:
    """Make a folder below one that a user has named, unless it is there: root/name/name/…, none of which is a link."""
    make_folder(Path(root))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(opened(root, follow=True))
        for name in names:
            with contextlib.suppress(FileExistsError):
                folder.make(name)
            folder = stack.enter_context(folder.inner(name))
        return folder.path


def make_new(path: Path) -> None:
    """Make a folder in one that is there; there must be nothing of its name."""
    with opened(path.parent) as folder:
        folder.make(path.name)


def rename(path: Path, name: str) -> None:
    """Give a file another name in its folder."""
    with opened(path.parent) as folder:
        folder.rename(path.name, name)


def remove_file(path: Path) -> None:
    """Remove a file, or a link itself, if it is there."""
    with contextlib.suppress(FileNotFoundError), opened(path.parent) as folder:
        folder.remove(path.name)


def remove_empty(path: Path) -> None:
    """Remove a folder if there is nothing in it."""
    with contextlib.suppress(OSError), opened(path.parent, follow=True) as folder:
        folder.remove_empty(path.name)


def remove_tree(path: Path) -> None:
    """Remove a folder that this process has made and all that is in it, as far as that can be done."""
    with contextlib.suppress(OSError), opened(path.parent) as folder:
        folder.remove_tree(path.name)


def remove_trees(folder: Path, names: re.Pattern[str], keep: set[str]) -> None:
    """Remove what topoi made in folders of a folder, but those to keep, and the folders if nothing else is in them."""
    with contextlib.suppress(FileNotFoundError), opened(folder) as parent:
        for name in parent.names():
            found = parent.look(name)
            if name not in keep and names.fullmatch(name) and found is not None and stat.S_ISDIR(found.st_mode):
                with contextlib.suppress(OSError):
                    with parent.inner(name) as inner:
                        _clear(inner, f"{name}/", names)
                    parent.remove_empty(name)


def remove_files(folder: Path, names: str) -> None:
    """Remove the files in a folder whose whole names are as a pattern says, as far as that can be done."""
    with contextlib.suppress(FileNotFoundError), opened(folder) as parent:
        for name in parent.names():
            found = parent.look(name)
            if re.fullmatch(names, name) and found is not None and stat.S_ISREG(found.st_mode):
                with contextlib.suppress(OSError):  # Windows removes no file that is mapped
                    parent.remove(name)


def check_no_links(folder: Path) -> None:
    """Raise if a folder of topoi's own is a link, or has one anywhere in it; it need not be there."""
    if look(folder) is not None:
        with opened(folder) as top:
            _check_no_links(top)


def clear(folder: Path, names: re.Pattern[str]) -> None:
    """Remove what topoi made in a folder, and the folder if nothing else is in it; as far as that can be done."""
    with contextlib.suppress(OSError):
        with opened(folder) as top:
            _clear(top, "", names)
        remove_empty(folder)


def _check_no_links(folder: Folder) -> None:
    for name in folder.names():
        found = folder.look(name)
        if found is not None and (is_link(found) or stat.S_ISDIR(found.st_mode)):
            with folder.inner(name) as inner:  # which raises for a link
                _check_no_links(inner)


def _clear(folder: Folder, above: str, names: re.Pattern[str]) -> None:
    for name in folder.names():
        found = folder.look(name)
        if found is None or is_link(found) or not names.fullmatch(above + name):
            continue
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(found.st_mode):
                with folder.inner(name) as inner:
                    _clear(inner, f"{above}{name}/", names)
                folder.remove_empty(name)
            elif stat.S_ISREG(found.st_mode):
                folder.remove(name)


def temporary_folder(prefix: str) -> Path:
    """A new folder for temporary files, that only this user can open."""
    return Path(tempfile.mkdtemp(prefix=prefix))


def remove_with(owner: Any, folder: Path) -> None:
    """Remove a temporary folder when its owner goes."""
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `folder`, and of all that is in it, when the block ends well."""
    make_folder(folder.parent)
    # A folder beside the target is on the same disk, so renaming it is one step.
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new, old = Path(scratch) / "new", Path(scratch) / "old"
        new.mkdir()
        yield new
        try:
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        except BaseException as error:  # Ctrl-C, too
            if old.exists() and not folder.exists():  # else it would go with the scratch folder
                old.rename(folder)
            if isinstance(error, OSError) and keeps_what_is_in_use(error):
                raise not_replaced(folder, error) from error
            raise

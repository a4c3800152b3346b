"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from topoi._disk.inside import keeps_what_is_in_use, not_replaced, opened
from topoi._disk.moved import note_written
from topoi._disk.remote import Remote, fetch, locate, put

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def new_name(name: str) -> str:
    """A name for a file that is to become `name`, which nobody can guess; `folders.TEMPORARY` knows it again."""
    return f".{name}.{uuid.uuid4().hex}.new"


@contextmanager
def writing_whole(path: str | os.PathLike[str] | Remote, sync: bool = True, follow: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write to: whoever reads `path`, at any time and after any failure, finds all of it or the old.

    The bytes go to a new file beside the target, thus on the same disk, which takes its place in one step when the
    block ends without an error. Without `sync` it may be lost, or damaged, in a power cut.

    A path that a user has named is followed: a link stays a link, and what is no file, as /dev/null or a named pipe, is
    written to as it is. In a folder that is topoi's, `follow=False`: a link of that name is replaced by the file.

    The path may be a URL: then the bytes become an object in the end.
    """
    path = locate(path)
    if isinstance(path, Remote):
        with _becoming(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path) if follow else path)
    if follow and target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as file:
            yield file
        return
    with opened(target.parent) as folder:
        new = new_name(target.name)
        try:
            # Not `tempfile`, whose files only their owner may read.
            with os.fdopen(folder.open(new, NEW), "wb") as file:
                yield file
                note_written(file.tell())
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            try:
                folder.rename(new, target.name)
            except OSError as error:
                if not keeps_what_is_in_use(error):
                    raise
                raise not_replaced(target, error) from error
        finally:
            folder.remove(new)


@contextmanager
def _becoming(remote: Remote) -> Iterator[BinaryIO]:
    """A temporary file, which is put as an object when the block ends without an error."""
    with tempfile.TemporaryDirectory(prefix="topoi-") as scratch:
        path = Path(scratch, "object")
        with path.open("wb") as file:
            yield file
        put(remote, path)


@contextmanager
def local_copy(path: str | os.PathLike[str] | Remote) -> Iterator[Path]:
    """The file of a path; of a URL, a temporary copy of the object."""
    place = locate(path)
    if isinstance(place, Path):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="topoi-", ignore_cleanup_errors=True) as scratch:
        copy = Path(scratch, "object")
        fetch(place, copy)
        yield copy


def write_whole(path: str | Path | Remote, data: bytes, sync: bool = True, follow: bool = True) -> None:
    """Write `data` to a file, all of it or nothing; see `writing_whole`."""
    with writing_whole(path, sync, follow) as file:
        file.write(data)

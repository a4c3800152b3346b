"""What is done in folders that are topoi's to fill, on a disk or in an object store, which has no folders of its own.

On a disk these are the functions of `folders`, `locks` and `blocks`. In a store nothing has to be made before an object
is put, nothing is a link, and nobody can be locked out; files that several tasks fill are an object for each part.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topoi._disk import blocks, folders, locks, remote
from topoi._disk.cache import cached_file, forget, held, here, renew
from topoi._disk.moved import note_mapped, note_read, note_written
from topoi._disk.remote import Location, Remote, locate
from topoi._disk.safetensors import fetch_named
from topoi._disk.whole import writing_whole


def as_text(place: Location) -> str:
    """A location in words, of which `locate` makes the same again."""
    return place.url if isinstance(place, Remote) else str(place)


def resolved(place: Location) -> Location:
    """A location as it is below links that a user has made."""
    return place if isinstance(place, Remote) else Path(os.path.realpath(place))


def within(place: Location, folder: Location) -> str:
    """The path from a folder to what is in it."""
    if isinstance(place, Remote) and isinstance(folder, Remote):
        return place.url.removeprefix(f"{folder.url}/")
    assert isinstance(place, Path)
    assert isinstance(folder, Path)
    return place.relative_to(folder).as_posix()


def make_folder(place: Location) -> None:
    """See `folders.make_folder`."""
    if isinstance(place, Path):
        folders.make_folder(place)


def make_inside(root: Location, *names: str) -> Location:
    """See `folders.make_inside`."""
    if isinstance(root, Path):
        return folders.make_inside(root, *names)
    for name in names:
        root = root / name
    return root


def make_new(place: Location) -> None:
    """See `folders.make_new`; in a store a run has a folder of its own, whose name nobody can guess."""
    if isinstance(place, Path):
        folders.make_new(place)


def check_no_links(place: Location) -> None:
    """See `folders.check_no_links`."""
    if isinstance(place, Path):
        folders.check_no_links(place)


@contextlib.contextmanager
def locked(place: Location) -> Iterator[None]:
    """See `locks.locked`; stores have no locks."""
    if isinstance(place, Remote):
        yield
        return
    with locks.locked(place):
        yield


def rename(place: Location, name: str) -> None:
    """Give a file another name in its folder."""
    if isinstance(place, Path):
        folders.rename(place, name)
        return
    remote.put_bytes(place.parent / name, remote.read(place))
    remote.remove(place.parent, [place.name])


def remove_file(place: Location) -> None:
    """Remove a file, if it is there."""
    if isinstance(place, Path):
        folders.remove_file(place)
    else:
        remote.remove(place.parent, [place.name])


def remove_tree(place: Location) -> None:
    """Remove a folder that this process has made and all that is in it, as far as that can be done."""
    if isinstance(place, Path):
        folders.remove_tree(place)
        return
    with contextlib.suppress(OSError):
        remote.remove(place, remote.below(place))


def remove_trees(place: Location, names: re.Pattern[str], keep: set[str]) -> None:
    """See `folders.remove_trees`."""
    if isinstance(place, Path):
        folders.remove_trees(place, names, keep)
        return
    with contextlib.suppress(OSError):
        found = [name for name in remote.below(place) if name.split("/")[0] not in keep and "/" in name]
        remote.remove(place, filter(names.fullmatch, found))


def remove_files(place: Location, names: str) -> None:
    """See `folders.remove_files`; of files that tasks have filled, all parts."""
    if isinstance(place, Path):
        folders.remove_files(place, names)
        return
    with contextlib.suppress(OSError):
        remote.remove(place, [name for name in remote.below(place) if re.fullmatch(rf"({names})({PART})?", name)])


def files(place: Location, names: str) -> list[Location]:
    """The files in a folder whose whole names are as a pattern says, in the order of their names."""
    if isinstance(place, Path):
        found = [path.name for path in place.iterdir() if path.is_file()] if place.is_dir() else []
    else:
        found = list(remote.below(place))
    return [place / name for name in sorted(found) if re.fullmatch(names, name)]


# ---- Files that are written once, and read by many -----------------------------------------------------------


def write_once(place: Location, write: Callable[[BinaryIO], object]) -> None:
    """Write a file whose bytes follow from its name, whole, and not flushed to the disk.

    Of an object a copy stays in the cache, since who writes it is likely to read it.
    """
    if isinstance(place, Path):
        with writing_whole(place, sync=False, follow=False) as file:
            write(file)
        return
    remote.put(place, renew(place, write))


def read_named(place: Location, names: Iterable[str]) -> dict[str, NDArray[Any]] | None:
    """Of a large object that nobody here has a copy of, those of some arrays that it has; else None: see `here`."""
    return None if isinstance(place, Path) or held(place.url) else fetch_named(place, names)


def read_now(place: Location) -> bytes:
    """The bytes of a file that may have been written anew: no copy of an object is believed."""
    if isinstance(place, Remote):
        return remote.read(place)
    data = place.read_bytes()
    note_read(len(data))
    return data


def read_range(place: Location, first: int, last: int) -> bytes:
    """The bytes first … last − 1 of a file; fewer if it ends before."""
    if isinstance(place, Remote):
        return remote.read(place, first, last) if last > first else b""
    with place.open("rb") as file:
        file.seek(first)
        data = file.read(last - first)
    note_read(len(data))
    return data


# ---- Large arrays, of which every task writes its part and which all tasks map -------------------------------

#: How the object of a part is called after the name of the array: by the number of its first item.
PART = r"\.\d{15}"
#: Parts that are fetched at the same time, at most, and their bytes, all of which are in memory: a store gives one
#: object more slowly than a network can bring it.
TOGETHER, TOGETHER_BYTES = 8, 2**28


def make_shared(place: Location, n: int, dtype: Any) -> None:
    """A file with room for n numbers."""
    if isinstance(place, Path):
        with blocks.new_file(place) as file:
            file.truncate(n * np.dtype(dtype).itemsize)


def write_shared(place: Location, first: int, part: NDArray[Any]) -> None:
    """Write a part of a shared array, from its number `first` on.

    Whoever runs the same task again writes the same bytes to the same place: harmless at any time.
    """
    data = np.ascontiguousarray(part).data
    if isinstance(place, Path):
        with blocks.file_in_place(place) as file:
            file.seek(first * part.itemsize)
            file.write(data)
        note_written(data.nbytes)
    elif part.size:
        remote.put_bytes(_part(place, first), data.tobytes())


def map_shared(place: Location, dtype: Any, shape: tuple[int, ...], mode: Any = "c") -> NDArray[Any]:
    """A shared array, mapped into memory. Mode "c": kernels are compiled for arrays that can be written to."""
    if 0 in shape:
        return np.zeros(shape, dtype)
    itemsize = np.dtype(dtype).itemsize
    if isinstance(place, Remote):
        file = cached_file(place.url, lambda new: _gather(place, itemsize, new))
        mode = "r" if mode == "r" else "c"  # what is written goes to the store when it is flushed, not to the copy
    else:
        file = place
    if (found := file.stat().st_size) != itemsize * math.prod(shape):
        raise OSError(f"{place} is damaged (it has {found} bytes, too few or too many)")
    if isinstance(place, Path) and mode != "r+":  # what is written to it counts, when it is flushed
        note_mapped(place, found)
    return blocks.map_file(file, dtype, shape, mode)


def map_part(place: Location, dtype: Any, shape: tuple[int, ...], rows: slice) -> NDArray[Any]:
    """Rows of a shared array that one task has written together: of objects nothing else is fetched."""
    if isinstance(place, Path) or 0 in shape or held(place.url):
        return map_shared(place, dtype, shape)[rows]
    size = math.prod(shape[1:])
    part, n = _part(place, rows.start * size), (rows.stop - rows.start) * size
    data = remote.read(part) if n else b""
    if len(data) != n * np.dtype(dtype).itemsize:
        raise OSError(f"{part} is damaged (it has {len(data)} bytes, too few or too many)")
    return np.frombuffer(bytearray(data), dtype).reshape(-1, *shape[1:])


def flush_shared(place: Location, array: NDArray[Any]) -> None:
    """Let all that read a shared array, mapped with mode "r+", see what was written to it."""
    if isinstance(place, Path):
        if isinstance(array.base, np.memmap):
            array.base.flush()
            note_written(array.nbytes)
        return
    if not array.size:
        return
    flat = array.reshape(-1)
    before = map_shared(place, array.dtype, flat.shape).view(np.uint8)
    if np.array_equal(before, flat.view(np.uint8)):
        return
    del before
    firsts = sorted(_parts(place))
    for first, last in zip(firsts, [*firsts[1:], flat.size], strict=True):
        remote.put_bytes(_part(place, first), flat[first:last].tobytes())
    forget(place.url)


def _part(place: Remote, first: int) -> Remote:
    return Remote(f"{place.url}.{first:015d}")


def _parts(place: Remote) -> dict[int, int]:
    """The parts that there are: the number of the first item of each, and its bytes."""
    pattern = re.compile(re.escape(place.name) + PART)
    found = remote.below(place.parent)
    return {int(name[-15:]): n for name, n in found.items() if pattern.fullmatch(name)}


def _gather(place: Remote, itemsize: int, new: Path) -> None:
    """Write the parts of an array to a file, a few of them fetched at the same time."""
    parts, end = sorted(_parts(place).items()), 0
    for first, n_bytes in parts:
        if end != first * itemsize:
            raise OSError(f"{place} is damaged (its part from number {first} on does not follow what is before)")
        end += n_bytes
    with blocks.new_file(new) as file:
        for some in _together(parts):
            found = remote.read_together([_part(place, first) for first, _ in some])
            for (first, n_bytes), data in zip(some, found, strict=True):
                if len(data) != n_bytes:
                    raise OSError(f"{place} is damaged (its part from number {first} on has changed)")
                file.write(data)


def _together(parts: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Parts that are fetched at the same time."""
    some: list[tuple[int, int]] = []
    for part in parts:
        if some and (len(some) == TOGETHER or sum(n for _, n in [*some, part]) > TOGETHER_BYTES):
            yield some
            some = []
        some.append(part)
    if some:
        yield some


__all__ = [
    "as_text", "check_no_links", "files", "flush_shared", "here", "locate", "locked", "make_folder", "make_inside",
    "make_new", "make_shared", "map_part", "map_shared", "read_named", "read_now", "read_range", "remove_file",
    "remove_files", "remove_tree", "remove_trees", "rename", "resolved", "within", "write_once", "write_shared",
]  # fmt: skip

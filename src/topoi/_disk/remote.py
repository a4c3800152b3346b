"""Objects in an object store, by URLs such as s3://bucket/name, read and written by fsspec.

fsspec, and the package of the store, are imported when a URL is met. Credentials are found by that package, where it
looks for them: its environment variables, its configuration, the role of the machine. topoi reads and writes none.

A store has no folders, no links and no renaming. An object is put under its name whole or not at all, and who reads the
name later gets it: that is all that is asked of a store. Names that begin alike are called a folder here.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from topoi._disk.moved import note_read, note_written
from topoi._disk.patience import SilentStoreError, asked_again
from topoi.errors import MissingObjectError, PackageMissingError, StorageError, TopoiError

_URL = re.compile(r"(?P<protocol>[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]*)*)://")
_CUT_URL = re.compile(r"(s3a?|gs|gcs|az|abfss?|adl|memory|https?|r2|oci|oss|hdfs|webhdfs|s?ftp|ssh|smb):/[^/]")
_PASSWORD = re.compile(r"(://[^/@\s]*):[^/@\s]*@")
_QUERY = re.compile(r"(https?://[^\s?'\"]*)\?[^\s'\")]*")
#: Objects of up to so many bytes are put in one request, from memory.
AT_ONCE = 2**26
READ_AHEAD = 2**20  # bytes of an object that is read from front to back
#: How errors are called by which packages of stores say that nobody may do that, or not without credentials.
_NOT_LET_IN = re.compile(r"Credential|Permission|Auth|Forbidden|Denied|Token|SSO")
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Remote:
    """A URL: of an object, or of a folder of them. It is no path: what takes paths does not take it by mistake."""

    url: str

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.url}/{name}")

    def __str__(self) -> str:
        return _harmless(self.url)

    @property
    def name(self) -> str:
        """What comes last."""
        return self.url.rsplit("/", 1)[1]

    @property
    def parent(self) -> Remote:
        """The folder that it is in."""
        return Remote(self.url.rsplit("/", 1)[0])

    @property
    def stem(self) -> str:
        """The same without its suffix."""
        return PurePath(self.name).stem

    def exists(self) -> bool:
        """Whether there is an object of this name."""
        return size(self) is not None

    is_file = exists


Location = Path | Remote


def is_url(path: object) -> bool:
    """Whether a user means an object store."""
    if isinstance(path, Remote):
        return True
    if isinstance(path, PurePath) and _CUT_URL.match(path.as_posix()) and not Path(path).parent.exists():
        raise StorageError(f"{path}: a Path cannot hold a URL, it takes two slashes for one; give the URL as a text")
    return isinstance(path, str) and _URL.match(path) is not None


def locate(path: str | os.PathLike[str] | Remote) -> Location:
    """A path, or the URL that a text is."""
    if isinstance(path, Remote):
        return path
    if not is_url(path):
        return Path(path)
    url = os.fspath(path).rstrip("/")
    found = _URL.match(url)
    protocol = "" if found is None else found["protocol"]
    if protocol in ("file", "local"):
        raise StorageError(f"{url}: is on this machine; give the path without {protocol}://")
    if not protocol or url == f"{protocol}:":
        raise StorageError(f"{path}: names no object; a URL is as s3://bucket/name")
    if "::" in protocol:
        raise StorageError(f"{_harmless(url)}: give a single protocol; topoi caches by itself what it reads often")
    if _PASSWORD.search(url):
        raise StorageError(
            f"{_harmless(url)}: a URL must hold no password, it is shown and noted down; set it as the package of the "
            "store reads it, by environment variables or in its configuration"
        )
    return Remote(url)


def shown(path: str | os.PathLike[str] | Remote) -> str:
    """A path or URL for messages."""
    return str(path) if isinstance(path, Remote) else _harmless(os.fspath(path))


@asked_again
def read(remote: Remote, first: int = 0, last: int | None = None) -> bytes:
    """The bytes first … last − 1 of an object; fewer if it ends before."""
    with _store(remote) as (store, path):
        whole = first == 0 and last is None
        data = bytes(store.cat_file(path) if whole else store.cat_file(path, start=first, end=last))
    note_read(len(data))
    return data


@asked_again
def read_together(remotes: Sequence[Remote]) -> list[bytes]:
    """The bytes of some objects of one store, all fetched at the same time where the package of the store can do so."""
    with _store(remotes[0]) as (store, _):
        found = store.cat_ranges([store._strip_protocol(remote.url) for remote in remotes], None, None)
    for remote, data in zip(remotes, found, strict=True):
        if isinstance(data, BaseException):
            with _told(remote):
                raise data
    note_read(sum(map(len, found)))
    return [bytes(data) for data in found]


@asked_again
def fetch(remote: Remote, path: Path) -> None:
    """Write an object to a new file."""
    with _store(remote) as (store, name):
        store.get_file(name, str(path))
    note_read(path.stat().st_size)


@asked_again
def put(remote: Remote, path: Path) -> None:
    """Make an object of a file; one that had the name is replaced."""
    n_bytes = path.stat().st_size
    with _store(remote) as (store, name):
        if n_bytes <= AT_ONCE:
            store.pipe_file(name, path.read_bytes())
        else:
            store.put_file(str(path), name)
    note_written(n_bytes)


@asked_again
def put_bytes(remote: Remote, data: bytes) -> None:
    """Make an object of bytes; one that had the name is replaced."""
    with _store(remote) as (store, name):
        store.pipe_file(name, data)
    note_written(len(data))


@asked_again
def size(remote: Remote) -> int | None:
    """How many bytes an object has; None if there is none."""
    with contextlib.suppress(MissingObjectError), _store(remote) as (store, path):
        found = store.info(path)
        if found["type"] == "file" and found["size"] is None:
            raise StorageError(
                f"{remote}: whoever sends it does not say how long it is; download it, and give its path"
            )
        return int(found["size"]) if found["type"] == "file" else None
    return None


@asked_again
def below(remote: Remote) -> dict[str, int]:
    """The names of the objects in a folder and in its folders, from there on, and how many bytes they have."""
    with contextlib.suppress(MissingObjectError), _store(remote) as (store, path):
        top = path.rstrip("/") + "/"
        found = store.find(path, detail=True)
        return {name[len(top) :]: int(info["size"]) for name, info in found.items() if name.startswith(top)}
    return {}


def remove(folder: Remote, names: Iterable[str]) -> None:
    """Remove objects in a folder; they need not be there."""
    _remove(folder, list(names))


@asked_again
def _remove(folder: Remote, names: list[str]) -> None:
    with _store(folder) as (store, path):
        paths = [f"{path.rstrip('/')}/{name}" for name in names]
        for first in range(0, len(paths), 1000):
            with contextlib.suppress(FileNotFoundError):
                store.rm(paths[first : first + 1000])


def matching(pattern: Remote) -> dict[Remote, int | None]:
    """The objects whose names a pattern with stars finds, in the order of their names, and their bytes, if it tells."""
    protocol = pattern.url.partition("://")[0]
    with contextlib.suppress(MissingObjectError), _store(pattern) as (store, path):
        found = store.glob(path, detail=True)
        sizes = {name: info["size"] for name, info in found.items() if info["type"] == "file"}
        # The names of a web server are whole URLs.
        urls = {name: name if is_url(name) else f"{protocol}://{name.lstrip('/')}" for name in sorted(sizes)}
        return {Remote(url): None if sizes[name] is None else int(sizes[name]) for name, url in urls.items()}
    return {}


def state(remote: Remote) -> str:
    """What changes when an object does."""
    with _store(remote) as (store, path):
        return str(store.checksum(path))


@contextlib.contextmanager
def opened(remote: Remote) -> Iterator[io.BufferedReader]:
    """An object to read, from any place in it; little of it is in memory."""
    with _store(remote) as (store, path):
        file = store.open(path, "rb")
    with contextlib.closing(file):
        yield io.BufferedReader(_Object(remote, file), READ_AHEAD)


class _Object(io.RawIOBase):
    """An open object; what goes wrong while it is read is an error of ours."""

    def __init__(self, remote: Remote, file: Any) -> None:
        self._remote, self._file = remote, file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _told(self._remote):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())


@contextlib.contextmanager
def _store(remote: Remote) -> Iterator[tuple[Any, str]]:
    """The store of a URL and the name in it; what goes wrong in the block is an error of ours that says what to do."""
    try:
        import fsspec
    except ImportError as error:
        raise PackageMissingError(
            f"{remote}: object storage needs fsspec, and a package for the store: pip install 'topoi[cloud]' s3fs"
        ) from error
    with _told(remote):
        # What other processes have put or removed must show at once.
        store, _ = fsspec.core.url_to_fs(remote.url, use_listings_cache=False)
        yield store, store._strip_protocol(remote.url)


@contextlib.contextmanager
def _told(remote: Remote) -> Iterator[None]:
    """What a store raises in the block is an error of ours."""
    try:
        yield
    except TopoiError:
        raise
    except Exception as error:  # each package has errors of its own, not all of them OSErrors
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise
        secret = None if "?" in remote.url else error  # a traceback would show the signature in the URL
        raise _fault(remote, error) from secret


def _fault(remote: Remote, error: Exception) -> TopoiError:
    kind, said = type(error).__name__, _harmless(" ".join(str(error).split()))
    what = f"{kind}: {said}" if said else kind
    if isinstance(error, FileNotFoundError):
        return MissingObjectError(f"{remote}: there is no such object, or no such bucket ({said}); check the URL")
    if isinstance(error, ImportError):
        return PackageMissingError(f"{remote}: the package of this store is not installed ({said}); pip install it")
    if isinstance(error, ValueError) and "rotocol" in said:
        return StorageError(f"{remote}: {said}; fsspec knows s3://, gs://, az:// and others")
    if isinstance(error, PermissionError) or _NOT_LET_IN.search(kind):
        return StorageError(
            f"{remote}: the store does not let us in ({what}); give credentials where the package of the store looks "
            "for them, for s3:// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, on workers as well"
        )
    return SilentStoreError(
        f"{remote}: the store cannot be reached, or has refused ({what}); see to the network, the address of the store "
        "(for s3:// AWS_ENDPOINT_URL) and its bucket, then call again"
    )


def _harmless(text: str) -> str:
    """A text without the passwords and signatures of URLs in it."""
    return _QUERY.sub(r"\1", _PASSWORD.sub(r"\1@", text))

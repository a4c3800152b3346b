"""Folders in an object store, which are there as a whole or not at all: objects, and last of all a manifest of them.

    url/topoi-manifest.json           which files there are, their sizes and digests
    url/0123456789abcdef/name         the files; this folder is named for their digests

Whoever reads the manifest finds the files that it names. Files of another content have other names, so that writing
changes nothing that a manifest counts on: a reader finds the old folder until the new manifest is there. A writer that
is killed leaves files that nobody names; the next one removes them. Two writers at the same URL at the same time are
not told of each other, as object stores have no locks.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from topoi._disk import remote, strict_json
from topoi._disk.cache import cached_folder
from topoi._disk.remote import Remote
from topoi.errors import DiskError, MissingObjectError

MANIFEST = "topoi-manifest.json"
FORMAT_VERSION = 1
MOST = 2**20  # bytes of a manifest
_DIGEST = re.compile(r"[0-9a-f]{32}")
_OURS = re.compile(r"([0-9a-f]{16})/[^/]+")
Files = dict[str, tuple[int, str]]


class PublishedError(DiskError, ValueError):
    """What is below a URL is no folder that topoi has published, or is damaged."""


def publish(folder: Path, at: Remote, what: str) -> None:
    """Put the files of a folder below a URL; what was published there before is replaced, and then removed."""
    check_publishable(at, what)
    files = {path.name: (path.stat().st_size, _digest(path)) for path in sorted(folder.iterdir())}
    version = _version(files)
    for name in files:
        remote.put(at / version / name, folder / name)
    manifest = {"format": f"topoi {what}", "version": FORMAT_VERSION, "files": files}
    remote.put_bytes(at / MANIFEST, json.dumps(manifest, indent=1).encode())
    names = [name for name in remote.below(at) if (found := _OURS.fullmatch(name)) and found[1] != version]
    remote.remove(at, names)


def published(at: Remote, what: str, allowed: set[str]) -> tuple[Path, Remote]:
    """A copy of a published folder on this machine, each file as its digest says; and where the files themselves are.

    The copy is made once for every content. Whoever wrote the manifest may be a stranger: of the files, only those of
    names that are `allowed` are fetched, and no more bytes than it says that they have.
    """
    files = _manifest(at, what)
    if extra := set(files) - allowed:
        raise PublishedError(f"{at} has a file {min(extra)!r:.80}, which is not one of a {what}")
    place = at / _version(files)

    def fill(folder: Path) -> None:
        for name, (n_bytes, digest) in files.items():
            found = remote.size(place / name)
            if found is None:
                raise PublishedError(
                    f"{place / name} is missing: the {what} was replaced or removed while it was read, or is damaged; "
                    "load it again, or save it anew"
                )
            if found == n_bytes:
                remote.fetch(place / name, folder / name)
            if found != n_bytes or _digest(folder / name) != digest:
                raise PublishedError(f"{place / name} is damaged, it is not as its manifest says; save the {what} anew")

    return cached_folder(f"{what}-{_version(files)}", fill, {name: n for name, (n, _) in files.items()}), place


def check_publishable(at: Remote, what: str) -> None:
    """Raise if something else is published below a URL."""
    try:
        _manifest(at, what)
    except MissingObjectError:
        return
    except PublishedError as error:
        raise PublishedError(f"{error}; choose another URL, or remove {at / MANIFEST}") from error


def _manifest(at: Remote, what: str) -> Files:
    """The files of a folder, as its manifest says."""
    try:
        data = remote.read(at / MANIFEST, 0, MOST)
    except MissingObjectError as error:
        raise MissingObjectError(
            f"{at} holds no whole {what}: there is no {MANIFEST}, which is written last. Check the URL; if saving was "
            "stopped, save it again"
        ) from error
    try:
        found = strict_json.parse(data.decode())
        if not isinstance(found, dict) or found.get("format") != f"topoi {what}":
            raise PublishedError(f"{at / MANIFEST} is not of a {what}")
        if found.get("version") != FORMAT_VERSION:
            raise PublishedError(f"{at / MANIFEST}: this topoi reads version {FORMAT_VERSION}; update it")
        return {name: _entry(*entry) for name, entry in found["files"].items()}
    except PublishedError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PublishedError(f"{at / MANIFEST} is damaged: {error}") from error


def _entry(n_bytes: Any, digest: Any) -> tuple[int, str]:
    if type(n_bytes) is not int or not 0 <= n_bytes < 2**63 or not _DIGEST.fullmatch(digest):
        raise ValueError("sizes or digests cannot be those of files")
    return n_bytes, digest


def _version(files: Files) -> str:
    """The name of the folder of some files: equal content, equal name."""
    text = json.dumps(sorted((name, *entry) for name, entry in files.items()))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()

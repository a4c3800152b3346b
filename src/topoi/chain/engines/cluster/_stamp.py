"""What a process runs: the source of this package and the versions that its bytes depend on.

A task draws the same numbers everywhere only where the same code runs. A version number does not tell: two checkouts
have the same one. So the stamp has every module of the package, whether a task is known to import it or not: a hash of
what tasks need today would miss what they need tomorrow.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable

from topoi._version import __version__
from topoi.chain.factors import FACTORS
from topoi.chain.priors import TOPIC_PRIORS, WORD_PRIORS
from topoi.chain.responses import RESPONSES
from topoi.chain.samplers import SAMPLERS

#: Packages whose code draws or adds up numbers in a task.
DEPENDENCIES = ("numpy", "numba", "llvmlite", "scipy")
HEADER = 16  # bytes of a .pyc that tell the age of its source


@functools.cache
def code_stamp() -> str:
    """What this process runs, in words: compared by workers with what the driver has, and shown where they differ.

    Made once in a process. A worker imports topoi with its first task and makes the stamp then, so that it tells of the
    code that was imported, whatever is edited later. For the same reason all members of the registries are imported
    here, which else would be when a task asks for one.
    """
    for registry in (SAMPLERS, FACTORS, RESPONSES, TOPIC_PRIORS, WORD_PRIORS):
        list(registry.values())
    python = ".".join(map(str, sys.version_info[:2]))
    packages = ", ".join(f"{name} {_version(name)}" for name in DEPENDENCIES)
    return f"topoi {__version__} (source {source_digest(files('topoi'))}), Python {python}, {packages}"


def differences(theirs: str, ours: str) -> str:
    """What differs between two stamps, by name and with both versions."""
    here, found = dict(_parts(ours)), []
    for name, version_there in _parts(theirs):
        if here.get(name) != version_there:
            found.append(f"{name} is {version_there} there and {here.get(name, 'none')} here")
    return "; ".join(found) or "it is of another version of topoi"


def _parts(stamp: str) -> Iterator[tuple[str, str]]:
    """The names and versions of a stamp."""
    for part in stamp.split(", "):
        name, _, value = part.partition(" ")
        number, source, digest = value.partition(" (source ")
        yield name, number
        if source:
            yield f"the source of {name}", digest.removesuffix(")")


def source_digest(package: Traversable) -> str:
    """A hash of all modules in a folder or an archive; how lines end, which Git may change, does not count."""
    digest = hashlib.blake2b(digest_size=8)
    for name, data in sorted(_modules(package)):
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()


def _modules(folder: Traversable, within: str = "") -> Iterator[tuple[str, bytes]]:
    """The modules of a folder and of the folders in it: their source, or their code where that is all there is."""
    inside = list(folder.iterdir())
    sources = {item.name for item in inside if item.name.endswith(".py")}
    for item in inside:
        name = f"{within}{item.name}"
        if item.name in sources:
            yield name, item.read_bytes().replace(b"\r\n", b"\n")
        elif item.name.endswith(".pyc") and item.name[:-1] not in sources:
            yield name, item.read_bytes()[HEADER:]
        elif item.is_dir() and item.name != "__pycache__":
            yield from _modules(item, f"{name}/")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # an archive without metadata
        return "?"

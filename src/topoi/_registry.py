"""Registries: the members of a family by name, each imported when it is first asked for.

So a fit reads the source of the sampler, the priors and the loss that it uses, and of no others.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar, cast

T = TypeVar("T")


def imported(package: str, target: str) -> Any:
    """What `"module:Name"` means in a package: its module, imported, and the name there."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(f"{package}.{module}"), name)


class Registry(MutableMapping[str, T]):
    """Members of a package by name; a line is `"name": "module:Class"`.

    `others` gives members that are in no line but follow from other registries. It is called only where a name is in no
    line, or where all members are listed, since it has to look at all of them.
    """

    def __init__(
        self, package: str, lines: Mapping[str, str], others: Callable[[], Mapping[str, T]] | None = None
    ) -> None:
        self._package = package
        self._lines = dict(lines)
        self._others = others
        self._members: dict[str, T] = {}
        self._lock = threading.Lock()  # tasks of a worker are threads, which may ask at the same time

    def __getitem__(self, name: str) -> T:
        if name not in self._members:
            if name in self._lines:
                self._members[name] = cast(T, imported(self._package, self._lines[name]))
            else:
                self._add_others()
        return self._members[name]

    def __setitem__(self, name: str, member: T) -> None:
        self._members[name] = member

    def __delitem__(self, name: str) -> None:
        if name not in self._members and name not in self._lines:
            raise KeyError(name)
        self._members.pop(name, None)
        self._lines.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        self._add_others()
        return iter(dict.fromkeys([*self._lines, *self._members]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Registry({self._package}: {', '.join(self)})"

    def _add_others(self) -> None:
        with self._lock:
            if self._others is not None:
                self._members = {**self._others(), **self._members}
                self._others = None

    def class_names(self) -> dict[str, str]:
        """Names of members by the names of their classes, without importing one for it."""
        added = {cast(type, member).__name__: name for name, member in self._members.items()}
        return added | {target.partition(":")[2]: name for name, target in self._lines.items()}

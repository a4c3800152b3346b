"""Files that are read one after the other as if they were one: those of a list, or those that a pattern finds."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from topoi._disk.remote import Remote, is_url, locate, matching, size
from topoi.errors import FileError, ParameterError
from topoi.readers._faults import Faults, fault
from topoi.readers._formats import Format, check_columns, choose_format
from topoi.readers._memory import Memory
from topoi.readers._request import Documents, Request
from topoi.readers._source import Source

FOUND_BY_NAME = "**/*.parquet"  # in a folder that is a table: Spark and Dask write it in many files


class Found(NamedTuple):
    """A source, and its size if that is known already."""

    source: Any
    n_bytes: int | None = None


def found_sources(source: Any) -> list[Found]:
    """The sources that a user means: one, or the files that a list, a pattern or patterns in a list name, in order.

    Files that a pattern finds are in the order of their names. What is there is no pattern, whatever its name.
    """
    if isinstance(source, Found):
        return [source]
    if isinstance(source, list | tuple):
        if not source:
            raise ParameterError("source", "is an empty list; name at least one file")
        return [found for one in source for found in found_sources(_path(one))]
    if not is_pattern(source):
        return [Found(source)]
    if is_url(source):
        place = _located(source)
        if (n_bytes := size(place)) is not None:
            return [Found(source, n_bytes)]
        found = [Found(remote.url, n_bytes) for remote, n_bytes in matching(place).items()]
    else:
        names = sorted(glob.glob(os.fspath(source), recursive=True))
        found = [Found(path) for path in names if os.path.isfile(path)]
    if not found:
        raise fault(str(source), "no file has a name like this; check the pattern.")
    return found


def _path(source: Any) -> Any:
    if isinstance(source, Found):
        return source
    if source == "-" or not isinstance(source, str | os.PathLike):
        raise ParameterError("source", f"is a list with {source!r}; a list names files")
    return source


def _located(source: Any) -> Remote:
    found = locate(source)
    assert isinstance(found, Remote)
    return found


def is_pattern(source: Any) -> bool:
    """Whether it is a path with a star or the like in it, by which there is no file."""
    if source == "-" or not isinstance(source, str | os.PathLike):
        return False
    if is_url(source):
        return any(mark in str(source) for mark in "*[")
    return glob.has_magic(os.fspath(source)) and not os.path.exists(source)


def files_of_table(source: Any) -> Any:
    """The Parquet files in a folder, where a folder is named; else what is named.

    Names that begin with an underscore or a dot, of files or folders, are no rows of the table: Spark leaves files of
    jobs that were killed in `_temporary`, and Delta has its log in `_delta_log`. Whoever else reads tables skips them.
    """
    if isinstance(source, list | tuple) or is_pattern(source) or not isinstance(source, str | os.PathLike):
        return source
    if is_url(source):
        top = str(source).rstrip("/")
        if top.lower().endswith((".parquet", ".pq")) and not str(source).endswith("/"):
            return source
        pattern, n_above = f"{top}/{FOUND_BY_NAME}", len(top.split("/"))
    elif os.path.isdir(source):
        top = os.fspath(source)
        pattern, n_above = os.path.join(glob.escape(top), FOUND_BY_NAME), len(Path(top).parts)
    else:
        return source
    found = [one for one in found_sources(pattern) if not _is_hidden(one.source, n_above)]
    if not found:
        raise fault(str(source), "no file has a name like this; check the folder.")
    return found


def _is_hidden(name: str, n_above: int) -> bool:
    """Whether a file, or a folder below the first `n_above` in its path, has a name with an underscore or dot first."""
    parts = name.split("/") if is_url(name) else Path(name).parts
    return any(part.startswith(("_", ".")) for part in parts[n_above:])


@dataclass(frozen=True)
class Files:
    """Requests for one file after the other, each in its format."""

    formats: list[Format]
    requests: list[Request]
    name: str
    memory: Memory
    faults: Faults

    @property
    def again(self) -> bool:
        """Whether they can be read a second time."""
        return all(request.source.again for request in self.requests)

    @property
    def states(self) -> list[Any]:
        """By which a change of the files shows."""
        return [request.source.state for request in self.requests]

    @property
    def texts(self) -> bool:
        """Whether they hold texts, not counts."""
        return self.formats[0].documents is not None

    def documents(self, faults: Faults | None = None) -> Documents:
        """The documents of all."""
        for kind, request in zip(self.formats, self.requests, strict=True):
            assert kind.documents is not None
            yield from kind.documents(request if faults is None else replace(request, faults=faults))


def open_files(sources: list[Found], template: Request, format: Any, faults: Faults) -> Files:
    """Sources as files to read, of which a template says what is wanted of each."""
    formats, requests = [], []
    for source, n_bytes in sources:
        request = request_of(source, template, faults)
        request.source.n_known = n_bytes
        kind = choose_format(request.source, format)
        check_columns(kind, request)
        formats.append(kind)
        requests.append(request)
    if len(sources) > 1 and (counts := [r.name for f, r in zip(formats, requests, strict=True) if f.documents is None]):
        raise FileError(f"{counts[0]}: has counts of words; of several files only texts are read together.", counts[0])
    name, memory = requests[0].name, requests[0].memory
    if len(sources) > 1:
        name = f"{name} and {len(sources) - 1} more"
        memory = Memory(name, lambda: sum(request.source.n_bytes for request in requests), template.max_memory)
    return Files(formats, requests, name, memory, faults)


def new_template(**wanted: Any) -> Request:
    """What is wanted of each file, whatever it is."""
    return Request(None, None, None, **wanted)  # type: ignore[arg-type]


def request_of(source: Any, template: Request, faults: Faults) -> Request:
    """What is wanted of one source."""
    found = Source(source, template.encoding)
    return replace(
        template, source=found, faults=faults, memory=Memory(found.name, lambda: found.n_bytes, template.max_memory)
    )

"""What every task of a run knows, how the corpus is cut, and the files that tasks read and write.

    folder/layout                     where groups of documents and shards of words begin and end
    folder/y.npy, weight.npy          targets and weights of the documents, where there are responses
    folder/about-00003                what is known of the documents of group 3, where the prior of topics asks for it
    folder/columns-00003              columns beside the topics, of the documents of group 3, where there are some
    folder/pseudo_counts              those of the words, by shards, where there are some
    folder/sweep-000000012/model      the priors and the weights after sweep 12
                          /z-00003    the topics of group 3, and what follows from them: pairs
                          /counts-00003-00005  the counts of groups 3 and 4, which one task has moved
                          /…          the word factor of the sweep to come
    folder/shares-000000012/sum-00003 sums over the samples of the topic shares of group 3

A file is written whole or not at all, under a name that says what it holds, and its bytes follow from that name: a task
that is run again, because its worker was lost, writes the same file again. A run that goes on after its driver was
killed has a new folder: tasks that the old driver left behind may still write to the old one.

The folder may be at the URL of an object store: files are then objects, of which workers keep copies (`_disk.cache`).
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._disk.anywhere import here, locate, read_named, read_now, read_range, write_once
from topoi._disk.moved import note_read
from topoi._disk.remote import Location, Remote
from topoi._disk.safetensors import write_safetensors
from topoi.chain.priors import Priors
from topoi.chain.responses.base import Response
from topoi.corpus import Corpus

#: Tokens of a group of documents, at most; fewer where the corpus is small, so that there is work for many workers.
GROUP = 2**22
GROUPS = 32
#: Tokens of the groups that one task moves and counts together, at most, unless one group has more.
SPAN = 2**24
#: Entries of the table of a shard of words, at most (unless one block of words has more), and how many shards at least.
SHARD = 2**24
SHARDS = 8
#: How the header of an .npy file is read, by its version.
HEADER = 4096  # bytes in which it is, whoever wrote the file
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@dataclass(frozen=True)
class Job:
    """What does not change during a run. A task gets this, the number of a sweep and that of a part: never data."""

    folder: str  # that all workers see, or its URL
    corpus: str  # folder of the saved corpus, or its URL
    n_words: int
    n_topics: int
    seed: int
    real: str
    stamp: str  # of the code that the driver runs
    priors: Priors  # as the run began, without pseudo-counts
    pseudo_counts: bool = False  # whether there are some
    about: bool = False  # whether what the prior of topics asks of documents is known
    response: Response | None = None
    nu: float = 1.0
    n_gibbs: int = 2
    part: int = 8
    n_tasks: int = 0
    camp_topics: tuple[int, ...] = ()  # first topics of each camp of documents
    columns_nu: float | None = None  # None: no columns beside the topics

    @property
    def root(self) -> Location:
        """The folder of the run."""
        return locate(self.folder)

    def sweep(self, number: int) -> Location:
        """The folder of a sweep."""
        return self.root / f"sweep-{number:09d}"

    def shares(self, number: int) -> Location:
        """The folder of the shares, summed up to the sample of a sweep."""
        return self.root / f"shares-{number:09d}"

    def kept(self, number: int) -> Location:
        """The folder of the counts, summed up to the sample of a sweep."""
        return self.root / f"kept-{number:09d}"

    def path(self, sweep: int, kind: str, number: int | None = None) -> Location:
        """A file of a sweep."""
        return self.sweep(sweep) / (kind if number is None else f"{kind}-{number:05d}")


class Span(NamedTuple):
    """Groups of documents that one task moves one after the other, and counts together: first … last − 1."""

    first: int
    last: int


@dataclass(frozen=True)
class Layout:
    """Cuts of the corpus: `block_ptr` and `word_block_ptr` as it has them, and groups and shards of so many blocks."""

    block_ptr: NDArray[np.int64]
    word_block_ptr: NDArray[np.int64]
    groups: NDArray[np.int64]
    shards: NDArray[np.int64]
    tokens: NDArray[np.int64]  # where the groups begin and end, in tokens
    checksums: NDArray[np.uint32]  # of the documents of every group

    @staticmethod
    def of(corpus: Corpus, n_topics: int) -> Layout:
        """How to cut a corpus: by the corpus and the topics alone, whoever does the work."""
        group = max(1, min(GROUP, corpus.n_tokens // GROUPS))
        rows = corpus.word_block_ptr
        shard = max(1, min(SHARD // n_topics, corpus.n_words // SHARDS))
        groups = cut(corpus.doc_ptr[corpus.block_ptr], group)
        documents = corpus.block_ptr[groups]
        tokens = corpus.doc_ptr[documents]
        sums = [
            checksum(corpus.words[slice(*edges)], corpus.doc_ptr[first : last + 1])
            for edges, (first, last) in zip(pairwise(tokens), pairwise(documents), strict=True)
        ]
        return Layout(corpus.block_ptr, rows, groups, cut(rows, shard), tokens, np.array(sums, np.uint32))

    @property
    def n_groups(self) -> int:
        """Number of groups of documents."""
        return len(self.groups) - 1

    @property
    def n_shards(self) -> int:
        """Number of shards of words."""
        return len(self.shards) - 1

    def spans(self, batches: Iterable[Sequence[int]]) -> list[Span]:
        """Batches of groups that follow each other as spans of at most SPAN tokens."""
        found = []
        for batch in batches:
            first = batch[0]
            for group in batch[1:]:
                if self.tokens[group + 1] - self.tokens[first] > SPAN:
                    found.append(Span(first, group))
                    first = group
            found.append(Span(first, batch[-1] + 1))
        return found

    @property
    def documents(self) -> NDArray[np.int64]:
        """Where the groups begin and end, in documents."""
        return self.block_ptr[self.groups]

    @property
    def words(self) -> NDArray[np.int64]:
        """Where the shards begin and end, in words."""
        return self.word_block_ptr[self.shards]

    def write(self, job: Job) -> None:
        """Write the layout to its file."""
        write_arrays(job.root / "layout", vars(self))

    @staticmethod
    def read(job: Job) -> Layout:
        """The layout of a job."""
        return Layout(**read_arrays(job.root / "layout"))


def checksum(words: NDArray[np.int32], doc_ptr: NDArray[np.int64]) -> int:
    """A checksum of some documents: whoever reads them again sees whether they are the same."""
    return zlib.crc32(np.ascontiguousarray(doc_ptr).data, zlib.crc32(np.ascontiguousarray(words).data))


def cut(size: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Cut 0 … len(size) − 1 where `size`, running totals, has grown by `most`."""
    cuts = [0]
    while cuts[-1] < len(size) - 1:
        end = int(np.searchsorted(size, size[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(end, cuts[-1] + 1))
    return np.array(cuts, np.int64)


def write_arrays(path: Location, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays to one file. Not synced: `seal` does that where a checkpoint counts on the file."""
    made = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_once(path, lambda file: write_safetensors(file, made))


def read_arrays(path: Location, *names: str) -> dict[str, NDArray[Any]]:
    """Arrays of a file: those named, or all."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(here(path)), framework="numpy") as file:
            return _counted(path, {name: file.get_tensor(name) for name in names or file.keys()})
    except SafetensorError as error:
        raise damaged(path, str(error)) from error


def read_held(path: Location, *names: str) -> dict[str, NDArray[Any]]:
    """Those of some arrays that a file has: of a large object nothing else is fetched."""
    from safetensors import SafetensorError, safe_open

    try:
        if (fetched := read_named(path, names)) is not None:
            return fetched
        with safe_open(str(here(path)), framework="numpy") as file:
            held = set(file.keys())
            return _counted(path, {name: file.get_tensor(name) for name in names if name in held})
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise damaged(path, str(error)) from error


def read_items(path: Location, first: int, last: int, *names: str) -> dict[str, NDArray[Any]]:
    """Items first … last − 1 of arrays of a file: nothing else is read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(here(path)), framework="numpy") as file:
            return _counted(path, {name: file.get_slice(name)[first:last] for name in names})
    except SafetensorError as error:
        raise damaged(path, str(error)) from error


def read_rows(path: Location, *slices: slice) -> NDArray[Any]:
    """A part of an .npy file, mapped."""
    part: NDArray[Any] = np.load(here(path), mmap_mode="r")[slices]
    _counted(path, {"": part})
    return part


def _counted(path: Location, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays of a file, counted as read. Of an object a copy here is read: what was fetched is counted."""
    if not isinstance(path, Remote):
        note_read(sum(array.nbytes for array in arrays.values()))
    return arrays


def read_model(job: Job, sweep: int) -> dict[str, NDArray[Any]]:
    """Priors and weights after a sweep.

    Their file is the only one that is written twice: once more when priors are updated, after tasks may have read it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = job.path(sweep, "model")
    try:
        return {name: np.array(array) for name, array in load(read_now(path)).items()}  # copies can be written to
    except SafetensorError as error:
        raise damaged(path, str(error)) from error


def damaged(path: Location, why: str) -> OSError:
    """The error of a file that is not what a task has written."""
    return OSError(f"{path} is damaged ({why})")


def read_part(path: Location, dtype: Any, first: int, last: int) -> NDArray[Any]:
    """Items first … last − 1 of an .npy file; an OSError if it has no such items.

    They are read, not mapped: reading a mapped file that someone has cut short ends the process (SIGBUS).
    """
    head = io.BytesIO(read_range(path, 0, HEADER))
    try:
        shape, _, found = HEADERS[np.lib.format.read_magic(head)](head)
    except (ValueError, KeyError) as error:
        raise damaged(path, str(error)) from error
    if len(shape) != 1 or found != np.dtype(dtype):
        raise damaged(path, f"it has {shape} items of {found}")
    data = read_range(path, head.tell() + first * found.itemsize, head.tell() + last * found.itemsize)
    part = np.frombuffer(bytearray(data), found, len(data) // found.itemsize)
    if len(part) < last - first:
        raise damaged(path, "it ends too early")
    return part

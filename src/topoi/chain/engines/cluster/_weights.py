"""The task that draws weights: those of some responses, from all documents.

Its parts come from the files of all groups. Responses are independent given these, so that tasks of 16 of them each run
at the same time, with the kernels and the streams that they have in one process.

The topics of all documents, z̄, may be more than a worker can hold: 40 GB where 10⁸ documents have 50 topics each. A
pass needs those of one topic at a time, and a group's file has them topic by topic. So they are read in parts, a range
of topics of all groups, once for the scores and once for every pass: the numbers, and their order, are the same. What
is held of all documents are κ, ω and the scores of 16 responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk.remote import Location
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES
from topoi.chain.counts.shares import Design
from topoi.chain.engines.cluster._job import (
    Job,
    Layout,
    cut,
    read_arrays,
    read_items,
    read_model,
    read_rows,
    write_arrays,
)
from topoi.chain.engines.cluster._views import columns_file, supervision

ONE = Pool(1)
#: Entries of a design that are held together, unless one column has more: 8 bytes each.
AT_ONCE = 2**24


def weigh(job: Job, sweep: int, number: int) -> dict[str, NDArray[Any]]:
    """Draw the weights of responses 16·number … after the topics of a sweep; returns `Supervision.learned` of these."""
    layout = Layout.read(job)
    first = number * LANES
    tasks = slice(first, first + LANES)
    model = read_model(job, sweep - 1)
    learned = {name: array[tasks].copy() for name, array in model.items() if name in ("eta", "columns", "own")}
    given = (read_rows(job.root / f"{name}.npy", slice(None), tasks) for name in ("y", "weight"))
    y, weight = given if "own" not in learned else map(np.array, given)  # else they are not looked at
    groups = range(layout.n_groups)
    columns = None if job.columns_nu is None else Stored([columns_file(job, group) for group in groups], layout)
    s = supervision(job, learned, y, weight, columns)
    pairs = [job.path(sweep, "pairs", group) for group in groups]
    for path, (begin, end) in zip(pairs, pairwise(layout.documents.tolist()), strict=True):
        found = read_arrays(path, f"kappa{number}", f"omega{number}")
        s.kappa[begin:end], s.omega[begin:end] = found.values()
    if s.columns is not None:
        s.columns.fill(ONE)
    s.draw_weights(Stored(pairs, layout), job.seed, sweep, ONE, first)
    return s.learned


class Stored:
    """A design of all documents whose columns are in files, one for each group of documents."""

    def __init__(self, files: Sequence[Location], layout: Layout) -> None:
        self.files = files
        self.layout = layout
        self.n_documents = int(layout.documents[-1])
        self.start = np.array([read_arrays(path, "start")["start"] for path in files])
        size = np.concatenate(([0], np.cumsum(np.diff(self.start).sum(0))))
        self.cuts = cut(size, AT_ONCE)
        self.kept: Design | None = None

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return int(self.start.shape[1]) - 1

    def parts(self) -> Iterator[tuple[slice, Design]]:
        """A range of columns after the other. If one has all, it is read once."""
        for first, last in pairwise(self.cuts.tolist()):
            yield slice(first, last), self.whole() if last - first == self.n_columns else self._read(first, last)

    def whole(self) -> Design:
        """All columns at once."""
        if self.kept is None:
            self.kept = self._read(0, self.n_columns)
        return self.kept

    def _read(self, first: int, last: int) -> Design:
        """Columns first … last − 1 of all groups."""
        parts = []
        for path, start in zip(self.files, self.start, strict=True):
            own = start[first : last + 1] - start[first]
            if own[-1] == 0:  # a slice of no items is an error to safetensors where the array ends
                parts.append(Design(own, np.zeros(0, np.int32), np.zeros(0, np.float32), 0))
                continue
            entries = read_items(path, int(start[first]), int(start[last]), "doc", "share")
            parts.append(Design(own, **entries, n_documents=0))
        return joined(parts, self.layout)


def joined(parts: Sequence[Design], layout: Layout) -> Design:
    """A design of all documents from those of the groups: column by column, one group's documents after another's."""
    counts = np.array([np.diff(part.start) for part in parts])
    start = np.concatenate(([0], np.cumsum(counts.sum(0))))
    at = start[:-1] + np.cumsum(counts, axis=0) - counts  # where column k of a group begins
    doc, share = np.zeros(start[-1], np.int32), np.zeros(start[-1], np.float32)
    for group, part in enumerate(parts):
        place = np.repeat(at[group] - part.start[:-1], counts[group]) + np.arange(len(part.doc))
        doc[place] = part.doc + np.int32(layout.documents[group])
        share[place] = part.share
    return Design(start, doc, share, int(layout.documents[-1]))


def write_columns(job: Job, layout: Layout, design: Design) -> None:
    """Write the columns of all documents, group by group."""
    x = design.matrix().tocsr()
    for group, (first, last) in enumerate(pairwise(layout.documents.tolist())):
        rows = x[first:last].tocsc()
        rows.sort_indices()
        arrays = {
            "start": rows.indptr.astype(np.int64),
            "doc": rows.indices.astype(np.int32),
            "share": rows.data.astype(np.float32),
        }
        write_arrays(columns_file(job, group), arrays)

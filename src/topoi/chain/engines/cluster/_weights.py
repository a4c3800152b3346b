"""The task that draws weights: those of some responses, from all documents.

Its parts come from the files of all groups. Responses are independent given these, so that tasks of 16 of them each run
at the same time, with the kernels and the streams that they have in one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk.anywhere import here
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES
from topoi.chain.counts.shares import Design
from topoi.chain.engines.cluster._job import Job, Layout, read_arrays, read_model, write_arrays
from topoi.chain.engines.cluster._views import read_columns, supervision

ONE = Pool(1)


def weigh(job: Job, sweep: int, number: int) -> dict[str, NDArray[Any]]:
    """Draw the weights of responses 16·number … after the topics of a sweep; returns `Supervision.learned` of these."""
    layout = Layout.read(job)
    first = number * LANES
    tasks = slice(first, first + LANES)
    model = read_model(job, sweep - 1)
    learned = {name: array[tasks].copy() for name, array in model.items() if name in ("eta", "columns", "own")}
    parts: dict[str, list[NDArray[Any]]] = {"f": [], "kappa": [], "omega": []}
    for group in range(layout.n_groups):
        path = job.path(sweep, "pairs", group)
        for name, array in read_arrays(path, *(f"{name}{number}" for name in parts)).items():
            parts[name.removesuffix(str(number))].append(array)
    f, kappa, omega = (np.concatenate(parts[name]) for name in ("f", "kappa", "omega"))
    y = weight = f  # the draw of weights looks neither at targets nor at their weights
    if "own" in learned:
        y, weight = (
            np.array(np.load(here(job.root / f"{name}.npy"), mmap_mode="r")[:, tasks]) for name in ("y", "weight")
        )
    columns = None if job.columns_nu is None else all_columns(job, layout)
    s = supervision(job, learned, y, weight, columns)
    s.f, s.kappa, s.omega = f, kappa, omega
    if s.columns is not None:
        s.columns.fill(ONE)
    s.draw_weights(whole_design(job, layout, sweep), job.seed, sweep, ONE, first)
    return s.learned


def whole_design(job: Job, layout: Layout, sweep: int) -> Design:
    """z̄ of all documents, from those of the groups."""
    parts = (read_arrays(job.path(sweep, "pairs", g), "start", "doc", "share") for g in range(layout.n_groups))
    return joined([Design(**part, n_documents=0) for part in parts], layout)


def all_columns(job: Job, layout: Layout) -> Design:
    """The columns beside the topics, of all documents."""
    return joined([read_columns(job, group, 0) for group in range(layout.n_groups)], layout)


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
        write_arrays(job.root / f"columns-{group:05d}", arrays)

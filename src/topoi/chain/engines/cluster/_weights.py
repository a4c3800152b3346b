"""The task that draws weights: those of some responses, from all documents.

Its parts come from the files of all groups. Responses are independent given these, so that tasks of 16 of them each run
at the same time, with the kernels and the streams that they have in one process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi._machine.simd import LANES
from topoi.chain.counts.shares import Design
from topoi.chain.engines.cluster._job import Job, Layout, read_arrays
from topoi.chain.engines.cluster._views import supervision


def weigh(job: Job, sweep: int, number: int) -> NDArray[np.float32]:
    """Draw the weights of responses 16·number … after the topics of a sweep; returns them."""
    layout = Layout.read(job)
    first = number * LANES
    tasks = slice(first, first + LANES)
    eta = read_arrays(job.path(sweep - 1, "model"), "eta")["eta"][tasks].copy()
    columns: dict[str, list[NDArray[Any]]] = {"f": [], "kappa": [], "omega": []}
    for group in range(layout.n_groups):
        path = job.path(sweep, "pairs", group)
        for name, array in read_arrays(path, *(f"{name}{number}" for name in columns)).items():
            columns[name.removesuffix(str(number))].append(array)
    f, kappa, omega = (np.concatenate(columns[name]) for name in ("f", "kappa", "omega"))
    s = supervision(job, eta, f, f)  # the draw looks neither at targets nor at their weights
    s.f, s.kappa, s.omega = f, kappa, omega
    s.draw_weights(whole_design(job, layout, sweep), job.seed, sweep, Pool(1), first)
    return s.eta


def whole_design(job: Job, layout: Layout, sweep: int) -> Design:
    """z̄ of all documents, from those of the groups: topic by topic, the documents of one group after another's."""
    parts = [read_arrays(job.path(sweep, "pairs", g), "start", "doc", "share") for g in range(layout.n_groups)]
    counts = np.array([np.diff(part["start"]) for part in parts])
    start = np.concatenate(([0], np.cumsum(counts.sum(0))))
    at = start[:-1] + np.cumsum(counts, axis=0) - counts  # where topic k of a group begins
    doc, share = np.zeros(start[-1], np.int32), np.zeros(start[-1], np.float32)
    for group, part in enumerate(parts):
        place = np.repeat(at[group] - part["start"][:-1], counts[group]) + np.arange(len(part["doc"]))
        doc[place] = part["doc"] + np.int32(layout.documents[group])
        share[place] = part["share"]
    return Design(start, doc, share, int(layout.documents[-1]))

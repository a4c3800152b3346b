"""Tasks over shards of words: the word factor of a sweep, counts, and their histogram.

A factor is made in two steps. Every shard draws its rows and tells its sums by topic. From the sums of all shards the
driver makes the scale; where rows have to be finished with it (`finish`), every shard does so.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros
from topoi.chain.counts.dense import count_table
from topoi.chain.counts.spectra import Spectrum, word_spectrum
from topoi.chain.engines.cluster._counts import add_file, table_entries, write_entries
from topoi.chain.engines.cluster._job import (
    Job,
    Layout,
    make_shared,
    map_shared,
    read_arrays,
    write_arrays,
    write_shared,
)
from topoi.chain.engines.cluster._views import shard_state, width
from topoi.chain.factors.tables import DenseFactor, fill_prior_mass, gamma_table, scale_counts, scale_gammas
from topoi.chain.factors.urn import SparseFactor, UrnRows, draw_urn_rows, scale_urn
from topoi.chain.model import sample_counts
from topoi.chain.state import State

ONE = Pool(1)
#: Files of counts that one task adds up; more groups than that are added up by a tree.
FAN_IN = 64

#: A table of so many bytes is read into memory: a file is mapped in small pages, which kernels that jump about in it
#: have to look up again and again.
COPIED = 2**26


def combine(job: Job, sweep: int, level: int, number: int) -> None:
    """Add up the counts of up to FAN_IN files of the level below."""
    layout = Layout.read(job)
    n = count_files(layout.n_groups)[level - 1]
    below = [_counts_file(job, sweep, level - 1, j) for j in range(n)[number * FAN_IN : (number + 1) * FAN_IN]]
    parts = [table_entries(_sum(job, layout, below, shard)) for shard in range(layout.n_shards)]
    write_entries(_counts_file(job, sweep, level, number), parts)


def count_files(n_groups: int) -> list[int]:
    """Number of files of counts at every level of the tree; the last has at most FAN_IN."""
    levels = [n_groups]
    while levels[-1] > FAN_IN:
        levels.append(-(-levels[-1] // FAN_IN))
    return levels


def _counts_file(job: Job, sweep: int, level: int, number: int) -> Path:
    return job.path(sweep, f"counts{level}" if level else "counts", number)


def _sum(job: Job, layout: Layout, files: list[Path], shard: int) -> NDArray[Any]:
    """The counts (words, K) of a shard in some files together."""
    n_words = int(layout.words[shard + 1] - layout.words[shard])
    table = np.zeros((n_words, job.n_topics), job.real)
    for file in files:
        add_file(file, shard, table.reshape(-1))
    return table


def _state(job: Job, layout: Layout, sweep: int, shard: int) -> State:
    """The state of a shard of words after a sweep."""
    levels = count_files(layout.n_groups)
    files = [_counts_file(job, sweep, len(levels) - 1, j) for j in range(levels[-1])]
    return shard_state(job, layout, shard, sweep, _sum(job, layout, files, shard))


def tally(job: Job, sweep: int, shard: int) -> tuple[Spectrum, NDArray[np.int64]]:
    """How often each count n_wk occurs in a shard, and n_k."""
    return word_spectrum(_state(job, Layout.read(job), sweep, shard), ONE)


def counts(job: Job, sweep: int, shard: int) -> sparse.csr_array:
    """The counts of a shard, sparse."""
    return sample_counts(_state(job, Layout.read(job), sweep, shard))


# ---- The word factor ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """What a shard tells of its rows: n_k, or sums by topic of every block, or of the urn; and how many entries."""

    n_k: NDArray[Any]
    totals: list[NDArray[np.float64]]
    n_entries: int = 0


def draw(job: Job, factor: str, sweep: int, shard: int) -> Drawn:
    """Draw the rows of a shard: counts ("delayed"), gamma draws ("dirichlet") or the urn's."""
    layout = Layout.read(job)
    state = _state(job, layout, sweep, shard)
    if factor == "urn":
        rows = draw_urn_rows(state, ONE)
        write_arrays(job.path(sweep, "urn", shard), vars(rows))
        return Drawn(rows.total, [], len(rows.topics))
    table = aligned_zeros((state.corpus.n_words, width(job)), state.real)
    n_k = count_table(state, table, ONE)
    totals = gamma_table(state, table, ONE) if factor == "dirichlet" else []
    # A worker that was given up for lost may still get here: by then the driver may have drawn some columns anew.
    if not job.path(sweep, "scale").exists():
        write_shared(job.path(sweep, "table"), int(layout.words[shard]) * width(job), table)
    return Drawn(n_k, totals)


def open_factor(job: Job, factor: str, sweep: int) -> None:
    """Make room for the rows of all shards."""
    if factor != "urn":
        make_shared(job.path(sweep, "table"), job.n_words * width(job), job.real)


def scale(state: State, job: Job, factor: str, drawn: list[Drawn], needs_mass: bool) -> bool:
    """On the driver: make the scale from what the shards tell; returns whether they have to finish their rows."""
    sweep = state.sweep
    n_k = np.sum([part.n_k for part in drawn], axis=0)
    arrays = {"n_k": n_k}
    if factor == "urn":
        arrays["first"] = np.concatenate(([0], np.cumsum([part.n_entries for part in drawn])))
        n = int(arrays["first"][-1])
        for name, dtype, size in (("topics", "i4", n), ("phi", job.real, n), ("start", "i8", job.n_words + 1)):
            make_shared(job.path(sweep, name), size, dtype)
    else:
        dense = _map_dense(job, sweep, np.zeros(width(job), job.real), 0.0, mode="r+")
        if factor == "dirichlet":
            scale_gammas(state, dense, n_k, [total for part in drawn for total in part.totals])
            if (n_k[: job.n_topics] == 0).any():  # it has drawn topics without tokens anew
                dense.table.base.flush()  # type: ignore[union-attr]
        else:
            scale_counts(state, dense, n_k)
        arrays |= {"scale": dense.scale, "offset": np.array([dense.offset])}
    if factor == "urn" or needs_mass:
        make_shared(job.path(sweep, "mass"), job.n_words, "f8")
    write_arrays(job.path(sweep, "scale"), arrays)
    return factor == "urn" or needs_mass


def finish(job: Job, factor: str, sweep: int, shard: int) -> None:
    """Finish the rows of a shard, with the scale."""
    layout = Layout.read(job)
    first, last = int(layout.words[shard]), int(layout.words[shard + 1])
    given = read_arrays(job.path(sweep, "scale"))
    state = shard_state(job, layout, shard, sweep, np.zeros((0, 0), np.float32))
    if factor == "urn":
        rows = UrnRows(**read_arrays(job.path(sweep, "urn", shard)))
        sparse_factor = scale_urn(state, rows, given["n_k"], ONE)
        entry = int(given["first"][shard])
        write_shared(job.path(sweep, "topics"), entry, sparse_factor.topics)
        write_shared(job.path(sweep, "phi"), entry, sparse_factor.phi)
        write_shared(job.path(sweep, "start"), first, sparse_factor.start + entry)
        mass = sparse_factor.mass
    else:
        dense = _map_dense(job, sweep, given["scale"], float(given["offset"][0]))
        part = DenseFactor(dense.table[first:last], dense.offset, dense.scale)
        fill_prior_mass(state, part, ONE)
        mass = part.mass
    write_shared(job.path(sweep, "mass"), first, mass)


def read_factor(job: Job, sweep: int, factor: str) -> DenseFactor | SparseFactor:
    """The factor of a sweep, mapped into memory."""
    given = read_arrays(job.path(sweep, "scale"))
    if factor != "urn":
        dense = _map_dense(job, sweep, given["scale"], float(given["offset"][0]))
        if dense.table.nbytes <= COPIED:
            table = aligned_zeros(dense.table.shape, dense.table.dtype)
            table[:] = dense.table
            dense.table = table
        if job.path(sweep, "mass").exists():
            dense.mass = map_shared(job.path(sweep, "mass"), "f8", (job.n_words,))
        return dense
    n = int(given["first"][-1])
    shapes = (("topics", "i4", n), ("phi", job.real, n), ("start", "i8", job.n_words + 1), ("mass", "f8", job.n_words))
    return SparseFactor(*(map_shared(job.path(sweep, name), dtype, (size,)) for name, dtype, size in shapes))


def _map_dense(job: Job, sweep: int, scale: NDArray[Any], offset: float, mode: str = "c") -> DenseFactor:
    table = map_shared(job.path(sweep, "table"), job.real, (job.n_words, width(job)), mode)
    return DenseFactor(table, offset, scale)

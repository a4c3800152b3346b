"""Tasks over shards of words: the word factor of a sweep, counts, and their histogram.

A factor is made in steps (`topoi.chain.factors.base`). Every shard draws its rows and returns sums over them. From the
sums of all shards the driver makes the scale; where rows have to be finished with it, every shard does so. The factor
says which arrays there are, and each is a file of which every shard writes its part. Where that part begins is known at
once if all words have as many items. If a word has an item for each entry of its row, it is known when all shards have
drawn theirs: until then a shard keeps them in a file of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Numbers
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros
from topoi.chain.counts.spectra import Spectrum, word_spectrum
from topoi.chain.engines.cluster._counts import add_file, table_entries, write_entries
from topoi.chain.engines.cluster._job import (
    Job,
    Layout,
    flush_shared,
    make_shared,
    map_shared,
    read_arrays,
    write_arrays,
    write_shared,
)
from topoi.chain.engines.cluster._views import shard_state
from topoi.chain.factors import FACTORS
from topoi.chain.factors.base import FixedFactor, Part
from topoi.chain.model import sample_counts
from topoi.chain.state import State

ONE = Pool(1)
#: Files of counts that one task adds up; more groups than that are added up by a tree.
FAN_IN = 64

#: An array of so many bytes is read into memory: a file is mapped in small pages, which kernels that jump about in it
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


def _sum(job: Job, layout: Layout, files: list[Path], shard: int) -> Floats:
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


class Recipe(NamedTuple):
    """How a task makes a factor of its own like that of the driver."""

    name: str
    settings: Mapping[str, Any]

    @staticmethod
    def of(factor: FixedFactor) -> Recipe:
        """The recipe of a factor."""
        return Recipe(factor.name, factor.settings)

    def make(self, state: State) -> FixedFactor:
        """A factor for the words of a state, without any rows."""
        factor = FACTORS[self.name](state, ONE, **self.settings)
        assert isinstance(factor, FixedFactor)
        return factor


def _early(factor: FixedFactor) -> list[Part]:
    """The arrays that shards write as soon as they have drawn them."""
    return [part for part in factor.given if part in factor.drawn and part.row is not None]


def _late(factor: FixedFactor) -> list[Part]:
    """The arrays that they write when there is a scale."""
    early = _early(factor)
    return [part for part in factor.given if part not in early]


def _file(job: Job, sweep: int, part: Part) -> Path:
    return job.path(sweep, f"factor-{part.name}")


def _map(job: Job, sweep: int, part: Part, n: int, mode: str = "c") -> NDArray[Any]:
    """An array of n items of the factor of a sweep, mapped."""
    return map_shared(_file(job, sweep, part), part.dtype, (n, *(part.row or ())), mode)


def open_factor(job: Job, factor: FixedFactor, sweep: int) -> None:
    """On the driver: make room for what all shards draw."""
    for part in _early(factor):
        make_shared(_file(job, sweep, part), job.n_words * math.prod(part.row or ()), part.dtype)


class Drawn(NamedTuple):
    """What a shard tells the driver of its rows."""

    sums: Sequence[Numbers]
    n_entries: int


def draw(job: Job, recipe: Recipe, sweep: int, shard: int) -> Drawn:
    """Draw the rows of a shard."""
    layout = Layout.read(job)
    factor = recipe.make(_state(job, layout, sweep, shard))
    sums = factor.draw()
    # A worker that was given up for lost may still get here: by then the driver may have drawn some topics anew.
    if not job.path(sweep, "scale").exists():
        _write(job, sweep, factor, _early(factor), int(layout.words[shard]))
    entries = {part.name: getattr(factor, part.name) for part in factor.drawn if part.row is None}
    if entries:
        write_arrays(job.path(sweep, "rows", shard), entries)
    return Drawn(sums, max(map(len, entries.values()), default=0))


def scale(job: Job, factor: FixedFactor, sweep: int, drawn: list[Drawn]) -> bool:
    """On the driver: make the scale from the sums of all shards; returns whether they have to finish their rows."""
    for part in _early(factor):
        setattr(factor, part.name, _map(job, sweep, part, job.n_words, "r+"))
    factor.set_scale([array for shard in drawn for array in shard.sums])
    for part in _early(factor):  # it may have drawn topics anew
        flush_shared(getattr(factor, part.name))
    first = np.concatenate(([0], np.cumsum([shard.n_entries for shard in drawn])))
    late = _late(factor)
    for part in late:
        n = int(first[-1]) if part.row is None else job.n_words * math.prod(part.row)
        make_shared(_file(job, sweep, part), n, part.dtype)
    write_arrays(job.path(sweep, "scale"), {"scale": factor.scale, "first": first})
    return bool(late)


def finish(job: Job, recipe: Recipe, sweep: int, shard: int) -> None:
    """Finish the rows of a shard, with the scale."""
    layout = Layout.read(job)
    words = slice(*layout.words[shard : shard + 2].tolist())
    factor = recipe.make(shard_state(job, layout, shard, sweep, np.zeros((0, 0), np.float32)))
    known = read_arrays(job.path(sweep, "scale"))
    factor.scale = known["scale"]
    for part in _early(factor):
        setattr(factor, part.name, _map(job, sweep, part, job.n_words)[words])
    if any(part.row is None for part in factor.drawn):
        for name, array in read_arrays(job.path(sweep, "rows", shard)).items():
            setattr(factor, name, array)
    factor.finish()
    _write(job, sweep, factor, _late(factor), words.start, int(known["first"][shard]))


def _write(job: Job, sweep: int, factor: FixedFactor, parts: list[Part], word: int, entry: int = 0) -> None:
    """Write arrays of a shard whose first word and first entry have these numbers."""
    for part in parts:
        first = entry if part.row is None else word * math.prod(part.row)
        write_shared(_file(job, sweep, part), first, getattr(factor, part.name))


def read_factor(job: Job, factor: FixedFactor, sweep: int) -> None:
    """Give a factor its arrays of a sweep: in memory, or mapped."""
    known = read_arrays(job.path(sweep, "scale"))
    factor.scale = known["scale"]
    for part in factor.given:
        array = _map(job, sweep, part, int(known["first"][-1]) if part.row is None else job.n_words)
        if array.nbytes <= COPIED:
            copy = aligned_zeros(array.shape, array.dtype)
            copy[:] = array
            array = copy
        setattr(factor, part.name, array)
    factor.opened()

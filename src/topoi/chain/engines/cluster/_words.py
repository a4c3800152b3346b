"""Tasks over shards of words: the word factor of a sweep, counts, and their histogram.

A factor is made in steps (`topoi.chain.factors.base`). Every shard draws its rows and returns sums over them. From the
sums of all shards the driver makes the scale; where rows have to be finished with it, every shard does so. The factor
says which arrays there are, and each is a file of which every shard writes its part. Where that part begins is known at
once if all words have as many items. If a word has an item for each entry of its row, it is known when all shards have
drawn theirs: until then a shard keeps them in a file of its own.

Where documents have a say in the rows (`rounds`), groups of documents write what they say to files, by shards of words,
and shards write their rows anew, to the file of the next round: a task that is run again finds the rows that it began
with. The arrays of round 0 are those that were drawn; the last round writes those without a number, which kernels get.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.anywhere import flush_shared, make_shared, map_part, map_shared, remove_files, write_shared
from topoi._disk.remote import Location
from topoi._machine.arrays import Floats, Numbers
from topoi._machine.pool import Pool
from topoi.chain.counts.spectra import Spectrum, word_spectrum
from topoi.chain.engines.cluster._counts import add_file, table_entries, write_counts
from topoi.chain.engines.cluster._job import Job, Layout, Span, read_arrays, write_arrays
from topoi.chain.engines.cluster._seen import read_seen, seen_kind
from topoi.chain.engines.cluster._views import shard_state
from topoi.chain.factors import FACTORS
from topoi.chain.factors.base import FixedFactor, Part
from topoi.chain.model import sample_counts
from topoi.chain.state import State

ONE = Pool(1)
#: Files of counts that one task adds up; more groups than that are added up by a tree.
FAN_IN = 64


def combine(job: Job, sweep: int, spans: Sequence[Span], level: int, number: int) -> None:
    """Add up the counts of up to FAN_IN files of the level below."""
    layout = Layout.read(job)
    below = _count_files(job, sweep, spans, level - 1)[number * FAN_IN : (number + 1) * FAN_IN]
    parts = [table_entries(_sum(job, layout, below, shard)) for shard in range(layout.n_shards)]
    write_counts(_count_files(job, sweep, spans, level)[number], parts)


def count_levels(n_spans: int) -> list[int]:
    """Number of files of counts at every level of the tree; the last has at most FAN_IN."""
    levels = [n_spans]
    while levels[-1] > FAN_IN:
        levels.append(-(-levels[-1] // FAN_IN))
    return levels


def counts_file(job: Job, sweep: int, span: Span) -> Location:
    """Where the counts of some groups after a sweep are."""
    return job.path(sweep, f"counts-{span.first:05d}", span.last)


def _count_files(job: Job, sweep: int, spans: Sequence[Span], level: int) -> list[Location]:
    """The files of a level of the tree."""
    if level == 0:
        return [counts_file(job, sweep, span) for span in spans]
    return [job.path(sweep, f"counts{level}", number) for number in range(count_levels(len(spans))[level])]


def _sum(job: Job, layout: Layout, files: list[Location], shard: int) -> Floats:
    """The counts (words, K) of a shard in some files together."""
    n_words = int(layout.words[shard + 1] - layout.words[shard])
    table = np.zeros((n_words, job.n_topics), job.real)
    for file in files:
        add_file(file, shard, table.reshape(-1))
    return table


def _state(job: Job, layout: Layout, sweep: int, spans: Sequence[Span], shard: int) -> State:
    """The state of a shard of words after a sweep."""
    files = _count_files(job, sweep, spans, len(count_levels(len(spans))) - 1)
    return shard_state(job, layout, shard, sweep, _sum(job, layout, files, shard))


def tally(job: Job, sweep: int, spans: Sequence[Span], shard: int) -> tuple[Spectrum, NDArray[np.int64]]:
    """How often each count n_wk occurs in a shard, and n_k."""
    return word_spectrum(_state(job, Layout.read(job), sweep, spans, shard), ONE)


def counts(job: Job, sweep: int, spans: Sequence[Span], shard: int) -> sparse.csr_array:
    """The counts of a shard, sparse."""
    return sample_counts(_state(job, Layout.read(job), sweep, spans, shard))


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


def _file(job: Job, sweep: int, part: Part, number: int | None = None) -> Location:
    return job.path(sweep, f"factor-{part.name}", number)


def _map(job: Job, sweep: int, part: Part, n: int, mode: str = "c", number: int | None = None) -> NDArray[Any]:
    """An array of n items of the factor of a sweep, mapped."""
    return map_shared(_file(job, sweep, part, number), part.dtype, (n, *(part.row or ())), mode)


def open_factor(job: Job, factor: FixedFactor, sweep: int, number: int | None) -> None:
    """On the driver: make room for what all shards draw, or for their rows before round `number`."""
    for part in _early(factor):
        make_shared(_file(job, sweep, part, number), job.n_words * math.prod(part.row or ()), part.dtype)


class Drawn(NamedTuple):
    """What a shard tells the driver of its rows."""

    sums: Sequence[Numbers]
    n_entries: int


def draw(job: Job, recipe: Recipe, sweep: int, spans: Sequence[Span], number: int | None, shard: int) -> Drawn:
    """Draw the rows of a shard; `number` is 0 where there are rounds."""
    layout = Layout.read(job)
    factor = recipe.make(_state(job, layout, sweep, spans, shard))
    sums = factor.draw()
    # A worker that was given up for lost may still get here: by then the driver may have drawn some topics anew.
    if not job.path(sweep, "scale", number).exists():
        _write(job, sweep, factor, _early(factor), int(layout.words[shard]), number=number)
    entries = {part.name: getattr(factor, part.name) for part in factor.drawn if part.row is None}
    if entries:
        write_arrays(job.path(sweep, "rows", shard), entries)
    return Drawn(sums, max(map(len, entries.values()), default=0))


def scale(job: Job, factor: FixedFactor, sweep: int, drawn: list[Drawn], number: int | None) -> None:
    """On the driver: make the scale from the sums of all shards. Rows are looked at only where it changes some."""
    sums = [array for shard in drawn for array in shard.sums]
    changed = _early(factor) if factor.changes_rows(sums) else []
    for part in changed:
        setattr(factor, part.name, _map(job, sweep, part, job.n_words, "r+", number))
    factor.set_scale(sums)
    for part in changed:
        flush_shared(_file(job, sweep, part, number), getattr(factor, part.name))
        # Windows removes no file that is mapped.
        setattr(factor, part.name, np.zeros((0, *(part.row or ())), part.dtype))
    _write_scale(job, factor, sweep, number, drawn)


def rescale(
    job: Job, factor: FixedFactor, sweep: int, step: Any, revised: list[Sequence[Numbers]], number: int | None
) -> None:
    """On the driver: make the scale from the sums of all shards after a round, for round `number` or the end."""
    factor.rescale(step, [array for sums in revised for array in sums])
    _write_scale(job, factor, sweep, number, [])


def _write_scale(job: Job, factor: FixedFactor, sweep: int, number: int | None, drawn: list[Drawn]) -> None:
    """Write the scale, and in the end make room for what needs it."""
    first = np.concatenate(([0], np.cumsum([shard.n_entries for shard in drawn], dtype=np.int64)))
    for part in _late(factor) if number is None else ():
        n = int(first[-1]) if part.row is None else job.n_words * math.prod(part.row)
        make_shared(_file(job, sweep, part), n, part.dtype)
    write_arrays(job.path(sweep, "scale", number), {"scale": factor.scale, "first": first})


def has_late(factor: FixedFactor) -> bool:
    """Whether shards have to finish their rows when there is a scale."""
    return bool(_late(factor))


def open_rows(job: Job, factor: FixedFactor, sweep: int, number: int) -> None:
    """Give a factor the rows of all words before round `number`, mapped."""
    factor.scale = read_arrays(job.path(sweep, "scale", number))["scale"]
    for part in _early(factor):
        setattr(factor, part.name, _map(job, sweep, part, job.n_words, number=number))


def _open_own(job: Job, factor: FixedFactor, sweep: int, words: slice, number: int | None = None) -> dict[str, Any]:
    """Give a factor the rows that its shard has written, and no others: what it changes stays with it.

    Returns the file of the scale.
    """
    known = read_arrays(job.path(sweep, "scale", number))
    factor.scale = known["scale"]
    for part in _early(factor):
        place, shape = _file(job, sweep, part, number), (job.n_words, *(part.row or ()))
        setattr(factor, part.name, map_part(place, part.dtype, shape, words))
    return known


def revise(
    job: Job, recipe: Recipe, sweep: int, number: int, step: Any, after: int | None, shard: int
) -> Sequence[Numbers]:
    """Let the words of a shard take up what the documents of round `number` say; returns sums over them."""
    layout = Layout.read(job)
    words = slice(*layout.words[shard : shard + 2].tolist())
    rows = words.stop - words.start if job.pseudo_counts else 0
    state = shard_state(job, layout, shard, sweep, np.zeros((rows, job.n_topics if rows else 0), job.real))
    factor = recipe.make(state)
    _open_own(job, factor, sweep, words, number)
    sums = factor.revise(step, read_seen(job, layout, sweep, number, shard))
    _write(job, sweep, factor, _early(factor), words.start, number=after)
    return sums


def close_round(job: Job, factor: FixedFactor, sweep: int, number: int) -> None:
    """On the driver: remove the files of a round that is over."""
    names = [_file(job, sweep, part, number).name for part in _early(factor)]
    remove_files(job.sweep(sweep), "|".join([*names, rf"{seen_kind(number)}-\d+"]))


def finish(job: Job, recipe: Recipe, sweep: int, shard: int) -> None:
    """Finish the rows of a shard, with the scale."""
    layout = Layout.read(job)
    words = slice(*layout.words[shard : shard + 2].tolist())
    factor = recipe.make(shard_state(job, layout, shard, sweep, np.zeros((0, 0), np.float32)))
    known = _open_own(job, factor, sweep, words)
    if any(part.row is None for part in factor.drawn):
        for name, array in read_arrays(job.path(sweep, "rows", shard)).items():
            setattr(factor, name, array)
    factor.finish()
    entry = int(known["first"][shard]) if any(part.row is None for part in factor.given) else 0
    _write(job, sweep, factor, _late(factor), words.start, entry)


def _write(
    job: Job, sweep: int, factor: FixedFactor, parts: list[Part], word: int, entry: int = 0, number: int | None = None
) -> None:
    """Write arrays of a shard whose first word and first entry have these numbers."""
    for part in parts:
        first = entry if part.row is None else word * math.prod(part.row)
        write_shared(_file(job, sweep, part, number), first, getattr(factor, part.name))


def read_factor(job: Job, factor: FixedFactor, sweep: int) -> dict[str, NDArray[Any]]:
    """The arrays of a factor of a sweep, mapped: the workers of a machine share them in its memory, and in its cache.

    A copy for each worker costs more than it saves: there are then several to be kept in the cache.
    """
    known = read_arrays(job.path(sweep, "scale"))
    found = {"scale": known["scale"]}
    for part in factor.given:
        n = int(known["first"][-1]) if part.row is None else job.n_words
        found[part.name] = _map(job, sweep, part, n)
    return found


def give_factor(factor: FixedFactor, known: dict[str, Any]) -> None:
    """Give a factor its arrays, and what follows from them, which is then known for the groups to come."""
    for name, value in known.items():
        setattr(factor, name, value)
    if not factor.follows <= known.keys():
        factor.opened()
        known |= {name: getattr(factor, name) for name in factor.follows}

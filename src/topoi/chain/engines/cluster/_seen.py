"""What groups of documents say in a round of the word factor (`FixedFactor.rounds`), in files by shards of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.simd import pad
from topoi.chain.counts.expectations import Seen
from topoi.chain.engines.cluster._job import Job, Layout, damaged, read_arrays, write_arrays

PAIRS = ("word", "row", "times")


def seen_kind(number: int) -> str:
    """How the files of a round begin."""
    return f"seen{number}"


def write_seen(job: Job, layout: Layout, sweep: int, number: int, group: int, seen: Seen) -> None:
    """Write what a group says: of each shard its words, numbered within it."""
    shard_of = np.searchsorted(layout.words, seen.word, side="right") - 1
    arrays = {"counts": seen.counts}
    for shard in range(layout.n_shards):
        chosen = shard_of == shard
        pairs = (seen.word[chosen] - layout.words[shard].astype(np.int32), seen.row[chosen], seen.times[chosen])
        arrays |= {f"{name} {shard}": array for name, array in zip(PAIRS, pairs, strict=True)}
    write_arrays(job.path(sweep, seen_kind(number), group), arrays)


def read_seen(job: Job, layout: Layout, sweep: int, number: int, shard: int) -> Seen:
    """What all groups say of a shard, in the order of the documents."""
    names = [f"{name} {shard}" for name in PAIRS]
    files = [job.path(sweep, seen_kind(number), group) for group in range(layout.n_groups)]
    width, n_words = pad(job.n_topics), int(layout.words[shard + 1] - layout.words[shard])
    groups, rows, first = [], [], 0
    for file in files:
        found = read_arrays(file, "counts", *names)
        counts, (word, row, times) = found["counts"], (found[name] for name in names)
        if [array.dtype for array in (counts, word, row, times)] != [job.real, np.int32, np.int32, job.real]:
            raise damaged(file, "its arrays have other types of numbers")
        if counts.shape[1:] != (width,) or not word.shape == row.shape == times.shape == (len(word),):
            raise damaged(file, "its arrays do not belong together")
        if not (_within(word, n_words) and _within(row, len(counts))):
            raise damaged(file, f"it has words or documents that are not in shard {shard}")
        groups.append((counts, word, times))
        rows.append(row + np.int32(first))
        first += len(counts)
    counts, word, times = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return Seen(counts, word, np.concatenate(rows), times)


def _within(numbers: NDArray[np.int32], n: int) -> bool:
    """Whether all are 0 … n − 1: kernels would read beyond the ends of their arrays."""
    return len(numbers) == 0 or (int(numbers.min()) >= 0 and int(numbers.max()) < n)

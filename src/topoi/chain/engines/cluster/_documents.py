"""Tasks over groups of documents: first topics, a sweep, and what a sample or a log joint needs to know."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk.blocks import file_to_sync
from topoi._disk.moved import note_read
from topoi._disk.remote import Location, locate
from topoi._disk.store import ModelError
from topoi._disk.whole import local_copy
from topoi._machine.pool import Pool
from topoi._machine.simd import LANES
from topoi.chain.counts.elsewhere import WordRows
from topoi.chain.counts.elsewhere import elsewhere as elsewhere_of
from topoi.chain.counts.shares import Design
from topoi.chain.counts.spectra import Spectrum, joined_spectrum
from topoi.chain.counts.theta import add_shares
from topoi.chain.diagnostics import topic_logs
from topoi.chain.engines.cluster._counts import Counter, counter, write_counts
from topoi.chain.engines.cluster._job import Job, Layout, Span, read_arrays, read_model, write_arrays
from topoi.chain.engines.cluster._seen import write_seen
from topoi.chain.engines.cluster._views import group_corpus, group_state, group_supervision
from topoi.chain.engines.cluster._words import Recipe, counts_file, give_factor, open_rows, read_factor
from topoi.chain.factors.base import FixedFactor
from topoi.chain.responses.supervision import Supervision
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, divided, first_topics, topic_dtype

ONE = Pool(1)  # a worker has as many tasks at a time as it has threads


def begin(job: Job, span: Span) -> None:
    """Draw the first topics of some groups."""
    layout = Layout.read(job)
    model = read_model(job, 0)
    with counting(job, layout, 0, span) as counts:
        for group in range(*span):
            targets = group_supervision(job, layout, group, model)
            z = first_topics(group_corpus(job, layout, group), job.priors, job.seed, targets)
            _write_topics(job, group, group_state(job, layout, group, 0, z), counts)


def go_on(
    job: Job, old: Job, sweep: int, shares: int | None, number: NDArray[np.int64] | None, parts: int, span: Span
) -> None:
    """Take over the topics of some groups, and the sums of their shares, from a checkpoint in another folder.

    With `number` topic k is from now on part of topic number[k]; with `parts` above 1 it becomes so many topics.
    """
    layout = Layout.read(job)
    with counting(job, layout, sweep, span) as counts:
        for group in range(*span):
            _take_over(job, layout, old, sweep, shares, number, parts, group, counts)


def _take_over(
    job: Job, layout: Layout, old: Job, sweep: int, shares: int | None, number: NDArray[np.int64] | None, parts: int,
    group: int, counts: Counter,
) -> None:  # fmt: skip
    z = read_arrays(old.path(sweep, "z", group), "z")["z"]
    corpus = group_corpus(job, layout, group)
    n_tokens = corpus.n_tokens
    if number is not None and z.max(initial=0) < len(number):
        z = number[z].astype(topic_dtype(job.n_topics))
    if parts > 1 and z.max(initial=0) <= (job.n_topics - 1) // parts:
        z = divided(z, corpus, job.n_topics, parts, job.seed, sweep)
    if z.shape != (n_tokens,) or z.dtype != topic_dtype(job.n_topics) or z.max(initial=0) >= job.n_topics:
        raise ModelError(f"{old.path(sweep, 'z', group)} does not hold the topics of {n_tokens} tokens")
    _write_topics(job, group, group_state(job, layout, group, sweep, z), counts)
    if shares is not None:
        sums = read_shares(old, shares, group)
        if sums.shape != (corpus.n_documents, job.n_topics) or sums.dtype != np.float32:
            raise ModelError(f"{shares_file(old, shares, group)} does not hold the shares of its documents")
        write_arrays(shares_file(job, shares, group), {"shares": sums})


def move(job: Job, name: str, options: Mapping[str, Any], sweep: int, span: Span) -> list[Any]:
    """Move the tokens of some groups once, from sweep `sweep` to the next; returns what the blocks returned."""
    layout = Layout.read(job)
    answers: list[Any] = []
    given: dict[str, Any] = {}
    with counting(job, layout, sweep + 1, span) as counts:
        for group in range(*span):
            state = group_state(job, layout, group, sweep)
            if state.supervision is not None:
                state.supervision.refresh(state, ONE)
            sampler = SAMPLERS[name](state, ONE, **options)
            assert isinstance(sampler.factor, FixedFactor)
            given = given or read_factor(job, sampler.factor, sweep)  # mapped once for all groups
            give_factor(sampler.factor, given)
            answers += sampler.move()
            state.sweep += 1
            if state.supervision is not None:
                _write_pairs(job, group, state.sweep, state.supervision, state.supervision.observe(state, ONE))
            _write_topics(job, group, state, counts)
    return answers


def see(job: Job, recipe: Recipe, sweep: int, number: int, step: Any, group: int) -> None:
    """Let the documents of a group have their say in a round of the word factor."""
    layout = Layout.read(job)
    factor = recipe.make(group_state(job, layout, group, sweep))
    open_rows(job, factor, sweep, number)
    write_seen(job, layout, sweep, number, group, factor.observe(step))


@contextmanager
def counting(job: Job, layout: Layout, sweep: int, span: Span) -> Iterator[Counter]:
    """A counter of the tokens of some groups after a sweep; they are counted and written when all have been moved.

    Counting between two groups would find its table out of the processor's cache every time.
    """
    n_tokens = int(layout.tokens[span.last] - layout.tokens[span.first])
    counts = counter(job.n_topics, n_tokens, layout.words)
    yield counts
    write_counts(counts_file(job, sweep, span), counts.counted())


def _write_topics(job: Job, group: int, state: State, counts: Counter) -> None:
    """Write the topics of a group, and count them."""
    counts.add(state)
    write_arrays(job.path(state.sweep, "z", group), {"z": state.z})


def _write_pairs(job: Job, group: int, sweep: int, s: Supervision, design: Design) -> None:
    """Write what the draw of the weights needs to know of a group; κ and ω by as many tasks as are drawn."""
    arrays: dict[str, Any] = {"start": design.start, "doc": design.doc, "share": design.share}
    for number, first in enumerate(range(0, s.n_tasks, LANES)):
        tasks = slice(first, first + LANES)
        for name in ("kappa", "omega"):
            arrays[f"{name}{number}"] = getattr(s, name)[:, tasks]
    write_arrays(job.path(sweep, "pairs", group), arrays)


def logs(job: Job, sweep: int, group: int) -> list[float]:
    """Log probabilities of the topics of a group's blocks."""
    return topic_logs(group_state(job, Layout.read(job), group, sweep), ONE)


def observe(job: Job, sweep: int, group: int) -> Any:
    """What an update of the prior of topics needs to know of a group."""
    state = group_state(job, Layout.read(job), group, sweep)
    return state.priors.topics.observe(state, ONE)


def spectrum(job: Job, sweep: int, number: NDArray[np.int64], group: int) -> Spectrum:
    """How often each count n_dk > 0 occurs in a group if topic k were part of topic number[k]."""
    return joined_spectrum(group_state(job, Layout.read(job), group, sweep), number, ONE)


def elsewhere(job: Job, sweep: int, of: WordRows, rival: NDArray[np.int64], group: int) -> NDArray[np.int64]:
    """How the tokens of topics in a group would do in their rivals."""
    return elsewhere_of(group_state(job, Layout.read(job), group, sweep), of, rival, ONE)


def share(job: Job, before: int | None, sweep: int, group: int) -> None:
    """Add the topic shares of a group to the sums up to the sample before."""
    state = group_state(job, Layout.read(job), group, sweep)
    shape = (state.corpus.n_documents, job.n_topics)
    sums = np.zeros(shape, np.float32) if before is None else read_shares(job, before, group)
    add_shares(state, sums, ONE)
    write_arrays(shares_file(job, sweep, group), {"shares": sums})


def shares_file(job: Job, sweep: int, group: int) -> Location:
    """Where the sums of the topic shares of a group up to the sample of a sweep are."""
    return job.shares(sweep) / f"sum-{group:05d}"


def read_shares(job: Job, sweep: int, group: int) -> Any:
    """Sums of the topic shares of a group up to the sample of a sweep."""
    return read_arrays(shares_file(job, sweep, group), "shares")["shares"]


def seal(job: Job, path: str) -> str:
    """Make sure that a file is on the disk, and return its digest; "" if it is not there."""
    digest = hashlib.blake2b(digest_size=16)
    place = locate(path)
    try:
        # Of an object what the store has, not a copy of it; it is safe there once it has been put.
        with local_copy(place) as copy, file_to_sync(copy) as file:
            if isinstance(place, Path):
                os.fsync(file.fileno())
            while data := file.read(2**20):
                digest.update(data)
                if isinstance(place, Path):
                    note_read(len(data))
    except FileNotFoundError:
        return ""
    return digest.hexdigest()

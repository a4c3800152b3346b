"""The engine of a cluster: the driver, which holds the priors, the weights and the sums over samples, but no tokens.

A sweep is a few rounds of tasks, each of which begins when the one before it is complete: rows of the word factor, by
shards of words; where documents have a say in them, by groups of documents and by shards in turn; where needed, the
same with its scale; new topics, by groups of documents; weights, by responses. Tasks
read and write files (`_job`), and tell the driver only small things. So a worker that is killed costs what it had in
hand, and the files of the last complete sweep, with a small record of the driver's, are a checkpoint.
"""

from __future__ import annotations

import re
import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.anywhere import (
    as_text,
    check_no_links,
    make_inside,
    make_new,
    remove_files,
    remove_tree,
    remove_trees,
    resolved,
    within,
    write_once,
    write_shared,
)
from topoi._disk.blocks import new_mapped_array
from topoi._disk.folders import RUN_NAMES, SWEEP_NAMES, remove_with, temporary_folder
from topoi._disk.moved import Moved
from topoi._disk.remote import Location
from topoi._disk.store import ModelError
from topoi._machine.simd import LANES
from topoi.chain.checkpoint import Journal, Point
from topoi.chain.counts.elsewhere import WordRows
from topoi.chain.counts.spectra import Spectrum, merge
from topoi.chain.counts.theta import average_shares
from topoi.chain.diagnostics import join_logs
from topoi.chain.engines.cluster import _documents, _samples, _words
from topoi.chain.engines.cluster._about import write_about
from topoi.chain.engines.cluster._counts import sparse_entries, write_counts
from topoi.chain.engines.cluster._faults import with_files
from topoi.chain.engines.cluster._job import Job, Layout, Span, read_arrays, write_arrays
from topoi.chain.engines.cluster._stamp import code_stamp
from topoi.chain.engines.cluster._views import group_corpus, pseudo_counts_file
from topoi.chain.engines.cluster._weights import weigh, write_columns
from topoi.chain.engines.cluster._workers import Workers, batches
from topoi.chain.factors.base import FixedFactor
from topoi.chain.priors import Priors
from topoi.chain.responses.supervision import Supervision
from topoi.chain.samplers import Sampler
from topoi.chain.samples import Samples, Trace
from topoi.chain.state import State, join, real_dtype, topic_dtype, widen
from topoi.corpus import Corpus

R = TypeVar("R")
#: The name of the folder of a process.
RUN = "[0-9a-f]{12}"
#: A file that a checkpoint counts on, and its digest.
BLOCK = re.compile(rf"(?P<run>{RUN})/(?P<kind>sweep|shares)-(?P<number>\d{{9}})/(z|sum)-\d{{5,}} [0-9a-f]{{32}}")


def state_without_topics(corpus: Corpus, priors: Priors, seed: int, supervision: Supervision | None = None) -> State:
    """The state that the driver has: topics are in files, and so is the table of pseudo-counts."""
    z = np.zeros(0, topic_dtype(len(priors.topics.alpha)))
    real = real_dtype(corpus, priors.words.pseudo_counts)
    return State(corpus, priors, z, seed, real=real, supervision=supervision)


class Cluster:
    """The engine whose topics lie in files under `folder` and are moved by `workers`.

    Without a folder it makes one for temporary files, which goes when the engine does.
    """

    def __init__(self, state: State, workers: Workers, folder: Location | None) -> None:
        assert state.corpus.folder is not None
        self.state = state
        self.workers = workers
        self.layout = Layout.of(state.corpus, state.priors.topics.most)
        self.temporary = folder is None
        if folder is None:
            folder = temporary_folder("topoi-")
            remove_with(self, folder)
        # Below the folder that was given nothing is a link: whoever wrote a checkpoint could lead us elsewhere by one.
        self.folder = resolved(folder) / "blocks"
        check_no_links(self.folder)
        self.job = self._new_job()
        self.begun = False
        self.spans: list[Span] = []  # of the groups whose counts after the last sweep are together in a file
        self.shares_at: int | None = None  # the sweep of the last sample
        self.counted: tuple[int, sparse.csr_array] | None = None  # the counts of a sweep, if they lie in files
        self.kept: tuple[int, sparse.csr_array] | None = None  # likewise, their sum up to a sample
        self.written: dict[int, int | None] = {}  # sweeps of the checkpoints of this process, and their `shares_at`
        self.tallied: tuple[int, Spectrum, NDArray[np.int64]] | None = None
        self.by_driver = Moved()
        self.workers.moved.take()  # of a chain before this one
        self.shown = state.sweep  # the sweep that is under way

    def _new_job(self) -> Job:
        """A job for as many topics as the state has, with a folder of its own."""
        state, s = self.state, self.state.supervision
        responses: dict[str, Any] = {}
        if s is not None:
            responses = {
                "response": s.response, "nu": s.nu, "n_gibbs": s.n_gibbs, "part": s.part, "n_tasks": s.n_tasks,
                "columns_nu": None if s.columns is None else s.columns.nu, "camp_topics": s.camp_topics,
            }  # fmt: skip
        job = Job(
            as_text(self.folder / uuid.uuid4().hex[:12]), self._corpus(), state.corpus.n_words,
            state.n_topics, state.seed, np.dtype(state.real).name, code_stamp(), state.priors.without_counts(),
            state.priors.words.pseudo_counts is not None, state.priors.topics.about in state.corpus.about, **responses,
        )  # fmt: skip
        weakref.finalize(self, group_corpus.forget, job.folder)
        return job

    def _corpus(self) -> str:
        """Where tasks read documents: in a folder that they see."""
        corpus = self.state.corpus
        assert corpus.folder is not None
        if self.workers.elsewhere and corpus.origin is not None:
            return as_text(corpus.origin)
        return str(corpus.folder)

    # ---- Rounds of tasks ---------------------------------------------------------------------------------

    def _map(
        self, task: Callable[..., R], *given: Any, over: Iterable[Any], cut: bool = True, job: Job | None = None
    ) -> list[R]:
        return self.workers.map(task, job or self.job, *given, over=over, cut=cut, sweep=self.shown)

    def _groups(self, task: Callable[..., R], *given: Any) -> list[R]:
        return self._map(task, *given, over=range(self.layout.n_groups))

    def _shards(self, task: Callable[..., R], *given: Any) -> list[R]:
        return self._map(task, *given, over=range(self.layout.n_shards))

    def _publish(self) -> None:
        """Tell the tasks of the coming sweep the priors and the weights."""
        s = self.state.supervision
        arrays = self.state.priors.arrays()
        if s is not None:
            arrays |= s.learned
        write_arrays(self.job.path(self.state.sweep, "model"), arrays)

    def _spans(self, sweep: int, task: Callable[..., R], *given: Any) -> list[R]:
        """A task over groups that leaves their topics and counts after a sweep; all counts are then added up.

        Tasks count several groups together: how many depends on who is there, and the sums do not depend on it.
        """
        spans = self.layout.spans(batches(list(range(self.layout.n_groups)), self.workers.n_threads))
        found = self._map(task, *given, over=spans, cut=False)
        self.spans = spans
        for level, n in list(enumerate(_words.count_levels(len(spans))))[1:]:
            self._map(_words.combine, sweep, spans, level, over=range(n))
        return found

    # ---- Begin, go on, checkpoint ------------------------------------------------------------------------

    def _open(self) -> None:
        """Make the folder of this process, with what all tasks read."""
        self.begun = True
        make_inside(self.folder, self.job.root.name)
        make_new(self.job.sweep(self.state.sweep))
        self.layout.write(self.job)
        counts = self.state.priors.words.pseudo_counts
        if counts is not None:
            shards = [sparse_entries(counts[first:last]) for first, last in pairwise(self.layout.words.tolist())]
            write_counts(pseudo_counts_file(self.job), shards)
        known = self.state.corpus.about.get(self.state.priors.topics.about)
        if known is not None:
            write_about(self.job, self.layout, known)
        s = self.state.supervision
        if s is not None:
            for name, array in (("y.npy", s.y), ("weight.npy", s.weight)):
                write_once(self.job.root / name, lambda file, array=array: np.save(file, array[:]))  # type: ignore[misc]
            if s.columns is not None:
                write_columns(self.job, self.layout, s.columns.design.whole())
        self._publish()

    @with_files
    def begin(self) -> None:
        """Draw the first topics, unless that is done."""
        if self.begun:
            return
        self._open()
        self._spans(self.state.sweep, _documents.begin)

    @with_files
    def resume(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Go to the last checkpoint, if there is one."""
        point = journal.resume(self.state, samples, trace, self._check, mapped=True)
        if point is None:
            remove_trees(self.folder, RUN_NAMES, set())  # nothing that anyone could go on from
            return
        if self.state.n_topics != self.job.n_topics:  # they had become more
            self.job = self._new_job()
        old, self.shares_at = self._where(point)
        self.shown = self.state.sweep
        self._go_on(old)
        if samples.counts is not None and samples.last is not None and _samples.are_large(self.state):
            make_new(self.job.kept(self.state.sweep))
            samples.counts, samples.last = self._put("total", samples.counts), self._put("last", samples.last)
            self.kept = self.state.sweep, samples.counts

    def _go_on(self, old: Job, number: NDArray[np.int64] | None = None, parts: int = 1) -> None:
        """Take over the topics, and the sums of their shares, from the folder of another job."""
        self._open()
        if self.shares_at is not None:
            make_new(self.job.shares(self.shares_at))
        sweep = self.state.sweep
        self._spans(sweep, _documents.go_on, old, sweep, self.shares_at, number, parts)

    def _where(self, point: Point) -> tuple[Job, int | None]:
        """The job whose folder a checkpoint counts on, and the sweep of its last sample."""
        first, last = (BLOCK.fullmatch(line) for line in (point.blocks[0], point.blocks[-1]))
        assert first is not None
        assert last is not None
        old = replace(self.job, folder=as_text(self.folder / first["run"]))
        return old, int(last["number"]) if last["kind"] == "shares" else None

    def _files(self, job: Job, sweep: int, shares: int | None) -> list[Location]:
        """The files that a checkpoint counts on."""
        groups = range(self.layout.n_groups)
        files = [job.path(sweep, "z", g) for g in groups]
        return files if shares is None else files + [_documents.shares_file(job, shares, g) for g in groups]

    def _check(self, point: Point) -> None:
        """Raise unless the files of a checkpoint are those that were written."""
        if not point.blocks or not all(map(BLOCK.fullmatch, point.blocks)):
            raise ModelError(f"the checkpoint of sweep {point.sweep} does not name its blocks")
        files = self._files(*self._at(point))
        digests = self._map(_documents.seal, over=map(as_text, files), job=self._anywhere())
        for file, digest, line in zip(files, digests, point.blocks, strict=False):
            if self._line(file, digest) != line:
                raise ModelError(f"{file} is {'damaged' if digest else 'missing'}")
        if len(files) != len(point.blocks):
            raise ModelError(f"the checkpoint of sweep {point.sweep} has {len(point.blocks)} blocks, not {len(files)}")

    def _at(self, point: Point) -> tuple[Job, int, int | None]:
        old, shares = self._where(point)
        return old, point.sweep, shares

    def _anywhere(self) -> Job:
        """The job before it has a folder of its own."""
        make_inside(self.folder.parent, self.folder.name)
        return replace(self.job, folder=as_text(self.folder))

    def _line(self, file: Location, digest: str) -> str:
        return f"{within(file, self.folder)} {digest}"

    @with_files
    def checkpoint(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Write a checkpoint: digests of the files of this sweep, and all that the driver has."""
        self.begin()
        files = self._files(self.job, self.state.sweep, self.shares_at)
        digests = self._map(_documents.seal, over=map(as_text, files))
        journal.write(self.state, samples, trace, list(map(self._line, files, digests)))
        self.written[self.state.sweep] = self.shares_at
        self._tidy({int(path.stem.removeprefix("sweep-")) for path in journal.files()})

    def _tidy(self, checkpoints: set[int]) -> None:
        """Remove the files that neither the coming sweep nor any of these checkpoints needs."""
        self.written = {sweep: shares for sweep, shares in self.written.items() if sweep in checkpoints}
        needed = {self.job.sweep(sweep).name for sweep in (*self.written, self.state.sweep)}
        needed |= {self.job.kept(self.kept[0]).name} if self.kept is not None else set()
        needed |= {self.job.shares(at).name for at in (*self.written.values(), self.shares_at) if at is not None}
        remove_trees(self.job.root, SWEEP_NAMES, needed)
        if checkpoints <= set(self.written):  # none is left of a process before this one
            remove_trees(self.folder, RUN_NAMES, {self.job.root.name})

    # ---- What `run` asks for -----------------------------------------------------------------------------

    def moved(self) -> Moved:
        """Bytes of files that the driver and the tasks have read and written since this was asked last."""
        moved = self.by_driver.take()
        moved.add(self.workers.moved.take())
        return moved

    @with_files
    def sweep(self, kind: type[Sampler], options: Mapping[str, Any]) -> dict[str, float]:
        """Move every token once."""
        self.begin()
        state, job, before = self.state, self.job, self.state.sweep
        self.shown = before + 1
        sampler = kind(state, **options)
        factor = sampler.factor
        assert isinstance(factor, FixedFactor)
        self._make(factor)
        make_new(job.sweep(before + 1))
        answers = self._spans(before + 1, _documents.move, kind.name, dict(options), before)
        state.sweep += 1
        if state.supervision is not None:
            chunks = range(-(-job.n_tasks // LANES))
            parts = self._map(weigh, state.sweep, over=chunks)
            for name, array in state.supervision.learned.items():
                array[:] = np.concatenate([part[name] for part in parts])
        self._publish()
        summary = sampler.summary([answer for part in answers for answer in part])
        del sampler, factor  # Windows removes no file that is mapped
        if before not in self.written:
            remove_tree(job.sweep(before))
        return dict(summary)

    def _make(self, factor: FixedFactor) -> None:
        """Make the word factor of the coming sweep."""
        job, sweep, recipe = self.job, self.state.sweep, _words.Recipe.of(factor)
        rounds = factor.rounds()
        numbers = [*range(len(rounds)), None]  # of the rows before every round, and of those in the end
        _words.open_factor(job, factor, sweep, numbers[0])
        drawn = self._shards(_words.draw, recipe, sweep, self.spans, numbers[0])
        _words.scale(job, factor, sweep, drawn, numbers[0])
        for number, step in enumerate(rounds):
            after = numbers[number + 1]
            self._groups(_documents.see, recipe, sweep, number, step)
            _words.open_factor(job, factor, sweep, after)
            revised = self._shards(_words.revise, recipe, sweep, number, step, after)
            _words.rescale(job, factor, sweep, step, revised, after)
            _words.close_round(job, factor, sweep, number)
        if _words.has_late(factor):
            self._shards(_words.finish, recipe, sweep)

    @with_files
    def update_priors(self) -> None:
        """Update the priors that are due after the last sweep."""
        state = self.state
        state.priors = state.priors.updated(state, lambda: self._groups(_documents.observe, state.sweep), self._tally)
        if state.n_topics == self.job.n_topics:
            self._publish()
            return
        widen(state)
        self._move_on()

    @with_files
    def spectrum(self, number: NDArray[np.int64]) -> Spectrum:
        """How often each count n_dk > 0 occurs if topic k were part of topic number[k]."""
        return merge(self._groups(_documents.spectrum, self.state.sweep, number))

    @with_files
    def elsewhere(self, of: WordRows, rival: NDArray[np.int64]) -> NDArray[np.int64]:
        """How the tokens of topics would do in their rivals."""
        parts = self._groups(_documents.elsewhere, self.state.sweep, of, rival)
        return np.asarray(np.sum(parts, axis=0), np.int64)

    @with_files
    def join(self, number: NDArray[np.int64]) -> None:
        """Make topic k part of topic number[k]."""
        self.begin()
        join(self.state, number)
        self._move_on(number)

    @with_files
    def divide(self, parts: int, priors: Priors) -> None:
        """Make each topic `parts` topics of those that `priors` are for."""
        self.state.priors = priors
        self._move_on(parts=parts)

    def _move_on(self, number: NDArray[np.int64] | None = None, parts: int = 1) -> None:
        """Go on in another folder, with as many topics as the state has now.

        Files have a column for each topic, and what is in a file follows from its name: tasks that are still under way
        must not write to those that are read next.
        """
        old, self.job, self.tallied = self.job, self._new_job(), None
        self.counted = None
        self._go_on(old, number, parts)
        if not self.written:
            remove_tree(old.root)
        self.written = {}

    @with_files
    def log_joint(self) -> float:
        """log p(words, topics | α, β)."""
        parts = self._groups(_documents.logs, self.state.sweep)
        return join_logs(self.state, [log for part in parts for log in part], *self._tally())

    def _tally(self) -> tuple[Spectrum, NDArray[np.int64]]:
        """How often each count n_wk occurs, and n_k; of a sweep, once."""
        if self.tallied is None or self.tallied[0] != self.state.sweep:
            parts = self._shards(_words.tally, self.state.sweep, self.spans)
            n_k = np.sum([part[1] for part in parts], axis=0)
            self.tallied = (self.state.sweep, merge([part[0] for part in parts]), n_k)
        return self.tallied[1:]

    @with_files
    def counts(self) -> sparse.csr_array:
        """Word–topic counts (V, K)."""
        self.begin()
        if _samples.are_large(self.state):
            return self._counted()
        parts = self._shards(_words.counts, self.state.sweep, self.spans)
        indptr = np.concatenate(([0], np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts]))))
        data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
        return sparse.csr_array((data, indices, indptr), shape=(self.job.n_words, self.job.n_topics))

    def _counted(self) -> sparse.csr_array:
        """The same in files; of a sweep, once."""
        sweep = self.state.sweep
        if self.counted is None or self.counted[0] != sweep:
            sizes = self._shards(_samples.count, sweep, self.spans)
            self.counted = sweep, self._whole(self.job.sweep(sweep), "now", sizes)
        return self.counted[1]

    def _total(self) -> sparse.csr_array | None:
        """The sum of the counts of this sweep and of the samples before, in files; None where they are in memory."""
        if not _samples.are_large(self.state):
            return None
        before, sweep = None if self.kept is None else self.kept[0], self.state.sweep
        make_new(self.job.kept(sweep))
        sizes = self._shards(_samples.add, before, sweep)
        self.kept = sweep, self._whole(self.job.kept(sweep), "total", sizes)
        if before is not None:
            remove_tree(self.job.kept(before))
        return self.kept[1]

    def _whole(self, folder: Location, name: str, sizes: list[NDArray[np.int64]]) -> sparse.csr_array:
        """The matrix of which every shard has written its rows, and how many entries they have."""
        places = _samples.make_room(folder, name, sizes)
        self._shards(_samples.place, places)
        return _samples.whole(self.job, places, sizes)

    def _put(self, name: str, counts: sparse.csr_array) -> sparse.csr_array:
        """The same of a matrix that lies elsewhere, beside the sums of this job."""
        folder, edges = self.job.kept(self.state.sweep), pairwise(self.layout.words.tolist())
        rows = [
            _samples.write_rows(folder, name, shard, counts[first:last]) for shard, (first, last) in enumerate(edges)
        ]
        return self._whole(folder, name, rows)

    @with_files
    def keep(self, samples: Samples) -> None:
        """Keep the topics as a sample."""
        samples.add(self.state, self.counts(), self._total())
        if not samples.of_documents:
            return
        make_new(self.job.shares(self.state.sweep))
        self._groups(_documents.share, self.shares_at, self.state.sweep)
        last, self.shares_at = self.shares_at, self.state.sweep
        if last is not None and last not in self.written.values():
            remove_tree(self.job.shares(last))

    @with_files
    def doc_topic(self, samples: Samples, number: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Topic shares (D, …) of the documents: in a file of the folder that the user gave, or in memory."""
        self.begin()
        if not samples.of_documents:
            return None
        assert self.shares_at is not None
        shape = (self.state.corpus.n_documents, int(number.max()) + 1)
        shares: NDArray[np.float32]
        if not self.temporary and shape[0] and isinstance(self.folder, Path):
            # Of a process before; who has it mapped keeps it.
            remove_files(self.folder.parent, rf"doc_topic-{RUN}\.npy")
            name = f"doc_topic-{self.job.root.name}.npy"
            shares = new_mapped_array(self.folder.parent / name, np.float32, shape)
        else:
            shares = np.zeros(shape, np.float32)
        edges = self.layout.documents
        for group in range(self.layout.n_groups):
            sums = _documents.read_shares(self.job, self.shares_at, group)
            mean = average_shares(sums, samples.n, number)
            if isinstance(shares, np.memmap):  # written, not mapped, so that a full disk is an error and not a crash
                first = shares.offset // shares.itemsize + int(edges[group]) * shape[1]
                write_shared(Path(str(shares.filename)), first, mean)
            else:
                shares[edges[group] : edges[group + 1]] = mean
        return shares

    @with_files
    def topics(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """The topics of the tokens of some documents."""
        ptr, edges = self.state.corpus.doc_ptr, self.layout.documents
        group_of = np.searchsorted(edges, documents, side="right") - 1
        parts = {g: read_arrays(self.job.path(self.state.sweep, "z", g))["z"] for g in np.unique(group_of).tolist()}
        found = []
        for d, g in zip(documents.tolist(), group_of.tolist(), strict=True):
            first = ptr[edges[g]]
            found.append(parts[g][ptr[d] - first : ptr[d + 1] - first])
        return np.concatenate(found).astype(np.int64)

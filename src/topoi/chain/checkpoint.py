"""Checkpoints: a run that was killed goes on where it was, and ends with the same bytes.

A checkpoint holds what cannot be made again: the topics, the weights, the priors, and the sums over the samples
kept so far. Counts, scores and auxiliary variables follow from them, and random numbers from the number of the sweep.
A file is written whole or not at all; the last two are kept. One whose digest shows that it is damaged is passed over
with a warning. One that is whole but cannot be used, say by this version of topoi, ends the fit with an error and stays
where it is: the hours that it stands for are not lost because of us.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk import store, strict_json
from topoi._disk.anywhere import files, locked, make_folder, make_inside, remove_file, rename, resolved
from topoi._disk.patience import patient
from topoi._disk.remote import Location, locate
from topoi._disk.schema import NUMBER, SPARSE, TEXT, WHOLE, array_of, list_of, mapping_of, optional
from topoi._disk.store import ModelError, Stored, UnreadableError
from topoi._disk.whole import local_copy, write_whole
from topoi._machine.arrays import Ints
from topoi._machine.interrupt import stop_if_asked
from topoi._machine.simd import pad
from topoi.chain.model import check_whole
from topoi.chain.priors import Priors, TopicPrior
from topoi.chain.samples import Samples, Trace
from topoi.chain.state import NO_BASE, State, widen
from topoi.errors import ParameterError, StorageError, TopoiError

KEPT = 2


class CheckpointError(TopoiError, OSError):
    """A checkpoint that cannot be written, or one that is whole but cannot be used."""


class CheckpointWarning(UserWarning):
    """A checkpoint that is damaged; an earlier one is used."""


@dataclass(frozen=True)
class Checkpoints:
    """Where a fit keeps its checkpoints (a folder or a URL), and after how many seconds, or sweeps, it writes one."""

    folder: str | Path
    every_seconds: float = 300.0
    every_sweeps: int | None = None

    def __post_init__(self) -> None:
        seconds: Any = self.every_seconds
        if not isinstance(seconds, Real) or isinstance(seconds, bool) or not float(seconds) >= 0:
            raise ParameterError("every_seconds", f"must be a number of at least 0, not {seconds!r}")
        if self.every_sweeps is not None:
            check_whole("every_sweeps", self.every_sweeps)

    @property
    def _folder(self) -> Location:
        return locate(self.folder)

    def journal(self, name: str, fingerprint: str) -> Journal:
        """The checkpoints of one chain; raises now, not when the first is due, if they cannot be written there."""
        try:
            folder = make_inside(self._folder, name)
        except OSError as error:
            raise CheckpointError(f"cannot make the folder {self._folder / name} for checkpoints ({error})") from error
        return Journal(folder, fingerprint, self.every_seconds, self.every_sweeps)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only fit that writes to the folder; a BusyError if there is another."""
        try:
            make_folder(self._folder)
        except OSError as error:
            raise CheckpointError(f"cannot make the folder {self.folder} for checkpoints ({error})") from error
        with locked(self._folder):
            yield

    def seed(self, drawn: int) -> int:
        """The seed of the run in this folder; `drawn`, which is then noted, if there is none yet."""
        with self.locked():
            return self._seed(drawn)

    def _seed(self, drawn: int) -> int:
        path = resolved(self._folder) / "seed.json"
        try:
            with local_copy(path) as file:
                found = strict_json.read(file)
        except FileNotFoundError:
            found = drawn
            try:
                write_whole(path, json.dumps(drawn).encode(), follow=False)
            except OSError as error:
                raise CheckpointError(f"cannot write {path} ({error})") from error
        except StorageError:  # it may be there, and sound
            raise
        except (OSError, ValueError):
            found = None
        if type(found) is not int or not 0 <= found < 2**32:
            raise ParameterError("checkpoint", f"{path} is damaged; remove the folder to begin anew")
        return found


@dataclass(frozen=True)
class Point:
    """All that is needed to go on."""

    fingerprint: str
    sweep: int
    z: Ints
    priors: dict[str, NDArray[Any]]
    eta: NDArray[np.float32] | None
    n_samples: int
    counts: sparse.csr_array | None
    last: sparse.csr_array | None
    shares: NDArray[np.float32] | None
    weights: list[NDArray[np.float32]]
    trace_sweep: list[int]
    trace_log_joint: list[float]
    trace_held_out: list[float] = field(default_factory=list)
    watched: str = ""
    # Of a run on a cluster: the files that hold topics and shares, with their digests.
    blocks: list[str] = field(default_factory=list)
    # What else a sweep moves, and its samples: see `Supervision.beside`.
    beside: dict[str, NDArray[Any]] = field(default_factory=dict)
    beside_samples: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    # What the samples hold of the prior of topics: see `TopicPrior.sampled`.
    draws: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    # Of the prior of topics: see `Trace.figures`.
    figures: dict[str, list[float]] = field(default_factory=dict)

    def belongs_to(self, state: State, of_documents: bool) -> bool:
        """Whether it can be a point of the chain of `state`: kernels go by what it says without looking.

        `of_documents` says whether its samples are to have the topic shares of the documents.
        """
        priors, s = _with(state.priors, self.priors), state.supervision
        if priors is None:
            return False
        n_topics = len(priors.topics.alpha)
        counts_shape = (state.corpus.n_words, n_topics)
        return bool(
            self.z.shape == state.z.shape
            and self.z.dtype == state.z.dtype
            and (not len(self.z) or self.z.max() < n_topics)
            and self.sweep >= 0
            and (
                self.eta is None if s is None else self.eta is not None and self.eta.shape == (s.n_tasks, pad(n_topics))
            )
            and all((matrix is None) == (self.n_samples == 0) for matrix in (self.counts, self.last))
            and (not of_documents or (self.shares is None) == (self.n_samples == 0 or bool(self.blocks)))
            and all(matrix is None or matrix.shape == counts_shape for matrix in (self.counts, self.last))
            and (self.shares is None or self.shares.shape == (state.corpus.n_documents, n_topics))
            and len(self.weights) == (0 if s is None else self.n_samples)
            and all(s is not None and sample.shape == (s.n_tasks, n_topics) for sample in self.weights)
            and self._fits_beside({} if s is None else s.beside)
            and self._fits_draws(state.priors.topics)
            and len(self.trace_sweep) == len(self.trace_log_joint)
            and len(self.trace_held_out) == (len(self.trace_sweep) if self.watched else 0)
        )

    def _fits_beside(self, expected: dict[str, NDArray[Any]]) -> bool:
        samples = self.beside_samples
        return (
            self.beside.keys() == expected.keys()
            and samples.keys() == (expected.keys() if self.n_samples else set())
            and all(len(arrays) == self.n_samples for arrays in samples.values())
            and all(
                found.shape == expected[name].shape and found.dtype == expected[name].dtype
                for name in expected
                for found in (self.beside[name], *samples.get(name, []))
            )
        )

    def _fits_draws(self, prior: TopicPrior) -> bool:
        if self.draws.keys() != (prior.sampled().keys() if self.n_samples else set()):
            return False
        try:
            prior.check_draws({name: np.array(arrays) for name, arrays in self.draws.items()})
        except (ModelError, ValueError):  # of unequal shapes there is no array
            return False
        return all(len(arrays) == self.n_samples for arrays in self.draws.values())


def _with(priors: Priors, arrays: dict[str, NDArray[Any]]) -> Priors | None:
    """The priors with these arrays; None if they cannot be those of priors of this kind."""
    try:
        return priors.with_arrays(arrays)
    except ModelError:
        return None


class StoredPoint(Stored):
    """How a `Point` is written."""

    def make(self, values: dict[str, Any]) -> Any:
        """A point from checked fields; α and β stand in checkpoints of version 0.1.0 in place of the priors."""
        if "alpha" in values:
            values["priors"] = {"topics.alpha": values.pop("alpha"), "words.beta": np.array([values.pop("beta")])}
        return super().make(values)


CLASSES: dict[str, Stored] = {
    "Point": StoredPoint(
        Point,
        {
            "fingerprint": TEXT,
            "sweep": WHOLE,
            "z": array_of(),
            "priors": mapping_of(array_of()),
            "eta": optional(array_of("float32")),
            "n_samples": WHOLE,
            "counts": optional(SPARSE),
            "last": optional(SPARSE),
            "shares": optional(array_of("float32")),
            "weights": list_of(array_of("float32")),
            "trace_sweep": list_of(WHOLE),
            "trace_log_joint": list_of(NUMBER),
            "trace_held_out": list_of(NUMBER),
            "watched": TEXT,
            "blocks": list_of(TEXT),
            "beside": mapping_of(array_of()),
            "beside_samples": mapping_of(list_of(array_of())),
            "draws": mapping_of(list_of(array_of())),
            "figures": mapping_of(list_of(NUMBER)),
        },
        {"alpha": array_of("float64"), "beta": NUMBER},
        spare=("beside", "beside_samples", "draws", "figures"),
    )
}


@dataclass
class Journal:
    """The checkpoints of one chain, in a folder of their own."""

    folder: Location
    fingerprint: str
    every_seconds: float
    every_sweeps: int | None = None
    written: float = field(default_factory=time.monotonic)

    def due(self, sweep: int) -> bool:
        """Whether it is time to write one."""
        if self.every_sweeps is not None and sweep % self.every_sweeps == 0:
            return True
        return time.monotonic() - self.written >= self.every_seconds

    def write(self, state: State, samples: Samples, trace: Trace, blocks: Sequence[str] = ()) -> None:
        """Write a checkpoint and remove those before it but the last few."""
        with patient(stop_if_asked):
            self._write(state, samples, trace, blocks)

    def _write(self, state: State, samples: Samples, trace: Trace, blocks: Sequence[str]) -> None:
        s = state.supervision
        point = Point(
            self.fingerprint, state.sweep, state.z, state.priors.arrays(), None if s is None else s.eta, samples.n,
            samples.counts, samples.last, samples.shares, samples.weights, trace.sweep, trace.log_joint,
            trace.held_out, trace.watched, list(blocks), {} if s is None else s.beside, samples.beside, samples.draws,
            trace.figures,
        )  # fmt: skip
        path = self.folder / f"sweep-{state.sweep:09d}.topoi"
        try:
            store.save(path, point, CLASSES, follow=False)
        except OSError as error:
            good = [] if isinstance(error, StorageError) else self.files()
            left = f"the last good one is {good[-1]}" if good else "there is none before it"
            if isinstance(error, StorageError):
                left = "those before it are still there"
            raise CheckpointError(f"cannot write the checkpoint {path} ({error}); {left}") from error
        self.written = time.monotonic()
        before = [old for old in self.files() if old.name < path.name]
        for old in before[: max(len(before) - KEPT + 1, 0)]:
            remove_file(old)

    def files(self) -> list[Location]:
        """The checkpoints, oldest first."""
        return files(self.folder, r"sweep-\d{9,}\.topoi")  # of which a user may have made copies

    def resume(
        self, state: State, samples: Samples, trace: Trace, check: Callable[[Point], None] = lambda point: None,
        mapped: bool = False,
    ) -> Point | None:  # fmt: skip
        """Bring state, samples and trace to the last checkpoint, which is returned; None if there is none.

        `check` raises a ModelError for one whose blocks are damaged. Where they may be `mapped`, large counts stay in
        the file: see `topoi._disk.store.load`.
        """
        point = self._last(state, samples, check, mapped)
        if point is None:
            return None
        state.z[:] = point.z
        state.priors, state.sweep = state.priors.with_arrays(point.priors), point.sweep
        widen(state)
        samples.n, samples.counts, samples.last = point.n_samples, point.counts, point.last
        samples.shares = point.shares if samples.of_documents else None
        samples.draws = point.draws
        samples.weights[:] = point.weights
        trace.sweep[:], trace.log_joint[:] = point.trace_sweep, point.trace_log_joint
        trace.figures = point.figures
        if trace.watched:  # scores of other documents, or of none, are not known for these
            known = trace.watched == point.watched
            trace.held_out[:] = point.trace_held_out if known else [math.nan] * len(trace.sweep)
        if state.supervision is not None:
            assert point.eta is not None
            state.supervision.eta[:] = point.eta
            for name, array in state.supervision.beside.items():
                array[:] = point.beside[name]
            samples.beside = point.beside_samples
        return point

    def _last(self, state: State, samples: Samples, check: Callable[[Point], None], mapped: bool) -> Point | None:
        """The last checkpoint that is not damaged; damaged ones are told of, and set aside under another name."""
        faults: list[str] = []
        found = None
        for path in reversed(self.files()):
            try:
                point = store.load(path, CLASSES, mapped)
                if not isinstance(point, Point):
                    raise UnreadableError(f"{path}: holds no checkpoint")
                if point.fingerprint != self.fingerprint:
                    raise ParameterError(
                        "checkpoint",
                        f"{self.folder} holds a run of other documents, labels or settings; "
                        "name another folder, or remove this one to begin anew",
                    )
                if not point.belongs_to(state, samples.of_documents):
                    raise UnreadableError(f"{path}: does not hold a point of this run")
                check(point)
                found = point
                break
            except UnreadableError as error:
                raise CheckpointError(
                    f"{error}. Nothing was changed. Go on with the version of topoi that wrote the checkpoint, or, to "
                    f"begin anew, use another folder or remove {self.folder}"
                ) from error
            except ModelError as error:
                faults.append(str(error))
                if not isinstance(error.__cause__, OSError):  # a disk that fails now may give it back another time
                    with contextlib.suppress(OSError):  # else it would be taken for the last one again
                        rename(path, f"{path.stem}.damaged")
        for fault in faults:
            instead = "an earlier checkpoint is used" if found is not None else "the run begins anew"
            warnings.warn(f"{fault}; {instead}", CheckpointWarning, stacklevel=7)
        return found


#: How the first kinds of priors stand in fingerprints: whether they are learned. Others stand there by their names.
MARKS = {"fixed": False, "learned": True}


#: Documents whose targets are hashed together.
AT_ONCE = 2**14


def fingerprint(state: State, plan: Any, schedule: Any, *more: Any) -> str:
    """A hash of all that a run depends on: its documents, priors, seed, responses, plan, schedule and `more`."""
    topics, words = state.priors.topics, state.priors.words
    kinds = (MARKS.get(prior.name, prior.name) for prior in (topics, words))
    digest = hashlib.blake2b(repr((plan, schedule, *kinds, *more)).encode(), digest_size=16)
    corpus, s, counts = state.corpus, state.supervision, words.pseudo_counts
    beta = "of words" if words.kinds is not None else state.beta
    digest.update(repr((state.seed, beta, state.z.dtype.str, corpus.n_words)).encode())
    arrays: list[Any] = [*topics.arrays().values(), corpus.words, corpus.doc_ptr]
    # A single β is among the numbers above.
    arrays += [array for name, array in words.arrays().items() if name != "beta" or words.kinds is not None]
    arrays += [NO_BASE] if counts is None else [counts.data, counts.indices, counts.indptr]
    if (known := corpus.about.get(topics.about)) is not None:
        arrays += [known.data, known.indices, known.indptr]
    if s is not None:
        digest.update(repr((s.response, s.nu, s.n_gibbs, s.part)).encode())
        arrays += [s.y, s.weight]
        if s.columns is not None:
            digest.update(repr(s.columns.nu).encode())
            design = s.columns.design.whole()
            arrays += [design.start, design.doc, design.share]
    for array in arrays:
        if not isinstance(array, np.ndarray):  # targets or weights that stand for an array, made part by part
            digest.update(repr((array[:0].dtype.str, array.shape)).encode())
            for first in range(0, array.shape[0], AT_ONCE):
                digest.update(np.ascontiguousarray(array[first : first + AT_ONCE]).data)
            continue
        digest.update(repr((array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()

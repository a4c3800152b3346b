"""A part of a run as a state of its own: a group of documents, or a shard of words.

The samplers' own functions and kernels work on them. What they draw is that of the whole, since blocks and documents
keep their numbers. A shard has no tokens: the counts of all tokens, and the pseudo-counts, are its base table.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk.anywhere import locate
from topoi._disk.remote import Location, shown
from topoi._machine.arrays import Floats
from topoi.chain.counts.shares import ByColumns, Design
from topoi.chain.engines.cluster._about import read_about
from topoi.chain.engines.cluster._counts import add_file
from topoi.chain.engines.cluster._faults import EngineError
from topoi.chain.engines.cluster._job import (
    Job,
    Layout,
    checksum,
    damaged,
    read_arrays,
    read_model,
    read_part,
    read_rows,
)
from topoi.chain.priors import Priors
from topoi.chain.responses.columns import Columns
from topoi.chain.responses.supervision import Supervision
from topoi.chain.state import State, topic_dtype
from topoi.corpus import Corpus
from topoi.errors import MissingObjectError, StorageError

ROOM = 2**26


class Opened:
    """The groups that a worker has opened last, with their tokens in the order of words; up to ROOM tokens in all.

    It saves time, no more: a group that is opened again is the same.
    """

    def __init__(self) -> None:
        self.corpora: OrderedDict[tuple[str, int], Corpus] = OrderedDict()
        self.lock = threading.Lock()

    def __call__(self, job: Job, layout: Layout, group: int) -> Corpus:
        """The documents of a group."""
        key = (job.folder, group)  # every run has a folder of its own
        with self.lock:
            if key in self.corpora:
                self.corpora.move_to_end(key)
                return self.corpora[key]
        corpus = _open_group(job, layout, group)
        with self.lock:
            self.corpora[key] = corpus
            while sum(other.n_tokens + other.n_words for other in self.corpora.values()) > ROOM:
                self.corpora.popitem(last=False)
        return corpus

    def forget(self, folder: str) -> None:
        """Close the groups of a run that is over: Windows replaces and removes no file that is mapped."""
        with self.lock:
            for key in [key for key in self.corpora if key[0] == folder]:
                del self.corpora[key]

    def forget_all(self) -> None:
        """Close all groups: they are opened again when they are needed."""
        with self.lock:
            self.corpora.clear()


group_corpus = Opened()


def _open_group(job: Job, layout: Layout, group: int) -> Corpus:
    """The documents of a group, read from the saved corpus."""
    first_block, last_block = layout.groups[group], layout.groups[group + 1]
    ptr = layout.block_ptr[first_block : last_block + 1]
    first, last = layout.tokens[group : group + 2].tolist()
    try:
        doc_ptr = read_part(locate(job.corpus) / "doc_ptr.npy", np.int64, int(ptr[0]), int(ptr[-1]) + 1)
        words = read_part(locate(job.corpus) / "words.npy", np.int32, first, last)
    except OSError as error:
        if isinstance(error, StorageError) and not isinstance(error, MissingObjectError):
            raise  # the store does not answer
        raise changed(job, error) from error
    if checksum(words, doc_ptr) != layout.checksums[group]:
        raise changed(job, f"{checksum(words, doc_ptr):x} is not the checksum of group {group}")
    corpus = Corpus(words, doc_ptr - doc_ptr[0], job.n_words)
    corpus.first_document, corpus.first_block = int(ptr[0]), int(first_block)
    _preset(corpus, "block_ptr", ptr - ptr[0])
    if not job.about:
        return corpus
    return corpus.with_about(**{job.priors.topics.about: read_about(job, group, corpus.n_documents)})


def changed(job: Job, why: object) -> EngineError:
    """The error of a corpus that is not the one that the fit began with: kernels would read beyond its ends."""
    return EngineError(f"the corpus in {shown(job.corpus)} has changed since the fit began ({why}); begin the fit anew")


def group_state(job: Job, layout: Layout, group: int, sweep: int, z: NDArray[Any] | None = None) -> State:
    """The state of a group of documents after a sweep; its topics are read unless given."""
    model = read_model(job, sweep)
    if z is None:
        z = read_arrays(job.path(sweep, "z", group))["z"]
    corpus = group_corpus(job, layout, group)
    if z.shape != (corpus.n_tokens,) or z.dtype != topic_dtype(job.n_topics) or z.max(initial=0) >= job.n_topics:
        raise damaged(job.path(sweep, "z", group), f"it does not hold the topics of {corpus.n_tokens} tokens")
    state = State(corpus, _priors(job, model), z, job.seed, sweep, real=np.dtype(job.real).type)
    state.supervision = group_supervision(job, layout, group, model)
    return state


def group_supervision(job: Job, layout: Layout, group: int, model: Mapping[str, NDArray[Any]]) -> Supervision | None:
    """The responses of a group of documents; None if there are none."""
    if job.response is None:
        return None
    rows = slice(*layout.documents[group : group + 2])
    y, weight = (np.array(read_rows(job.root / f"{name}.npy", rows)) for name in ("y", "weight"))
    columns = None if job.columns_nu is None else read_columns(job, group, len(y))
    return supervision(job, model, y, weight, columns)


def supervision(
    job: Job, learned: Mapping[str, NDArray[Any]], y: Floats, weight: Floats, columns: ByColumns | None
) -> Supervision:
    """The responses of some documents, with what a sweep has learned of them (`Supervision.learned`)."""
    assert job.response is not None
    kappa, omega = np.zeros(y.shape, np.float32), np.zeros(y.shape, np.float32)
    real = y.dtype.type
    beside = None
    if columns is not None:
        assert job.columns_nu is not None
        beside = Columns(columns, learned["columns"], np.zeros(y.shape, real), job.columns_nu)
    return Supervision(
        job.response, y, weight, learned["eta"], real, kappa, omega, job.nu, job.n_gibbs, job.part, beside,
        learned.get("own"), job.camp_topics,
    )  # fmt: skip


def read_columns(job: Job, group: int, n_documents: int) -> Design:
    """The columns beside the topics, of a group of documents."""
    return Design(**read_arrays(columns_file(job, group)), n_documents=n_documents)


def columns_file(job: Job, group: int) -> Location:
    """Where the columns beside the topics, of a group of documents, are."""
    return job.root / f"columns-{group:05d}"


def shard_state(job: Job, layout: Layout, shard: int, sweep: int, counts: Floats) -> State:
    """The state of a shard of words after a sweep; to `counts` (words, K), of all documents, it adds pseudo-counts."""
    model = read_model(job, sweep)
    if job.pseudo_counts and counts.size:
        add_file(pseudo_counts_file(job), shard, counts.reshape(-1))
    first_block, last_block = layout.shards[shard], layout.shards[shard + 1]
    ptr = layout.word_block_ptr[first_block : last_block + 1]
    corpus = Corpus(np.zeros(0, np.int32), np.zeros(1, np.int64), int(ptr[-1] - ptr[0]))
    corpus.first_word_block = int(first_block)
    _preset(corpus, "word_block_ptr", ptr - ptr[0])
    z = np.zeros(0, topic_dtype(job.n_topics))
    real = np.dtype(job.real).type
    priors = _priors(job, model)
    priors = replace(priors, words=priors.words.of_words(slice(int(ptr[0]), int(ptr[-1]))))
    return State(corpus, priors, z, job.seed, sweep, counts, real)


def _priors(job: Job, model: dict[str, NDArray[Any]]) -> Priors:
    """The priors after a sweep."""
    return job.priors.with_arrays({name: model[name] for name in job.priors.arrays()})


def pseudo_counts_file(job: Job) -> Location:
    """Where the pseudo-counts of a run are."""
    return job.root / "pseudo_counts"


def _preset(corpus: Corpus, name: str, cuts: NDArray[np.int64]) -> None:
    """Cut the corpus as the whole is cut, not as its own size would have it."""
    cuts.flags.writeable = False
    corpus.__dict__[name] = cuts

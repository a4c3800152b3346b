"""Who holds the topics of a chain and moves them: what `run` needs, and the engine that does it in this process.

The engine in `cluster` keeps topics in files, and other processes move them. Both give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.moved import Moved
from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Journal
from topoi.chain.counts.elsewhere import WordRows, elsewhere
from topoi.chain.counts.spectra import Spectrum, joined_spectrum, word_spectrum
from topoi.chain.counts.theta import add_shares, average_shares
from topoi.chain.diagnostics import log_joint
from topoi.chain.model import sample_counts
from topoi.chain.priors import Priors
from topoi.chain.samplers import Sampler
from topoi.chain.samples import Samples, Trace
from topoi.chain.state import State, divided, join, renumber, widen


class Engine(Protocol):
    """What `run` asks of whoever holds the topics; priors, weights and the number of sweeps are in `state`."""

    state: State

    def resume(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Go to the last checkpoint, if there is one."""

    def checkpoint(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Write a checkpoint."""

    def sweep(self, kind: type[Sampler], options: Mapping[str, Any]) -> dict[str, float]:
        """Move every token once; returns diagnostics."""

    def update_priors(self) -> None:
        """Update the priors that are due after the last sweep."""

    def spectrum(self, number: NDArray[np.int64]) -> Spectrum:
        """How often each count n_dk > 0 occurs, topic by topic, if topic k were part of topic number[k]."""

    def elsewhere(self, of: WordRows, rival: NDArray[np.int64]) -> NDArray[np.int64]:
        """How the tokens of topics would do in their rivals (2, K): see `topoi.chain.counts.elsewhere`."""

    def join(self, number: NDArray[np.int64]) -> None:
        """Make topic k part of topic number[k]."""

    def divide(self, parts: int, priors: Priors) -> None:
        """Make each topic `parts` topics of those that `priors` are for: see `topoi.chain.state.divided`."""

    def moved(self) -> Moved:
        """Bytes of files that were read and written since this was asked last."""

    def log_joint(self) -> float:
        """log p(words, topics | α, β)."""

    def counts(self) -> sparse.csr_array:
        """Word–topic counts (V, K)."""

    def keep(self, samples: Samples) -> None:
        """Keep the topics as a sample."""

    def doc_topic(self, samples: Samples, number: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Topic shares (D, …) of the documents, averaged over the samples; topic k becomes part of topic number[k].

        None if the samples have none.
        """

    def topics(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """The topics of the tokens of some documents, one after the other."""


class Local:
    """The engine of one process: all topics in memory, blocks of documents on threads."""

    def __init__(self, state: State, pool: Pool) -> None:
        self.state = state
        self.pool = pool
        self.sampler: Sampler | None = None

    def resume(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Go to the last checkpoint, if there is one."""
        if journal.resume(self.state, samples, trace) is not None and self.state.supervision is not None:
            self.state.supervision.refresh(self.state, self.pool)

    def checkpoint(self, journal: Journal, samples: Samples, trace: Trace) -> None:
        """Write a checkpoint."""
        journal.write(self.state, samples, trace)

    def sweep(self, kind: type[Sampler], options: Mapping[str, Any]) -> dict[str, float]:
        """Move every token once."""
        if type(self.sampler) is not kind:
            self.sampler = None  # its tables go before those of the next are made
            self.sampler = kind(self.state, self.pool, **options)
        return self.sampler.sweep()

    def update_priors(self) -> None:
        """Update the priors that are due after the last sweep."""
        state, pool, n_topics = self.state, self.pool, self.state.n_topics
        state.priors = state.priors.updated(
            state, lambda: [state.priors.topics.observe(state, pool)], lambda: word_spectrum(state, pool)
        )
        if state.n_topics != n_topics:
            widen(state)
            self.sampler = None  # its tables have a column for each topic
        if self.sampler is not None:
            self.sampler.refresh_priors()

    def spectrum(self, number: NDArray[np.int64]) -> Spectrum:
        """How often each count n_dk > 0 occurs if topic k were part of topic number[k]."""
        return joined_spectrum(self.state, number, self.pool)

    def elsewhere(self, of: WordRows, rival: NDArray[np.int64]) -> NDArray[np.int64]:
        """How the tokens of topics would do in their rivals."""
        return elsewhere(self.state, of, rival, self.pool)

    def join(self, number: NDArray[np.int64]) -> None:
        """Make topic k part of topic number[k]."""
        state = self.state
        self.sampler = None  # its tables have a column for each topic, and go before anything is made
        renumber(state.z, number)
        join(state, number)
        if state.supervision is not None:
            state.supervision.refresh(state, self.pool)

    def divide(self, parts: int, priors: Priors) -> None:
        """Make each topic `parts` topics of those that `priors` are for."""
        state = self.state
        state.priors = priors
        self.sampler = None  # its tables have a column for each topic, and go before anything is made
        state.z[:] = divided(state.z, state.corpus, state.n_topics, parts, state.seed, state.sweep)

    def moved(self) -> Moved:
        """None: there are no files."""
        return Moved()

    def log_joint(self) -> float:
        """log p(words, topics | α, β)."""
        return log_joint(self.state, self.pool)

    def counts(self) -> sparse.csr_array:
        """Word–topic counts (V, K)."""
        return sample_counts(self.state, self.pool)

    def keep(self, samples: Samples) -> None:
        """Keep the topics as a sample."""
        samples.add(self.state, self.counts())
        if not samples.of_documents:
            return
        if samples.shares is None:
            samples.shares = np.zeros((self.state.corpus.n_documents, self.state.n_topics), np.float32)
        add_shares(self.state, samples.shares, self.pool)

    def doc_topic(self, samples: Samples, number: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Topic shares (D, …) of the documents."""
        if not samples.of_documents:
            return None
        assert samples.shares is not None
        return average_shares(samples.shares, samples.n, number)

    def topics(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """The topics of the tokens of some documents."""
        ptr = self.state.corpus.doc_ptr
        return np.concatenate([self.state.z[ptr[d] : ptr[d + 1]] for d in documents]).astype(np.int64)

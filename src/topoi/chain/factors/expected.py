"""Expected counts: stochastic collapsed variational inference (SCVB0), from the topics of the tokens on.

    φ_wk = (E[n_wk] + β) / (E[n_k] + Vβ)

A pass begins with the counts of the topics and takes up the documents in minibatches. Those of a minibatch find their
expected counts given φ as it is, words sum what they make of it, scaled up to the whole corpus, and the table moves
there by a step ρ that becomes smaller with every minibatch since the chain began:

    E[n_wk] ← (1 − ρ) E[n_wk] + ρ · (N / N_batch) · Σ_d times_dw γ_dwk

Pseudo-counts are not expected but known: they are in the table from the start and do not decay. Nothing is drawn. Not
exact: counts are treated as if they were their means. But φ follows the documents many times in a sweep, not once, and
without the noise of draws, so that a few sweeps go as far as many of a sampler. Beside the paper: β is larger in the
rounds than in the end (`CAUTION`), and documents keep no expected counts from pass to pass.

The decay is lazy: the table times `size` are the expected counts, and only rows of words in the minibatch are touched.
Minibatch b of B has documents b, b + B, …: corpora are often sorted, by class or by date. B follows from the corpus
alone. A sweep costs O(K) for each distinct word of a document, three times, and room for a minibatch beside the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topoi._machine.arrays import Numbers, PerWord
from topoi._machine.pool import Pool
from topoi._machine.simd import aligned_zeros
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.expectations import Seen, document_steps, expect_documents, expect_words, list_words
from topoi.chain.factors._table import TableFactor
from topoi.chain.factors.base import scale_of_counts
from topoi.chain.state import State
from topoi.corpus import Corpus
from topoi.corpus.layout import place_by_word

#: Minibatches of a pass, and the documents that each has at least unless there is only one. On corpora of 1,350 to
#: 11,000 documents some 24 were better than half or twice as many, whatever the number of documents.
BATCHES = 24
BATCH = 50
#: ρ = STEP / (DELAY + t)^POWER at minibatch t = 1, 2, … of the chain.
STEP, DELAY, POWER = 10.0, 20.0, 0.9
#: During the rounds β is so much larger: what a minibatch says of its words is less certain than counts of that size.
CAUTION = 4.0
#: A table that has decayed so far is multiplied out, lest float32 overflow.
SMALL = 1e-12
#: Pieces of a minibatch, and of the words, that threads work on.
PIECES = 16


class Minibatch(NamedTuple):
    """A round: which documents have a say, and how the table moves."""

    number: int
    n_batches: int
    size: float  # the table times this are the expected counts
    step: float  # ρ
    whole: float  # N / N_batch
    last: bool  # of the sweep: the table is multiplied out

    @property
    def next_size(self) -> float:
        """What `size` is afterwards."""
        left = self.size * (1.0 - self.step)
        return 1.0 if self.last or left < SMALL else left

    @property
    def keep(self) -> float:
        """What the table is multiplied by: by 1 unless it is multiplied out."""
        left = self.size * (1.0 - self.step)
        return left if self.last or left < SMALL else 1.0


def batches_of(corpus: Corpus) -> int:
    """The number of minibatches."""
    return min(BATCHES, max(1, corpus.n_documents // BATCH))


class ExpectedFactor(TableFactor):
    """Expected counts after `passes` stochastic passes over the documents."""

    name = "expected"
    exact = False
    beta_per_word = True
    bias = 0.139
    reference = (
        "Foulds, Boyles, DuBois, Smyth & Welling (2013), Stochastic collapsed variational Bayesian inference for "
        "latent Dirichlet allocation, KDD"
    )

    def __init__(self, state: State, pool: Pool, masses: bool = False, passes: int = 1) -> None:
        super().__init__(state, pool, masses, passes=passes)
        self.passes = passes
        self.steps = document_steps(state.real)
        self.n_k = np.zeros(state.n_topics)
        self.prior: AlphaRows | None = None  # made when documents are asked: a factor of words alone has none

    @property
    def offset(self) -> PerWord:
        """β, which is added to every count."""
        return self.state.beta

    def draw(self) -> Sequence[Numbers]:
        """Put the counts into the table; returns n_k. The order of sums of whole numbers does not matter."""
        return [np.sum(super().draw(), axis=0)]

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """1/(n_k + Vβ), of the counts that a pass begins with."""
        self.n_k = np.sum(sums, axis=0)[: self.state.n_topics]
        caution = CAUTION if self.state.corpus.n_tokens else 1.0  # without tokens there are no rounds
        self.scale[: len(self.n_k)] = scale_of_counts(self.n_k, caution * self.state.beta_sum)

    def rounds(self) -> list[Minibatch]:
        """The minibatches of the sweep that have any tokens."""
        corpus = self.state.corpus
        n = batches_of(corpus)
        tokens = [int(corpus.doc_lengths[b::n].sum()) for b in range(n)]
        numbers = [b for _ in range(self.passes) for b in range(n) if tokens[b]]
        t, size = self.state.sweep * len(numbers), 1.0
        found = []
        for i, b in enumerate(numbers):
            step = min(1.0, STEP * math.pow(DELAY + t + i + 1, -POWER))
            found.append(Minibatch(b, n, size, step, corpus.n_tokens / tokens[b], i == len(numbers) - 1))
            size = found[-1].next_size
        return found

    def _alpha(self) -> AlphaRows:
        """α of the documents of the state, as kernels take it."""
        if self.prior is None:
            corpus = self.state.corpus
            alpha = self.state.priors.topics.alpha_of(corpus)
            self.prior = alpha.for_kernels(corpus.n_documents, self.state.real, self.width)
        return self.prior

    def refresh(self) -> None:
        """Take over the priors from the state after they were learned."""
        super().refresh()
        self.prior = None

    def observe(self, step: Minibatch) -> Seen:
        """The expected counts of the documents of a minibatch, and their words."""
        corpus, prior = self.state.corpus, self._alpha()
        first = (step.number - corpus.first_document) % step.n_batches
        lengths = corpus.doc_lengths[first :: step.n_batches]
        n, room = len(lengths), int(lengths.sum())
        counts = aligned_zeros((n, self.width), self.state.real)
        offset = CAUTION * self.state.beta / step.size

        def work(begin: int) -> None:
            expect_documents(
                corpus.words, corpus.doc_ptr, first, step.n_batches, begin, min(n, begin + piece), self.table, offset,
                self.scale, prior, self.steps, counts,
            )  # fmt: skip

        piece = -(-n // PIECES)
        self.pool.map(work, range(0, n, max(piece, 1)))
        word, row, times = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, self.state.real)
        m = list_words(corpus.words, corpus.doc_ptr, first, step.n_batches, word, row, times)
        return Seen(counts, word[:m], row[:m], times[:m])

    def revise(self, step: Minibatch, seen: Seen) -> Sequence[Numbers]:
        """Move the table towards what the documents of a minibatch make of its words; returns their expected n_k."""
        state = self.state
        word_ptr = np.zeros(state.corpus.n_words + 1, np.int64)
        np.cumsum(np.bincount(seen.word, minlength=state.corpus.n_words), out=word_ptr[1:])
        order = np.empty(len(seen.word), np.int32)
        place_by_word(seen.word, word_ptr[:-1].copy(), order)
        offset, growth = CAUTION * state.beta / step.size, step.step / step.next_size

        edges = state.corpus.word_block_ptr
        totals = np.zeros((len(edges) - 1, self.width))

        def work(first: int) -> None:
            last = min(first + piece, len(totals))
            expect_words(
                seen, order, word_ptr, edges[first : last + 1], self.table, offset, self.scale, state.base_table,
                step.keep, growth * step.whole, growth, totals[first:last],
            )  # fmt: skip

        piece = -(-len(totals) // PIECES)
        self.pool.map(work, range(0, len(totals), piece))
        return list(totals)

    def rescale(self, step: Minibatch, sums: Sequence[Numbers]) -> None:
        """1/(E[n_k] + Vβ), for a table that is to be multiplied by `size`."""
        k = self.state.n_topics
        total = np.zeros(k)
        for part in sums:  # in the order of the words: the same rounding on any number of threads or machines
            total += part[:k]
        total *= step.whole
        known = self.state.priors.words.pseudo_counts
        if known is not None:
            total += known.sum(0)
        self.n_k = (1.0 - step.step) * self.n_k + step.step * total
        caution = 1.0 if step.last else CAUTION
        self.scale[:k] = step.next_size * scale_of_counts(self.n_k, caution * self.state.beta_sum)

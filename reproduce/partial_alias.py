"""The sparse partially collapsed sampler with alias tables, the opponent of Pólya Urn LDA in its paper.

    p(z_i = k | rest) ∝ n_dk⁻ φ_wk + α_k φ_wk

The first part is summed over the topics of the document. The second is drawn from an alias table of the word, which
is made from φ and is therefore exact for the whole sweep: O(1) where topoi's `partial` walks the row, O(K), sixteen
topics at a time. To make a table takes O(K) as well, one topic at a time and with branches, so that it can pay only for
words that occur often: words with fewer than `least` tokens have none, and their rows are walked. With `least=0` every
word has one, as in Magnusson, Jonsson, Villani & Broman (2018), Sparse partially collapsed MCMC for parallel inference
in topic models, JCGS 27. Tables are made when the first block of documents asks for them, so that their time counts as
that of the topics, which they save.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import integer, uniform
from topoi._machine.simd import draw_topic, new_sums
from topoi.chain.factors._table import phi_at
from topoi.chain.samplers._document import add_topic, clear_document, list_document, remove_topic
from topoi.chain.samplers._stale import make_alias
from topoi.chain.samplers.partial import Partial
from topoi.chain.state import State

LEAST = 300  # tokens of a word from which a table of its own pays


@kernel
def fill_tables(frequent: Any, table: Any, offset: Any, scale: Any, alpha: Any, keep: Any, other: Any) -> None:
    """Make the alias tables (a row each, by number) of α_k φ_wk of frequent words."""
    weight = np.zeros(alpha.shape[0])
    for row in range(frequent.shape[0]):
        total = 0.0
        for k in range(alpha.shape[0]):
            weight[k] = alpha[k] * phi_at(table, offset, scale, frequent[row], k)
            total += weight[k]
        if total > 0.0:
            make_alias(weight, total, keep[row], other[row])


@kernel
def sweep_alias(
    words: Any, doc_ptr: Any, first: Any, last: Any, z: Any, table: Any, offset: Any, scale: Any, alpha: Any,
    padded: Any, mass: Any, row_of: Any, keep: Any, other: Any, stream: Any,
) -> Any:  # fmt: skip
    """Move every token of documents first … last − 1: the document's topics, or the word's table (row −1: none).

    Returns how many draws fell to the prior's part.
    """
    by_prior = 0
    width = table.shape[1]
    nothing = np.zeros(width, table.dtype)
    p = new_sums(padded)
    n_d = np.zeros(width, np.int32)
    active, place, below = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        n = list_document(z, lo, hi, n_d, active, place)
        for i in range(lo, hi):
            w = words[i]
            new = old = np.int64(z[i])
            n = remove_topic(old, n_d, active, place, n)
            total = 0.0
            for j in range(n):
                total += n_d[active[j]] * phi_at(table, offset, scale, w, active[j])
                below[j] = total
            u = uniform(stream) * (total + mass[w])
            if u < total:
                j = 0
                while u >= below[j]:
                    j += 1
                new = active[j]
            elif mass[w] > 0.0:
                by_prior += 1
                row = row_of[w]
                if row < 0:
                    new = draw_topic(nothing, w, p, uniform(stream), padded, table, offset, scale)
                    new = old if new < 0 else new
                else:
                    new = integer(stream, alpha.shape[0])
                    if uniform(stream) >= keep[row, new]:
                        new = np.int64(other[row, new])
            n = add_topic(new, n_d, active, place, n)
            z[i] = new
        clear_document(n_d, active, n)
    return by_prior


class PartialAlias(Partial):
    """Partially collapsed, the prior's part by alias tables."""

    name = "partial_alias"
    tilts = False
    alpha_per_document = False
    cost = "O(topics in the document), and O(V·K) per sweep for φ and tables"

    def __init__(self, state: State, pool: Pool | None = None, least: int = LEAST) -> None:
        super().__init__(state, pool, dense_up_to=0)
        self.take_shared_alpha()
        counts = state.corpus.word_counts
        self.frequent = np.flatnonzero((counts >= least) & (counts > 0))
        self.row_of = np.full(state.corpus.n_words, -1, np.int64)
        self.row_of[self.frequent] = np.arange(len(self.frequent))
        shape = (len(self.frequent), state.n_topics)
        self.keep, self.other = np.zeros(shape, np.float32), np.zeros(shape, np.int32)
        self.made = False

    def take_shared_alpha(self) -> None:
        """α as the kernel of walks takes it: padded, in the type of the table."""
        self.padded: NDArray[Any] = np.zeros(self.factor.width, self.state.real)
        self.padded[: self.state.n_topics] = self.state.alpha

    def begin(self) -> None:
        """Draw φ. Tables of the last sweep are out of date."""
        super().begin()
        self.made = False

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> Any:
        """Move the tokens of documents first … last − 1 given φ; one thread only, since the first makes the tables."""
        factor, state = self.factor, self.state
        phi = (factor.table, factor.offset, factor.scale)
        if not self.made:
            fill_tables(self.frequent, *phi, state.alpha, self.keep, self.other)
            self.made = True
        corpus = state.corpus
        return sweep_alias(
            corpus.words, corpus.doc_ptr, first, last, state.z, *phi, state.alpha, self.padded, factor.mass,
            self.row_of, self.keep, self.other, stream,
        )  # fmt: skip

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Share of the draws that fell to the prior's part."""
        return {"prior_share": sum(answers) / max(self.state.corpus.n_tokens, 1)}

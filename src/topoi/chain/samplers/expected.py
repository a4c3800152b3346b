"""Expected counts: topics drawn from what stochastic variational inference expects of them (SCVB0).

    p(z_i = k) = γ_dwk ∝ (E[n_dk] + α_k) · φ_wk,    φ_wk = (E[n_wk] + β) / (E[n_k] + Vβ)

A sweep first makes φ: a pass over minibatches of documents, each of which moves the expected counts of the words
(`topoi.chain.factors.expected`). Then every document finds its expected counts given φ, and its tokens draw their
topics independently of each other. The topics are all that is left of a sweep: the next begins with their counts.
Foulds et al. keep expected counts of all documents and draw nothing; topics cost no D × K numbers, whichever sampler
comes next goes on from them, and their counts are a better model than the table, which is too sure of itself.

Not exact: counts are treated as if they were their means (CVB0: Asuncion, Welling, Smyth & Teh 2009), and a document's
tokens do not see each other's topics. A sweep is worth many of a sampler as long as topics are unsettled, and little
after that: it is a burn-in, or variational inference for those who want it. Parallel: φ makes documents independent.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from topoi._machine.arrays import Floats, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi._machine.simd import draw_topic, new_sums
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.expectations import expect_document
from topoi.chain.factors.expected import ExpectedFactor
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


@kernel
def draw_expected(
    tokens: TokenTopics, first: int, last: int, table: Floats, offsets: PerWord, scale: Floats, prior: AlphaRows,
    steps: Floats, stream: Stream,
) -> None:  # fmt: skip
    """Draw the topics of documents first … last − 1, each token by itself given the document's expected counts."""
    words, doc_ptr, z = tokens
    n_d, weight = np.zeros(table.shape[1], table.dtype), np.zeros(table.shape[1], table.dtype)
    p = new_sums(prior.rows[0])
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha = prior.rows[prior.row_of[d]]
        expect_document(words, lo, hi, table, offsets, scale, alpha, steps, n_d, weight)
        for i in range(lo, hi):
            offset = of_word(offsets, words[i])
            new = draw_topic(n_d, words[i], p, uniform(stream), alpha, table, offset, scale)
            if new >= 0:  # else the word has no mass in any topic: the token keeps its topic
                z[i] = new


class Expected(Sampler):
    """Sampler with expected counts of words and of documents."""

    name = "expected"
    exact = False
    factor_class = ExpectedFactor
    draw = "mean_field"
    alpha_per_document = True
    beta_per_word = True
    cost = "O(K), sixteen topics at a time, and five times that for each distinct word of a document"
    reference = ExpectedFactor.reference
    bias = 0.333
    options: ClassVar = {"passes": 1}
    factor: ExpectedFactor

    def __init__(self, state: State, pool: Pool | None = None, passes: int = 1) -> None:
        super().__init__(state, pool, passes=passes)

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Draw the topics of documents first … last − 1 given the expected counts of the words."""
        factor = self.factor
        return draw_expected(
            self.tokens, first, last, factor.table, factor.offset, factor.scale, self.prior, factor.steps, stream
        )

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Nothing to tell: every draw is taken, with or without responses."""
        return {}

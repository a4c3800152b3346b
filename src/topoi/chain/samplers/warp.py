"""WarpLDA: Metropolis–Hastings in passes over documents and over words, O(1) per token and no table of counts at all.

    target       p(k) = (n_dk⁻ + α_k) · (n_wk⁻ + β) · s_k,       s_k = 1/(n_k⁻ + Vβ)
    documents    propose q(k) ∝ n_dk⁻ + α_k: the topic of another token of the document, or one drawn from α
    words        accept      (n_wt⁻ + β) s_t / (n_ws⁻ + β) s_s, and propose q(k) ∝ n_wk⁻ + β: another token of the word
    documents    accept      (n_dt⁻ + α_t) s_t / (n_ds⁻ + α_s) s_s

The steps are those of `light`, in another order. `light` makes all steps of a token before it comes to the next, and
reads n_wk at a random place for each. Here a proposal is made in one pass and answered in the next, so that a pass
over documents needs n_d of one document and a pass over words n_w of one word: memory is read in order, and nothing of
size V × K or D × K is stored, only a proposed topic for each token.

The price is that proposals and n_k are those of the start of a pass, when other tokens have moved since: it is not
exact. Chen et al. freeze also n_d and n_w within a pass, and leave the token that moves in the counts and among those
that propose. Here the counts of the document or word at hand follow its tokens, and the token itself is left out, as in
`light`; both cost nothing. Chen et al. go on from a pass over documents to the next over words for ever; here a sweep
begins with proposals and ends with answers, so that nothing but the topics is carried to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Int, Ints, Stream
from topoi._machine.pool import Pool
from topoi._machine.rng import TOPICS, WORD_FACTOR, branch, new_stream
from topoi.chain.counts.dense import word_blocks
from topoi.chain.factors.delayed import DelayedFactor
from topoi.chain.samplers._passes import AlphaTable, Proposals, Words, answer_documents, ask_documents, pass_words
from topoi.chain.samplers._stale import make_alias
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


def alpha_table(alpha: NDArray[np.float64]) -> AlphaTable:
    """An alias table of the prior α. That of `light` counts its draws, which threads must not do."""
    keep, other = np.zeros(len(alpha)), np.zeros(len(alpha), np.int32)
    make_alias(alpha, alpha.sum(), keep, other)
    return AlphaTable(alpha, keep, other, float(alpha.sum()))


class Warp(Sampler):
    """WarpLDA: proposals are made in one pass and answered in the next."""

    name = "warp"
    exact = False
    factor_class = DelayedFactor
    draw = "mh"
    by_words = True
    beta_per_word = True
    cost = "O(1), memory read in order"
    reference = "Chen, Li, Zhu & Chen (2016), WarpLDA: a cache efficient O(1) algorithm for LDA, VLDB 9"
    bias = 0.05
    options: ClassVar = {"n_mh": 1}
    factor: DelayedFactor

    def __init__(self, state: State, pool: Pool | None = None, n_mh: int = 2) -> None:
        super().__init__(state, pool, stored=False)
        self.n_mh = n_mh
        self.alpha = alpha_table(state.alpha)
        self.base_sum = state.base_table.sum(1, dtype=np.float64)
        self.base_n_k = state.base_table.sum(0, dtype=np.float64)
        self.proposed = np.zeros_like(state.z)
        self.n_k = np.zeros(state.n_topics)
        self.moved = 0

    def refresh_priors(self) -> None:
        """Take over α and β from the state after they were learned."""
        super().refresh_priors()
        self.alpha = alpha_table(self.state.alpha)

    def begin(self) -> None:
        """No proposals are left of the sweep before: every token is proposed its own topic."""
        super().begin()
        self.proposed[:] = self.state.z
        self.moved = 0

    def move(self) -> list[Any]:
        """All passes; those of the last answers are the blocks of the sweep."""
        for number in range(self.n_mh):
            if number > 0:
                self.moved += sum(self.documents(2 * number, self.block))
            self.count(self.documents(2 * number + 1, self.ask))
            parts = self.words(number)
            self.count([n_k for n_k, _ in parts])
            self.moved += sum(moved for _, moved in parts)
        return super().move()

    def documents(self, number: int, do: Callable[[int, int, Stream], Any]) -> list[Any]:
        """Do something with every block of documents, with streams for a pass of this number."""
        state, ptr = self.state, self.state.corpus.block_ptr

        def work(block: int) -> Any:
            stream = new_stream(state.seed, TOPICS, state.sweep, state.corpus.first_block + block)
            return do(int(ptr[block]), int(ptr[block + 1]), branch(stream, number))

        return self.pool.map(work, range(len(ptr) - 1))

    def words(self, number: int) -> list[tuple[Ints, Int]]:
        """Let all words answer and propose; returns n_k and how many tokens moved, of every block of words."""
        state = self.state

        def work(block: tuple[int, int, int]) -> tuple[Ints, Int]:
            stream = new_stream(state.seed, WORD_FACTOR, state.sweep, block[0])
            return self.word_block(block[1], block[2], branch(stream, number))

        return self.pool.map(work, word_blocks(state))

    def count(self, parts: list[Ints]) -> None:
        """Add n_k of all blocks up, and pseudo-counts: the counts of the coming pass."""
        self.n_k[:] = np.sum(parts, axis=0)
        self.n_k[: len(self.base_n_k)] += self.base_n_k

    @property
    def topics(self) -> Proposals:
        """What passes change."""
        return Proposals(self.state.z, self.proposed)

    def ask(self, first: int, last: int, stream: Stream) -> Ints:
        """Let documents first … last − 1 propose; returns their n_k."""
        return ask_documents(self.state.corpus.doc_ptr, first, last, self.topics, self.alpha, stream)

    def word_block(self, first: int, last: int, stream: Stream) -> tuple[Ints, Int]:
        """Let words first … last − 1 answer and propose; returns n_k and how many of their tokens moved."""
        state = self.state
        words = Words(*state.corpus.by_word, state.base_table, self.base_sum, state.beta)
        return pass_words(words, first, last, self.topics, self.n_k, state.beta_sum, stream)

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Let documents first … last − 1 answer; returns how many of their tokens moved."""
        state = self.state
        return int(
            answer_documents(
                state.corpus.doc_ptr, first, last, self.topics, state.alpha, self.n_k, state.beta_sum, stream
            )
        )

    def summary(self, answers: list[int]) -> dict[str, float]:
        """Share of the proposals that moved the token."""
        return {"acceptance": (self.moved + sum(answers)) / max(2 * self.n_mh * self.state.corpus.n_tokens, 1)}

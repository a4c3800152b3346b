"""Collapsed Gibbs sampling for many topics: dense words weigh all topics, sixteen at a time, the others their own.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · (n_wk⁻ + β) / (n_k⁻ + Vβ)

SparseLDA walks the topics of the word, which is quick for rare words and slow for the stop words that most tokens are;
a dense scan is the other way round, and reads a row from main memory for every rare word. Here a word has the row that
suits it (`topoi.chain.counts.split`), chosen anew for every sweep.
"""

from __future__ import annotations

from typing import ClassVar

from topoi._machine.arrays import Floats, Stream
from topoi._machine.pool import Pool
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.split import DENSE_SHARE, SplitRows
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._split import sweep_split
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


class Split(Sampler):
    """Collapsed sampler with dense rows for words of many topics and lists for the others."""

    name = "split"
    exact = True
    factor_class = LiveFactor
    draw = "gibbs"
    alpha_per_document = True
    beta_per_word = True
    cost = "O(topics of the word), at most O(K), sixteen topics at a time"
    reference = "after Yao, Mimno & McCallum (2009), Efficient methods for topic model inference, KDD"
    options: ClassVar = {"dense_share": 0}

    def __init__(self, state: State, pool: Pool | None = None, dense_share: int = DENSE_SHARE) -> None:
        self.rows = SplitRows.empty(state, dense_share)
        super().__init__(state, pool, rows=self.rows)

    def begin(self) -> None:
        """Count anew, so that words have the rows that suit them now."""
        self.rows.fill(self.state, self.pool)
        self.factor.refresh()

    def block(self, first: int, last: int, stream: Stream) -> None:
        """Move the tokens of documents first … last − 1."""
        move_split(self.state, self.rows, self.rows.n_k, self.factor.scale, self.prior, first, last, stream)


def move_split(
    state: State, rows: SplitRows, n_k: Floats | None, scale: Floats, prior: AlphaRows, first: int,
    last: int, stream: Stream,
) -> None:  # fmt: skip
    """Move the tokens of documents first … last − 1; an n_k says that the counts are live, else they stay."""
    sweep_split(
        state.corpus.words, state.corpus.doc_ptr, first, last, state.z, rows.dense, rows.table, rows.start, rows.size,
        rows.topics, rows.counts, n_k, scale, prior, state.beta, state.beta_sum, stream,
    )  # fmt: skip

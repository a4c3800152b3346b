"""LightLDA: a cycle of word and document proposals, O(1) per token whatever the number of topics.

    target       p(k) = (n_dk⁻ + α_k) · (n_wk⁻ + β) · s_k,       s_k = 1/(n_k⁻ + Vβ)
    word step    q(k) ∝ n_wk⁻ + β        accept  (n_dt⁻ + α_t) s_t / (n_ds⁻ + α_s) s_s
    document     q(k) ∝ n_dk⁻ + α_k      accept  (n_wt⁻ + β) s_t / (n_ws⁻ + β) s_s

The exact form (`light`) draws both proposals by looking at the topic of a random *other* token: of the same word, or of
the same document. They are then functions of everything but the token that moves, the step leaves the posterior
unchanged, and no table is needed at all. For the published form see `light_published`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.rng import integer, uniform
from topoi.chain.counts.moves import LiveCounts, count_token
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers._stale import Stale, draw_row, make_alias
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


@kernel
def propose_other(z: Ints, order: Ints, lo: Int, hi: Int, i: Int, stream: Stream) -> np.int64:
    """Topic of a token picked among order[lo:hi] without token i (each of them with the same probability)."""
    j = lo + integer(stream, hi - lo - 1)
    picked = order[j]
    if picked == i:
        picked = order[hi - 1]
    return np.int64(z[picked])


@kernel
def propose_document(
    z: Ints, lo: Int, hi: Int, i: Int, own: bool, s: np.int64, alpha_table: Stale, alpha_sum: float, stream: Stream
) -> np.int64:
    """A topic from n_dk⁻ + α_k (own = False) or, as published, from n_dk + α_k with the token itself at topic s."""
    n = hi - lo if own else hi - lo - 1
    if uniform(stream) * (n + alpha_sum) < n:
        j = lo + integer(stream, n)
        if j == i:
            if own:
                return s
            j = hi - 1
        return np.int64(z[j])
    return draw_row(alpha_table, 0, stream)


@kernel
def sweep_exact(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, alpha_table: Stale, order: Ints,
    word_ptr: Ints, base: Floats, n_mh: Int, stream: Stream,
) -> Int:  # fmt: skip
    """`n_mh` cycles for every token of documents first … last − 1, other tokens proposing; returns steps accepted."""
    words, doc_ptr, z = tokens
    n_wk, n_k, _, betas, beta_sum = counts
    n_topics = alpha.shape[0]
    n_d = np.zeros(n_topics, np.int32)
    alpha_sum = alpha_table.mass[0]
    accepted = 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        for i in range(lo, hi):
            n_d[z[i]] += 1
        for i in range(lo, hi):
            w = words[i]
            s = np.int64(z[i])
            n_d[s] -= 1
            count_token(counts, w, s, -1.0)
            others = word_ptr[w + 1] - word_ptr[w] - 1
            beta = of_word(betas, w)
            for _ in range(n_mh):
                if uniform(stream) * (others + n_topics * beta) < others:
                    t = propose_other(z, order, word_ptr[w], word_ptr[w + 1], i, stream)
                else:
                    t = integer(stream, n_topics)
                if t != s:
                    to = (n_d[t] + alpha[t]) * (n_k[s] + beta_sum)
                    back = (n_d[s] + alpha[s]) * (n_k[t] + beta_sum)
                    if base.shape[0] > 0:  # tokens propose, counts with the base are the target
                        to *= (n_wk[w, t] + beta) * (n_wk[w, s] - base[w, s] + beta)
                        back *= (n_wk[w, s] + beta) * (n_wk[w, t] - base[w, t] + beta)
                    if uniform(stream) * back < to:
                        s = t
                        accepted += 1
                t = propose_document(z, lo, hi, i, False, s, alpha_table, alpha_sum, stream)
                if t != s:
                    to = (n_wk[w, t] + beta) * (n_k[s] + beta_sum)
                    if uniform(stream) * ((n_wk[w, s] + beta) * (n_k[t] + beta_sum)) < to:
                        s = t
                        accepted += 1
            n_d[s] += 1
            count_token(counts, w, s, 1.0)
            z[i] = s
        for i in range(lo, hi):
            n_d[z[i]] = 0
    return accepted


def alpha_table(alpha: NDArray[np.float64]) -> Stale:
    """An alias table of the prior α, in the form of a table of one word."""
    n = len(alpha)
    keep, other = np.zeros(n), np.zeros(n, np.int32)
    make_alias(alpha, alpha.sum(), keep, other)
    unlimited = np.array([np.iinfo(np.int64).max])
    return Stale(
        np.arange(n, dtype=np.int32), alpha, keep, other, np.array([0, n]), np.array([n]),
        np.array([alpha.sum()]), unlimited,
    )  # fmt: skip


class Light(Sampler):
    """LightLDA made exact: other tokens propose."""

    name = "light"
    exact = True
    factor_class = LiveFactor
    draw = "mh"
    beta_per_word = True
    cost = "O(1)"
    reference = "Yuan et al. (2015), LightLDA, WWW; proposals by other tokens: topoi, docs/exactness.md"
    options: ClassVar = {"n_mh": 1}
    factor: LiveFactor

    def __init__(self, state: State, pool: Pool | None = None, n_mh: int = 2) -> None:
        super().__init__(state, pool)
        self.n_mh = n_mh
        self.alpha_table = alpha_table(state.alpha)

    def refresh_priors(self) -> None:
        """Take over α and β from the state after they were learned."""
        super().refresh_priors()
        self.alpha_table = alpha_table(self.state.alpha)

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Move the tokens of documents first … last − 1."""
        state = self.state
        order, word_ptr = state.corpus.by_word
        answer = sweep_exact(
            self.tokens, first, last, self.factor.counts, state.alpha, self.alpha_table, order, word_ptr,
            state.base_table, self.n_mh, stream,
        )  # fmt: skip
        return int(answer)

    def summary(self, answers: list[int]) -> dict[str, float]:
        """Share of the proposals that moved the token."""
        return {"acceptance": sum(answers) / max(2 * self.n_mh * self.state.corpus.n_tokens, 1)}

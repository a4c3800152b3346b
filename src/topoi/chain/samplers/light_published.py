"""LightLDA as published: word proposals from stale alias tables, document proposals that may pick the token itself.

    target       p(k) = (n_dk⁻ + α_k) · (n_wk⁻ + β) · s_k,       s_k = 1/(n_k⁻ + Vβ)
    word step    q(k) ∝ (ñ_wk + β)/(ñ_k + Vβ), counts ñ as they were when the table was made
    document     q(k) ∝ n_dk + α_k, the token counted at the topic that it had

Here for comparison. Neither proposal is a function of everything but the token, so the Metropolis–Hastings step does
not leave the posterior unchanged (docs/exactness.md); `light` is the exact form, and quicker for want of tables.
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts, move_token
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers._stale import Stale, draw_word, new_tables, ready, weight_word
from topoi.chain.samplers.light import Light, propose_document
from topoi.chain.state import State


@kernel
def sweep_published(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, alpha_table: Stale, tables: Stale,
    ones: Floats, n_mh: Int, stream: Stream,
) -> Int:  # fmt: skip
    """`n_mh` cycles for every token of documents first … last − 1, stale tables proposing; returns steps accepted."""
    words, doc_ptr, z = tokens
    n_wk, scale, beta = counts.n_wk, counts.scale, float(counts.betas)
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
            own = s  # where the token stood when its document proposal was frozen
            ready(tables, w, n_wk, beta, scale, ones)
            n_d[s] -= 1
            move_token(counts, w, s, -1.0)
            for _ in range(n_mh):
                t = draw_word(tables, w, stream)
                if t != s:
                    to = (n_d[t] + alpha[t]) * (n_wk[w, t] + beta) * scale[t] * weight_word(tables, w, s)
                    back = (n_d[s] + alpha[s]) * (n_wk[w, s] + beta) * scale[s] * weight_word(tables, w, t)
                    if uniform(stream) * back < to:
                        s = t
                        accepted += 1
                t = propose_document(z, lo, hi, i, True, own, alpha_table, alpha_sum, stream)
                if t != s:
                    q_s = n_d[s] + alpha[s] + (1.0 if s == own else 0.0)
                    q_t = n_d[t] + alpha[t] + (1.0 if t == own else 0.0)
                    to = (n_d[t] + alpha[t]) * (n_wk[w, t] + beta) * scale[t] * q_s
                    back = (n_d[s] + alpha[s]) * (n_wk[w, s] + beta) * scale[s] * q_t
                    if uniform(stream) * back < to:
                        s = t
                        accepted += 1
            n_d[s] += 1
            move_token(counts, w, s, 1.0)
            z[i] = s
        for i in range(lo, hi):
            n_d[z[i]] = 0
    return accepted


class LightPublished(Light):
    """LightLDA as published: stale alias tables, and a document proposal that counts the token itself."""

    name = "light_published"
    exact = False
    beta_per_word = False  # the smoothing table is that of all words
    cost = "O(1), amortised"
    reference = "Yuan et al. (2015), LightLDA: big topic models on modest computer clusters, WWW"
    bias = 0.013

    def __init__(self, state: State, pool: Pool | None = None, n_mh: int = 2) -> None:
        super().__init__(state, pool, n_mh)
        self.tables = new_tables(state)
        self.ones = np.ones(state.n_topics)

    def begin(self) -> None:
        """Let every table be made anew at its first use: a sweep then depends on the topics alone."""
        self.tables.draws_left[:] = 0

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Move the tokens of documents first … last − 1."""
        answer = sweep_published(
            self.tokens, first, last, self.factor.counts, self.state.alpha, self.alpha_table, self.tables, self.ones,
            self.n_mh, stream,
        )  # fmt: skip
        return int(answer)

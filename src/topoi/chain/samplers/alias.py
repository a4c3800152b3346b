"""AliasLDA, as published: the document's topics exactly, the rest from alias tables of some time ago.

    p(z_i = k | rest) ∝ n_dk⁻ · φ_wk⁻  +  α_k · φ_wk⁻,      φ_wk⁻ = (n_wk⁻ + β)/(n_k⁻ + Vβ)

The first part is summed over the topics of the document; the second is proposed from a stale alias table, and a
Metropolis–Hastings step corrects the staleness. Not exact: the table holds the token that moves (docs/exactness.md).
Tables keep only the topics that a word has, so that they take no more memory than the counts.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from topoi._machine.arrays import Floats, Int, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts, move_token
from topoi.chain.factors._table import phi_at
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics, add_topic, clear_document, list_document, remove_topic
from topoi.chain.samplers._stale import Stale, draw_word, new_tables, ready, weight_word
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


@kernel
def sweep_documents(
    tokens: TokenTopics,
    first: Int,
    last: Int,
    counts: LiveCounts,
    alpha: Floats,
    tables: Stale,
    n_mh: Int,
    stream: Stream,
) -> Int:
    """`n_mh` Metropolis–Hastings steps for every token of documents first … last − 1; returns the steps accepted."""
    words, doc_ptr, z = tokens
    n_wk, scale, beta = counts.n_wk, counts.scale, float(counts.betas)
    n_topics = alpha.shape[0]
    n_d = np.zeros(n_topics, np.int32)
    active = np.zeros(n_topics, np.int64)
    place = np.zeros(n_topics, np.int64)
    below = np.zeros(n_topics)
    smooth = n_wk.shape[0]
    accepted = 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        n = list_document(z, lo, hi, n_d, active, place)
        for i in range(lo, hi):
            w = words[i]
            s = np.int64(z[i])
            ready(tables, w, n_wk, beta, scale, alpha)
            n = remove_topic(s, n_d, active, place, n)
            move_token(counts, w, s, -1.0)
            document_mass = 0.0
            for j in range(n):
                k = active[j]
                document_mass += n_d[k] * (n_wk[w, k] + beta) * scale[k]
                below[j] = document_mass
            for _ in range(n_mh):
                u = uniform(stream) * (document_mass + tables.mass[w] + tables.mass[smooth])
                if u < document_mass:
                    j = 0
                    while u >= below[j]:
                        j += 1
                    t = active[j]
                else:
                    t = draw_word(tables, w, stream)
                phi_s = phi_at(n_wk, beta, scale, w, s)
                phi_t = phi_at(n_wk, beta, scale, w, t)
                q_s = n_d[s] * phi_s + weight_word(tables, w, s)
                q_t = n_d[t] * phi_t + weight_word(tables, w, t)
                if uniform(stream) * ((n_d[s] + alpha[s]) * phi_s * q_t) < (n_d[t] + alpha[t]) * phi_t * q_s:
                    s = t
                    accepted += 1
            n = add_topic(s, n_d, active, place, n)
            move_token(counts, w, s, 1.0)
            z[i] = s
        clear_document(n_d, active, n)
    return accepted


class Alias(Sampler):
    """AliasLDA as published."""

    name = "alias"
    exact = False
    factor_class = LiveFactor
    draw = "mh"
    cost = "O(topics in the document), amortised"
    reference = "Li, Ahmed, Ravi & Smola (2014), Reducing the sampling complexity of topic models, KDD"
    bias = 0.042
    options: ClassVar = {"n_mh": 1}
    factor: LiveFactor

    def __init__(self, state: State, pool: Pool | None = None, n_mh: int = 2) -> None:
        super().__init__(state, pool)
        self.n_mh = n_mh
        self.tables = new_tables(state)

    def begin(self) -> None:
        """Let every table be made anew at its first use: a sweep then depends on the topics alone."""
        self.tables.draws_left[:] = 0

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Move the tokens of documents first … last − 1."""
        answer = sweep_documents(
            self.tokens, first, last, self.factor.counts, self.state.alpha, self.tables, self.n_mh, stream
        )
        return int(answer)

    def summary(self, answers: list[int]) -> dict[str, float]:
        """Share of the proposals that were accepted."""
        return {"acceptance": sum(answers) / max(self.n_mh * self.state.corpus.n_tokens, 1)}

"""SparseLDA: the collapsed conditional in three buckets, each as short as the data allow.

    p(z_i = k | rest) ∝ α_k β s_k  +  n_dk⁻ β s_k  +  (α_k + n_dk⁻) s_k · n_wk⁻,      s_k = 1/(n_k⁻ + Vβ)

The first bucket's sum is kept up to date, the second has the document's topics, the third the word's. Trick: the rows
of words are sorted, so that a draw from the third bucket, which holds most of the mass, ends early. Where the authors
cache coefficients per document we do too; rows are packed as theirs (see `topoi.chain.counts.packed`).
"""

from __future__ import annotations

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi.chain.counts.packed import ONE, TOPIC, Rows, decrement, increment
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics, add_topic, clear_document, list_document, remove_topic
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State


@kernel
def sweep_documents(
    tokens: TokenTopics, first: Int, last: Int, entries: Ints, start: Ints, size: Ints, n_k: Floats,
    alpha: Floats, betas: PerWord, beta_sum: float, stream: Stream,
) -> None:  # fmt: skip
    """One Gibbs step for every token of documents first … last − 1; updates z, the rows and n_k."""
    words, doc_ptr, z = tokens
    n_topics = n_k.shape[0]
    n_d = np.zeros(n_topics, np.int32)
    active = np.zeros(n_topics, np.int64)
    place = np.zeros(n_topics, np.int64)
    scale = 1.0 / (n_k + beta_sum)
    coefficient = alpha * scale  # (α_k + n_dk) s_k
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        n = list_document(z, lo, hi, n_d, active, place)
        prior_mass = 0.0  # Σ α_k s_k, summed anew for every document lest rounding add up
        for k in range(n_topics):
            prior_mass += alpha[k] * scale[k]
        document_mass = 0.0  # Σ n_dk s_k
        for j in range(n):
            k = active[j]
            document_mass += n_d[k] * scale[k]
            coefficient[k] = (alpha[k] + n_d[k]) * scale[k]
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            beta = of_word(betas, w)
            prior_mass -= alpha[old] * scale[old]
            document_mass -= n_d[old] * scale[old]
            n = remove_topic(old, n_d, active, place, n)
            n_k[old] -= 1.0
            scale[old] = 1.0 / (n_k[old] + beta_sum)
            prior_mass += alpha[old] * scale[old]
            document_mass += n_d[old] * scale[old]
            coefficient[old] = (alpha[old] + n_d[old]) * scale[old]
            row = start[w]
            size[w] = decrement(entries, row, size[w], old)
            row_end = row + size[w]

            word_mass = 0.0
            for j in range(row, row_end):
                word_mass += coefficient[entries[j] & TOPIC] * (entries[j] // ONE)
            u = uniform(stream) * (word_mass + beta * (document_mass + prior_mass))
            if u < word_mass:
                j = row
                u = u - coefficient[entries[j] & TOPIC] * (entries[j] // ONE)
                while u >= 0.0 and j + 1 < row_end:
                    j += 1
                    u = u - coefficient[entries[j] & TOPIC] * (entries[j] // ONE)
                new = entries[j] & TOPIC
            else:
                u = (u - word_mass) / beta
                if u < document_mass and n > 0:
                    j = 0
                    u = u - n_d[active[j]] * scale[active[j]]
                    while u >= 0.0 and j + 1 < n:
                        j += 1
                        u = u - n_d[active[j]] * scale[active[j]]
                    new = active[j]
                else:
                    u = u - document_mass
                    new = np.int64(0)
                    u = u - alpha[new] * scale[new]
                    while u >= 0.0 and new + 1 < n_topics:
                        new += 1
                        u = u - alpha[new] * scale[new]

            prior_mass -= alpha[new] * scale[new]
            document_mass -= n_d[new] * scale[new]
            n = add_topic(new, n_d, active, place, n)
            n_k[new] += 1.0
            scale[new] = 1.0 / (n_k[new] + beta_sum)
            prior_mass += alpha[new] * scale[new]
            document_mass += n_d[new] * scale[new]
            coefficient[new] = (alpha[new] + n_d[new]) * scale[new]
            size[w] = increment(entries, row, size[w], new)
            z[i] = new
        for j in range(n):
            coefficient[active[j]] = alpha[active[j]] * scale[active[j]]
        clear_document(n_d, active, n)


class Sparse(Sampler):
    """SparseLDA."""

    name = "sparse"
    exact = True
    factor_class = LiveFactor
    draw = "gibbs"
    beta_per_word = True
    cost = "O(topics in the document + topics of the word)"
    reference = "Yao, Mimno & McCallum (2009), Efficient methods for topic model inference, KDD"

    def __init__(self, state: State, pool: Pool | None = None) -> None:
        self.rows = Rows.of(state)
        super().__init__(state, pool, rows=self.rows)

    def block(self, first: int, last: int, stream: Stream) -> None:
        """Move the tokens of documents first … last − 1."""
        state, rows = self.state, self.rows
        sweep_documents(
            self.tokens, first, last, rows.entries, rows.start, rows.size,
            rows.n_k, state.alpha, state.beta, state.beta_sum, stream,
        )  # fmt: skip

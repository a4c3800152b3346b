"""FastLDA: the collapsed conditional, visiting only as many topics as the draw needs.

    p_k = a_k b_k c_k,    a_k = n_dk⁻ + α_k,   b_k = n_wk⁻ + β,   c_k = 1/(n_k⁻ + Vβ)

Topics are visited from the document's most frequent downwards. After l topics the sum of the rest is bounded by
Hölder's inequality, ‖a‖₂ ‖b‖₂ ‖c‖_∞ or ‖a‖₃ ‖b‖₃ ‖c‖₃ over the topics not yet seen. As soon as the uniform number falls
into a segment that no later bound can move, the draw is done. Exact: the bounds only decide when to stop looking.

The norms shrink by subtraction, which rounds; a margin far above the rounding is added so that a bound is never short
(the paper does not mention this; without it draws would be wrong in the eighth digit, since √(10⁻¹⁶) = 10⁻⁸).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts, move_token
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics, count_document
from topoi.chain.samplers._norms import largest, power, sum_norms
from topoi.chain.samplers._ranking import lower, raise_, sort_topics
from topoi.chain.samplers.base import Sampler

# Rounding of a norm is below K · 2⁻⁵² of its first value; K stays far below 2³².
MARGIN = 1e-12


@kernel
def bound_and_refine(
    u: float, w: Int, n_d: Floats, alpha: Floats, n_wk: Floats, beta: float, scale: Floats, order: Ints, three: bool,
    norm_a: float, norm_b: float, norm_c: float, below: Floats,
) -> tuple[Int, Int]:  # fmt: skip
    """Algorithm 4.1 of the paper. Returns (position of the topic in `order`, number of topics visited)."""
    n_topics = order.shape[0]
    slack_a, slack_b, slack_c = norm_a * MARGIN, norm_b * MARGIN, norm_c * MARGIN
    total = 0.0
    z_before = np.inf
    for j in range(n_topics):
        k = order[j]
        a, b, c = n_d[k] + alpha[k], n_wk[w, k] + beta, np.float64(scale[k])
        before = total
        total += a * b * c
        below[j] = total
        norm_a -= power(a, three)
        norm_b -= power(b, three)
        rest = 0.0
        if j + 1 < n_topics:
            rest = (max(norm_a, 0.0) + slack_a) * (max(norm_b, 0.0) + slack_b)
            if three:
                norm_c -= power(c, three)
                rest = (rest * (max(norm_c, 0.0) + slack_c)) ** (1.0 / 3.0)
            else:
                rest = np.sqrt(rest) * norm_c
        z_bound = min(total + rest, z_before)  # rounding must not let the bounds grow
        if u * z_bound <= total:
            if j == 0 or u * z_bound > before:
                return j, j + 1
            # u is in a correction segment: what the better bound adds to the topics before this one.
            u = (u * z_before - before) * z_bound / (z_before - z_bound)
            i = 0
            while i < j - 1 and u > below[i]:
                i += 1
            return i, j + 1
        z_before = z_bound
    return n_topics - 1, n_topics


@kernel
def sweep_documents(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, norms: Floats, three: bool,
    stream: Stream,
) -> Int:  # fmt: skip
    """One Gibbs step for every token of documents first … last − 1; returns the number of topics visited.

    Updates topics, counts and `norms` (Σ_k b_wk² or b_wk³ for every word).
    """
    words, doc_ptr, z = tokens
    n_wk, scale = counts.n_wk, counts.scale
    n_topics = alpha.shape[0]
    n_d = np.zeros(n_topics)
    order = np.arange(n_topics)
    place = np.arange(n_topics)
    below = np.zeros(n_topics)
    visited = 0
    norm_c, top = 0.0, np.int64(-1)  # of all documents so far: the largest scale, and its topic
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        if hi == lo:
            continue
        count_document(z, lo, hi, n_d)
        sort_topics(n_d, order, place)
        norm_a = 0.0
        for k in range(n_topics):
            norm_a += power(n_d[k] + alpha[k], three)
        if three:
            norm_c = 0.0
            for k in range(n_topics):
                norm_c += power(np.float64(scale[k]), three)
        elif top < 0 or np.float64(scale[top]) != norm_c:  # its topic has got tokens: another may be the largest
            top = np.int64(largest(scale, n_topics))
            norm_c = np.float64(scale[top])
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            beta = of_word(counts.betas, w)
            norm_a -= power(n_d[old] + alpha[old], three)
            norms[w] -= power(n_wk[w, old] + beta, three)
            if three:
                norm_c -= power(np.float64(scale[old]), three)
            n_d[old] -= 1
            move_token(counts, w, old, -1.0)
            lower(n_d, order, place, old, n_topics)
            norm_a += power(n_d[old] + alpha[old], three)
            norms[w] += power(n_wk[w, old] + beta, three)
            # The largest scale may fall again later; a bound that is a little too large for a while is still a bound.
            if three:
                norm_c += power(np.float64(scale[old]), three)
            elif np.float64(scale[old]) > norm_c:
                norm_c, top = np.float64(scale[old]), old

            j, seen = bound_and_refine(
                uniform(stream), w, n_d, alpha, n_wk, beta, scale, order, three, norm_a, norms[w], norm_c, below
            )
            new = order[j]
            visited += seen

            norm_a -= power(n_d[new] + alpha[new], three)
            norms[w] -= power(n_wk[w, new] + beta, three)
            if three:
                norm_c -= power(np.float64(scale[new]), three)
            n_d[new] += 1
            move_token(counts, w, new, 1.0)
            raise_(n_d, order, place, new)
            norm_a += power(n_d[new] + alpha[new], three)
            norms[w] += power(n_wk[w, new] + beta, three)
            if three:
                norm_c += power(np.float64(scale[new]), three)
            z[i] = new
    return visited


class Fast(Sampler):
    """FastLDA with the bound (2, 2, ∞)."""

    name = "fast"
    exact = True
    factor_class = LiveFactor
    draw = "gibbs"
    beta_per_word = True
    cost = "O(topics visited before the bound decides), reported as `topics_visited`"
    reference = "Porteous, Newman, Ihler, Asuncion, Smyth & Welling (2008), Fast collapsed Gibbs sampling, KDD"
    cubic: ClassVar[bool] = False
    factor: LiveFactor

    def begin(self) -> None:
        """Sum the norms of the words anew, lest rounding add up over sweeps."""
        self.norms = np.zeros(self.state.corpus.n_words)
        sum_norms(self.factor.table, self.state.n_topics, self.state.beta, self.cubic, self.norms)

    def block(self, first: int, last: int, stream: Stream) -> int:
        """Move the tokens of documents first … last − 1."""
        counts, alpha = self.factor.counts, self.state.alpha
        answer = sweep_documents(self.tokens, first, last, counts, alpha, self.norms, self.cubic, stream)
        return int(answer)

    def summary(self, answers: list[int]) -> dict[str, float]:
        """Average number of topics visited for a token."""
        return {"topics_visited": sum(answers) / max(self.state.corpus.n_tokens, 1)}


class FastCubic(Fast):
    """FastLDA with the bound (3, 3, 3)."""

    name = "fast_333"
    cubic = True

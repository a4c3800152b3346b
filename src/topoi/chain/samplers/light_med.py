"""LightMedLDA made exact: word, document and exp proposals, O(tasks) per step whatever the number of topics.

    target       p(k) = (n_dk⁻ + α_k) · (n_wk⁻ + β) · s_k · exp(g_d(k; m⁻)),       s_k = 1/(n_k⁻ + Vβ)
    word step    q(k) ∝ n_wk⁻ + β        document step    q(k) ∝ n_dk⁻ + α_k        exp step    q(k) ∝ exp(g̃(k))

Each of `n_mh` steps takes one of the three: at random ("mixture"), in turn ("cycle"), or always the same. In a cycle
the next token goes on where the last one stopped. The acceptance has what the proposal lacks, and the true difference
of the tilts (`_tilted.difference`). A step costs O(tasks), and only if it wants to move.

Where we differ from the paper: word and document proposals are the topics of *other* tokens, as in `light`, with the
counts of this moment. The exp table g̃ is made twice per document: for every second token from the scores of the tokens
between, scaled up to the whole document, and the other way round. So no proposal is a function of the token that it
moves, and the step leaves the posterior unchanged. For the published form see `light_med_published`.

Without responses the exp proposal is uniform, and this is LightLDA with a third, poor proposal.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi._machine.rng import integer, uniform
from topoi.chain.counts.moves import LiveCounts, count_token
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers._exp import (
    COMPOSITIONS,
    DOC,
    EXP,
    PROPOSALS,
    WORD,
    choose_proposal,
    draw_exp,
    make_exp_table,
    uses,
)
from topoi.chain.samplers._stale import Stale
from topoi.chain.samplers._tilted import (
    FLOOR,
    FLOOR_OF_PART,
    TiltInput,
    difference,
    fill_curve,
    fill_tilt,
    move_scores,
    slopes,
    start_document,
)
from topoi.chain.samplers.light import Light, propose_document, propose_other
from topoi.chain.state import State

STEPS = 6  # the paper's: each proposal twice
LARGEST = 700.0  # e to the power of more is too large for a float


@kernel
def sweep_exact(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, alpha_table: Stale, order: Ints,
    word_ptr: Ints, base: Floats, responses: TiltInput, composition: int, n_mh: Int, stream: Stream,
) -> Ints:  # fmt: skip
    """`n_mh` steps for every token of documents first … last − 1; returns moves wanted and moves made, by proposal."""
    words, doc_ptr, z = tokens
    n_wk, n_k, _, betas, beta_sum = counts
    eta, eta_t, kappa, omega = responses
    n_topics = alpha.shape[0]
    n_tasks = eta_t.shape[1]
    n_d = np.zeros(n_topics, np.int32)
    tilt = np.ones(n_wk.shape[1], n_wk.dtype)
    keep = np.zeros(n_topics)
    other = np.zeros(n_topics, np.int32)
    a, b, m = np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks)
    linear, curve = np.zeros(n_tasks, n_wk.dtype), np.zeros(n_wk.shape[1], n_wk.dtype)
    alpha_sum = alpha_table.mass[0]
    steps = np.zeros((2, 3), np.int64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        for i in range(lo, hi):
            n_d[z[i]] += 1
        labelled = start_document(z, lo, hi, kappa[d], omega[d], eta_t, a, b, m)
        tables = labelled and uses(composition, EXP)
        halves = min(hi - lo, 2 if tables else 1)
        if tables:
            fill_curve(eta, b, curve)
        turn = 0
        for half in range(halves):
            if tables:
                inside = slopes(z, lo, hi, lo + half, halves, eta_t, a, b, m, linear)
                fill_tilt(eta, linear, curve, n_topics, FLOOR if inside == 1 else FLOOR_OF_PART, tilt)
                make_exp_table(tilt, keep, other)
            for i in range(lo + half, hi, halves):
                w = words[i]
                s = np.int64(z[i])
                n_d[s] -= 1
                count_token(counts, w, s, -1.0)
                others = word_ptr[w + 1] - word_ptr[w] - 1
                beta = of_word(betas, w)
                for _ in range(n_mh):
                    proposal = choose_proposal(composition, turn, stream)
                    turn += 1
                    if proposal == DOC:
                        t = propose_document(z, lo, hi, i, False, s, alpha_table, alpha_sum, stream)
                    elif proposal == EXP:
                        t = draw_exp(labelled, keep, other, stream)
                    elif uniform(stream) * (others + n_topics * beta) < others:
                        t = propose_other(z, order, word_ptr[w], word_ptr[w + 1], i, stream)
                    else:
                        t = integer(stream, n_topics)
                    if t == s:
                        continue
                    steps[0, proposal] += 1
                    to = n_k[s] + beta_sum
                    back = n_k[t] + beta_sum
                    if proposal != DOC:
                        to *= n_d[t] + alpha[t]
                        back *= n_d[s] + alpha[s]
                    if proposal != WORD or base.shape[0] > 0:
                        to *= n_wk[w, t] + beta
                        back *= n_wk[w, s] + beta
                    if proposal == WORD and base.shape[0] > 0:  # tokens propose, counts with the base are the target
                        to *= n_wk[w, s] - base[w, s] + beta
                        back *= n_wk[w, t] - base[w, t] + beta
                    if labelled:
                        if proposal == EXP:
                            to *= tilt[s]
                            back *= tilt[t]
                        to *= math.exp(min(difference(eta_t, a, b, m, s, t), LARGEST))
                    if uniform(stream) * back < to:
                        steps[1, proposal] += 1
                        if labelled:
                            move_scores(eta_t, m, s, t)
                        s = t
                n_d[s] += 1
                count_token(counts, w, s, 1.0)
                z[i] = s
        for i in range(lo, hi):
            n_d[z[i]] = 0
    return steps


class LightMed(Light):
    """LightMedLDA made exact: other tokens propose, and the tilt in two halves."""

    name = "light_med"
    tilts = True
    cost = "O(1) per step; with responses O(tasks) per step, and O(K · tasks) per document"
    reference = "Zheng, Yu & Xing (2015), Linear time samplers for supervised topic models, KDD; exact form: topoi"
    options: ClassVar = {"composition": COMPOSITIONS, "n_mh": 1}

    def __init__(self, state: State, pool: Pool | None = None, composition: str = "mixture", n_mh: int = STEPS) -> None:
        super().__init__(state, pool, n_mh)
        self.composition = COMPOSITIONS.index(composition)

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1."""
        state = self.state
        order, word_ptr = state.corpus.by_word
        return sweep_exact(
            self.tokens, first, last, self.factor.counts, state.alpha, self.alpha_table, order, word_ptr,
            state.base_table, self.responses(), self.composition, self.n_mh, stream,
        )  # fmt: skip

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Share of the proposed moves that were made: of all, and by proposal."""
        wanted, moved = np.sum(answers, axis=0)
        by_proposal = {
            f"acceptance_{name}": float(moved[j] / max(wanted[j], 1))
            for j, name in enumerate(PROPOSALS)
            if uses(self.composition, j)
        }
        return {"acceptance": float(moved.sum() / max(wanted.sum(), 1)), **by_proposal}

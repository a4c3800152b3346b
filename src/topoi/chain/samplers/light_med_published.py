"""LightMedLDA as published: stale word tables, a document proposal that counts the token, one exp table per document.

    target       p(k) = (n_dk⁻ + α_k) · (n_wk⁻ + β) · s_k · exp(g_d(k; m⁻)),       s_k = 1/(n_k⁻ + Vβ)
    word step    q(k) ∝ (ñ_wk + β)/(ñ_k + Vβ), counts ñ as they were when the table was made
    document     q(k) ∝ n_dk + α_k, the token counted at the topic that it had
    exp step     q(k) ∝ exp(g_d(k; m̃)), scores m̃ of all tokens as they were when the document's turn came

Here for comparison. No proposal is a function of everything but the token, so the Metropolis–Hastings steps do not
leave the posterior unchanged (docs/exactness.md); `light_med` is the exact form. Steps cost O(tasks), tables O(1) per
draw and O(K · tasks) per document.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi.chain.counts.moves import LiveCounts, move_token
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers._exp import DOC, EXP, WORD, choose_proposal, draw_exp, make_exp_table, uses
from topoi.chain.samplers._stale import Stale, draw_word, new_tables, ready, weight_word
from topoi.chain.samplers._tilted import (
    FLOOR,
    TiltInput,
    difference,
    fill_curve,
    fill_tilt,
    move_scores,
    start_document,
)
from topoi.chain.samplers.light import propose_document
from topoi.chain.samplers.light_med import LARGEST, STEPS, LightMed
from topoi.chain.state import State


@kernel
def sweep_published(
    tokens: TokenTopics, first: Int, last: Int, counts: LiveCounts, alpha: Floats, alpha_table: Stale, tables: Stale,
    ones: Floats, responses: TiltInput, composition: int, n_mh: Int, stream: Stream,
) -> Ints:  # fmt: skip
    """`n_mh` steps for every token of documents first … last − 1; returns moves wanted and moves made, by proposal."""
    words, doc_ptr, z = tokens
    n_wk, scale, beta = counts.n_wk, counts.scale, float(counts.betas)
    eta, eta_t, kappa, omega = responses
    n_topics = alpha.shape[0]
    n_tasks = eta_t.shape[1]
    n_d = np.zeros(n_topics, np.int32)
    tilt, curve = np.ones(n_wk.shape[1], n_wk.dtype), np.zeros(n_wk.shape[1], n_wk.dtype)
    keep = np.zeros(n_topics)
    other = np.zeros(n_topics, np.int32)
    a, b, m = np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks)
    alpha_sum = alpha_table.mass[0]
    steps = np.zeros((2, 3), np.int64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        for i in range(lo, hi):
            n_d[z[i]] += 1
        labelled = start_document(z, lo, hi, kappa[d], omega[d], eta_t, a, b, m)
        if labelled and uses(composition, EXP):
            fill_curve(eta, b, curve)
            fill_tilt(eta, (a - b * m).astype(tilt.dtype), curve, n_topics, FLOOR, tilt)
            make_exp_table(tilt, keep, other)
        turn = 0
        for i in range(lo, hi):
            w = words[i]
            s = np.int64(z[i])
            own = s  # where the token stood when its document proposal was frozen
            if uses(composition, WORD):
                ready(tables, w, n_wk, beta, scale, ones)
            n_d[s] -= 1
            move_token(counts, w, s, -1.0)
            for _ in range(n_mh):
                proposal = choose_proposal(composition, turn, stream)
                turn += 1
                if proposal == WORD:
                    t = draw_word(tables, w, stream)
                elif proposal == DOC:
                    t = propose_document(z, lo, hi, i, True, own, alpha_table, alpha_sum, stream)
                else:
                    t = draw_exp(labelled, keep, other, stream)
                if t == s:
                    continue
                steps[0, proposal] += 1
                to = (n_d[t] + alpha[t]) * (n_wk[w, t] + beta) * scale[t]
                back = (n_d[s] + alpha[s]) * (n_wk[w, s] + beta) * scale[s]
                if proposal == WORD:
                    to *= weight_word(tables, w, s)
                    back *= weight_word(tables, w, t)
                elif proposal == DOC:
                    to *= n_d[s] + alpha[s] + (1.0 if s == own else 0.0)
                    back *= n_d[t] + alpha[t] + (1.0 if t == own else 0.0)
                elif labelled:
                    to *= tilt[s]
                    back *= tilt[t]
                if labelled:
                    to *= math.exp(min(difference(eta_t, a, b, m, s, t), LARGEST))
                if uniform(stream) * back < to:
                    steps[1, proposal] += 1
                    if labelled:
                        move_scores(eta_t, m, s, t)
                    s = t
            n_d[s] += 1
            move_token(counts, w, s, 1.0)
            z[i] = s
        for i in range(lo, hi):
            n_d[z[i]] = 0
    return steps


class LightMedPublished(LightMed):
    """LightMedLDA as published: every proposal knows the token that it moves."""

    name = "light_med_published"
    exact = False
    beta_per_word = False  # the smoothing table is that of all words
    cost = "O(1) per step, amortised; with responses O(tasks) per step, and O(K · tasks) per document"
    reference = "Zheng, Yu & Xing (2015), Linear time samplers for supervised topic models, KDD"
    bias = 0.004

    def __init__(self, state: State, pool: Pool | None = None, composition: str = "mixture", n_mh: int = STEPS) -> None:
        super().__init__(state, pool, composition, n_mh)
        self.tables = new_tables(state)
        self.ones = np.ones(state.n_topics)

    def begin(self) -> None:
        """Let every table be made anew at its first use: a sweep then depends on the topics alone."""
        self.tables.draws_left[:] = 0

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1."""
        return sweep_published(
            self.tokens, first, last, self.factor.counts, self.state.alpha, self.alpha_table, self.tables, self.ones,
            self.responses(), self.composition, self.n_mh, stream,
        )  # fmt: skip

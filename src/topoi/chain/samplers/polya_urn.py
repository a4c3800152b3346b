"""Pólya Urn LDA: partially collapsed, with a φ that is sparse because it is made of Poisson counts.

    c_wk ~ Poisson(n_wk + β),   φ_wk = c_wk / Σ_w c_wk,   then   p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk

Most c_wk with n_wk = 0 are 0 and are jumped over (the gaps between the others are geometric), so that φ costs O(tokens)
to draw and to store. A token costs O(min(K_d, K_w)): the sum over n_dk⁻ φ_wk walks the document's topics or the word's,
whichever are fewer. Approximate: the urn tends to the Dirichlet as counts grow (Theorem 3 of the paper).

With responses the proposal is  q(k) ∝ φ_wk (n_dk⁻ · tilt_k + α_k),  where the tilts come from tokens in other parts of
the document and are 1 for topics that these do not have (`_tilted_sparse`): a walk over as few topics as before,
O(K_d · tasks) for a part, and one Metropolis–Hastings step, O(tasks), for tokens that want to move. Exact given φ.

A rare word may draw c_wk = 0 for every topic (probability e^−(n_w + Kβ)), or for every one that a document can have.
Its tokens then keep their topics; the sweep reports how many (`tokens_kept`). The paper does not say what to do. A
topic may lose its φ for a word that has tokens in it: they leave it at their next turn, whatever the tilt says.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import uniform
from topoi.chain.alpha import AlphaRows
from topoi.chain.counts.moves import move_token
from topoi.chain.factors.urn import UrnFactor
from topoi.chain.samplers._document import TokenTopics, add_topic, clear_document, list_document, remove_topic
from topoi.chain.samplers._sorted_row import find, prior_mass, walk_prior
from topoi.chain.samplers._tilted import (
    FLOOR,
    FLOOR_OF_PART,
    TiltInput,
    count_parts,
    difference,
    move_scores,
    slopes,
    start_document,
)
from topoi.chain.samplers._tilted_sparse import fill_active
from topoi.chain.samplers._urn_correction import Correction, accepts
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State

# Looking a topic up in a sorted row costs about this many steps of walking one.
LOOK_UP = 4


@kernel
def sweep_documents(
    tokens: TokenTopics, first: Int, last: Int, topics: Ints, phi: Floats, start: Ints, mass: Floats | None,
    prior: AlphaRows, look_up: Int, responses: TiltInput, part: Int, correction: Correction | None, stream: Stream,
) -> tuple[Int, Int, Int]:  # fmt: skip
    """Move every token of documents first … last − 1 given φ; without masses, where α differs, they are summed up.

    With a correction no tilt, and each move is a proposal (`urn_mh`). Returns how many tokens kept their topic for want
    of φ, how many wanted to move under a tilt or a correction, and how many did.
    """
    words, doc_ptr, z = tokens
    _, eta_t, kappa, omega = responses
    n_topics = prior.rows.shape[1]
    n_tasks = eta_t.shape[1]
    n_d = np.zeros(n_topics, np.int32)
    active = np.zeros(n_topics, np.int64)
    place = np.zeros(n_topics, np.int64)
    inside = np.zeros(n_topics, np.int32)
    below = np.zeros(n_topics)
    tilt = np.ones(n_topics)
    weight = np.zeros(n_topics)  # n_dk · tilt_k
    a, b, m = np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks)
    linear = np.zeros(n_tasks)
    kept, wanted, moved = 0, 0, 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha = prior.rows[prior.row_of[d]]
        n = list_document(z, lo, hi, n_d, active, place)
        labelled = start_document(z, lo, hi, kappa[d], omega[d], eta_t, a, b, m)
        n_parts = count_parts(hi - lo, labelled, part)
        for number in range(n_parts):
            if labelled:
                size = slopes(z, lo, hi, lo + number, n_parts, eta_t, a, b, m, linear)
                floor = FLOOR if size == 1 else FLOOR_OF_PART
                fill_active(z, lo + number, hi, n_parts, eta_t, linear, b, floor, n_d, active, n, inside, tilt)
            for j in range(n):
                weight[active[j]] = n_d[active[j]] * tilt[active[j]]
            for i in range(lo + number, hi, n_parts):
                w = words[i]
                row, row_end = start[w], start[w + 1]
                own = prior_mass(topics, phi, row, row_end, alpha) if mass is None else 0.0
                old = np.int64(z[i])
                if (
                    row == row_end or (mass is None and not own > 0.0)
                    or (correction is not None and find(topics, row, row_end, old) < 0)
                ):  # fmt: skip
                    kept += 1
                    continue
                n = remove_topic(old, n_d, active, place, n)
                weight[old] = n_d[old] * tilt[old]
                by_word = row_end - row <= look_up * n
                total = 0.0
                if by_word:
                    for j in range(row, row_end):
                        total += weight[topics[j]] * phi[j]
                        below[j - row] = total
                else:
                    for j in range(n):
                        at = find(topics, row, row_end, active[j])
                        if at >= 0:
                            total += weight[active[j]] * phi[at]
                        below[j] = total
                if mass is not None:
                    own = mass[w]
                u = uniform(stream) * (total + own)
                j = 0
                if u < total:
                    while u >= below[j]:
                        j += 1
                    new = np.int64(topics[row + j]) if by_word else active[j]
                else:
                    new = walk_prior(topics, phi, row, row_end, alpha, u - total)
                if labelled and new != old:
                    wanted += 1
                    to = (n_d[new] + alpha[new]) * (weight[old] + alpha[old])
                    back = (n_d[old] + alpha[old]) * (weight[new] + alpha[new])
                    log_ratio = difference(eta_t, a, b, m, old, new) + math.log(to / back)
                    leaves = find(topics, row, row_end, old) < 0  # no φ any more where it was
                    if leaves or log_ratio >= 0.0 or uniform(stream) < math.exp(log_ratio):
                        moved += 1
                        move_scores(eta_t, m, old, new)
                    else:
                        new = old
                if correction is not None and new != old:
                    wanted += 1
                    if accepts(correction, w, topics, phi, row, row_end, old, new, stream):
                        moved += 1
                        move_token(correction.counts, w, old, -1.0)
                        move_token(correction.counts, w, new, 1.0)
                    else:
                        new = old
                n = add_topic(new, n_d, active, place, n)
                weight[new] = n_d[new] * tilt[new]
                z[i] = new
            if labelled:
                for j in range(n):
                    tilt[active[j]] = 1.0
        for j in range(n):
            weight[active[j]] = 0.0
        clear_document(n_d, active, n)
    return kept, wanted, moved


def alpha_of(state: State) -> AlphaRows:
    """α in float64, and not padded: the kernel never weighs all topics."""
    return state.priors.topics.alpha_of(state.corpus).for_kernels(state.corpus.n_documents, np.float64)


class PolyaUrn(Sampler):
    """Pólya Urn LDA."""

    name = "polya_urn"
    exact = False
    factor_class = UrnFactor
    draw = "gibbs"
    tilts = True
    alpha_per_document = True
    beta_per_word = True
    cost = "O(min(topics in the document, topics of the word)), and O(tokens + βVK) per sweep for φ"
    reference = UrnFactor.reference
    bias = UrnFactor.bias
    options: ClassVar = {"look_up": 0}
    factor: UrnFactor

    def __init__(self, state: State, pool: Pool | None = None, look_up: int = LOOK_UP) -> None:
        super().__init__(state, pool)
        self.look_up = look_up

    def take_alpha(self) -> None:
        """α as the kernel takes it."""
        self.prior = alpha_of(self.state)

    def block(self, first: int, last: int, stream: Stream) -> tuple[int, int, int]:
        """Move the tokens of documents first … last − 1 given φ."""
        state, factor = self.state, self.factor
        mass = None if state.priors.topics.per_document else factor.mass
        part = 1 if state.supervision is None else state.supervision.part
        kept, wanted, moved = sweep_documents(
            self.tokens, first, last, factor.topics, factor.phi, factor.start, mass, self.prior, self.look_up,
            self.responses(), part, None, stream,
        )  # fmt: skip
        return int(kept), int(wanted), int(moved)

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Tokens that kept their topic because their word drew no φ, entries of φ per word, and moves accepted."""
        kept = sum(answer[0] for answer in answers)
        entries = self.factor.n_entries / self.state.corpus.n_words
        return {"tokens_kept": float(kept), "phi_entries": entries, **super().summary([own[1:] for own in answers])}

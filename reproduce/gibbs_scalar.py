"""Gibbs MedLDA as its paper has it: every topic weighed for every token, one after the other, its tilt included.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · (n_wk⁻ + β) / (n_k⁻ + Vβ) · exp(g_d(k; m⁻))

topoi's own form of it (`collapsed` with parts of one token) does sixteen topics at a time with an exponential made of
plain arithmetic. The papers' programs do not, and their speed-ups are over such code as this: O(K · tasks) per token,
K exponentials. The part of the tilt that is the same for all tokens of a document is made once, as a careful programmer
would. Zhu, Chen, Perkins & Zhang (2013), Gibbs max-margin topic models with fast sampling algorithms, ICML, eq. (12).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.jit import kernel
from topoi._machine.rng import uniform
from topoi.chain.samplers import SAMPLERS
from topoi.chain.samplers._document import count_document
from topoi.chain.samplers._tilted import start_document
from topoi.chain.samplers.collapsed import Collapsed


@kernel
def sweep_scalar(
    words: Any, doc_ptr: Any, first: Any, last: Any, z: Any, n_wk: Any, n_k: Any, alpha: Any, beta: Any,
    beta_sum: Any, eta_t: Any, kappa: Any, omega: Any, stream: Any,
) -> Any:  # fmt: skip
    """One Gibbs step for every token of documents first … last − 1; updates z, n_wk and n_k, returns (moved, moved)."""
    n_topics = alpha.shape[0]
    n_tasks = eta_t.shape[1]
    n_d = np.zeros(n_topics, n_wk.dtype)
    a, b, m = np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks)
    curve, g, below = np.zeros(n_topics), np.zeros(n_topics), np.zeros(n_topics)
    moved = 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        count_document(z, lo, hi, n_d)
        labelled = start_document(z, lo, hi, kappa[d], omega[d], eta_t, a, b, m)
        for k in range(n_topics):
            curve[k] = 0.0
            for task in range(n_tasks):
                curve[k] += 0.5 * b[task] * eta_t[k, task] * eta_t[k, task]
        for i in range(lo, hi):
            w = words[i]
            old = np.int64(z[i])
            n_d[old] -= 1
            n_wk[w, old] -= 1
            n_k[old] -= 1
            best = 0.0
            if labelled:
                for task in range(n_tasks):
                    m[task] -= eta_t[old, task]
                for k in range(n_topics):
                    g[k] = -curve[k]
                    for task in range(n_tasks):
                        g[k] += (a[task] - b[task] * m[task]) * eta_t[k, task]
                    best = g[k] if k == 0 else max(best, g[k])
            total = 0.0
            for k in range(n_topics):
                weight = (n_d[k] + alpha[k]) * (n_wk[w, k] + beta) / (n_k[k] + beta_sum)
                total += weight * math.exp(g[k] - best) if labelled else weight
                below[k] = total
            u = uniform(stream) * total
            new = 0
            while new < n_topics - 1 and u >= below[new]:
                new += 1
            if labelled:
                for task in range(n_tasks):
                    m[task] += eta_t[new, task]
            moved += 1 if new != old else 0
            n_d[new] += 1
            n_wk[w, new] += 1
            n_k[new] += 1
            z[i] = new
    return moved, moved


class GibbsScalar(Collapsed):
    """Gibbs MedLDA in scalar code."""

    name = "gibbs_scalar"
    beta_per_word = False
    cost = "O(K · tasks), one topic at a time"
    reference = "Zhu, Chen, Perkins & Zhang (2013), Gibbs max-margin topic models with fast sampling algorithms, ICML"

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> Any:
        """Move the tokens of documents first … last − 1."""
        state = self.state
        _, eta_t, kappa, omega = self.responses()
        return sweep_scalar(
            state.corpus.words, state.corpus.doc_ptr, first, last, state.z, self.factor.table, self.factor.n_k,
            state.alpha, state.beta, state.beta_sum, eta_t, kappa, omega, stream,
        )  # fmt: skip


# Known to the estimators by name, as any sampler of a user's own would be.
SAMPLERS.setdefault(GibbsScalar.name, GibbsScalar)

"""Logistic-softmax likelihood: every document has one of several labels, with probabilities that sum to 1.

    ψ(y | f) = [σ(f_y) / Σ_j σ(f_j)]^c,     σ(f) = 1/(1 + e^(−f))
    λ ~ Gamma(c, Σ_j σ(f_j)),    n_j ~ Poisson(λ σ(−f_j))
    ω_j ~ PólyaGamma(c [j = y] + n_j, f_j),    κ_j = (c [j = y] − n_j)/2         (Galy-Fajou et al. 2020)

Where scores are low, σ(f) is e^f, and this is the softmax; where they are high it is flatter. Since the shares of
topics sum to 1, weights can lower the scores of all labels together. Two labels have one score, and ψ = σ(±f)^c is the
logistic likelihood, which is the softmax itself.

Why it is right. S^(−c) ∝ ∫ λ^(c−1) e^(−λS) dλ with S = Σ_j σ(f_j), and since σ(f) = 1 − σ(−f),

    e^(−λσ(f)) = e^(−λ) Σ_n (λσ(−f))^n / n!

so that given λ and n the likelihood is a product over labels of σ(f_j)^(c [j = y]) σ(−f_j)^(n_j): each is
e^(a f)/(1 + e^f)^b with a = c [j = y], b = a + n_j, which ω ~ PólyaGamma(b, f) makes a Gaussian with κ = a − b/2.

Why not the softmax by Polson, Scott & Windle (2013). Their step for label l holds the scores of the others fixed:
ω ~ PólyaGamma(1, f_l − C_l) with C_l = log Σ_{j≠l} e^(f_j). It is right for the weights of l. But a token that moves
changes all scores, those in C_l too, and given all ω at once the product over l is not the likelihood: topics drawn
with it have another posterior (`tests/chain/responses/test_softmax.py` enumerates it). The variables above are right
for all scores jointly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.polya_gamma import polya_gamma
from topoi._machine.rng import RESPONSE, log_gamma, poisson, seed_stream
from topoi.chain.responses.base import Own, Scores, check_rows
from topoi.chain.responses.kinds import LabelResponse, suited_pull
from topoi.chain.responses.settings import setting

if TYPE_CHECKING:
    from topoi.corpus import Corpus

# The logarithm of 1e12, the largest rate of n. It is reached where the scores of all labels are below −27: there n pins
# them all the same, and sums of float32 stay finite.
LARGEST_LOG_RATE = 27.631021115928547


@kernel
def log_sigma(x: float) -> float:
    """log σ(x)."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, kappa: Floats, omega: Floats, seed: Int, sweep: Int, first: Int,
    last: Int, origin: Int,
) -> None:  # fmt: skip
    """Fill κ and ω of documents first … last − 1."""
    stream = np.zeros(3, np.uint64)
    n_tasks = y.shape[1]
    for d in range(first, last):
        seed_stream(stream, seed, RESPONSE, sweep, origin + d)
        c = cost * np.float64(weight[d, 0])  # of a document: all labels have it
        if np.isnan(y[d, 0]) or c == 0.0:
            for task in range(n_tasks):
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
        elif n_tasks == 1:
            omega[d, 0] = polya_gamma(stream, c, np.float64(f[d, 0]))
            kappa[d, 0] = 0.5 * c * np.float64(y[d, 0])
        else:
            total = 0.0  # Σ σ(f_j) over the largest of them
            best = log_sigma(np.float64(f[d, 0]))
            for task in range(1, n_tasks):
                best = max(best, log_sigma(np.float64(f[d, task])))
            for task in range(n_tasks):
                total += math.exp(log_sigma(np.float64(f[d, task])) - best)
            log_lambda = log_gamma(stream, c) - best - math.log(total)
            for task in range(n_tasks):
                score = np.float64(f[d, task])
                n = np.float64(poisson(stream, math.exp(min(log_lambda + log_sigma(-score), LARGEST_LOG_RATE))))
                own = c if y[d, task] > 0 else 0.0
                omega[d, task] = polya_gamma(stream, own + n, score) if own + n > 0.0 else 0.0
                kappa[d, task] = 0.5 * (own - n)


TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Softmax(LabelResponse):
    """Logistic-softmax likelihood to the power `cost`."""

    name = "softmax"
    loss_formula = "[σ(f_y) / Σ_j σ(f_j)]^c"
    probabilistic = True
    joint = True

    cost: float = setting(16.0)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        draw_rows(y, f, weight, self.cost, kappa, omega, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f): of one score (a number), or of rows of scores (…, labels)."""
        if np.ndim(f) == 0 or np.shape(f)[-1] == 1:
            return -self.cost * np.logaddexp(0.0, -np.multiply(y, f))
        log_s = log_expit(f)
        return self.cost * (np.where(np.greater(y, 0), log_s, 0.0).sum(-1) - logsumexp(log_s, axis=-1))

    @classmethod
    def suited(cls, corpus: Corpus, targets: Floats) -> dict[str, float]:
        """The cost grows with the documents."""
        return {"cost": suited_pull(corpus, targets)}

    def check_targets(self, y: Floats) -> None:
        """Raise unless targets are −1 and +1, and one of several is +1."""
        super().check_targets(y)
        if y.ndim == 2 and y.shape[1] > 1:
            known = ~np.isnan(y)
            right = known.all(1) & ((y > 0).sum(1) == 1)
            check_rows(known.any(1) & ~right, "must have one label that is right, +1, or be NaN in all")

    def link(self, f: Scores, own: Own = None) -> Scores:
        """σ(f_j) / Σ σ(f)."""
        if f.shape[-1] == 1:
            return np.asarray(expit(f))
        log_s = log_expit(f)
        return np.asarray(np.exp(log_s - logsumexp(log_s, axis=-1, keepdims=True)))

    def average(self, samples: Scores, own: Own = None) -> Scores:
        """The logarithm of the averaged probability; of one score its log odds."""
        p = np.maximum(self.link(samples).mean(0), TINY)
        if p.shape[1] == 1:
            p = p / np.maximum(self.link(-samples).mean(0), TINY)
        answer: Scores = np.log(p)
        return answer

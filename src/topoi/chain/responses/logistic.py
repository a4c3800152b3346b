"""Logistic loss (sLDA for labels), any real cost.

ψ(y | f) = (1 + exp(−y f))^(−c),     y = ±1
ω ~ PólyaGamma(c, f),    κ = c y / 2                         (Polson, Scott & Windle 2013)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.polya_gamma import polya_gamma
from topoi._machine.rng import RESPONSE, seed_stream
from topoi.chain.responses.base import Own, Scores
from topoi.chain.responses.kinds import LabelResponse, suited_pull
from topoi.chain.responses.settings import setting

if TYPE_CHECKING:
    from topoi.corpus import Corpus


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, kappa: Floats, omega: Floats, seed: Int, sweep: Int, first: Int,
    last: Int, origin: Int,
) -> None:  # fmt: skip
    """Fill κ and ω of documents first … last − 1."""
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        seed_stream(stream, seed, RESPONSE, sweep, origin + d)
        for task in range(y.shape[1]):
            sign = y[d, task]
            c = cost * np.float64(weight[d, task])  # the compiler's type: the interpreter would stay with float32
            if np.isnan(sign) or c == 0.0:
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
            else:
                omega[d, task] = polya_gamma(stream, c, np.float64(f[d, task]))
                kappa[d, task] = 0.5 * c * sign


TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Logistic(LabelResponse):
    """Logistic loss."""

    name = "logistic"
    loss_formula = "(1 + exp(−y f))^(−c)"
    probabilistic = True

    cost: float = setting(16.0)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        draw_rows(y, f, weight, self.cost, kappa, omega, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f)."""
        return -self.cost * np.logaddexp(0.0, -y * f)

    @classmethod
    def suited(cls, corpus: Corpus, targets: Floats) -> dict[str, float]:
        """The cost grows with the documents."""
        return {"cost": suited_pull(corpus, targets)}

    def link(self, f: Scores, own: Own = None) -> Scores:
        """1/(1 + exp(−f))."""
        p: Scores = expit(f)
        return p

    def average(self, samples: Scores, own: Own = None) -> Scores:
        """The log odds of the averaged probability."""
        p, q = self.link(samples).mean(0), self.link(-samples).mean(0)  # q = 1 − p, where p is near 1 too
        odds: Scores = np.log(np.maximum(p, TINY)) - np.log(np.maximum(q, TINY))
        return odds

"""Hinge loss (MedLDA): a document should be on its label's side by the margin ℓ.

    ψ(y | f) = exp(−2c · max(0, ℓ − y f)),     y = ±1
    ω ~ InverseGaussian(mean c/|ℓ − y f|, shape c²),    κ = y (c + ω ℓ)

Polson & Scott (2011): with ζ = ℓ − y f, exp(−2c max(0, ζ)) = ∫ (2πλ)^−½ exp(−(λ + cζ)²/(2λ)) dλ; 1/λ·c² is our ω.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.rng import RESPONSE, inverse_gaussian, seed_stream
from topoi.chain.responses.base import Own
from topoi.chain.responses.kinds import LabelResponse, suited_pull
from topoi.chain.responses.settings import setting

if TYPE_CHECKING:
    from topoi.corpus import Corpus


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, margin: float, kappa: Floats, omega: Floats, seed: Int,
    sweep: Int, first: Int, last: Int, origin: Int,
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
                w = inverse_gaussian(stream, c / abs(margin - np.float64(sign * f[d, task])), c * c)
                w = min(w, LARGEST)
                omega[d, task] = w
                kappa[d, task] = sign * (c + w * margin)


# A document exactly on the margin draws an ω without bound; beyond this its score is pinned all the same, and sums of
# float32 stay finite.
LARGEST = 1e12


@dataclass(frozen=True)
class Hinge(LabelResponse):
    """Hinge loss with margin ℓ."""

    name = "hinge"
    loss_formula = "exp(−2c · max(0, ℓ − y f))"
    probabilistic = False

    cost: float = setting(1.6)
    margin: float = setting(16.0)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        given = (y, f, weight, self.cost, self.margin, kappa, omega)
        draw_rows(*given, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f)."""
        return -2.0 * self.cost * np.maximum(0.0, self.margin - y * f)

    @classmethod
    def suited(cls, corpus: Corpus, targets: Floats) -> dict[str, float]:
        """The margin grows with the documents."""
        return {"margin": suited_pull(corpus, targets)}

    @property
    def unit(self) -> float:
        """The margin."""
        return self.margin

"""Squared loss (sLDA for numbers): a Gaussian already, nothing to draw.

ψ(y | f) = exp(−c (y − f)²/2),    κ = c y,   ω = c
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi._machine.arrays import Floats
from topoi.chain.responses.base import Own
from topoi.chain.responses.kinds import NumberResponse
from topoi.chain.responses.settings import setting


@dataclass(frozen=True)
class Squared(NumberResponse):
    """Squared loss; `cost` is the precision of the noise."""

    name = "squared"
    loss_formula = "exp(−c (y − f)²/2)"

    cost: float = setting(4.0)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        rows = slice(first, last)
        known = ~np.isnan(y[rows])
        omega[rows] = np.where(known, self.cost * weight[rows], 0.0)
        kappa[rows] = np.where(known, omega[rows] * y[rows], 0.0)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f)."""
        return -0.5 * self.cost * (y - f) ** 2

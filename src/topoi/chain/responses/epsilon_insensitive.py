"""ε-insensitive loss (MedLDA regression): errors up to ε cost nothing, larger ones grow linearly.

    ψ(y | f) = exp(−2c · max(0, |y − f| − ε))
    a ~ InverseGaussian(1/(c·|y − f − ε|), 1),   b ~ InverseGaussian(1/(c·|y − f + ε|), 1)
    ω = c² (a + b),    κ = c² ((y − ε) a + (y + ε) b)

max(0, |e| − ε) = max(0, e − ε) + max(0, −e − ε): two hinges, each augmented by itself. (The equations (16) and (17) of
the Gibbs MedLDA paper print c for c² and ζ_d for ρ_d.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.rng import RESPONSE, inverse_gaussian, seed_stream
from topoi.chain.responses.base import Own
from topoi.chain.responses.hinge import LARGEST
from topoi.chain.responses.kinds import NumberResponse
from topoi.chain.responses.settings import setting


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, epsilon: float, kappa: Floats, omega: Floats, seed: Int,
    sweep: Int, first: Int, last: Int, origin: Int,
) -> None:  # fmt: skip
    """Fill κ and ω of documents first … last − 1."""
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        seed_stream(stream, seed, RESPONSE, sweep, origin + d)
        for task in range(y.shape[1]):
            target = y[d, task]
            c = cost * weight[d, task]
            if np.isnan(target) or c == 0.0:
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
            else:
                error = target - f[d, task]
                a = min(c * c * inverse_gaussian(stream, 1.0 / (c * abs(error - epsilon)), 1.0), LARGEST)
                b = min(c * c * inverse_gaussian(stream, 1.0 / (c * abs(error + epsilon)), 1.0), LARGEST)
                omega[d, task] = a + b
                kappa[d, task] = (target - epsilon) * a + (target + epsilon) * b


@dataclass(frozen=True)
class EpsilonInsensitive(NumberResponse):
    """ε-insensitive loss."""

    name = "epsilon_insensitive"
    loss_formula = "exp(−2c · max(0, |y − f| − ε))"

    cost: float = setting(8.0)
    epsilon: float = setting(1e-3, zero=True, none=False)

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        given = (y, f, weight, self.cost, self.epsilon, kappa, omega)
        draw_rows(*given, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f)."""
        return -2.0 * self.cost * np.maximum(0.0, np.abs(y - f) - self.epsilon)

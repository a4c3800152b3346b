"""Absolute loss: errors cost what they are, so that predictions go after the median.

    ψ(y | f) = exp(−c · |y − f|)
    ω ~ InverseGaussian(mean c/|y − f|, shape c²),    κ = ω y

A skeleton of a loss of numbers, to copy: it is complete and exact. Say here the loss, the auxiliary variable, how κ and
ω follow from it, and the paper. Why it is right: exp(−c |e|) ∝ ∫ exp(−½ω e² − c²/(2ω)) ω^(−3/2) dω (Andrews & Mallows
1974), and with e = y − f the exponent is κ f − ½ω f² with κ = ω y, up to what does not depend on f.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi._machine.arrays import Floats, Int
from topoi._machine.jit import kernel
from topoi._machine.rng import RESPONSE, inverse_gaussian, seed_stream
from topoi.chain.responses.base import Own
from topoi.chain.responses.kinds import NumberResponse
from topoi.chain.responses.settings import setting

LARGEST = 1e12  # of ω: a score that is exactly right draws one without bound, and sums of float32 must stay finite


@kernel
def draw_rows(
    y: Floats, f: Floats, weight: Floats, cost: float, kappa: Floats, omega: Floats, seed: Int, sweep: Int, first: Int,
    last: Int, origin: Int,
) -> None:  # fmt: skip
    """Fill κ and ω of documents first … last − 1."""
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        seed_stream(stream, seed, RESPONSE, sweep, origin + d)  # a stream for each document: blocks run in any order
        for task in range(y.shape[1]):
            target = y[d, task]
            c = cost * weight[d, task]
            if np.isnan(target) or c == 0.0:  # no target, or none that counts: no tilt
                omega[d, task] = 0.0
                kappa[d, task] = 0.0
            else:
                w = min(inverse_gaussian(stream, c / abs(target - f[d, task]), c * c), LARGEST)
                omega[d, task] = w
                kappa[d, task] = w * target


@dataclass(frozen=True)
class Absolute(NumberResponse):  # LabelResponse for a loss of labels
    """Absolute loss."""

    name = "absolute"  # loss="absolute", --loss absolute
    loss_formula = "exp(−c · |y − f|)"

    cost: float = setting(8.0)  # what a user may set, and its default

    def draw(
        self, y: Floats, f: Floats, weight: Floats, kappa: Floats, omega: Floats, seed: int, sweep: int, first: int,
        last: int, origin: int = 0, own: Own = None,
    ) -> None:  # fmt: skip
        """Fill rows of κ and ω."""
        draw_rows(y, f, weight, self.cost, kappa, omega, np.uint64(seed), np.uint64(sweep), first, last, origin)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f)."""
        return -self.cost * np.abs(y - f)

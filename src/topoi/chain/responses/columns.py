"""Columns that are known in advance, beside the topics in the score of a document.

    f_dl = Σ_k η_kl z̄_dk + g_dl,      g_dl = Σ_j w_jl x_dj

Given the other part, each part sees the same Gaussian: exp(κ f − ½ω f²) with f = z̄η + g is, by completing the square,

    exp(κ′ z̄η − ½ω (z̄η)²),   κ′ = κ − ω g       for topics and η
    exp(κ″ g − ½ω g²),        κ″ = κ − ω z̄η      for w

so that nothing changes in the kernels of the topics, and w is drawn as η is. A model without such columns has none of
this, not columns of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.counts.shares import ByColumns
from topoi.chain.responses.weights import fill_scores


@dataclass
class Columns:
    """`design` has x (documents, J) in columns, `weights` are w (tasks, J), of prior precision `nu`; `g` is their part.

    `g` (documents, tasks) is of the type of the scores.
    """

    design: ByColumns
    weights: NDArray[np.float32]
    g: NDArray[Any]
    nu: float

    def fill(self, pool: Pool) -> None:
        """Bring g up to date after w has moved."""
        fill_scores(self.design, self.weights, self.g, pool)


def new_columns(design: ByColumns, shape: tuple[int, ...], real: type[np.floating[Any]], nu: float) -> Columns:
    """Columns with weights 0, for scores of a shape (documents, tasks) and a type."""
    return Columns(design, np.zeros((shape[1], design.n_columns), np.float32), np.zeros(shape, real), nu)

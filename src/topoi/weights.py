"""The two draws of the weights η of all tasks, given topics and auxiliary variables.

    η_l ~ N(Ξ⁻¹ b, Ξ⁻¹),    Ξ = νI + Σ_d ω_dl z̄_d z̄_dᵀ,    b = Σ_d κ_dl z̄_d

*Exact*: Cholesky of Ξ, O(DK² + K³) per task (Gibbs MedLDA). *Coordinate*: one Gibbs step per weight, given the others,

    η_k | rest ~ N( (Σ_d z̄_dk (κ_d − ω_d (f_d − η_k z̄_dk))) / p, 1/p ),    p = ν + Σ_d ω_d z̄_dk²

with the scores f kept up to date, so that a pass costs O(non-zeros of z̄) (LightMedLDA §3.2). Tasks are independent:
they run in parallel, each with its own stream. Weights are rounded to float32, as the topic kernels read them, and the
scores are those of the rounded weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from topoi._jit import kernel
from topoi._pool import Pool
from topoi._rng import WEIGHTS, new_stream, normal
from topoi.design import Design


@kernel
def coordinate_passes(
    start: Any, doc: Any, share: Any, eta: Any, f: Any, kappa: Any, omega: Any, nu: Any, n_gibbs: Any, stream: Any
) -> None:
    """`n_gibbs` passes over the weights `eta` of one task; updates eta and the scores f."""
    for _ in range(n_gibbs):
        for k in range(start.shape[0] - 1):
            old = np.float64(eta[k])
            precision = nu
            b = 0.0
            for j in range(start[k], start[k + 1]):
                d = doc[j]
                x = np.float64(share[j])
                precision += omega[d] * x * x
                b += x * (kappa[d] - omega[d] * (f[d] - old * x))
            eta[k] = b / precision + normal(stream) / math.sqrt(precision)
            change = np.float64(eta[k]) - old
            for j in range(start[k], start[k + 1]):
                f[doc[j]] += change * share[j]


def draw_coordinate(
    design: Design, eta: NDArray[np.float32], f: NDArray[np.float64], kappa: NDArray[Any], omega: NDArray[Any],
    nu: float, n_gibbs: int, seed: int, sweep: int, pool: Pool,
) -> None:  # fmt: skip
    """Move the weights eta (tasks, ≥ K) by coordinate Gibbs; f (documents, tasks) becomes their scores."""
    n_topics = len(design.start) - 1

    def work(task: int) -> None:
        stream = new_stream(seed, WEIGHTS, sweep, task)
        score = _scores(design, eta[task])  # summed anew, lest rounding add up
        coordinate_passes(
            design.start, design.doc, design.share, eta[task, :n_topics], score, kappa[:, task].astype(np.float64),
            omega[:, task].astype(np.float64), nu, n_gibbs, stream,
        )  # fmt: skip
        f[:, task] = score

    pool.map(work, range(len(eta)))


@kernel
def add_scores(start: Any, doc: Any, share: Any, eta: Any, f: Any) -> None:
    """Equivalent to ``f += z̄ @ eta``."""
    for k in range(start.shape[0] - 1):
        x = np.float64(eta[k])
        for j in range(start[k], start[k + 1]):
            f[doc[j]] += x * share[j]


def _scores(design: Design, eta: NDArray[np.float32]) -> NDArray[np.float64]:
    f = np.zeros(design.n_documents)
    add_scores(design.start, design.doc, design.share, eta, f)
    return f


def scores(design: Design, eta: NDArray[np.float32], pool: Pool) -> NDArray[np.float64]:
    """f (documents, tasks) = z̄ η."""
    return np.stack(pool.map(lambda task: _scores(design, eta[task]), range(len(eta))), axis=1)


def draw_exact(
    design: Design, eta: NDArray[np.float32], f: NDArray[np.float64], kappa: NDArray[Any], omega: NDArray[Any],
    nu: float, seed: int, sweep: int, pool: Pool,
) -> None:  # fmt: skip
    """Draw the weights of every task from their Gaussian by Cholesky; f becomes their scores."""
    shares = design.matrix()
    n_topics = shares.shape[1]

    def work(task: int) -> None:
        stream = new_stream(seed, WEIGHTS, sweep, task)
        weighted = shares.multiply(omega[:, [task]].astype(np.float64)).tocsc()
        precision = (shares.T @ weighted).toarray() + nu * np.eye(n_topics)
        b = shares.T @ kappa[:, task].astype(np.float64)
        lower = np.linalg.cholesky(precision)
        noise = np.array([normal(stream) for _ in range(n_topics)])
        half = solve_triangular(lower, b, lower=True)
        eta[task, :n_topics] = solve_triangular(lower, half + noise, lower=True, trans="T")
        f[:, task] = _scores(design, eta[task])

    pool.map(work, range(len(eta)))

"""The two draws of the weights η of all tasks, given topics and auxiliary variables.

    η_l ~ N(Ξ⁻¹ b, Ξ⁻¹),    Ξ = νI + Σ_d ω_dl z̄_d z̄_dᵀ,    b = Σ_d κ_dl z̄_d

*Exact*: Cholesky of Ξ, O(DK² + K³) per task (Gibbs MedLDA). *Coordinate*: one Gibbs step per weight, given the others,

    η_k | rest ~ N( (Σ_d z̄_dk (κ_d − ω_d (f_d − η_k z̄_dk))) / p, 1/p ),    p = ν + Σ_d ω_d z̄_dk²

with the scores f kept up to date, so that a pass costs O(non-zeros of z̄) (LightMedLDA §3.2). Tasks are independent:
they run in parallel, each with its own stream. Weights are rounded to float32, as the topic kernels read them.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from topoi._jit import kernel
from topoi._pool import Pool
from topoi._rng import WEIGHTS, new_stream, normal
from topoi.design import Design

TASKS_AT_A_TIME = 16


@kernel
def coordinate_passes(
    start: Any, doc: Any, share: Any, eta: Any, f: Any, kappa: Any, omega: Any, nu: Any, n_gibbs: Any, streams: Any
) -> None:
    """`n_gibbs` passes over the weights eta (K, tasks) of some tasks; updates eta and the scores f (documents, tasks).

    Tasks are the inner loop: they do not see each other, and their numbers are neighbours in memory.
    """
    n_tasks = eta.shape[1]
    precision, b, old, change = np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks), np.zeros(n_tasks)
    for _ in range(n_gibbs):
        for k in range(start.shape[0] - 1):
            for task in range(n_tasks):
                old[task] = eta[k, task]
                precision[task] = nu
                b[task] = 0.0
            for j in range(start[k], start[k + 1]):
                d = doc[j]
                x = np.float64(share[j])
                for task in range(n_tasks):
                    w = np.float64(omega[d, task])
                    precision[task] += w * x * x
                    b[task] += x * (kappa[d, task] - w * (f[d, task] - old[task] * x))
            for task in range(n_tasks):
                eta[k, task] = b[task] / precision[task] + normal(streams[task]) / math.sqrt(precision[task])
                change[task] = np.float64(eta[k, task]) - old[task]
            for j in range(start[k], start[k + 1]):
                d = doc[j]
                x = np.float64(share[j])
                for task in range(n_tasks):
                    f[d, task] += change[task] * x


def draw_coordinate(
    design: Design, eta: NDArray[np.float32], f: NDArray[Any], kappa: NDArray[Any], omega: NDArray[Any],
    nu: float, n_gibbs: int, seed: int, sweep: int, pool: Pool,
) -> None:  # fmt: skip
    """Move the weights eta (tasks, ≥ K) by coordinate Gibbs; f (documents, tasks) has their scores before."""
    n_topics = len(design.start) - 1

    def work(first: int) -> None:
        tasks = slice(first, first + TASKS_AT_A_TIME)
        by_topic = np.ascontiguousarray(eta[tasks, :n_topics].T)
        streams = np.array([new_stream(seed, WEIGHTS, sweep, task) for task in range(len(eta))[tasks]])
        score = f[:, tasks].astype(np.float64)
        coordinate_passes(
            design.start, design.doc, design.share, by_topic, score, np.ascontiguousarray(kappa[:, tasks]),
            np.ascontiguousarray(omega[:, tasks]), nu, n_gibbs, streams,
        )  # fmt: skip
        eta[tasks, :n_topics] = by_topic.T

    pool.map(work, range(0, len(eta), TASKS_AT_A_TIME))


@kernel
def add_scores(start: Any, doc: Any, share: Any, eta: Any, f: Any) -> None:
    """Equivalent to ``f += z̄ @ eta`` for eta (K, tasks)."""
    for k in range(start.shape[0] - 1):
        for j in range(start[k], start[k + 1]):
            for task in range(eta.shape[1]):
                f[doc[j], task] += np.float64(eta[k, task]) * share[j]


def fill_scores(design: Design, eta: NDArray[np.float32], f: NDArray[Any], pool: Pool) -> None:
    """Fill f (documents, tasks) with z̄ η."""
    n_topics = len(design.start) - 1

    def work(first: int) -> None:
        tasks = slice(first, first + TASKS_AT_A_TIME)
        by_topic = np.ascontiguousarray(eta[tasks, :n_topics].T)
        score = np.zeros((design.n_documents, by_topic.shape[1]))
        add_scores(design.start, design.doc, design.share, by_topic, score)
        f[:, tasks] = score

    pool.map(work, range(0, len(eta), TASKS_AT_A_TIME))


def cholesky(precision: NDArray[Any]) -> NDArray[Any]:
    """The lower factor; where ν is lost in the rounding of much larger sums, a share of them stands in for it."""
    with contextlib.suppress(np.linalg.LinAlgError):
        return np.linalg.cholesky(precision)
    return np.linalg.cholesky(precision + 1e-12 * np.trace(precision) * np.eye(len(precision)))


def draw_exact(
    design: Design, eta: NDArray[np.float32], kappa: NDArray[Any], omega: NDArray[Any], nu: float, seed: int,
    sweep: int, pool: Pool,
) -> None:  # fmt: skip
    """Draw the weights of every task from their Gaussian by Cholesky."""
    shares = design.matrix()
    n_topics = shares.shape[1]

    def work(task: int) -> None:
        stream = new_stream(seed, WEIGHTS, sweep, task)
        weighted = shares.multiply(omega[:, [task]].astype(np.float64)).tocsc()
        precision = (shares.T @ weighted).toarray() + nu * np.eye(n_topics)
        b = shares.T @ kappa[:, task].astype(np.float64)
        lower = cholesky(precision)
        noise = np.array([normal(stream) for _ in range(n_topics)])
        half = solve_triangular(lower, b, lower=True)
        eta[task, :n_topics] = solve_triangular(lower, half + noise, lower=True, trans="T")

    pool.map(work, range(len(eta)))

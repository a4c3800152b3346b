"""The two draws of the weights η of all tasks, given topics and auxiliary variables. Those of columns that are known
in advance (columns.py) are drawn in the same way: any sparse design will do.

    η_l ~ N(Ξ⁻¹ b, Ξ⁻¹),    Ξ = νI + Σ_d ω_dl z̄_d z̄_dᵀ,    b = Σ_d κ_dl z̄_d

*Exact*: Cholesky of Ξ, O(DK² + K³) per task (Gibbs MedLDA). *Coordinate*: one Gibbs step per weight, given the others,

    η_k | rest ~ N( (Σ_d z̄_dk (κ_d − ω_d (f_d − η_k z̄_dk))) / p, 1/p ),    p = ν + Σ_d ω_d z̄_dk²

with the scores f kept up to date, so that a pass costs O(non-zeros of z̄) (LightMedLDA §3.4). Tasks are independent:
they run in parallel, each with its own stream. Weights are rounded to float32, as the topic kernels read them.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from topoi._machine.arrays import Float, Floats, Int, Ints, Stream
from topoi._machine.blas import one_blas_thread
from topoi._machine.jit import kernel
from topoi._machine.lanes import gather, spread
from topoi._machine.pool import Pool
from topoi._machine.rng import WEIGHTS, new_stream, normal
from topoi._machine.simd import LANES, aligned_zeros
from topoi.chain.counts.shares import ByColumns, Design

#: Documents whose scores are added up together: those of sixteen tasks stay in the cache.
CHUNK = 2048


def by_sixteen(values: Floats, first: int, dtype: type[np.floating[Any]]) -> Floats:
    """Columns first … first + 15 as an array of their own; where there are fewer, zeros take their place."""
    out = np.zeros((len(values), LANES), dtype)
    return _fill(out, values, first)


def _fill(out: Floats, values: Floats, first: int) -> Floats:
    found = values[:, first : first + LANES]
    out[:, : found.shape[1]] = found
    return out


def side_by_side(kappa: Floats, omega: Floats, first: int) -> tuple[Floats, Floats, Floats]:
    """Room for sixteen scores (float64), and columns first … first + 15 of κ and ω, those of a document side by side.

    A topic's documents lie all over memory: with one place for each, not three, the passes take half the time.
    """
    rows = aligned_zeros((len(kappa), 4 * LANES), np.float32)
    return (
        rows[:, : 2 * LANES].view(np.float64),
        _fill(rows[:, 2 * LANES : 3 * LANES], kappa, first),
        _fill(rows[:, 3 * LANES :], omega, first),
    )


@kernel
def coordinate_pass(
    start: Ints, doc: Ints, share: Floats, eta: Floats, f: Floats, kappa: Floats, omega: Floats, nu: float,
    streams: Stream,
) -> None:  # fmt: skip
    """A pass over the weights eta (K, 16) of sixteen tasks; updates eta and the scores f (documents, 16).

    Tasks are the inner loop: they do not see each other, and their numbers are neighbours in memory.
    """
    precision, b, old, change = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for k in range(start.shape[0] - 1):
        for task in range(LANES):
            old[task] = eta[k, task]
            precision[task] = nu
            b[task] = 0.0
        gather(start[k], start[k + 1], doc, share, omega, kappa, f, old, precision, b)
        for task in range(streams.shape[0]):
            eta[k, task] = b[task] / precision[task] + normal(streams[task]) / math.sqrt(precision[task])
            change[task] = np.float64(eta[k, task]) - old[task]
        spread(start[k], start[k + 1], doc, share, f, change, 0)


def draw_coordinate(
    design: ByColumns, eta: NDArray[np.float32], f: Floats | type[np.floating[Any]], kappa: Floats, omega: Floats,
    nu: float, n_gibbs: int, seed: int, sweep: int, pool: Pool, first_task: int = 0, purpose: int = WEIGHTS,
) -> None:  # fmt: skip
    """Move the weights eta (tasks, ≥ K) by coordinate Gibbs.

    f (documents, tasks) has their scores before; a type says that these are z̄ η, rounded to it.
    """
    n_topics = design.n_columns

    def work(first: int) -> None:
        tasks = range(len(eta))[first : first + LANES]
        by_topic = by_sixteen(eta[:, :n_topics].T, first, np.float32)
        streams = np.array([new_stream(seed, purpose, sweep, first_task + task) for task in tasks])
        score, own_kappa, own_omega = side_by_side(kappa, omega, first)
        if isinstance(f, np.ndarray):
            _fill(score, f, first)
        else:
            for own, part in design.parts():
                add_scores(part.start, part.doc, part.share, by_topic[own].astype(np.float64), score)
            round_to(score, f(0))
        for _ in range(n_gibbs):
            for own, part in design.parts():
                coordinate_pass(
                    part.start, part.doc, part.share, by_topic[own], score, own_kappa, own_omega, nu, streams
                )  # fmt: skip
        eta[first : first + LANES, :n_topics] = by_topic[:, : len(tasks)].T

    pool.map(work, range(0, len(eta), LANES))


@kernel
def add_scores(start: Ints, doc: Ints, share: Floats, eta: Floats, f: Floats) -> None:
    """Equivalent to ``f += z̄ @ eta`` for eta (K, 16)."""
    at = start[:-1].copy()
    for first in range(0, f.shape[0], CHUNK):
        for k in range(at.shape[0]):
            lo = at[k]
            while at[k] < start[k + 1] and doc[at[k]] < first + CHUNK:
                at[k] += 1
            spread(lo, at[k], doc, share, f, eta[k], 0)


@kernel
def add_block_scores(begin: Ints, end: Ints, doc: Ints, first: Int, share: Floats, eta: Floats, f: Floats) -> None:
    """The same of a block of documents from number `first` on, whose entries of topic k are begin[k] … end[k] − 1."""
    for k in range(begin.shape[0]):
        if begin[k] < end[k]:
            spread(begin[k], end[k], doc, share, f, eta[k], first)


@kernel
def round_to(f: Floats, real: Float) -> None:
    """Round to the type of `real`. Equivalent to ``f[:] = f.astype(type(real))``."""
    number = np.full(1, real)
    for d in range(f.shape[0]):
        for task in range(f.shape[1]):
            number[0] = f[d, task]
            f[d, task] = number[0]


def sixteens(eta: NDArray[np.float32], design: ByColumns) -> list[Floats]:
    """The weights eta (tasks, ≥ K) as the sums of scores take them: (K, 16) for each sixteen tasks."""
    by_topic = eta[:, : design.n_columns].T
    return [by_sixteen(by_topic, first, np.float64) for first in range(0, len(eta), LANES)]


def block_scores(
    design: Design, block: int, first: int, last: int, by_topic: list[Floats], n_tasks: int,
    real: type[np.floating[Any]],
) -> Floats:  # fmt: skip
    """z̄ η (last − first, tasks) of the documents of a block; as `fill_scores` has them, to the bit."""
    assert design.blocks is not None
    begin, end = design.blocks[block : block + 2]
    f = np.empty((last - first, n_tasks), real)
    for number, eta in enumerate(by_topic):
        score = np.zeros((last - first, LANES))
        add_block_scores(begin, end, design.doc, first, design.share, eta, score)
        tasks = f[:, number * LANES : (number + 1) * LANES]
        tasks[:] = score[:, : tasks.shape[1]]
    return f


def fill_scores(design: ByColumns, eta: NDArray[np.float32], f: Floats, pool: Pool) -> None:
    """Fill f (documents, tasks) with z̄ η."""
    by_topic = sixteens(eta, design)

    def work(first: int) -> None:
        score = np.zeros((design.n_documents, LANES))
        for own, part in design.parts():
            add_scores(part.start, part.doc, part.share, by_topic[first // LANES][own], score)
        f[:, first : first + LANES] = score[:, : f.shape[1] - first]

    pool.map(work, range(0, len(eta), LANES))


def cholesky(precision: Floats) -> Floats:
    """The lower factor; where ν is lost in the rounding of much larger sums, a share of them stands in for it."""
    with contextlib.suppress(np.linalg.LinAlgError):
        return np.linalg.cholesky(precision)
    return np.linalg.cholesky(precision + 1e-12 * np.trace(precision) * np.eye(len(precision)))


def draw_exact(
    design: Design, eta: NDArray[np.float32], kappa: Floats, omega: Floats, nu: float, seed: int,
    sweep: int, pool: Pool, first_task: int = 0, purpose: int = WEIGHTS,
) -> None:  # fmt: skip
    """Draw the weights of every task from their Gaussian by Cholesky."""
    shares = design.matrix()
    n_topics = shares.shape[1]

    def work(task: int) -> None:
        stream = new_stream(seed, purpose, sweep, first_task + task)
        weighted = shares.multiply(omega[:, [task]].astype(np.float64)).tocsc()
        precision = (shares.T @ weighted).toarray() + nu * np.eye(n_topics)
        b = shares.T @ kappa[:, task].astype(np.float64)
        lower = cholesky(precision)
        noise = np.array([normal(stream) for _ in range(n_topics)])
        half = solve_triangular(lower, b, lower=True)
        eta[task, :n_topics] = solve_triangular(lower, half + noise, lower=True, trans="T")

    with one_blas_thread():
        pool.map(work, range(len(eta)))

"""The supervised half of a state: targets, weights, and the auxiliary variables that make every loss a Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi._machine.simd import pad
from topoi.chain.counts.shares import Design, design_of
from topoi.chain.responses.base import Response
from topoi.chain.responses.weights import draw_coordinate, draw_exact, fill_scores

if TYPE_CHECKING:
    from topoi.chain.state import State


@dataclass
class Supervision:
    """Targets `y` (documents, tasks; NaN where there is none) with the variables of the chain that belong to them.

    Labels, −1 and +1, are float32: with hundreds of tasks these arrays are the largest of a fit.
    `eta` (tasks, K padded) are the weights, `f` their scores, `kappa` and `omega` the auxiliary variables. `n_gibbs`
    passes of coordinate Gibbs move the weights; 0 means exact draws by Cholesky. `nu` is the prior precision of a
    weight. `part` is the number of tokens that share a table of tilts (see samplers/_tilted.py).
    """

    response: Response
    y: NDArray[Any]
    weight: NDArray[Any]
    eta: NDArray[np.float32]
    f: NDArray[Any]
    kappa: NDArray[np.float32]
    omega: NDArray[np.float32]
    nu: float = 1.0
    n_gibbs: int = 2
    part: int = 8

    @property
    def n_tasks(self) -> int:
        """Number of tasks L."""
        return len(self.eta)

    def draw_auxiliary(self, state: State, step: int, pool: Pool) -> None:
        """Draw κ and ω given topics and weights. `step` numbers the draws of a run."""
        ptr = state.corpus.block_ptr

        def work(block: int) -> None:
            first, last = int(ptr[block]), int(ptr[block + 1])
            given = (self.y, self.f, self.weight, self.kappa, self.omega)
            self.response.draw(*given, state.seed, step, first, last, state.corpus.first_document)

        pool.map(work, range(len(ptr) - 1))

    def update(self, state: State, pool: Pool) -> None:
        """After a sweep over the topics: auxiliary variables, weights, and auxiliary variables for the new weights."""
        design = self.observe(state, pool)
        self.draw_weights(design, state.seed, state.sweep, pool)
        self.refresh(state, pool, design)

    def observe(self, state: State, pool: Pool) -> Design:
        """Scores and auxiliary variables of new topics and old weights; returns z̄."""
        design = design_of(state, pool)
        fill_scores(design, self.eta, self.f, pool)
        self.draw_auxiliary(state, 2 * state.sweep, pool)
        return design

    def draw_weights(self, design: Design, seed: int, sweep: int, pool: Pool, first_task: int = 0) -> None:
        """Draw the weights of all tasks; their streams are numbered from `first_task` on."""
        given = (self.kappa, self.omega, self.nu)
        if self.n_gibbs == 0:
            draw_exact(design, self.eta, *given, seed, sweep, pool, first_task)
        else:
            draw_coordinate(design, self.eta, self.f, *given, self.n_gibbs, seed, sweep, pool, first_task)

    def refresh(self, state: State, pool: Pool, design: Design | None = None) -> None:
        """Scores and auxiliary variables of the topics and weights as they are: before a run, and after every sweep.

        They follow from topics, weights and the number of sweeps to the bit, so a checkpoint need not hold them.
        """
        fill_scores(design or design_of(state, pool), self.eta, self.f, pool)
        self.draw_auxiliary(state, 2 * state.sweep + 1, pool)


def new_supervision(
    response: Response,
    y: NDArray[Any],
    n_topics: int,
    weight: NDArray[Any] | None = None,
    nu: float = 1.0,
    n_gibbs: int = 2,
    part: int = 8,
) -> Supervision:
    """Supervision with weights 0, before the first draw of its auxiliary variables."""
    y = np.asarray(y, np.float32 if np.asarray(y).dtype == np.float32 else np.float64)
    response.check_targets(y)
    return Supervision(
        response,
        y,
        np.ones_like(y) if weight is None else weight,
        np.zeros((y.shape[1], pad(n_topics)), np.float32),
        np.zeros_like(y),
        np.zeros(y.shape, np.float32),
        np.zeros(y.shape, np.float32),
        nu,
        n_gibbs,
        part,
    )

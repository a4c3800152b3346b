"""The supervised half of a state: targets, weights, and the auxiliary variables that make every loss a Gaussian.

A score has the part of the topics and, where there are some, that of columns known in advance (columns.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats
from topoi._machine.pool import Pool
from topoi._machine.rng import COLUMNS, WEIGHTS
from topoi._machine.simd import pad
from topoi.chain.counts.shares import ByColumns, Design, design_of
from topoi.chain.responses.base import Response
from topoi.chain.responses.columns import Columns, new_columns
from topoi.chain.responses.signs import Signs, Targets, TargetWeights
from topoi.chain.responses.weights import block_scores, draw_coordinate, draw_exact, fill_scores, sixteens

if TYPE_CHECKING:
    from topoi.chain.state import State


#: Documents whose camps are looked at together.
AT_ONCE = 2**14


@dataclass
class Supervision:
    """Targets `y` (documents, tasks; NaN where there is none) with the variables of the chain that belong to them.

    With hundreds of tasks these arrays are the largest of a fit: labels have a byte each, and scores, which follow from
    topics and weights, are made for a block of documents or for sixteen tasks at a time and not kept. `real` is their
    type, float32 for labels.
    `eta` (tasks, K padded) are the weights, `kappa` and `omega` the auxiliary variables as the topics see them: with
    columns, κ is κ′. `n_gibbs` passes of coordinate Gibbs move the weights; 0 means exact draws by
    Cholesky. `nu` is the prior precision of a weight. `part` is the number of tokens that share a table of tilts (see
    samplers/_tilted.py). `own` (tasks, …) are parameters of the loss itself, where it has some. Most tokens
    begin in topics of the camps of their document (`Response.camps`): camp c has so many as `camp_topics` says. Without
    any, documents begin alike.
    """

    response: Response
    y: Targets
    weight: TargetWeights
    eta: NDArray[np.float32]
    real: type[np.floating[Any]]
    kappa: NDArray[np.float32]
    omega: NDArray[np.float32]
    nu: float = 1.0
    n_gibbs: int = 2
    part: int = 8
    columns: Columns | None = None
    own: NDArray[np.float64] | None = None
    camp_topics: tuple[int, ...] = ()

    @property
    def beside(self) -> dict[str, Floats]:
        """What a sweep moves besides topics and η, by name: kept, written and sent as η is. Mostly nothing."""
        found = {"columns": None if self.columns is None else self.columns.weights, "own": self.own}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def learned(self) -> dict[str, Floats]:
        """What a sweep moves besides the topics, by name; each array has a row for every task."""
        return {"eta": self.eta, **self.beside}

    @property
    def n_tasks(self) -> int:
        """Number of tasks L."""
        return len(self.eta)

    def widen(self, n_topics: int) -> None:
        """Make room for the weights of so many topics; those of new ones are 0 until they are drawn."""
        missing = pad(n_topics) - self.eta.shape[1]
        if missing > 0:
            self.eta = np.pad(self.eta, ((0, 0), (0, missing)))

    def join(self, number: NDArray[np.int64], share: NDArray[np.float64]) -> None:
        """Weights of topics of which k becomes part of number[k]: averages, weighted by `share`."""
        n = int(number.max()) + 1
        eta = np.zeros((self.n_tasks, pad(n)), np.float32)
        total = np.bincount(number, share, n)
        for task, weights in enumerate(self.eta):
            eta[task, :n] = np.bincount(number, weights[: len(number)] * share, n) / total
        self.eta = eta

    def draw_auxiliary(self, state: State, design: Design, step: int, pool: Pool) -> None:
        """Draw κ and ω given topics z̄ and weights, and columns as filled. `step` numbers the draws of a run."""
        corpus, ptr = state.corpus, state.corpus.block_ptr
        by_topic = sixteens(self.eta, design)

        def work(block: int) -> None:
            first, last = int(ptr[block]), int(ptr[block + 1])
            rows = slice(first, last)
            f = block_scores(design, block, first, last, by_topic, self.n_tasks, self.real)
            if self.columns is not None:
                f += self.columns.g[rows]
            given = (self.y[rows], f, self.weight[rows], self.kappa[rows], self.omega[rows], state.seed, step)
            self.response.draw(*given, 0, last - first, corpus.first_document + first, self.own)
            if self.columns is not None:
                self.kappa[rows] -= self.omega[rows] * self.columns.g[rows]

        pool.map(work, range(len(ptr) - 1))

    def update(self, state: State, pool: Pool) -> None:
        """After a sweep over the topics: auxiliary variables, weights, and auxiliary variables for the new weights."""
        design = self.observe(state, pool)
        self.draw_weights(design, state.seed, state.sweep, pool)
        self.refresh(state, pool, design)

    def observe(self, state: State, pool: Pool) -> Design:
        """Auxiliary variables of new topics and old weights; returns z̄."""
        design = design_of(state, pool)
        self.draw_auxiliary(state, design, 2 * state.sweep, pool)
        return design

    def scores(self, design: ByColumns, pool: Pool) -> Floats:
        """The scores (documents, tasks) of topics z̄ and their weights, and of columns as they have been filled."""
        f = np.empty((design.n_documents, self.n_tasks), self.real)
        fill_scores(design, self.eta, f, pool)
        if self.columns is not None:
            f += self.columns.g
        return f

    def draw_weights(self, design: ByColumns, seed: int, sweep: int, pool: Pool, first_task: int = 0) -> None:
        """Draw the weights of all tasks, and parameters of the loss; streams are numbered from `first_task` on.

        Given κ and ω at the scores of the weights as they are.
        """
        where = (seed, sweep, pool, first_task)
        if self.columns is None:
            self._draw_part(design, self.eta, self.real, self.kappa, self.nu, *where, WEIGHTS)
        else:
            columns, topics = self.columns, self.scores(design, pool) - self.columns.g
            self._draw_part(design, self.eta, topics, self.kappa, self.nu, *where, WEIGHTS)
            fill_scores(design, self.eta, topics, pool)
            kappa = self.kappa + self.omega * (columns.g - topics)  # κ″ = κ′ + ω g − ω z̄η
            self._draw_part(columns.design, columns.weights, columns.g, kappa, columns.nu, *where, COLUMNS)
        if self.own is not None:
            if self.columns is not None:
                self.columns.fill(pool)
            given = (self.y[:], self.scores(design, pool), self.weight[:])
            self.response.draw_own(self.own, *given, seed, sweep, first_task)

    def _draw_part(
        self, design: ByColumns, weights: NDArray[np.float32], f: Floats | type[np.floating[Any]], kappa: Floats,
        nu: float, seed: int, sweep: int, pool: Pool, first_task: int, purpose: int,
    ) -> None:  # fmt: skip
        """Draw the weights of one part of the score, whose scores are f (or their type), given the κ that it sees."""
        if self.n_gibbs == 0:
            draw_exact(design.whole(), weights, kappa, self.omega, nu, seed, sweep, pool, first_task, purpose)
        else:
            passes = (self.n_gibbs, seed, sweep, pool, first_task, purpose)
            draw_coordinate(design, weights, f, kappa, self.omega, nu, *passes)

    def refresh(self, state: State, pool: Pool, design: Design | None = None) -> None:
        """Auxiliary variables of the topics and weights as they are: before a run, and after every sweep.

        They follow from topics, weights and the number of sweeps to the bit, so a checkpoint need not hold them.
        """
        if self.columns is not None:
            self.columns.fill(pool)
        self.draw_auxiliary(state, design or design_of(state, pool), 2 * state.sweep + 1, pool)


def new_supervision(
    response: Response,
    y: Targets,
    n_topics: int,
    weight: TargetWeights | None = None,
    nu: float = 1.0,
    n_gibbs: int = 2,
    part: int = 8,
    columns: ByColumns | None = None,
    columns_nu: float = 1.0,
    init_by_targets: bool = True,
) -> Supervision:
    """Supervision with weights 0, before the first draw of its auxiliary variables.

    `columns` (documents, J) are part of the score as the topics are, with weights of prior precision `columns_nu`.
    """
    if not isinstance(y, Signs):
        y = np.asarray(y, np.float32 if np.asarray(y).dtype == np.float32 else np.float64)
    response.check_targets(y[:])
    real = y[:0].dtype.type
    return Supervision(
        response,
        y,
        np.ones(y.shape, real) if weight is None else weight,
        np.zeros((y.shape[1], pad(n_topics)), np.float32),
        real,
        np.zeros(y.shape, np.float32),
        np.zeros(y.shape, np.float32),
        nu,
        n_gibbs,
        part,
        None if columns is None else new_columns(columns, y.shape, real, columns_nu),
        response.first_own(y.shape[1]),
        camp_topics(response, y, n_topics) if init_by_targets else (),
    )


def camp_topics(response: Response, y: Targets, n_topics: int) -> tuple[int, ...]:
    """How many of the topics each camp begins with: one, and of the others as many as its share of the documents.

    With as many for each, most topics would begin with the few documents of rare labels.
    """
    documents = np.zeros(response.camps(y[:0]).shape[1])
    for start in range(0, len(y), AT_ONCE):
        camps = response.camps(y[start : start + AT_ONCE])
        documents += (camps / np.maximum(camps.sum(1, keepdims=True), 1)).sum(0)
    n_more = n_topics - len(documents)
    if n_more <= 0 or not len(documents) or not documents.any():
        return (max(n_topics // max(len(documents), 1), 1),) * len(documents)
    wanted = n_more * documents / documents.sum()
    sizes = 1 + wanted.astype(np.int64)
    sizes[np.argsort(sizes - 1 - wanted, kind="stable")[: n_topics - sizes.sum()]] += 1
    return tuple(sizes.tolist())

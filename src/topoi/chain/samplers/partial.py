"""Partially collapsed Gibbs sampling: θ integrated out, φ drawn once per sweep.

    φ_k ~ Dirichlet(n_·k + β),    then    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk

Given φ the documents are independent: the sweep is parallel and still exact. Trick: the conditional splits into a part
over the topics of the document, O(K_d), and the prior's part whose mass is known per word (Magnusson et al. keep alias
tables for it; we walk the row, sixteen topics at a time: a table costs as much as some 80 walks).
Drawing φ costs O(VK) per sweep. For few topics all are weighed at once, which is quicker; and where documents have an α
of their own, unless a document can have so few topics that to walk these is quicker still.
"""

from __future__ import annotations

from typing import Any, ClassVar

from topoi._machine.arrays import Stream
from topoi._machine.pool import Pool
from topoi.chain.factors._table import TableFactor
from topoi.chain.factors.dirichlet import DirichletFactor
from topoi.chain.samplers._fixed import sweep_sparse
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State

# Weighing all topics beats walking the document's up to here (docs/experiments.md).
DENSE_UP_TO = 1024


class Partial(Sampler):
    """Partially collapsed sampler with a Dirichlet word factor."""

    name = "partial"
    exact = True
    factor_class = DirichletFactor
    draw = "gibbs"
    tilts = True
    alpha_per_document = True
    beta_per_word = True
    cost = "O(K), sixteen topics at a time, above 1,024 O(topics in the document); and O(V·K) per sweep for φ"
    reference = DirichletFactor.reference
    options: ClassVar = {"dense_up_to": 0}
    factor: TableFactor

    def __init__(self, state: State, pool: Pool | None = None, dense_up_to: int = DENSE_UP_TO) -> None:
        own_alpha = state.priors.topics.per_document  # there is no mass of a word that all documents share
        self.dense = state.n_topics <= dense_up_to or state.supervision is not None or own_alpha
        super().__init__(state, pool, masses=not self.dense)

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1 given φ."""
        factor = self.factor
        if self.dense:
            return self.table_block(first, last, stream, factor)
        offset = float(factor.offset)
        return sweep_sparse(
            self.tokens, first, last, factor.table, offset, factor.scale, self.prior.rows[0], factor.mass, stream
        )


def sampler_with(factor: type[TableFactor]) -> type[Sampler]:
    """The sampler of a factor that no other sampler has: it has the factor's name, and draws as `Partial` does."""
    declared = ("name", "exact", "bias", "reference", "__doc__", "__module__")
    return type(factor.__name__, (Partial,), {"factor_class": factor} | {of: getattr(factor, of) for of in declared})

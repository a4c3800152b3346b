"""Partially collapsed Gibbs sampling: θ integrated out, φ drawn once per sweep.

    φ_k ~ Dirichlet(n_·k + β),    then    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk

Given φ the documents are independent: the sweep is parallel and still exact. Trick: the conditional splits into a part
over the topics of the document, O(K_d), and the prior's part whose mass is known per word (Magnusson et al. keep alias
tables for it; walking the row when it is hit, which is rare, costs less than building V tables of K entries).
Drawing φ costs O(VK) per sweep. For few topics all are weighed at once, which is quicker.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.factors.tables import DenseFactor, fill_dirichlet, fill_prior_mass
from topoi.chain.samplers._fixed import sweep_dense, sweep_sparse
from topoi.chain.samplers.base import Sampler
from topoi.chain.state import State

# Weighing all topics beats walking the document's up to here (docs/performance.md).
DENSE_UP_TO = 1024


class Partial(Sampler):
    """Partially collapsed sampler with a Dirichlet word factor."""

    name = "partial"
    exact = True
    parallel = True
    factor = "dirichlet"
    draw = "gibbs"
    tilts = True
    cost = "O(K), sixteen topics at a time, above 1,024 O(topics in the document); and O(V·K) per sweep for φ"
    reference = "Magnusson, Jonsson, Villani & Broman (2018), Sparse partially collapsed MCMC, JCGS 27"
    options: ClassVar = {"dense_up_to": 0}
    phi: DenseFactor

    def __init__(self, state: State, pool: Pool | None = None, dense_up_to: int = DENSE_UP_TO) -> None:
        super().__init__(state, pool)
        self.dense = state.n_topics <= dense_up_to

    def fill(self) -> None:
        """Draw the word factor of this sweep."""
        fill_dirichlet(self.state, self.phi, self.pool)

    def begin(self) -> None:
        """Draw φ given the topics, and the masses of the prior's part."""
        if not hasattr(self, "phi"):  # made when first needed: on a cluster it is made elsewhere and put here
            self.phi = DenseFactor.empty(self.state)
        self.fill()
        if self.needs_mass:
            fill_prior_mass(self.state, self.phi, self.pool)

    @property
    def needs_mass(self) -> bool:
        """Whether its draws need the masses of the prior's part."""
        return not self.dense and self.state.supervision is None

    def block(self, first: int, last: int, stream: NDArray[np.uint64]) -> Any:
        """Move the tokens of documents first … last − 1 given φ."""
        if self.state.supervision is not None:
            return self.tilted_block(first, last, stream, self.phi, None)
        corpus, phi = self.state.corpus, self.phi
        tokens = (corpus.words, corpus.doc_ptr, first, last, self.state.z, phi.table, phi.offset, phi.scale)
        if self.dense:
            return sweep_dense(*tokens, self.alpha, stream)
        return sweep_sparse(*tokens, self.alpha, phi.mass, stream)

    def word_factor(self) -> NDArray[np.float64]:
        """φ of the sweep as an array (V, K)."""
        phi: NDArray[np.float64] = (self.phi.table.astype(np.float64) + self.phi.offset) * self.phi.scale
        return phi[:, : self.state.n_topics]

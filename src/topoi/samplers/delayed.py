"""Delayed counts: the collapsed conditional with word–topic counts frozen for a sweep (after AD-LDA).

    p(z_i = k | rest) ≈ (n_dk⁻ + α_k) · (n_wk + β) / (n_k + Vβ),    n_wk, n_k as at the start of the sweep

Documents are independent, so the sweep is parallel, and there is no φ to draw. It is *not* exact: the frozen counts
still hold the token that moves. But it converges in fewer sweeps than a sampled φ, which makes it the burn-in kernel:
an exact sampler takes over afterwards. AD-LDA lets each processor update its own copy of the counts, so that its answer
depends on the number of processors; freezing them for all does not.
"""

from __future__ import annotations

from topoi.samplers.partial import Partial
from topoi.tables import fill_counts


class Delayed(Partial):
    """Sampler with counts frozen for a sweep."""

    name = "delayed"
    exact = False
    parallel = True
    factor = "delayed"
    draw = "gibbs"
    cost = "O(topics in the document), and O(V·K) per sweep for the counts"
    reference = "Newman, Asuncion, Smyth & Welling (2009), Distributed algorithms for topic models, JMLR 10"
    bias = 0.138

    def fill(self) -> None:
        """Freeze the counts."""
        fill_counts(self.state, self.phi, self.pool)

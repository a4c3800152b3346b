"""The Pólya urn made exact: its sparse φ proposes a topic, and a Metropolis–Hastings step with live counts answers.

    c_wk ~ Poisson(n_wk + β),    φ_wk = c_wk / Σ_w c_wk,    propose  q(k) ∝ (n_dk⁻ + α_k) · φ_wk
    accept  min(1, r_t / r_s),   r_k = (n_wk⁻ + β) / (n_k⁻ + Vβ) · (1 + 1/(n_wk⁻ + β))^c_wk / φ_wk

φ cannot be corrected itself: an urn draw is one of countably many points, each of probability 0 under the Dirichlet, so
that no ratio of the two exists and the only step that leaves the Dirichlet unchanged rejects all (docs/exactness.md).
What can be corrected are the topics, with the counts c in place of φ as variables of the chain:

    π(z, c) = p(z | words) · Π_wk Poisson(c_wk; n_wk + β)

Its topics are those of LDA. To draw c given z is the urn's draw, and exact. Given c a token has topic k with
probability ∝ (n_dk⁻ + α_k) (n_wk⁻ + β)/(n_k⁻ + Vβ) · ((n_wk⁻ + 1 + β)/(n_wk⁻ + β))^c_wk, since e^−Σ(n_wk + β) is the
same for all topics. r_k is that over q(k): near e where counts are large, so that most proposals are accepted. A token
whose topic has drawn c_wk = 0 cannot be proposed its own topic again, and so has to stay for the sweep (`tokens_kept`).

A proposal costs what it costs in `polya_urn`, by its kernel, O(min(K_d, K_w)). But r_k needs live counts: documents no
longer move independently of each other. One thread, and a table of V · K counts, which the urn had been made to avoid.
Terenin et al. have no such step: they only mention Metropolis–Hastings proposals for the topics as a combination.
"""

from __future__ import annotations

from typing import Any, ClassVar

from topoi._machine.arrays import Stream
from topoi._machine.pool import Pool
from topoi.chain.factors.live import LiveFactor
from topoi.chain.factors.urn import UrnFactor
from topoi.chain.samplers._urn_correction import Correction
from topoi.chain.samplers.base import Sampler
from topoi.chain.samplers.polya_urn import LOOK_UP, alpha_of, sweep_documents
from topoi.chain.state import State


class UrnMH(Sampler):
    """Pólya urn proposals, corrected by live counts."""

    name = "urn_mh"
    exact = True
    factor_class = LiveFactor
    draw = "mh"
    alpha_per_document = True
    beta_per_word = True
    cost = "O(min(topics in the document, topics of the word)), and O(tokens + βVK) per sweep for the urn"
    reference = "proposals: Terenin, Magnusson, Jonsson & Draper (2019), IEEE TPAMI 41; correction: topoi"
    options: ClassVar = {"look_up": 0}
    factor: LiveFactor

    def __init__(self, state: State, pool: Pool | None = None, look_up: int = LOOK_UP) -> None:
        super().__init__(state, pool)
        self.urn = UrnFactor(state, self.pool)
        self.look_up = look_up

    def take_alpha(self) -> None:
        """α as the kernel of `polya_urn` takes it."""
        self.prior = alpha_of(self.state)

    def begin(self) -> None:
        """Draw the urn's counts given the topics."""
        self.urn.begin()

    def block(self, first: int, last: int, stream: Stream) -> tuple[int, int, int]:
        """Move the tokens of documents first … last − 1 given the urn's counts."""
        urn = self.urn
        mass = None if self.state.priors.topics.per_document else urn.mass
        kept, wanted, moved = sweep_documents(
            self.tokens, first, last, urn.topics, urn.phi, urn.start, mass, self.prior, self.look_up, self.responses(),
            1, Correction(self.factor.counts, urn.counts), stream,
        )  # fmt: skip
        return int(kept), int(wanted), int(moved)

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Tokens that had to keep their topic, and the share of the proposals of another topic that were accepted."""
        kept, wanted, moved = (sum(column) for column in zip(*answers, strict=True))
        return {"tokens_kept": float(kept), "acceptance": moved / max(wanted, 1)}

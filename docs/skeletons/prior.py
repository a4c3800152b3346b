"""One α for all topics, drawn after every sweep: a Metropolis step on its logarithm.

    p(a | z) ∝ Gamma(a; SHAPE, RATE) · Π_d [Γ(Ka)/Γ(N_d + Ka) · Π_k Γ(n_dk + a)/Γ(a)]

A skeleton of a prior of topics, to copy: it is complete and exact. Say here what α is (or β and the pseudo-counts, of a
prior of words), how it is updated, and from which paper. What all members share is in `topoi/chain/priors/base.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from topoi._disk.schema import NUMBER, Field
from topoi._disk.store import ModelError
from topoi._machine.rng import normal, uniform
from topoi.chain.counts.spectra import Spectrum, merge
from topoi.chain.priors.base import TopicPrior
from topoi.chain.priors.fixed_alpha import default_alpha
from topoi.chain.priors.minka import log_gamma_density
from topoi.chain.priors.positive import LARGEST, SMALLEST
from topoi.chain.state import State
from topoi.corpus import Corpus


@dataclass(frozen=True, eq=False)
class DrawnAlpha(TopicPrior):
    """A symmetric α that is a variable of the chain; `width` is that of the proposals, on the scale of log α."""

    width: float = 0.3

    name = "drawn"
    word = "draw"  # doc_topic_prior="draw", --alpha draw
    every = 1  # an update after every sweep
    stored: ClassVar[dict[str, Field]] = TopicPrior.stored | {"width": NUMBER}

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """ "draw": from the default α on."""
        asked = isinstance(value, str) and value == cls.word
        return cls(np.full(n_topics, default_alpha(n_topics))) if asked else None

    def update(self, state: State, observed: list[Spectrum]) -> Self:
        """One step; what is `observed` are histograms of the counts n_dk, of the parts of the corpus."""
        _, size, times = merge(observed)
        lengths, n_documents = np.unique(state.corpus.doc_lengths, return_counts=True)
        n_topics = len(self.alpha)

        def log_density(a: float) -> float:
            """Of log a, given the topics."""
            topics = np.sum(times * (gammaln(size + a) - gammaln(a)))
            documents = np.sum(n_documents * (gammaln(lengths + n_topics * a) - gammaln(n_topics * a)))
            return float(topics - documents) + log_gamma_density(a) + math.log(a)

        stream = self.stream(state)  # its own, of this sweep: nothing else may be random here
        now = float(self.alpha[0])
        new = now * math.exp(self.width * normal(stream))
        chance = math.log(uniform(stream))
        if SMALLEST < new < LARGEST and chance < log_density(new) - log_density(now):
            now = new
        return replace(self, alpha=np.full(n_topics, now))

    def log_density(self) -> float:
        """Of the prior that α has itself."""
        return log_gamma_density(self.alpha[0])

    def check(self) -> None:
        """Raise unless the fields, which may come from a file, are what they must be."""
        super().check()
        if not 0 < self.width < math.inf:
            raise ModelError("width must be a positive number")

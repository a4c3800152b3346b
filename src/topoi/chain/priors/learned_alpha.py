"""α learned from the topics of the documents, by Minka's fixed point: one per topic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.chain.counts.spectra import Spectrum, merge
from topoi.chain.priors.base import TopicPrior
from topoi.chain.priors.fixed_alpha import default_alpha
from topoi.chain.priors.minka import FLOOR, N_STEPS, RATE, SHAPE, log_gamma_density, rise
from topoi.chain.state import State
from topoi.corpus import Corpus


def climb(
    alpha: NDArray[np.float64], spectrum: Spectrum, doc_lengths: NDArray[np.int64], n_steps: int = N_STEPS
) -> NDArray[np.float64]:
    """α after `n_steps` from `alpha`, given how often each count n_dk occurs."""
    topic, size, times = spectrum
    lengths, n_documents = np.unique(doc_lengths, return_counts=True)
    for _ in range(n_steps):
        slope = np.bincount(topic, rise(size, times, alpha[topic]), len(alpha))
        total = rise(lengths, n_documents, alpha.sum()).sum()
        alpha = np.maximum((alpha * slope + SHAPE - 1) / (total + RATE), FLOOR)
    return alpha


@dataclass(frozen=True, eq=False)
class LearnedAlpha(TopicPrior):
    """α that follows the topics."""

    name = "learned"
    word = "learn"
    every = 10

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """ "learn": from the default α on."""
        asked = isinstance(value, str) and value == cls.word
        return cls(np.full(n_topics, default_alpha(n_topics))) if asked else None

    def update(self, state: State, observed: list[Spectrum]) -> Self:
        """Some steps of the fixed point."""
        return replace(self, alpha=climb(self.alpha, merge(observed), state.corpus.doc_lengths))

    def log_density(self) -> float:
        """Of the Gamma prior of every α_k."""
        return log_gamma_density(self.alpha)

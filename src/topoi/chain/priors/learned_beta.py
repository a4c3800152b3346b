"""β learned from the topics of all tokens, by Minka's fixed point: one for all words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.chain.counts.spectra import Spectrum
from topoi.chain.priors.base import WordPrior
from topoi.chain.priors.fixed_beta import DEFAULT_BETA
from topoi.chain.priors.minka import FLOOR, N_STEPS, RATE, SHAPE, log_gamma_density, rise
from topoi.chain.state import State
from topoi.corpus import Corpus


def climb(beta: float, spectrum: Spectrum, n_k: NDArray[np.int64], n_words: int, n_steps: int = N_STEPS) -> float:
    """β after `n_steps` from `beta`, given how often each count n_wk occurs, and n_k."""
    _, size, times = spectrum
    once = np.ones_like(n_k)
    for _ in range(n_steps):
        slope = rise(size, times, beta).sum()
        total = rise(n_k, once, n_words * beta).sum()
        beta = max(float((beta * slope + SHAPE - 1) / (n_words * total + RATE)), FLOOR)
    return beta


@dataclass(frozen=True, eq=False)
class LearnedBeta(WordPrior):
    """β that follows the topics. Pseudo-counts are data like the counts of the corpus: all tokens have a say."""

    beta: float

    name = "learned"
    word = "learn"
    every = 10

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """ "learn": from 0.01 on."""
        return cls(DEFAULT_BETA) if isinstance(value, str) and value == cls.word else None

    def update(self, state: State, spectrum: Spectrum, n_k: NDArray[np.int64]) -> Self:
        """Some steps of the fixed point."""
        return replace(self, beta=climb(self.beta, spectrum, n_k, state.corpus.n_words))

    def log_density(self) -> float:
        """Of the Gamma prior of β."""
        return log_gamma_density(self.beta)

"""β learned from the topics of all tokens, by Minka's fixed point: one for the words of each frequency.

Words whose counts have as many binary digits (1; 2 and 3; 4 to 7; …) are of a kind, and words of a kind have the same
β: a dozen or so numbers, each with many words to learn it from. With V_c words in kind c, B = Σ_c V_c β_c and the
current β on the right-hand side, one step is

    β_c ← (β_c · Σ_{w in c} Σ_k [ψ(n_wk + β_c) − ψ(β_c)] + SHAPE − 1) / (V_c · Σ_k [ψ(n_k + B) − ψ(B)] + RATE)

which is that of `learned_beta` if there is one kind. A β for each word would have as many numbers as words, and most of
them are seen a few times: what a topic says of a rare word would be what its tokens happen to have been.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.chain.counts.spectra import Spectrum
from topoi.chain.priors.beta_of_words import BetaOfWords, beta_of_kinds
from topoi.chain.priors.fixed_beta import DEFAULT_BETA
from topoi.chain.priors.minka import FLOOR, N_STEPS, RATE, SHAPE, log_gamma_density, rise
from topoi.chain.state import State
from topoi.corpus import Corpus


def kinds_by_frequency(word_counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """A kind for every number of binary digits that there is among the counts: 0 for the rarest words."""
    digits = np.frexp(word_counts.astype(np.float64))[1]
    return np.unique(digits, return_inverse=True)[1].astype(np.int64).reshape(-1)


def climb(
    beta: NDArray[np.float64],
    spectrum: Spectrum,
    n_k: NDArray[np.int64],
    n_words: NDArray[np.int64],
    n_steps: int = N_STEPS,
) -> NDArray[np.float64]:
    """β of the kinds after `n_steps`, given how often each count n_wk occurs among words of each, n_k, and V_c."""
    kind, size, times = spectrum
    once = np.ones_like(n_k)
    for _ in range(n_steps):
        slope = np.bincount(kind, rise(size, times, beta[kind]), len(beta))
        total = rise(n_k, once, math.fsum((n_words * beta).tolist())).sum()
        beta = np.maximum((beta * slope + SHAPE - 1) / (n_words * total + RATE), FLOOR)
    return beta


@dataclass(frozen=True, eq=False)
class LearnedBetaOfWords(BetaOfWords):
    """β that follows the topics. Pseudo-counts are data like the counts of the corpus: all tokens have a say."""

    name = "learned_of_words"
    word = "learn_words"
    every = 10

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """ "learn_words": from 0.01 on."""
        if not isinstance(value, str) or value != cls.word:
            return None
        return cls(np.full(corpus.n_words, DEFAULT_BETA), kinds_by_frequency(corpus.word_counts))

    def update(self, state: State, spectrum: Spectrum, n_k: NDArray[np.int64]) -> Self:
        """Some steps of the fixed point."""
        n_words = np.bincount(self.kind_of)
        beta = climb(beta_of_kinds(self.beta, self.kind_of), spectrum, n_k, n_words)
        return replace(self, beta=beta[self.kind_of])

    def log_density(self) -> float:
        """Of the Gamma prior of β of every kind."""
        return log_gamma_density(beta_of_kinds(self.beta, self.kind_of))

"""What priors share that give words a β of their own.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_dk) · (n_wk⁻ + β_w) / (n_k⁻ + Σ_w β_w)

Words of the same β are of a kind: what follows from β and the counts needs to know of the kinds how often each count
occurs (`chain.counts.spectra`), not of the words. A shard of words has the kinds of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topoi._disk.schema import Field, array_of
from topoi._disk.store import ModelError
from topoi.chain.priors.base import LARGEST_PRIOR, WordPrior


@dataclass(frozen=True, eq=False)
class BetaOfWords(WordPrior):
    """Dirichlet prior with β (V), and `kind_of` (V), the number of the kind that a word is of."""

    beta: NDArray[np.float64]
    kind_of: NDArray[np.int64]

    stored: ClassVar[dict[str, Field]] = {"beta": array_of("float64"), "kind_of": array_of("int64")}

    @property
    def kinds(self) -> NDArray[np.int64]:
        """The kind of every word."""
        return self.kind_of

    @cached_property
    def _total(self) -> float:
        return math.fsum(self.beta.tolist())  # exact: the same on every processor

    def total(self, n_words: int) -> float:
        """Σ_w β_w of the words that it has."""
        return self._total

    def of_words(self, words: slice) -> Self:
        """The prior of some of the words."""
        return replace(self, beta=np.array(self.beta[words]), kind_of=np.array(self.kind_of[words]))

    def check(self) -> None:
        """Raise unless β are positive numbers, the same for all words of a kind."""
        beta, kind_of = self.beta, self.kind_of
        if beta.ndim != 1 or not len(beta) or not ((beta > 0) & (beta < LARGEST_PRIOR)).all():
            raise ModelError("beta must be positive numbers, one per word")
        if kind_of.shape != beta.shape or kind_of.min() < 0 or kind_of.max() >= len(beta):
            raise ModelError(f"kind_of must be numbers of kinds, one per word, from 0 to {len(beta) - 1}")
        if (beta_of_kinds(beta, kind_of)[kind_of] != beta).any():
            raise ModelError("words of a kind must have the same beta")


def beta_of_kinds(beta: NDArray[np.float64], kind_of: NDArray[np.int64]) -> NDArray[np.float64]:
    """β of every kind; 1 for numbers that no word has."""
    values = np.ones(int(kind_of.max(initial=-1)) + 1)
    values[kind_of] = beta
    return values

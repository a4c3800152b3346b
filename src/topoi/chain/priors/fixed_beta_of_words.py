"""β as given: one number for each word, the same in all topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.chain.priors.beta_of_words import BetaOfWords
from topoi.chain.priors.positive import check_positive
from topoi.corpus import Corpus
from topoi.errors import ParameterError


@dataclass(frozen=True, eq=False)
class FixedBetaOfWords(BetaOfWords):
    """β of every word that stays as it is."""

    name = "fixed_of_words"
    accepts = ("one per word",)

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """A sequence of numbers, in the order of the columns of the documents."""
        entries = np.array(value, dtype=object)
        if entries.ndim == 0:
            return None
        if entries.shape != (corpus.n_words,):
            given, n_words = f"has shape {entries.shape}", f"{corpus.n_words:,}"
            raise ParameterError(cls.parameter, f"{given}; {n_words} words need one number, or {n_words} numbers")
        return cls.of(
            np.array([check_positive(cls.parameter, x, f"entry {w} ") for w, x in enumerate(entries.tolist())])
        )

    @classmethod
    def of(cls, beta: NDArray[np.float64]) -> Self:
        """The prior with this β (V)."""
        return cls(beta.astype(np.float64), np.unique(beta, return_inverse=True)[1].astype(np.int64).reshape(-1))

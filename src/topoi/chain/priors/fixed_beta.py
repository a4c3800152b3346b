"""β as given: one number for all words of all topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from topoi.chain.priors.base import WordPrior
from topoi.chain.priors.positive import as_positive
from topoi.corpus import Corpus

DEFAULT_BETA = 0.01


@dataclass(frozen=True, eq=False)
class FixedBeta(WordPrior):
    """β that stays as it is."""

    beta: float

    name = "fixed"
    accepts = ("a positive number", "None")

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """None stands for 0.01, a number for itself."""
        number = DEFAULT_BETA if value is None else as_positive(cls.parameter, np.array(value, dtype=object).tolist())
        return None if number is None else cls(number)

"""α as given: the same for every topic (symmetric), or one per topic (asymmetric)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from topoi.chain.priors.base import TopicPrior
from topoi.chain.priors.positive import as_positive, check_positive
from topoi.corpus import Corpus
from topoi.errors import ParameterError

DEFAULT_ALPHA = 0.1
DEFAULT_ALPHA_SUM = 50.0


def default_alpha(n_topics: int) -> float:
    """α of each topic unless given: 0.1 up to 500 topics, 50/K above, so that Σα is never more than 50."""
    return min(DEFAULT_ALPHA, DEFAULT_ALPHA_SUM / n_topics)


@dataclass(frozen=True, eq=False)
class FixedAlpha(TopicPrior):
    """α that stays as it is."""

    name = "fixed"
    accepts = ("a positive number", "one per topic", "None")

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """None stands for `default_alpha`, a number for the same α in each topic, a sequence for one α per topic."""
        if value is None:
            return cls(np.full(n_topics, default_alpha(n_topics)))
        entries = np.array(value, dtype=object)
        if entries.ndim == 0:
            number = as_positive(cls.parameter, entries.item())
            return None if number is None else cls(np.full(n_topics, number))
        if entries.shape != (n_topics,):
            raise ParameterError(cls.parameter, f"has shape {entries.shape}; {n_topics} topics need {n_topics} numbers")
        return cls(np.array([check_positive(cls.parameter, x, f"entry {k} ") for k, x in enumerate(entries.tolist())]))

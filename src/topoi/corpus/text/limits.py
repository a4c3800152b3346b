"""Which words are too rare, too common or too many to keep: the rules of scikit-learn's CountVectorizer, or limits that
suit the number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError

#: Limits that suit the number of documents: below so many documents, a word must be in so many of them. In a few
#: documents every word may matter; in thousands, a word of two or three is a name or a misspelling.
RARE = ((50, 1), (1000, 2), (5000, 3))
RARE_OF_MANY = 5
COMMON = 0.5  # the share of documents that a word may be in, from as many documents on as rare words are left out


@dataclass(frozen=True)
class Pruned:
    """Which words are kept, and how many words and tokens were too rare, too common or too many."""

    kept: NDArray[np.bool_]
    rare: tuple[int, int] = (0, 0)
    common: tuple[int, int] = (0, 0)
    beyond: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Limits:
    """In at least `min_df` documents, in at most `max_df`, the `max_features` most frequent ones.

    A whole number is a number of documents, a fraction a share of them; "auto" suits their number.
    """

    min_df: float | str = "auto"
    max_df: float | str = "auto"
    max_features: int | None = None

    def __post_init__(self) -> None:
        _check_share("min_df", self.min_df)
        _check_share("max_df", self.max_df)
        limit: Any = self.max_features
        if limit is not None and (not _is_whole(limit) or limit < 1):
            raise ParameterError("max_features", f"must be None or a whole number from 1, not {limit!r}")

    @property
    def absent(self) -> bool:
        """Whether every word is kept."""
        rare = _is_whole(self.min_df) and float(self.min_df) <= 1
        common = self.max_df == 1 and not _is_whole(self.max_df)
        return rare and common and self.max_features is None

    def range_of(self, n_documents: int) -> tuple[float, float]:
        """The fewest and the most documents that a word may be in."""
        fewest, most = self.min_df, self.max_df
        usual = next((least for below, least in RARE if n_documents < below), RARE_OF_MANY)
        if isinstance(fewest, str):
            fewest = usual
        elif not _is_whole(fewest):
            fewest = fewest * n_documents
        if isinstance(most, str):
            most = COMMON * n_documents if usual > 1 else n_documents
        elif not _is_whole(most):
            most = most * n_documents
        if most < fewest:
            raise ParameterError(
                "max_df",
                f"words may be in {most:g} documents, but must be in {fewest:g} of {n_documents}: see min_df",
            )
        return fewest, most

    def prune(self, n_with: NDArray[np.int64], n_tokens: NDArray[np.int64], n_documents: int) -> Pruned:
        """The words to keep, from the number of documents with each and the number of its tokens.

        Of words that are equally frequent the first ones stay.
        """
        fewest, most = self.range_of(n_documents)
        rare, common = n_with < fewest, n_with > most
        kept: NDArray[np.bool_] = ~(rare | common)
        if self.max_features is not None and kept.sum() > self.max_features:
            candidates = np.flatnonzero(kept)
            order = np.argsort(-n_tokens[candidates], kind="stable")
            kept[candidates[order[self.max_features :]]] = False
        there = n_tokens > 0  # a word that is only part of phrases has none left
        left_out = (rare & there, common, ~(kept | rare | common))
        return Pruned(kept, *((int(mask.sum()), int(n_tokens[mask].sum())) for mask in left_out))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_share(name: str, value: Any) -> None:
    if isinstance(value, str) and value == "auto":
        return
    is_share = isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1
    if not is_share and not (_is_whole(value) and value >= 1):
        raise ParameterError(
            name, f"must be a number of documents from 1, a share of them from 0.0 to 1.0, or 'auto', not {value!r}"
        )

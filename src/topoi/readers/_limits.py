"""Which words are too rare, too common or too many to keep: the rules of scikit-learn's CountVectorizer."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    """In at least `min_df` documents, in at most `max_df`, the `max_features` most frequent ones.

    A whole number is a number of documents, a fraction a share of them.
    """

    min_df: float = 1
    max_df: float = 1.0
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
        rare, common = _is_whole(self.min_df) and self.min_df <= 1, not _is_whole(self.max_df) and self.max_df == 1
        return rare and common and self.max_features is None

    def kept(self, n_with: NDArray[np.int64], n_tokens: NDArray[np.int64], n_documents: int) -> NDArray[np.bool_]:
        """The words to keep, from the number of documents with each and the number of its tokens.

        Of words that are equally frequent the first ones stay.
        """
        fewest = self.min_df if _is_whole(self.min_df) else self.min_df * n_documents
        most = self.max_df if _is_whole(self.max_df) else self.max_df * n_documents
        if most < fewest:
            raise ParameterError(
                "max_df",
                f"{self.max_df} of {n_documents} documents is fewer than min_df {self.min_df}; no word can be kept",
            )
        kept: NDArray[np.bool_] = (n_with >= fewest) & (n_with <= most)
        if self.max_features is not None and kept.sum() > self.max_features:
            candidates = np.flatnonzero(kept)
            order = np.argsort(-n_tokens[candidates], kind="stable")
            kept[candidates[order[self.max_features :]]] = False
        return kept


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_share(name: str, value: Any) -> None:
    is_share = isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1
    if not is_share and not (_is_whole(value) and value >= 1):
        raise ParameterError(
            name, f"must be a number of documents from 1, or a share of them from 0.0 to 1.0, not {value!r}"
        )

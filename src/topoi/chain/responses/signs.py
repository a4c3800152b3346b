"""Targets of labels, and the weights of their cost, in little memory: a fit of hundreds of labels has many of them.

Who needs some of them asks for these rows, as of an array: y[first:last] are −1 and +1, or NaN where a label is not
known, as floats. All other targets, and weights of which there are few, are arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats


@dataclass(frozen=True)
class Signs:
    """Targets (documents, labels) of one byte each: −1, +1, or 0 where a label is not known."""

    codes: NDArray[np.int8]

    @classmethod
    def of(cls, targets: Floats) -> Self:
        """Those of an array of −1, +1 and NaN."""
        return cls((targets > 0).astype(np.int8) - (targets < 0).astype(np.int8))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array that these stand for."""
        return self.codes.shape

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        codes = self.codes[key]
        found: NDArray[Any] = codes.astype(np.float32)
        found[codes == 0] = np.nan
        return found


@dataclass(frozen=True)
class SignWeights:
    """Weights (documents, labels) of the cost: a document's, times a label's where the document has the label."""

    targets: Signs
    of_document: NDArray[np.float32]  # (documents)
    of_label: NDArray[np.float32]  # (labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array that these stand for."""
        return self.targets.shape

    def __getitem__(self, key: Any) -> NDArray[Any]:
        rows, labels = key if isinstance(key, tuple) else (key, slice(None))
        has = self.targets.codes[rows][:, labels] > 0
        found: NDArray[Any] = np.where(has, self.of_label[labels], np.float32(1))
        found *= self.of_document[rows] if found.ndim == 1 else self.of_document[rows, None]
        return found


Targets: TypeAlias = NDArray[Any] | Signs
TargetWeights: TypeAlias = NDArray[Any] | SignWeights


def as_array(targets: Targets) -> NDArray[Any]:
    """An array with the signs of the targets, whatever stands for those that are not known: no copy is made."""
    return targets.codes if isinstance(targets, Signs) else targets


#: Documents whose weights are looked at together.
CHUNK = 4096


def largest(weight: TargetWeights) -> float:
    """The largest of some weights, or 1 if all are smaller."""
    parts = (weight[first : first + CHUNK] for first in range(0, weight.shape[0], CHUNK))
    return max((float(part.max(initial=1.0)) for part in parts), default=1.0)

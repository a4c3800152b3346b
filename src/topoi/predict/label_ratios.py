"""Log-count ratios of words: how much more often a word is in documents of a class than in those of the other.

Naive Bayes takes them for its weights. Here, as in the support vector machine of Wang and Manning (2012), a column of a
word is multiplied by a power of their size, so that a word which both classes have equally often has a narrow prior.
They are for two classes. Where there are more labels, these share their columns, and a ratio of all of them would say
little of any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Powers of the ratios to choose from; with 0 they are not used.
RATIOS = (0.0, 0.5, 1.0)
#: What every ratio has: no word is left out altogether.
LEAST = 1e-3


def label_ratios(bag: sparse.csr_array, targets: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sizes (V) of the ratios of words in documents with targets −1 and +1, 1 on average."""
    has = targets > 0
    inside, outside = (
        1.0 + np.bincount(bag[np.flatnonzero(rows)].indices, minlength=bag.shape[1]) for rows in (has, ~has)
    )
    found = np.abs(np.log(inside / inside.sum()) - np.log(outside / outside.sum()))
    mean = float(found.mean())
    sizes: NDArray[np.float64] = LEAST + (found / mean if mean > 0 else np.ones_like(found))
    return sizes

"""Documents kept out of the fit: which ones depends on the seed and on their number alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from topoi.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from topoi.corpus.target import Target
    from topoi.readers import Dataset

#: So many tell how a fit goes; the scores in the end are of all.
WATCHED = 2000


def hold_out(candidates: NDArray[Any], share: float, seed: int) -> NDArray[np.int64]:
    """So many of the candidates, those with the smallest hashes, in order; none for a share of 0."""
    import numpy as np

    if not 0 <= share < 1:
        raise ParameterError("hold_out", f"must be a share of the documents, from 0 to below 1, not {share}")
    n = round(share * len(candidates))
    if share and not 0 < n < len(candidates):
        raise ParameterError("hold_out", f"{share} of {len(candidates)} documents is {n}; keep out some, but not all")
    rows = candidates.tolist()
    return np.array(sorted(sorted(rows, key=lambda row: _hash(seed, row))[:n]), np.int64)


def to_watch(target: Target, data: Dataset, train: Dataset, rows: NDArray[np.int64]) -> Any:
    """Documents kept out to watch the fit on, as `fit` takes them: some, evenly spaced, if there are many.

    A label that only documents kept out have cannot be learned; those documents say nothing of the fit.
    """
    import numpy as np

    from topoi.cli._labels import as_fit_takes_it

    if target.kind == "one":
        rows = rows[np.isin(np.asarray(data.labels)[rows], train.target.values)]
    n = min(len(rows), WATCHED)
    if not n:
        return None
    some = data.take(rows[np.arange(n) * len(rows) // n])
    if target.kind is None:
        return some.corpus, some.covariates
    return some.corpus, as_fit_takes_it(target, some), some.covariates


def _hash(seed: int, row: int) -> bytes:
    return hashlib.blake2b(f"{seed} {row}".encode("ascii"), digest_size=8).digest()

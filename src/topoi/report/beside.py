"""Covariates of the documents given, in any of the forms that `fit` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def take_covariates(given: Any, rows: NDArray[np.int64]) -> Any:
    """Those of some of the documents, by position, in the same form; None stays None."""
    if given is None:
        return None
    if sparse.issparse(given):
        return sparse.csr_array(given)[rows]
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):  # a data frame: pandas, polars
        return {str(name): np.asarray(given[name])[rows] for name in given.columns}
    if isinstance(given, Mapping):
        return {str(name): np.asarray(values)[rows] for name, values in given.items()}
    return np.asarray(given)[rows]

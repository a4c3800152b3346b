"""Have the chains of a fit mixed? Their log joints over the sweeps, R-hat and effective sample size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.chain.diagnostics import rhat_ess
from topoi.chain.loop import Schedule
from topoi.errors import ParameterError


def traces_of(estimator: Any) -> list[list[NDArray[np.float64]]]:
    """For every model of the estimator, the traces of its chains: arrays (evaluations, 2) of sweep and log joint."""
    check_is_fitted(estimator)
    return [model.traces_ for model in getattr(estimator, "estimators_", [estimator])]


def burn_in_of(estimator: Any) -> int:
    """Sweeps before the first sample could be kept, of the fit or of the last `partial_fit`, whose traces are kept."""
    if getattr(estimator, "_batches", 0):
        return Schedule(estimator.infer_sweeps, estimator.n_samples).n_burn_in
    return Schedule(estimator.n_sweeps, estimator.n_samples, estimator.burn_in).n_burn_in


def effective_samples(chains: list[NDArray[np.float64]], burn_in: int) -> float:
    """Bulk effective sample size of the log joint after the burn-in, over the sweeps that all chains made."""
    late = [trace[trace[:, 0] > burn_in, 1] for trace in chains]
    shortest = min(map(len, late))
    return rhat_ess(np.array([values[:shortest] for values in late]).reshape(len(late), shortest))["ess_bulk"]


def chain_diagnostics(estimator: Any) -> dict[str, float]:
    """R-hat and bulk effective sample size of the log joint after the burn-in (Vehtari et al. 2021).

    `rhat` near 1 (below 1.01 for good, 1.1 for most purposes) says that the chains agree; it needs two chains and four
    evaluations of each. `ess` is the number of independent draws that the evaluations of the log joint, one in ten
    sweeps, are worth; it needs twenty of each chain. nan where there are fewer. `n_chains` says of how many chains.
    With several models, the worst of each.
    """
    if not hasattr(estimator, "callbacks"):
        raise ParameterError("estimator", f"must be a fitted topoi estimator, not {type(estimator).__name__}")
    models = traces_of(estimator)
    ess = [effective_samples(chains, burn_in_of(estimator)) for chains in models]
    return {
        "rhat": float(estimator.rhat_),
        "ess": min(ess, key=lambda value: -math.inf if math.isnan(value) else value),
        "n_chains": min(map(len, models)),
    }

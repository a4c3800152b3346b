"""Have the chains of a fit mixed? Their log joints over the sweeps, R-hat and effective sample size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.diagnostics import rhat_ess
from topoi.estimators.fitted import check_fitted


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
    fitted = check_fitted(estimator)
    models = [one.traces_ for one in fitted.estimators_]
    ess = [effective_samples(chains, fitted.burn_in_) for chains in models]
    return {
        "rhat": float(fitted.rhat_),
        "ess": min(ess, key=lambda value: -math.inf if math.isnan(value) else value),
        "n_chains": min(map(len, models)),
    }

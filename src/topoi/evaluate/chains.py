"""Have the chains of a fit mixed? Their log joints over the sweeps, R-hat and effective sample size.

A fitted estimator keeps the trace of its best chain alone. `Traces`, given as a callback, keeps those of all:

    traces = Traces()
    lda = LDA(20, n_chains=4, callbacks=[traces]).fit(X)
    chain_diagnostics(lda)
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.diagnostics import rhat_ess
from topoi.errors import ParameterError
from topoi.run import Progress


class Traces:
    """A callback for `callbacks=[…]` that keeps the log joint of every chain, of the last fit."""

    def __init__(self) -> None:
        self._points: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self._last: dict[tuple[int, int], int] = {}
        self.n_burn_in = 0
        self._lock = threading.Lock()  # chains run at the same time

    def __call__(self, progress: Progress) -> None:
        """Take note of a sweep."""
        chain = (progress.model, progress.chain)
        with self._lock:
            if progress.sweep <= self._last.get(chain, 0):  # a new fit
                self._points.pop(chain, None)
            self._last[chain] = progress.sweep
            self.n_burn_in = progress.n_burn_in
            if progress.log_joint is not None:
                self._points.setdefault(chain, []).append((progress.sweep, progress.log_joint))

    def of_model(self, model: int = 0, n_chains: int | None = None) -> list[NDArray[np.float64]]:
        """Traces (evaluations, 2) of sweep and log joint, of each chain of one model; of the first `n_chains`."""
        numbers = sorted(chain for of, chain in self._points if of == model)
        return [
            np.array(self._points[model, chain], np.float64)
            for chain in numbers
            if n_chains is None or chain < n_chains
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()


def traces_of(estimator: Any, traces: Traces | None = None) -> list[list[NDArray[np.float64]]]:
    """For every model of the estimator, the traces of its chains; of the best chain alone if no `Traces` was there."""
    check_is_fitted(estimator)
    if traces is None:
        traces = next((call for call in estimator.callbacks or () if isinstance(call, Traces)), None)
    models = getattr(estimator, "estimators_", [estimator])
    found = [traces.of_model(number, estimator.n_chains) if traces else [] for number in range(len(models))]
    return [some or [model.log_joint_] for some, model in zip(found, models, strict=True)]


def burn_in_of(estimator: Any) -> int:
    """Sweeps before the first sample of a fit could be kept."""
    return int(estimator.n_sweeps // 2 if estimator.burn_in is None else estimator.burn_in)


def chain_diagnostics(estimator: Any, traces: Traces | None = None) -> dict[str, float]:
    """R-hat and bulk effective sample size of the log joint after the burn-in (Vehtari et al. 2021).

    `rhat` near 1 (below 1.01 for good, 1.1 for most purposes) says that the chains agree; it needs two chains. `ess` is
    the number of independent draws that the evaluations of the log joint, one in ten sweeps, are worth: those of all
    chains if `Traces` was among the callbacks (or is given), else of the best one; `n_chains` says of how many. With
    several models, the worst of each. nan where there are fewer than four evaluations.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "callbacks"):
        raise ParameterError("estimator", f"must be a fitted topoi estimator, not {type(estimator).__name__}")
    after = burn_in_of(estimator)
    ess, n_chains = [], []
    for model in traces_of(estimator, traces):
        late = [trace[trace[:, 0] > after, 1] for trace in model]
        shortest = min(map(len, late))
        ess.append(rhat_ess(np.array([values[:shortest] for values in late]).reshape(len(late), -1))["ess_bulk"])
        n_chains.append(len(late))
    return {"rhat": float(estimator.rhat_), "ess": min(ess, key=lambda v: -math.inf if math.isnan(v) else v),
            "n_chains": min(n_chains)}  # fmt: skip

"""Whether the chains have arrived: the log joint over the sweeps, R-hat, effective samples, held-out scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topoi.diagnostics import rhat_ess
from topoi.errors import ParameterError
from topoi.run import Progress, Schedule

MOST_POINTS = 400  # of a line: more than a screen shows
# Fewer draws of a chain do not show how long it remembers, and the estimate of effective samples is then the largest
# that it can be.
LEAST_DRAWS = 20


class Traces:
    """A callback that keeps the log joint of every chain, for the report; an estimator keeps that of its best.

    Give it to the estimator, ``callbacks=[traces]``, and to `write_report`, ``traces=traces``.
    """

    def __init__(self) -> None:
        self.of_chain: dict[tuple[int, int], list[tuple[int, float]]] = {}  # by (model, chain)

    def __call__(self, progress: Progress) -> None:
        """Take a note of one sweep."""
        if progress.log_joint is not None:
            line = self.of_chain.setdefault((progress.model, progress.chain), [])
            line.append((progress.sweep, progress.log_joint))

    def of_model(self, model: int) -> list[list[tuple[int, float]]]:
        """The lines of the chains of one model, in order."""
        return [line for (of, _), line in sorted(self.of_chain.items()) if of == model]


def convergence(estimator: Any, names: list[str], traces: Traces | None, held_out_trace: Any) -> dict[str, Any]:
    """The lines of every model, and how well its chains agree."""
    if traces is not None and not isinstance(traces, Traces):
        raise ParameterError("traces", f"must be a topoi.report.Traces, not {traces!r}")
    members = getattr(estimator, "estimators_", [estimator])
    schedule = Schedule(estimator.n_sweeps, estimator.n_samples, estimator.burn_in)
    if getattr(estimator, "_batches", 0):  # the trace is that of the last `partial_fit`
        schedule = Schedule(estimator.infer_sweeps, estimator.n_samples)
    burn_in = schedule.n_burn_in
    models = []
    for number, member in enumerate(members):
        lines = [] if traces is None else traces.of_model(number)
        complete = bool(lines)
        if not complete and (kept := getattr(member, "log_joint_", None)) is not None:
            lines = [[(int(sweep), float(value)) for sweep, value in kept]]
        models.append(
            {
                "name": names[number] if names else "",
                "chains": [_thin(line) for line in lines],
                "n_chains": len(getattr(member, "chains_", lines)),
                "rhat": getattr(member, "rhat_", None),
                "ess": _ess(lines, burn_in),
                "sweeps": getattr(member, "n_sweeps_", None),
                "stopped": getattr(member, "stopped_", None),
            }
        )
    return {"burn_in": burn_in, "models": models, "held_out": _held_out(held_out_trace)}


def _ess(lines: list[list[tuple[int, float]]], burn_in: int) -> float | None:
    """Effective samples of the log joint after the burn-in; chains are compared over the sweeps that all made."""
    kept = [[value for sweep, value in line if sweep > burn_in] for line in lines]
    shortest = min(map(len, kept), default=0)
    if shortest < LEAST_DRAWS:
        return None
    return rhat_ess(np.array([line[:shortest] for line in kept]))["ess_bulk"]


def _thin(line: list[tuple[int, float]]) -> dict[str, list[float]]:
    """At most `MOST_POINTS` of the points, evenly spaced, the last included."""
    step = -(-len(line) // MOST_POINTS) or 1
    some = line[::-1][::step][::-1]
    return {"sweep": [sweep for sweep, _ in some], "value": [value for _, value in some]}


def _held_out(trace: Any) -> list[dict[str, Any]]:
    if trace is None:
        return []
    given = trace if isinstance(trace, Mapping) else {"held-out score": trace}
    out = []
    for name, points in given.items():
        try:
            values = np.asarray(points, np.float64)
        except (ValueError, TypeError) as error:
            raise ParameterError("held_out_trace", f"{name}: must be numbers: {error}") from error
        if values.ndim != 2 or values.shape[1] != 2:
            raise ParameterError(
                "held_out_trace", f"{name}: must be pairs (sweep, score), not an array of shape {values.shape}"
            )
        out.append({"name": str(name), **_thin([(int(sweep), float(value)) for sweep, value in values])})
    return out

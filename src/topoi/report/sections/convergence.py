"""Whether the chains have arrived: the log joint over the sweeps, R-hat, effective samples, held-out scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from topoi.errors import ParameterError
from topoi.estimators.watch import NAMES
from topoi.evaluate.advice import convergence_in_words
from topoi.evaluate.chains import effective_samples
from topoi.report.subject import Subject

MOST_POINTS = 400  # of a line: more than a screen shows


def data(subject: Subject) -> dict[str, Any]:
    """The lines of every model, and how well its chains agree."""
    estimator, names = subject.estimator, subject.model_names
    members, burn_in = estimator.estimators_, estimator.burn_in_
    models = []
    for number, member in enumerate(members):
        chains = member.traces_
        ess = effective_samples(chains, burn_in)
        models.append(
            {
                "name": names[number] if names else "",
                "chains": [_thin([(int(sweep), float(value)) for sweep, value in trace]) for trace in chains],
                "n_chains": len(chains),
                "rhat": member.rhat_,
                "ess": None if math.isnan(ess) else ess,
                "sweeps": member.n_sweeps_,
                "stopped": member.stopped_,
            }
        )
    watched = _watched(members, names) if subject.held_out_trace is None else subject.held_out_trace
    words = convergence_in_words(estimator)
    return {"burn_in": burn_in, "models": models, "held_out": _held_out(watched), "words": words}


def _watched(members: list[Any], names: list[str]) -> dict[str, Any]:
    """Scores of the documents that the fit was watched on (`validation`), by model and chain."""
    lines = {}
    for number, member in enumerate(members):
        chains = getattr(member, "validation_traces_", [])
        for chain, trace in enumerate(chains):
            name = f"held-out {NAMES.get(member.validation_measure_, 'score')}"
            name = f"{names[number]}: {name}" if names else name
            known = trace[~np.isnan(trace[:, 1])]
            if len(known):
                lines[f"{name}, chain {chain}" if len(chains) > 1 else name] = known
    return lines


def _thin(line: list[tuple[int, float]]) -> dict[str, list[float]]:
    """At most `MOST_POINTS` of the points, evenly spaced, the last included."""
    step = -(-len(line) // MOST_POINTS) or 1
    some = line[::-1][::step][::-1]
    return {"sweep": [sweep for sweep, _ in some], "value": [value for _, value in some]}


def _held_out(trace: Any) -> list[dict[str, Any]]:
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

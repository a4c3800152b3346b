"""The log joint, or the score of held-out documents, over the sweeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.pipelines import open_pipeline
from topoi.estimators.watch import NAMES
from topoi.plot._figure import COLOURS, GREY, PALE, SMALL, bare, check_axes, new_axes


def traces(estimator: Any, *, held_out: bool = False, ax: Any = None) -> Any:
    """Log joint over the sweeps, a line for each chain, the burn-in shaded; returns the Axes.

    With `held_out` the score of the documents that `fit` was given as `validation`. The scale is that of the sweeps
    after the first quarter, which would flatten all that follows.
    """
    estimator, _ = open_pipeline(estimator)
    models = _held_out(estimator) if held_out else [one.traces_ for one in check_fitted(estimator).estimators_]
    every = np.concatenate([trace for chains in models for trace in chains])
    if not len(every):
        raise ParameterError("estimator", "was stopped before its first evaluation: there is no trace to show")
    ax = new_axes(6.4, 3.4) if ax is None else check_axes(ax)
    many = sum(map(len, models)) > len(COLOURS)
    for number, chains in enumerate(models):
        for chain, trace in enumerate(chains):
            name = f"chain {chain}" if len(models) == 1 else f"model {number}, chain {chain}"
            colour = COLOURS[(number if len(models) > 1 else chain) % len(COLOURS)]
            ax.plot(*trace.T, color=colour, linewidth=0.8 if many else 1.4, marker=".", markersize=3, label=name)
    burn_in = estimator.burn_in_
    last = every[:, 0].max()
    if burn_in < last:
        ax.axvspan(0, burn_in, color=PALE, alpha=0.45, linewidth=0, zorder=0)
        ax.text(burn_in / last * 0.98, 0.02, "burn-in", transform=ax.transAxes, ha="right", color=GREY, fontsize=SMALL)
    settled = every[(every[:, 0] > 0.25 * last) & np.isfinite(every[:, 1]), 1]
    if len(settled) > 1 and settled.max() > settled.min():
        margin = 0.06 * (settled.max() - settled.min())
        ax.set_ylim(settled.min() - margin, settled.max() + margin)
    ax.set_xlim(0, last)
    bare(ax)
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    ax.set_xlabel("sweep", fontsize=SMALL + 1)
    if held_out:
        measure = estimator.estimators_[0].validation_measure_
        ax.set_ylabel(f"held-out {NAMES.get(measure, 'score')}", fontsize=SMALL + 1)
    else:
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.set_ylabel("log p(words, topics)", fontsize=SMALL + 1)
    if 1 < sum(map(len, models)) <= len(COLOURS):
        ax.legend(fontsize=SMALL, frameon=False, loc="lower right")
    rhat = float(estimator.rhat_)
    if np.isfinite(rhat) and not held_out:  # it is of the log joint
        ax.set_title(f"R-hat {rhat:.2f}", fontsize=SMALL + 1, loc="left")
    return ax


def _held_out(estimator: Any) -> list[list[Any]]:
    """For every model the traces of its chains; raise if it was not watched."""
    members = check_fitted(estimator).estimators_
    if not all(hasattr(member, "validation_traces_") for member in members):
        raise ParameterError("estimator", "has no held-out scores; watch its fit by fit(..., validation=...)")
    return [member.validation_traces_ for member in members]

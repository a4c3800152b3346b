"""Traces of chains as an `xarray.DataTree`, which is what ArviZ works with since its version 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._version import __version__
from topoi.errors import PackageMissingError
from topoi.estimators.fitted import OneModel


def trace_tree(members: Sequence[OneModel], model_names: Sequence[str]) -> Any:
    """The traces of the chains of every model, in groups as ArviZ names them: see `TopicEstimator.to_arviz`."""
    try:
        import xarray as xr
    except ImportError as error:
        raise PackageMissingError(
            "to_arviz needs xarray, which is not installed: pip install 'arviz-stats[xarray]'"
        ) from error
    about = {"inference_library": "topoi", "inference_library_version": __version__}
    burn_in = members[0].burn_in_
    groups: dict[str, Any] = {}

    def add(group: str, name: str, traces: Sequence[Sequence[NDArray[np.float64]]], keep: Any) -> None:
        sweeps, values = _aligned([[trace[keep(trace[:, 0])] for trace in of_model] for of_model in traces])
        if values.shape[1] == 0:
            return
        dims = ["chain", "draw"]
        coords: dict[str, Any] = {"chain": np.arange(values.shape[0]), "draw": sweeps}
        if len(members) > 1:
            dims.append("model")
            coords["model"] = list(model_names)
        else:
            values = values[..., 0]
        made = xr.Dataset({name: (dims, values)}, coords, about)
        made["draw"].attrs["long_name"] = "sweep"
        groups[group] = made

    joints = [one.traces_ for one in members]
    add("posterior", "log_joint", joints, lambda sweep: sweep > burn_in)
    add("warmup_posterior", "log_joint", joints, lambda sweep: sweep <= burn_in)
    if all(hasattr(one, "validation_traces_") for one in members):
        watched = [one.validation_traces_ for one in members]
        add("sample_stats", f"held_out_{members[0].validation_measure_}", watched, lambda sweep: sweep > burn_in)
    if len(members) == 1 and hasattr(members[0], "n_topics_trace_"):  # of the best chain
        one: Any = members[0]
        later = one.n_topics_trace_[:, 0] > burn_in
        names = {"n_topics": one.n_topics_trace_[later, 1:2], "a": one.concentrations_[later, 1:2]}
        names["gamma"] = one.concentrations_[later, 2:3]
        found = {name: (("chain", "draw"), column.T) for name, column in names.items()}
        groups["topic_number"] = xr.Dataset(found, {"chain": [0], "draw": one.n_topics_trace_[later, 0].astype(int)})
    return xr.DataTree.from_dict({f"/{name}": made for name, made in groups.items()})


def _aligned(
    traces: Sequence[Sequence[NDArray[np.float64]]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sweeps, and values (chains, sweeps, models), over the sweeps that every chain has made."""
    shortest = min(len(trace) for of_model in traces for trace in of_model)
    values = np.array([[trace[:shortest, 1] for trace in of_model] for of_model in traces])
    return traces[0][0][:shortest, 0].astype(np.int64), np.moveaxis(values, 0, -1)

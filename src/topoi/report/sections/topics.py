"""The map of the topics and the words of the chosen one."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from topoi.report.distances import classical_mds, js_divergence
from topoi.report.relevance import N_SHOWN, N_STEPS
from topoi.report.subject import Subject


def data(subject: Subject) -> dict[str, Any]:
    """The places of the topics on the map, and how many words and steps of the slider there are."""
    stacked = sparse.hstack([model.counts for model in subject.models], format="csr")
    return {"places": classical_mds(js_divergence(stacked)).tolist(), "n_shown": N_SHOWN, "n_steps": N_STEPS}

"""The map of the topics, the words of the chosen one, and in how many chains it was found."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from topoi.report.distances import classical_mds, pulled_in
from topoi.report.relevance import N_SHOWN, N_STEPS
from topoi.report.subject import Subject


def data(subject: Subject) -> dict[str, Any]:
    """The places of the topics on the map, how many words and steps of the slider there are, and trust in topics.

    Topics that were hidden have no place, and no say in those of the others.
    """
    places = np.zeros((len(subject.topics), 2))
    places[subject.visible] = pulled_in(classical_mds(subject.divergence))
    return {
        "places": places.tolist(),
        "n_shown": N_SHOWN,
        "n_steps": N_STEPS,
        "trust": [asdict(one) for one in subject.estimator.topic_agreement()],  # empty if there is one chain
    }

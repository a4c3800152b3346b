"""All topics at a glance: how coherent they are, which labels they speak for, and an order of those that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.evaluate.coherence import npmi
from topoi.evaluate.topics import top_columns
from topoi.report.distances import by_similarity
from topoi.report.subject import Subject

N_WORDS = 10  # of which coherence is told
MOST_LABELS = 3  # that a topic speaks for


def data(subject: Subject) -> dict[str, Any]:
    """Of every topic its coherence in the documents given and its strongest labels, and the order by similarity."""
    return {
        "similar": subject.visible[by_similarity(subject.divergence)].tolist(),
        "coherence": _coherence(subject),
        "labels": _labels(subject),
    }


def _coherence(subject: Subject) -> list[float] | None:
    """NPMI of the most probable words; None without documents to count in."""
    if subject.corpus is None or subject.corpus.n_documents < 2:
        return None
    values: list[float] = npmi(top_columns(subject.estimator, N_WORDS, "probability"), subject.corpus).tolist()
    return values


def _labels(subject: Subject) -> list[list[list[Any]]] | None:
    """Of every topic the labels with the highest weights above 0, and these; None where there are no labels to name."""
    if subject.target.kind not in ("one", "several"):
        return None
    weights, names = np.asarray(subject.estimator.topic_weights_, np.float64), subject.target.tasks
    best = np.argsort(-weights, axis=0, kind="stable")[:MOST_LABELS].T
    return [
        [[names[task], float(weights[task, k])] for task in own if weights[task, k] > 0]
        for k, own in enumerate(best.tolist())
    ]

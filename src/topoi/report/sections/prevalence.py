"""How topics vary with covariates: of each topic the strongest changes of its share, with intervals."""

from __future__ import annotations

from typing import Any

from topoi.report.subject import Subject

LEVEL = 0.9  # of the intervals
MOST_EFFECTS = 40  # that are shown of a topic, the strongest
MOST_ROWS = 20_000  # on a page


def data(subject: Subject) -> dict[str, Any] | None:
    """Of every topic its number and rows of covariate, value, mean and bounds; None if topics depend on nothing."""
    if not getattr(subject.estimator, "prevalence_covariates_", {}):
        return None
    by_topic: list[list[Any]] = [[] for _ in subject.topics]
    for row in subject.estimator.topic_effects(level=LEVEL):
        value = row.value if isinstance(row.value, str) else f"{row.value:g}"
        by_topic[row.topic].append([row.covariate, value, row.mean, row.low, row.high])
    shown = max(MOST_ROWS // MOST_EFFECTS, 1)
    topics = [
        {"topic": k, "effects": sorted(own, key=lambda line: -abs(line[2]))[:MOST_EFFECTS]}
        for k, own in enumerate(by_topic)
    ][:shown]
    return {"level": LEVEL, "topics": topics, "n_topics": len(by_topic)}

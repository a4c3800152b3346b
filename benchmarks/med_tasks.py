"""The data sets and models of `med_quality`, and what is to be reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: What is fitted, beyond the defaults and the settings of the task.
OURS: dict[str, dict[str, Any]] = {
    "topics + words": {},
    "topics alone": {"word_features": None},
    "the chain": {"refit": False},
    "4 chains": {"n_chains": 4},
    "4 chains, topics alone": {"n_chains": 4, "word_features": None},
}
USUAL = ("topics + words", "topics alone", "the chain")


@dataclass(frozen=True)
class Task:
    """A data set, the number of topics, what is to be reached with and without words, and settings not the defaults."""

    data: str
    kind: str
    n_topics: int
    reach: float | None = None
    reach_alone: float | None = None
    ours: tuple[str, ...] = USUAL
    settings: dict[str, Any] = field(default_factory=dict)


# K of the first five is the (20 for two newsgroups) or the largest of earlier versions of this benchmark, which
# printed test results for two values of K each.
TASKS = {
    "20 classes": Task("20ng", "many", 100, 0.835, 0.81, (*USUAL, "4 chains")),
    "atheism / religion": Task("binary", "two", 20, 0.85, 0.835, tuple(OURS)),
    "Reuters 20": Task("reuters", "several", 100, 0.941, 0.922, tuple(OURS)),
    "arXiv 120 k": Task("arxiv", "several", 200, 0.575, 0.52, settings={"n_sweeps": 30}),
    "hotel reviews": Task("hotels", "numbers", 50, 0.675, 0.64),
    # More of the same kinds, for which no number was given. Their documents are those of the others.
    "20 classes, all words": Task("20ng, all words", "many", 100),
    "PC / Mac hardware": Task("hardware", "two", 20),
    "hotel reviews, service": Task("hotels, service", "numbers", 50),
}
MEASURE = {"two": "accuracy", "many": "accuracy", "several": "micro-F1", "numbers": "R²"}
LEVEL = 0.9  # of intervals
TUNED = ", tuned threshold"  # a second row of the same fit


def key(task: str, model: str) -> str:
    """The name of a row, which begins with the package: its version says whether to measure again."""
    return f"{'topoi' if model in OURS else 'scikit-learn'}: {task}: {model}"


def parts(row: str) -> tuple[Task, str]:
    """The task of a row, and its model."""
    _, task, model = row.split(": ")
    return TASKS[task], model

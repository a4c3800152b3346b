"""What people read on Dask's dashboard: tasks by what they are for, and by the sweep that they are part of."""

from __future__ import annotations

import itertools
import uuid

#: By the names of the functions that are tasks. Dask puts tasks together by what comes before the first "-" that a
#: number follows: hyphens in a name are none of its.
NAMES = {
    "begin": "first topics",
    "go_on": "topics taken over",
    "move": "topics",
    "combine": "sums of counts",
    "draw": "counts and φ",
    "see": "φ by documents",
    "revise": "φ by words",
    "finish": "φ with its scale",
    "weigh": "weights",
    "observe": "prior of topics",
    "tally": "log joint of words",
    "logs": "log joint of topics",
    "spectrum": "lengths of topics",
    "elsewhere": "topics compared",
    "counts": "counts of a sample",
    "count": "counts of a sample",
    "add": "sum of samples",
    "place": "counts in their place",
    "share": "shares of documents",
    "seal": "checkpoint",
}
_numbers = itertools.count()
_process = uuid.uuid4().hex[:12]


def in_words(task: str) -> str:
    """What a task is for."""
    return NAMES.get(task, task)


def keys(task: str, sweep: int, n: int) -> list[str]:
    """Names for the tasks of a round, that no other tasks have.

    The sweep is no part of what Dask groups by: there would be a bar and a colour for each.
    """
    round_ = f"topoi {in_words(task)}-{sweep}-{_process}-{next(_numbers)}"
    return [f"{round_}-{number}" for number in range(n)]

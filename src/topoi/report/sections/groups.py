"""Topics over time and by group: of every column the shares of the topics, with intervals."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from topoi.evaluate.share_table import TopicsBy
from topoi.evaluate.topics_by import topics_by
from topoi.report.subject import Subject

LEVEL = 0.9  # of the intervals
MOST_GROUPS = 60  # categories that are shown, those with most documents
MOST_CELLS = 60_000  # of all columns together: what is left out are topics that vary little
UNIT = 100_000  # shares are whole numbers of hundred thousandths


def data(subject: Subject) -> dict[str, Any] | None:
    """Of every column its groups, and of the topics that vary most shares and bounds; None without columns."""
    if not subject.by:
        return None
    most = MOST_CELLS // len(subject.by)
    columns = [
        _column(topics_by(subject.estimator, column, subject.corpus, level=LEVEL, name=str(name)), most)
        for name, column in subject.by.items()
    ]
    return {"level": LEVEL, "unit": UNIT, "n_topics": len(subject.topics), "columns": columns}


def _column(found: TopicsBy, most: int) -> dict[str, Any]:
    shown = np.arange(len(found.groups))
    if found.kind == "categories":
        shown = np.sort(np.argsort(-found.n_documents, kind="stable")[:MOST_GROUPS])
    kept = found.most_varying(max(most // len(shown), 1))
    return {
        "name": found.by,
        "kind": found.kind,
        "period": found.period,
        "groups": [found.groups[g] for g in shown.tolist()],
        "documents": found.n_documents[shown].tolist(),
        "at": [_place(found.positions[g]) for g in shown.tolist()],
        "runs": [found.runs[g] for g in shown.tolist()],
        "n_groups": len(found.groups),
        "n_missing": found.n_missing,
        "topics": [
            {
                "topic": k,
                "overall": float(found.overall[k]),
                "share": _whole(found.share[shown, k]),
                "low": _whole(found.low[shown, k]),
                "high": _whole(found.high[shown, k]),
            }
            for k in kept
        ],
    }


def _place(position: date | float | None) -> float | None:
    """Days since 1970 of a date, or the number."""
    return float(position.toordinal() - date(1970, 1, 1).toordinal()) if isinstance(position, date) else position


def _whole(shares: Any) -> list[int]:
    found: list[int] = np.rint(UNIT * shares).astype(np.int64).tolist()
    return found

"""The model card, as Markdown to pass on with the model."""

from __future__ import annotations

from typing import Any

from topoi.report.sections import scores
from topoi.report.subject import Subject

MOST_TOPICS = 100  # lines of its table: the page shows all topics elsewhere


def data(subject: Subject) -> dict[str, Any]:
    """The text of the card, with the scores that the page has."""
    from topoi.report.card import make_card  # which needs other sections

    data = {} if subject.corpus is None else {"documents given to the report": subject.corpus.n_documents}
    tasks = subject.target.tasks
    card = make_card(subject.estimator, data=data, scores=_figures(subject), tasks=tasks, most_topics=MOST_TOPICS)
    return {"markdown": str(card)}


def _figures(subject: Subject) -> dict[str, Any]:
    """The scores of the page by name; those of documents that were learned from say so."""
    found = scores.data(subject)
    if found is None:
        return {}
    if found["kind"] == "numbers":
        pairs = [(f"{name} of {out['name']}", out[name]) for out in found["outputs"] for name in ("r2", "mae", "rmse")]
    else:
        pairs = found["figures"]
    when = {True: "held out", False: "learned from", None: "perhaps learned from"}[subject.held_out]
    return {f"{name} ({when})": value for name, value in pairs}

"""The sections of the page, in its order. A new one is two files beside this, and an import and a line here.

`<name>.py` has `data(subject)`: what the section shows, as plain lists, dicts, texts and numbers; None where there is
nothing to show, and then the section is not on the page. `<name>.js` draws it. docs/architecture.md has the recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topoi.report.sections import (
    card,
    convergence,
    covariates,
    documents,
    groups,
    labels,
    overview,
    prevalence,
    scores,
    settings,
    topics,
)
from topoi.report.subject import Subject

SECTIONS: dict[str, Callable[[Subject], Any]] = {
    "overview": overview.data,
    "topics": topics.data,
    "groups": groups.data,
    "prevalence": prevalence.data,
    "labels": labels.data,
    "covariates": covariates.data,
    "documents": documents.data,
    "scores": scores.data,
    "convergence": convergence.data,
    "settings": settings.data,
    "card": card.data,
}

__all__ = ["SECTIONS"]

"""The card of a model in a folder: the same as `estimator.model_card()`, with what the folder knows beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topoi.cli._folder import CARD, ESTIMATOR, Model, own_folder

if TYPE_CHECKING:
    from topoi.report.card import ModelCard


def card_of(model: Model) -> ModelCard:
    """The card of a model: what its folder knows of its documents, and of how well it does."""
    from topoi.report.card import make_card

    about = model.about
    counts, held_out, reading = about.get("counts", {}), about.get("held_out", {}), model.reading
    texts = reading.get("text") or []
    columns = [texts] if isinstance(texts, str) else list(texts)
    columns += [reading.get(name) for name in ("label", "target", "topic_labels")]
    columns += reading.get("covariate") or []
    data = {
        # Not the whole path: where a file lies on somebody's disk is nobody else's business.
        "source": Path(str(about["source"])).name if about.get("source") not in (None, "-") else None,
        "format": reading.get("format"),
        "columns": ", ".join(str(name) for name in columns if name) or None,
        "documents read": counts.get("documents"),
        "documents learned from": counts.get("learned_from"),
        "documents without a word of the vocabulary": counts.get("empty") or None,
        "documents that could not be read": counts.get("skipped") or None,
        "documents held out": held_out.get("documents") or None,
    }
    scores = {f"{name} (held out)": value for name, value in held_out.items() if name not in ("share", "documents")}
    known = {name: value for name, value in data.items() if value is not None}
    title = f"Model card: {model.path.name}" if about else None
    file = f"{model.path.name}/{ESTIMATOR}" if about else model.path.name
    return make_card(model.estimator, data=known, scores=scores, tasks=model.target.tasks, file=file, title=title)


def save_card(model: Model) -> None:
    """Write `model_card.md`."""
    from topoi._disk.whole import write_whole

    data = str(card_of(model)).encode("utf-8", "replace")
    write_whole(own_folder(model) / CARD, data, follow=False)

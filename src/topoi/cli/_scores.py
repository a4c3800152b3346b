"""Scores on documents whose labels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi.cli._folder import Model
    from topoi.readers import Dataset


def prediction_scores(model: Model, data: Dataset, level: float = 0.9) -> dict[str, Any]:
    """How predictions compare with the labels that are known; nothing if there are none.

    A label that the model does not know cannot be right: such documents are left out, and counted.
    """
    from topoi.cli._app import told_warnings
    from topoi.cli._labels import to_compare
    from topoi.evaluate import score_predictions

    known = to_compare(model.target, data)
    if known is None:
        return {}
    some = data.take(known.rows)
    with told_warnings():
        scores = score_predictions(
            model.estimator, some.corpus, known.y, level=level, covariates=some.covariates
        ).as_dict()
    if model.target.kind == "several":
        scores["per_label"] = [
            {**row, "label": name} for row, name in zip(scores["per_label"], model.target.values, strict=True)
        ]
    return {"scored_documents": len(known.rows), "documents_with_unknown_labels": known.n_foreign, **scores}


def held_out_scores(model: Model, data: Dataset, rows: Any) -> dict[str, Any]:
    """Scores on documents that were kept out of the fit."""
    from topoi.cli._app import told_warnings
    from topoi.evaluate import evaluate

    test = data.take(rows)
    scores = prediction_scores(model, test)
    if len(model.estimator.topic_models_) == 1 and test.corpus.n_tokens:
        with told_warnings():
            measures = ["document_completion"]
            scores |= evaluate(model.estimator, test.corpus, measures=measures, covariates=test.covariates)
    return scores

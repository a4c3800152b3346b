"""Topics as rows of a table: number, name, share, words, trust, and what they say of labels or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from topoi.chain.model import TopicModel
from topoi.estimators.fitted import Fitted

#: Keys of a row that say how far the topic can be trusted, where there are several chains.
TRUST = ("found_in", "n_chains", "agreement")


def describe_topics(
    estimator: Fitted, n_words: int = 10, tasks: Sequence[str] | None = None,
    models: Sequence[TopicModel] | None = None, order: str = "telling",
) -> list[dict[str, Any]]:  # fmt: skip
    """The topics in the order of their numbers: name, share, words with probabilities, weights for labels, trust.

    `tasks` are the names of what is predicted, if others are wanted than those of the estimator; `models` its topic
    models, if their words are to have other names.
    """
    parts = estimator.topic_models_ if models is None else models
    names = estimator.target_.tasks if tasks is None else tasks
    trust, labels = estimator.topic_agreement(), estimator.topic_names_
    weights = getattr(estimator, "topic_weights_", None)
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        shares, columns = part.topic_shares.tolist(), part.top_columns(n_words, order)
        for k in range(part.n_topics):
            topic = len(rows)
            p = part.word_probabilities(np.array(columns[k], np.int64))[:, k].tolist()
            words = [{"word": part.word(w), "probability": value} for w, value in zip(columns[k], p, strict=True)]
            row: dict[str, Any] = {"topic": topic, "name": labels[topic], "share": shares[k], "words": words}
            if trust:
                row |= asdict(trust[topic])
            if len(parts) > 1:
                row["model"] = number
            if weights is not None:
                own = [number] if len(parts) > 1 else range(len(names))
                row["weights"] = {names[task]: float(weights[task, topic]) for task in own}
            rows.append(row)
    return rows


def most_telling(weights: dict[str, float], most_for: int = 2, most_against: int = 1) -> list[tuple[str, float]]:
    """The labels that a topic speaks for most, and those that it speaks against most."""
    order = sorted(weights.items(), key=lambda item: -item[1])
    speaks_for = [item for item in order if item[1] > 0][:most_for]
    against = [item for item in order[::-1] if item[1] <= 0][:most_against]
    return speaks_for + against

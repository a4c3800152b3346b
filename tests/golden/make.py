"""Write the golden files of this version, models and checkpoints: python tests/golden/make.py 0.1.0

Run once per released format, never again for an old one: that they still load is what they are for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from topoi import LDA, Checkpoints, MedLDAClassifier, MedLDARegressor

HERE = Path(__file__).parent


SETTINGS = {"n_topics": 3, "n_sweeps": 10, "n_samples": 2, "random_state": 0}
#: Runs that leave checkpoints, stopped when some samples have been kept and the log joint has been noted.
LONG = SETTINGS | {"n_sweeps": 30, "n_samples": 12}
STOPPED = 24
LEARNED = {"doc_topic_prior": "learn", "topic_word_prior": "learn"}


def documents() -> tuple[Any, Any]:
    """Counts of words, and a class each."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(12, 0.3), 3)
    y = rng.integers(0, 3, 40)
    return np.array([rng.multinomial(30, topics[k]) for k in y]), y


def models(version: str) -> None:
    """A small estimator of each class, and what it says of some documents."""
    X, y = documents()
    for name, model in (
        ("lda", LDA(**SETTINGS, infer_method="mean_field").fit(X)),
        ("learned", LDA(**SETTINGS, **LEARNED).fit(X)),
        ("classifier", MedLDAClassifier(**SETTINGS).fit(X, y)),
        ("regressor", MedLDARegressor(**SETTINGS).fit(X, y * 1.5)),
    ):
        model.save(HERE / f"{name}-{version}.topoi")
        said = {"class": type(model).__name__, "X": X[:5].tolist(), "transform": model.transform(X[:5]).tolist()}
        if hasattr(model, "predict"):
            said["predict"] = model.predict(X[:5]).tolist()
        if hasattr(model, "partial_fit"):  # goes on learning what was learned
            model.partial_fit(X[5:20])
            said["later"] = {
                "X": X[5:20].tolist(), "doc_topic_prior": model.doc_topic_prior_.tolist(),
                "topic_word_prior": model.topic_word_prior_, "transform": model.transform(X[:5]).tolist(),
            }  # fmt: skip
        (HERE / f"{name}-{version}.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def checkpoints(version: str) -> None:
    """Runs that were stopped after some sweeps, and what they were runs of."""
    X, y = documents()
    for name, estimator, labels, more in (
        ("lda", LDA, None, {}),
        ("learned", LDA, None, LEARNED),
        ("blocks", LDA, None, LEARNED | {"sampler": "partial", "engine": "blocks"}),
        ("classifier", MedLDAClassifier, y, {}),
    ):
        folder = HERE / f"checkpoints-{name}-{version}"
        settings = LONG | more
        model = estimator(**settings, callbacks=[lambda progress: progress.sweep == STOPPED])
        target = {} if labels is None else {"y": labels}
        model.fit(X, **target, checkpoint=Checkpoints(folder, every_sweeps=STOPPED))
        run = {"class": estimator.__name__, "settings": settings, "sweep": STOPPED, "X": X.tolist(),
               "y": None if labels is None else labels.tolist(), "trace": model.traces_[0].tolist()}  # fmt: skip
        (folder / "run.json").write_text(json.dumps(run) + "\n", encoding="utf-8")


if __name__ == "__main__":
    models(sys.argv[1])
    checkpoints(sys.argv[1])

"""Write the golden files of this version: python tests/golden/make.py 0.1.0

Run once per released format, never again for an old one: that they still load is what they are for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from topoi import LDA, MedLDAClassifier, MedLDARegressor

HERE = Path(__file__).parent


def main(version: str) -> None:
    """A small estimator of each class, and what it says of some documents."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(12, 0.3), 3)
    y = rng.integers(0, 3, 40)
    X = np.array([rng.multinomial(30, topics[k]) for k in y])
    settings = {"n_topics": 3, "n_sweeps": 10, "n_samples": 2, "random_state": 0}
    for name, model in (
        ("lda", LDA(**settings, infer_method="mean_field").fit(X)),
        ("classifier", MedLDAClassifier(**settings).fit(X, y)),
        ("regressor", MedLDARegressor(**settings).fit(X, y * 1.5)),
    ):
        model.save(HERE / f"{name}-{version}.topoi")
        said = {"class": type(model).__name__, "X": X[:5].tolist(), "transform": model.transform(X[:5]).tolist()}
        if hasattr(model, "predict"):
            said["predict"] = model.predict(X[:5]).tolist()
        (HERE / f"{name}-{version}.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

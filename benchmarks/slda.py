"""tomotopy's supervised model on the 20 classes of 20 Newsgroups: one binary response for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled import newsgroups
from topoi.corpus import Corpus


def signs(y: NDArray[Any]) -> NDArray[np.float64]:
    """+1 for the class of a document, −1 for the others."""
    return np.where(y[:, None] == np.unique(y)[None, :], 1.0, -1.0)


def slda_model(n_topics: int, seed: int) -> Any:
    """A model that holds the training documents and is ready to train."""
    import tomotopy

    data = newsgroups()
    targets = (signs(data.y) > 0).astype(float)
    model = tomotopy.SLDAModel(k=n_topics, vars="b" * targets.shape[1], alpha=6.4 / n_topics, eta=0.01, seed=seed + 1)
    train = Corpus.from_counts(data.X)
    for d in range(train.n_documents):
        model.add_doc([str(w) for w in train.document(d)] or ["–"], y=targets[d].tolist())
    return model


def slda_train(model: Any, n_sweeps: int) -> None:
    """Sweeps on one thread."""
    import tomotopy

    model.train(n_sweeps, workers=1, parallel=tomotopy.ParallelScheme.NONE)


def slda_accuracy(model: Any) -> float:
    """Share of the test documents whose class has the highest estimate; topics by its quick way, all together."""
    import tomotopy

    data = newsgroups()
    test = Corpus.from_counts(data.X_test, allow_empty=True)
    documents = [model.make_doc([str(w) for w in test.document(d)] or ["–"]) for d in range(test.n_documents)]
    model.infer(documents, workers=1, parallel=tomotopy.ParallelScheme.NONE, together=True)
    chosen = np.array([np.argmax(model.estimate(document)) for document in documents])
    return float(np.mean(chosen == data.y_test))

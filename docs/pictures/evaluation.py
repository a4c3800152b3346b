"""Pictures of docs/evaluation.md, and the scores of its classifier: chains, weights, and documents by their topics.

Run from the root of the repository: `PYTHONPATH=src python docs/pictures/evaluation.py`
"""

from __future__ import annotations

from pathlib import Path

from topoi import LDA, plot
from topoi.cli import _demo as demo
from topoi.evaluate import evaluate

IMAGES = Path(__file__).parent.parent / "images"
docs = demo.read()

chains = LDA(20, doc_topic_prior="learn", n_sweeps=400, n_chains=4, random_state=0).fit(docs.train)
plot.traces(chains).figure.savefig(IMAGES / "traces.png", dpi=80)

labelled = demo.classify(docs, n_topics=20, n_sweeps=100, seed=0, n_jobs=1)
assert labelled is not None
classifier, test, labels = labelled.classifier, labelled.test, labelled.test_labels
plot.weights(classifier).figure.savefig(IMAGES / "weights.png", dpi=80)
scores = evaluate(classifier, test, labels)
for name in ("accuracy", "micro_f1", "macro_f1", "log_loss", "calibration_error"):
    print(f"{name:30} {scores[name]:.3f}")

lda = LDA(classifier.n_topics, n_sweeps=100, random_state=0).fit(docs.train)
figure = plot.compare_embeddings(classifier, lda, test, labels)[0].figure
figure.savefig(IMAGES / "embeddings.png", dpi=80)
print(f"{classifier.n_topics} topics, {len(classifier.classes_)} modules")

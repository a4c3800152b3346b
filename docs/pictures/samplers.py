"""Picture of docs/samplers.md: the two factors of the conditional of one real token, and their product.

Run from the root of the repository: `PYTHONPATH=src python docs/pictures/samplers.py`
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from topoi import LDA
from topoi.cli import _demo as demo

WORD = "server"
train = demo.read().train
lda = LDA(40, random_state=0).fit(train)
w = int(np.flatnonzero(train.vocabulary == WORD)[0])
d = max(
    (d for d in range(train.n_documents) if w in train.document(d)),
    key=lambda d: (lda.doc_topic_[d] > 0.05).sum() * (len(train.document(d)) > 40),
)
n = len(train.document(d))
total = lda.doc_topic_prior_.sum()
document = np.maximum(lda.doc_topic_[d] * (n + total) - lda.doc_topic_prior_, 0) + lda.doc_topic_prior_
word = lda.components_[:, w]
parts = [
    (document, f"document: n_dk + α\n{n} tokens", "sparse: few topics in a document"),
    (word, f"word: φ_wk of “{WORD}”", "sparse: few topics have a word"),
    (document * word / (document * word).sum(), "product: p(z = k | rest)", "what all samplers draw from"),
]
figure = Figure(figsize=(8.4, 2.7), layout="constrained")
for ax, (values, title, note), colour in zip(
    figure.subplots(1, 3), parts, ("#457b9d", "#e9a13b", "#2a9d8f"), strict=True
):
    ax.bar(np.arange(lda.n_topics), values, color=colour)
    ax.set_title(title, fontsize=9, loc="left")
    ax.set_xlabel(f"topic k\n{note}", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent.parent / "images" / "samplers.png", dpi=110)

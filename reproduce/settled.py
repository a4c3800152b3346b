"""The papers' test procedure: topics of new documents by Gibbs sampling until the likelihood settles, then the weights.

    p(z_i = k | rest) ∝ φ̂_wk (n_dk⁻ + α_k),    φ̂_wk ∝ n_wk + β

"This Gibbs sampling procedure is repeated until some convergence criteria is met (e.g. the relative change of the data
likelihood falls below some threshold). Finally we apply the classifier on the averaged topic assignment" (LightMedLDA
§3.5; Gibbs MedLDA §3.4 has the same draws). The papers give no threshold: ours is THRESHOLD, from a number of sweeps to
twice that number, of which the later half is averaged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.model import TopicModel
from topoi.corpus import Corpus
from topoi.predict.fold_in import infer

THRESHOLD = 1e-3
FIRST, MOST = 5, 160  # sweeps
BATCH = 256  # documents whose words' probabilities are made at a time


def log_likelihood(model: TopicModel, corpus: Corpus, theta: NDArray[np.float64]) -> float:
    """Σ log p(w | θ, φ) over all tokens that have a word which the model knows."""
    phi = model.topic_word()
    total = 0.0
    for first in range(0, corpus.n_documents, BATCH):
        last = min(first + BATCH, corpus.n_documents)
        lo, hi = corpus.doc_ptr[first], corpus.doc_ptr[last]
        document = np.repeat(np.arange(first, last), corpus.doc_lengths[first:last])
        total += float(np.log(np.einsum("ik,ki->i", theta[document], phi[:, corpus.words[lo:hi]])).sum())
    return total


def sweeps_until_settled(model: TopicModel, corpus: Corpus, seed: int) -> int:
    """The first of FIRST, 2 · FIRST, … sweeps after which the likelihood changes by less than THRESHOLD."""
    n, before = FIRST, np.inf
    with Pool(1) as pool:
        while True:
            now = log_likelihood(model, corpus, infer(model, corpus, n, seed, pool, "gibbs"))
            if abs(now - before) <= THRESHOLD * abs(now) or 2 * n > MOST:
                return n
            n, before = 2 * n, now


def with_gibbs(model: Any, X: Any) -> Any:
    """The fitted estimator, with the test procedure of the papers for documents as these."""
    corpus = Corpus.from_counts(X, allow_empty=True)
    n = max(sweeps_until_settled(one.chains_[0], corpus, one.seed_) for one in model.estimators_)
    return model.set_params(infer_method="gibbs", infer_sweeps=n)

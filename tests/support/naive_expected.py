"""Slow, obvious twins of the expected counts: the formulas of chain/factors/expected.py on dense arrays."""

from __future__ import annotations

import numpy as np

DOCUMENT_PASSES, CAUTION = 2, 4.0


def expected_document(words, phi, alpha):
    """Expected topic counts (K) of a document, which takes up its distinct words one after the other, two times."""
    alpha = np.asarray(alpha, float)
    n = alpha / alpha.sum() * len(words)
    distinct = sorted(set(words)) * DOCUMENT_PASSES
    for v, w in enumerate(distinct, start=1):
        keep = (1 - (10 + v) ** -0.9) ** list(words).count(w)
        gamma = (n + alpha) * phi[w]
        n = keep * n + (1 - keep) * len(words) * gamma / gamma.sum()
    return n


def expected_phi(documents, n_wk, alpha, beta, *, sweep=0, passes=1, n_batches=1, base=0.0):
    """φ (V, K) after stochastic passes that begin with the counts n_wk of the topics; `base` are pseudo-counts.

    `alpha` is that of all documents (K), or of each (D, K); `beta` that of all words, or of each (V).
    """
    own = np.broadcast_to(np.asarray(alpha, float), (len(documents), n_wk.shape[1]))
    documents = list(zip(documents, own, strict=True))
    n_tokens = sum(len(words) for words, _ in documents)
    beta = np.broadcast_to(np.asarray(beta, float), (len(n_wk),))[:, None]
    table = (n_wk + base).astype(float)
    batches = [documents[b::n_batches] for b in range(n_batches)]
    batches = [batch for batch in batches if any(len(words) for words, _ in batch)] * passes
    for t, batch in enumerate(batches, start=sweep * len(batches) + 1):
        phi = (table + CAUTION * beta) / (table.sum(0) + CAUTION * beta.sum())
        found = np.zeros_like(table)
        for words, alpha in batch:
            n_d = expected_document(words, phi, alpha)
            for w in words:
                gamma = (n_d + alpha) * phi[w]
                found[w] += gamma / gamma.sum()
        rho = min(1.0, 10 * (20 + t) ** -0.9)
        table = (1 - rho) * table + rho * (base + n_tokens / sum(len(words) for words, _ in batch) * found)
    return (table + beta) / (table.sum(0) + beta.sum())


def mean_field_matrix(tiny, d, phi):
    """Transition matrix of document d, whose tokens draw their topics independently given its expected counts."""
    n_d = expected_document(tiny.documents[d], phi, tiny.own[d])
    tokens = [i for i, (document, _) in enumerate(tiny.tokens) if document == d]
    matrix = np.zeros((len(tiny.states),) * 2)
    for a, z in enumerate(tiny.states):
        for b, new in enumerate(tiny.states):
            if all(x == y for i, (x, y) in enumerate(zip(z, new, strict=True)) if i not in tokens):
                matrix[a, b] = 1.0
                for i in tokens:
                    gamma = (n_d + tiny.own[d]) * phi[tiny.tokens[i][1]]
                    matrix[a, b] *= gamma[new[i]] / gamma.sum()
    return matrix

"""Whether a default LDA fit can stop early by its log joint: sweeps saved and perplexity lost, for several `tol`.

    TOPOI_DATA=… PYTHONPATH=. python verify/early_stop.py            docstrings, uci_kos and uci_nips
    TOPOI_DATA=… PYTHONPATH=. python verify/early_stop.py docstrings uci_kos

One document in ten is held out. For every seed the whole plan runs once, and again with each `tol` that stops it; a fit
that stops has gone the same way until then. The log joint is evaluated every ten sweeps and must gain little three
times running, so that no fit of 50 sweeps stops before sweep 40.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse

from benchmarks.data import data_set
from topoi import LDA, Corpus
from topoi.evaluate import document_completion

COLLECTIONS = ("docstrings", "uci_kos", "uci_nips")
TOPICS = 50
SEEDS = (0, 1, 2)
TOLS = (1e-2, 3e-3, 1e-3, 1e-4)


def documents(name: str) -> Corpus:
    """Documents by the name of their collection."""
    if name == "docstrings":
        from topoi.cli import _demo as demo

        return demo.read().train
    return Corpus.from_counts(sparse.csr_array(sparse.load_npz(data_set(name, "counts.npz") / "counts.npz")))


def main(names: list[str]) -> None:
    """Print a row of the table for each collection and seed."""
    print("| documents | seed | gain of the log joint, sweeps 20, 30, 40, 50 | perplexity | tol: sweeps, perplexity |")
    print("|---|---|---|---|---|")
    for name in names:
        corpus = documents(name)
        held_out = np.arange(corpus.n_documents) % 10 == 0
        train, test = corpus.take(~held_out), corpus.take(held_out)
        for seed in SEEDS:
            whole = LDA(TOPICS, random_state=seed).fit(train)
            values = whole.log_joint_[:, 1]
            gains = np.diff(values) / np.abs(values[1:])
            cells = [name, str(seed), ", ".join(f"{gain:.1e}" for gain in gains), f"{perplexity(whole, test):.2f}"]
            stopped = []
            for tol in TOLS:
                if (gains[:3] < tol).all():
                    early = LDA(TOPICS, random_state=seed, tol=tol).fit(train)
                    stopped.append(f"{tol:g}: {early.n_sweeps_}, {perplexity(early, test):.2f}")
            print("| " + " | ".join([*cells, "; ".join(stopped) or "none stops"]) + " |", flush=True)


def perplexity(lda: LDA, test: Corpus) -> float:
    """Of one half of each held-out document given the other."""
    return document_completion(lda, test).perplexity


if __name__ == "__main__":
    main(sys.argv[1:] or list(COLLECTIONS))

"""Do all exact samplers, and tomotopy, settle at the same log joint? On a real corpus, several seeds.

    TOPOI_DATA=... python verify/agreement.py [--sweeps 300] [--seeds 5] [--topics 50]

Prints a Markdown table. Exact samplers must agree with each other within 0.5 %, and with tomotopy within 1 %.
The log joint of tomotopy's topics is computed by the same function as ours, with the same priors.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.diagnostics import log_joint
from topoi.samplers import SAMPLERS
from topoi.state import State, new_state

BETA = 0.01


def ours(name: str, corpus: Corpus, alpha: np.ndarray, seed: int, sweeps: int) -> float:
    """Log joint per token, averaged over the last tenth of the sweeps, after a burn-in with delayed counts.

    The burn-in is that of `auto`. From random topics the slowest mixers (`partial`) would still be rising.
    """
    state = new_state(corpus, alpha, BETA, seed)
    burn_in = SAMPLERS["delayed"](state)
    for _ in range(100):
        burn_in.sweep()
    sampler = SAMPLERS[name](state)
    values = []
    for sweep in range(sweeps):
        sampler.sweep()
        if sweep >= sweeps - max(sweeps // 10, 1):
            values.append(log_joint(state))
    return float(np.mean(values)) / corpus.n_tokens


def tomotopys(corpus: Corpus, alpha: np.ndarray, seed: int, sweeps: int) -> float:
    """The same for tomotopy's topics."""
    import tomotopy

    model = tomotopy.LDAModel(k=len(alpha), alpha=float(alpha[0]), eta=BETA, seed=seed + 1)
    model.optim_interval = 0
    filled = [d for d in range(corpus.n_documents) if len(corpus.document(d))]
    for d in filled:
        model.add_doc([str(w) for w in corpus.document(d)])
    values = []
    kept = max(sweeps // 10, 1)
    model.train(sweeps - kept, workers=1, parallel=tomotopy.ParallelScheme.NONE)
    for _ in range(kept):
        model.train(1, workers=1, parallel=tomotopy.ParallelScheme.NONE)
        z = np.zeros(corpus.n_tokens, np.uint16)
        for d, document in zip(filled, model.docs, strict=True):
            # tomotopy keeps the words in the order given, which is ours.
            z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]] = document.topics
        values.append(log_joint(State(corpus, alpha, BETA, z, 0)))
    return float(np.mean(values)) / corpus.n_tokens


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--samplers", nargs="+", default=[n for n in SAMPLERS if SAMPLERS[n].exact])
    args = parser.parse_args()
    counts = sparse.load_npz(Path(os.environ["TOPOI_DATA"]) / "uci_kos" / "counts.npz")
    occurring = np.asarray(counts.sum(0)).ravel() > 0  # tomotopy knows only the words that occur
    corpus = Corpus.from_counts(counts.tocsr()[:, occurring])
    alpha = np.full(args.topics, 0.1)
    print(f"{corpus}, K = {args.topics}, α = 0.1, β = {BETA}, {args.sweeps} sweeps, {args.seeds} seeds\n")
    print("| sampler | log joint per token | standard deviation over seeds |\n|---|---|---|", flush=True)
    level = {}
    for name in [*args.samplers, "tomotopy"]:
        run = tomotopys if name == "tomotopy" else lambda *a, name=name: ours(name, *a)
        values = [run(corpus, alpha, seed, args.sweeps) for seed in range(args.seeds)]
        level[name] = np.mean(values)
        print(f"| {name} | {np.mean(values):.4f} | {np.std(values, ddof=1):.4f} |", flush=True)
    exact = [level[name] for name in args.samplers]
    spread = (max(exact) - min(exact)) / abs(np.mean(exact))
    far = max(abs(value / level["tomotopy"] - 1) for value in exact)
    print(f"\nLargest difference: exact samplers {spread:.2%} (limit 0.5 %), from tomotopy {far:.2%} (limit 1 %).")
    raise SystemExit(int(spread > 0.005 or far > 0.01))


if __name__ == "__main__":
    main()

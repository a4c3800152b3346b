"""Do all exact samplers, and tomotopy, settle at the same log joint? On a real corpus, several seeds.

    TOPOI_DATA=... python verify/agreement.py [--seeds 5] [--topics 20] [--documents 600] [--window 200]

Every chain starts from random topics and runs until it has settled: until the mean log joint of a window of sweeps is
less than 0.01 % above that of the window before it. The same rule for every sampler, so that a slow one gets the
sweeps that it needs. Prints a Markdown table. Exact samplers must agree with each other within 0.5 %, and with tomotopy
within 1 %. The log joint of tomotopy's topics is computed by the same function as ours, with the same priors.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus

BETA = 0.01
SETTLED = 1e-4
EVERY = 5  # sweeps between two evaluations of the log joint


def settle(advance: Callable[[int], float], window: int, longest: int) -> tuple[float, int]:
    """Mean log joint of the last window, and the sweeps taken. advance(n): n sweeps, then the log joint."""
    before = -np.inf
    for sweeps in range(window, longest + 1, window):  # noqa: B007
        level = float(np.mean([advance(EVERY) for _ in range(window // EVERY)]))
        if level - before < SETTLED * abs(level):
            break
        before = level
    return level, sweeps


def ours(name: str, corpus: Corpus, alpha: np.ndarray, seed: int) -> Callable[[int], float]:
    """A chain of ours, from random topics."""
    state = new_state(corpus, fixed_priors(alpha, BETA), seed)
    sampler = SAMPLERS[name](state)

    def advance(n: int) -> float:
        for _ in range(n):
            sampler.sweep()
        return log_joint(state) / corpus.n_tokens

    return advance


def tomotopys(corpus: Corpus, alpha: np.ndarray, seed: int) -> Callable[[int], float]:
    """The same for tomotopy."""
    import tomotopy

    model = tomotopy.LDAModel(k=len(alpha), alpha=float(alpha[0]), eta=BETA, seed=seed + 1)
    model.optim_interval = 0
    filled = [d for d in range(corpus.n_documents) if len(corpus.document(d))]
    for d in filled:
        model.add_doc([str(w) for w in corpus.document(d)])

    def advance(n: int) -> float:
        model.train(n, workers=1, parallel=tomotopy.ParallelScheme.NONE)
        z = np.zeros(corpus.n_tokens, np.uint16)
        for d, document in zip(filled, model.docs, strict=True):
            # tomotopy keeps the words in the order given, which is ours.
            z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]] = document.topics
        return log_joint(State(corpus, fixed_priors(alpha, BETA), z, 0)) / corpus.n_tokens

    return advance


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--documents", type=int, default=600, help="the first so many of UCI KOS; -1: all, hours")
    parser.add_argument("--window", type=int, default=200, help="sweeps that are averaged")
    parser.add_argument("--longest", type=int, default=6000, help="sweeps after which a chain stops, settled or not")
    parser.add_argument("--samplers", nargs="+", default=[n for n in SAMPLERS if SAMPLERS[n].exact])
    args = parser.parse_args()
    counts = sparse.load_npz(Path(os.environ["TOPOI_DATA"]) / "uci_kos" / "counts.npz").tocsr()
    counts = counts[: args.documents] if args.documents >= 0 else counts
    occurring = np.asarray(counts.sum(0)).ravel() > 0  # tomotopy knows only the words that occur
    corpus = Corpus.from_counts(counts[:, occurring])
    alpha = np.full(args.topics, 0.1)
    print(f"{corpus}, K = {args.topics}, α = 0.1, β = {BETA}, windows of {args.window} sweeps, {args.seeds} seeds\n")
    print("| sampler | log joint per token | standard deviation over seeds | sweeps |\n|---|---|---|---|", flush=True)
    level = {}
    for name in [*args.samplers, "tomotopy"]:
        values, sweeps = [], []
        for seed in range(args.seeds):
            chain = tomotopys(corpus, alpha, seed) if name == "tomotopy" else ours(name, corpus, alpha, seed)
            value, taken = settle(chain, args.window, args.longest)
            values.append(value)
            sweeps.append(taken)
        level[name] = np.mean(values)
        spread = np.std(values, ddof=1) if len(values) > 1 else np.nan
        print(f"| {name} | {np.mean(values):.4f} | {spread:.4f} | {min(sweeps)}–{max(sweeps)} |", flush=True)
    exact = [level[name] for name in args.samplers]
    spread = (max(exact) - min(exact)) / abs(np.mean(exact))
    far = max(abs(value / level["tomotopy"] - 1) for value in exact)
    print(f"\nLargest difference: exact samplers {spread:.2%} (limit 0.5 %), from tomotopy {far:.2%} (limit 1 %).")
    raise SystemExit(int(spread > 0.005 or far > 0.01))


if __name__ == "__main__":
    main()

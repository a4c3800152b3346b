"""Which share of the topics does FastLDA visit as their number grows? The paper's claim, on a real corpus.

    TOPOI_DATA=... python verify/fast_visits.py [--topics 50 100 200 400] [--alpha-sum 2]

Every K: 100 sweeps of `delayed` and 20 of `sparse` bring the chain near its posterior, then one sweep of `fast` counts
the topics that it visits before the bounds decide. Prints a Markdown table (its last result is in docs/samplers.md).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import new_state
from topoi.corpus import Corpus


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--alpha-sum", type=float, default=2.0, help="Σα; the paper's is 2")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    corpus = Corpus.from_counts(sparse.load_npz(Path(os.environ["TOPOI_DATA"]) / "uci_kos" / "counts.npz"))
    print(f"{corpus}, Σα = {args.alpha_sum:g}, β = 0.01, seed {args.seed}\n")
    print("| K | topics visited per token | share |\n|--:|--:|--:|", flush=True)
    for n_topics in args.topics:
        state = new_state(corpus, fixed_priors(np.full(n_topics, args.alpha_sum / n_topics), 0.01), args.seed)
        for name, n_sweeps in (("delayed", 100), ("sparse", 20)):
            sampler = SAMPLERS[name](state)
            for _ in range(n_sweeps):
                sampler.sweep()
        visited = SAMPLERS["fast"](state).sweep()["topics_visited"]
        print(f"| {n_topics} | {visited:.1f} | {visited / n_topics:.1%} |", flush=True)


if __name__ == "__main__":
    main()

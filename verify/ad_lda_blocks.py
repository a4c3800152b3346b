"""How far AD-LDA is off on a real corpus, by the number of blocks that its documents are cut into.

    python verify/ad_lda_blocks.py                  # the first 600 posts of UCI KOS, three seeds: some minutes
    python verify/ad_lda_blocks.py --blocks 1 4 16  # other cuts

Every chain goes on from the same topics, where `collapsed` has settled. For each: log joint per token and the number of
topics that a document is about, averaged over the later sweeps, and their difference from `collapsed`. Blocks have the
same number of documents, whatever the corpus would say. Prints a Markdown table (the last one is in docs/exactness.md).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from reproduce.bias_corpus import ALPHA, BETA, TOPICS, average
from reproduce.chains import begun, sweeps
from reproduce.corpora import corpus


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--blocks", type=int, nargs="+", default=[1, 2, 8, 32, 128])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--settle", type=int, default=600)
    parser.add_argument("--sweeps", type=int, default=200, help="so many unused, and as many averaged")
    given = parser.parse_args()
    documents = corpus("kos", given.documents)
    cuts = {n: np.linspace(0, documents.n_documents, n + 1).astype(np.int64) for n in given.blocks}
    kinds = [("collapsed", 1), *(("ad_lda", n) for n in given.blocks), ("delayed", 1)]
    found = np.zeros((given.seeds, len(kinds), 2))
    for seed in range(given.seeds):
        state = begun(documents, TOPICS, ALPHA, BETA, seed, 20)
        sweeps(state, "collapsed", given.settle)
        for row, (name, n) in enumerate(kinds):
            vars(documents)["block_ptr"] = cuts.get(n, np.array([0, documents.n_documents]))
            values = average(state, name, given.sweeps, given.sweeps)
            found[seed, row] = values["log_joint"], values["width"]
    off = found - found[:, :1]
    print("| sampler | blocks | log joint per token | from `collapsed` | topics of a document | from `collapsed` |")
    print("|---|---|---|---|---|---|")
    for row, (name, n) in enumerate(kinds):
        (joint, wide), (joint_off, wide_off) = found[:, row].mean(0), off[:, row].mean(0)
        blocks = n if name == "ad_lda" else "any"
        print(f"| `{name}` | {blocks} | {joint:.3f} | {joint_off:+.3f} | {wide:.2f} | {wide_off:+.2f} |", flush=True)


if __name__ == "__main__":
    main()

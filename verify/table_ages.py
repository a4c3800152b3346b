"""How much it matters that the published samplers' tables of words have two parts of different age.

    python -m verify.table_ages

The papers make the table of a word, (n_wk + β)/(n_k + Vβ), at one time; ours (`_stale.py`) has the part with n_wk made
for the word, and the part with β made for all words together. Here both are as far apart as they can be, a whole sweep
of `light_published`: the total variation between such proposals and those of one age, over the tokens.
"""

from __future__ import annotations

import numpy as np

from reproduce.chains import begun
from reproduce.corpora import corpus
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import topic_counts

CASES = (("kos", 200, 20), ("kos", None, 100), ("20ng", 1500, 100))  # corpus, documents, topics


def main() -> None:
    """Print mean and largest distance for every case."""
    for name, n_documents, n_topics in CASES:
        state = begun(corpus(name, n_documents), n_topics, 0.1, 0.01, 0, 15)
        sampler = SAMPLERS["light_published"](state)
        sampler.sweep()
        before = 1 / (topic_counts(state)[1] + state.beta_sum)
        sampler.sweep()
        n_wk, n_k = topic_counts(state)
        scale = 1 / (n_k + state.beta_sum)
        parts = [n_wk * scale + state.beta * of_smoothing for of_smoothing in (before, scale)]
        two, one = (q / q.sum(1, keepdims=True) for q in parts)
        apart = 0.5 * np.abs(two - one).sum(1)
        mean = np.average(apart, weights=state.corpus.word_counts)
        print(f"{name}, K = {n_topics}: total variation {mean:.5f}, mean over tokens; at most {apart.max():.4f}")


if __name__ == "__main__":
    main()

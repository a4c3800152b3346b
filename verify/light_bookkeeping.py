"""Multiply-adds of a document under several tasks: differences of tilts by task, and by a table of pairs of topics.

    python -m verify.light_bookkeeping

LightMedLDA §4.1 has a bookkeeping in place of the first. docs/paper_errors.md says what it needs: a table of
Σ_c b_dc η_kc η_jc for every document, L K (K + 1)/2, after which a difference is one number, and a move K additions.
"""

from __future__ import annotations

import numpy as np

from benchmarks.labelled import newsgroups
from reproduce.corpora import sample
from reproduce.exact_speed import begun
from topoi.chain.samplers import SAMPLERS

DOCUMENTS = 600
TASKS = 20
TOPICS = (20, 50, 100, 200, 400)
PER_DIFFERENCE, PER_MOVE = 4, 2  # multiply-adds for each task


def main() -> None:
    """Print counts for each number of topics, from a sweep of `light_med` with the paper's settings."""
    data = sample(newsgroups(), DOCUMENTS, 1)
    for n_topics in TOPICS:
        state = begun(data, n_topics, True, 0)
        sampler = SAMPLERS["light_med"](state)
        sampler.sweep()
        sampler.begin()
        wanted, moved = np.sum(sampler.move(), axis=0).sum(1) / state.corpus.n_documents
        length = state.corpus.n_tokens / state.corpus.n_documents
        by_task = TASKS * (PER_DIFFERENCE * wanted + PER_MOVE * moved)
        by_table = TASKS * n_topics * (n_topics + 1) / 2 + wanted + moved * n_topics
        print(
            f"K = {n_topics}: {wanted / length:.1f} differences and {moved / length:.2f} moves a token of "
            f"{length:.0f}; multiply-adds by task {by_task:,.0f}, by table {by_table:,.0f}, "
            f"{by_table / by_task:.2f} times as many"
        )


if __name__ == "__main__":
    main()

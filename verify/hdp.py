"""Does `n_topics="auto"` find the number of topics that documents were drawn with?

    python verify/hdp.py [number of topics]

Documents are drawn from LDA with so many topics, of several sizes, and by several β. Everything is left to the defaults
but the number of sweeps. Printed are the posterior of the number (its mean, and 90 %) and the β that was learned.
"""

from __future__ import annotations

import sys

import numpy as np

from topoi import LDA

#: Documents, their mean length, words, α and β.
CASES = [
    (1000, 100, 1000, 0.1, 0.05),
    (1000, 100, 1000, 0.1, 0.01),
    (1000, 100, 1000, 0.15, 0.05),
    (2000, 80, 3000, 0.1, 0.02),
    (2500, 100, 1000, 0.15, 0.05),
]
SWEEPS = (200, 400)


def documents(n_topics: int, case: tuple[int, int, int, float, float], seed: int) -> np.ndarray:
    """Counts (documents, words)."""
    n_documents, length, n_words, alpha, beta = case
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, beta), n_topics)
    theta = rng.dirichlet(np.full(n_topics, alpha), n_documents)
    return np.array([rng.multinomial(rng.poisson(length), row @ phi) for row in theta])


def main() -> None:
    """Print a table."""
    n_topics = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    print("| documents | length | words | α | β | sweeps | number of topics, 90 % of the sweeps | β learned |")
    print("|---|---|---|---|---|---|---|---|")
    for seed, case in enumerate(CASES):
        counts = documents(n_topics, case, seed)
        for n_sweeps in SWEEPS:
            found = LDA("auto", n_sweeps=n_sweeps, random_state=0).fit(counts)
            mean, low, high = found.n_topics_posterior_
            cells = (*case, n_sweeps, f"{mean:.1f}, {low} to {high}", f"{float(found.topic_word_prior_):.3f}")
            print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()

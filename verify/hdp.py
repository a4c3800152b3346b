"""Does `n_topics="auto"` find the number of topics that documents were drawn with?

    python verify/hdp.py [number of topics [β]]

Documents are drawn from LDA with so many topics, of several sizes, and by several β. Everything is left to the defaults
but the number of sweeps, and β if it is given. Printed are the posterior of the number (its mean, and 90 %), the β that
was learned, and the perplexity of 500 more documents: of the topics that were found, and of a chain that is given the
number and begins with it.
"""

from __future__ import annotations

import sys

import numpy as np

from topoi import LDA, Corpus
from topoi.chain.diagnostics import completion

#: Documents, their mean length, words, α and β.
CASES = [
    (1000, 100, 1000, 0.1, 0.05),
    (1000, 100, 1000, 0.1, 0.01),
    (1000, 100, 1000, 0.15, 0.05),
    (2000, 80, 3000, 0.1, 0.02),
    (2500, 100, 1000, 0.15, 0.05),
]
SWEEPS = (200, 400)
N_TEST = 500


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
    beta = float(sys.argv[2]) if len(sys.argv) > 2 else None
    header = ("documents", "length", "words", "α", "β", "sweeps", "number of topics, 90 % of the sweeps", "β learned",
              "perplexity", f"{n_topics} topics given")  # fmt: skip
    print("|", " | ".join(header), "|\n|" + "---|" * len(header))
    for seed, case in enumerate(CASES):
        counts = documents(n_topics, (case[0] + N_TEST, *case[1:]), seed)
        train, test = counts[:-N_TEST], Corpus.from_counts(counts[-N_TEST:], allow_empty=True)
        for n_sweeps in SWEEPS:
            found = LDA("auto", topic_word_prior=beta, n_sweeps=n_sweeps, random_state=0).fit(train)
            given = LDA(
                n_topics, doc_topic_prior="hdp", topic_word_prior="learn", n_sweeps=n_sweeps, random_state=0
            ).fit(train)
            mean, low, high = found.n_topics_posterior_
            said = (f"{mean:.1f}, {low} to {high}", f"{float(found.topic_word_prior_):.3f}")
            cells = (*case, n_sweeps, *said, *(f"{perplexity(model, test):.1f}" for model in (found, given)))
            print("|", " | ".join(map(str, cells)), "|", flush=True)


def perplexity(lda: LDA, test: Corpus) -> float:
    """Of one half of each document given the other half."""
    return completion(lda.model_.topic_word(), lda.model_.alpha, test).perplexity


if __name__ == "__main__":
    main()

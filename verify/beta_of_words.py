"""Is a β for each word better than one for all? Held-out perplexity of five forms of β on three corpora.

    python verify/beta_of_words.py [number of topics, or auto [seeds]]

The folder of the data is named by the environment variable TOPOI_DATA (docs/benchmarks). Of every corpus some documents
are taken, one in five of which are test documents: half of the tokens of each are seen, and the others are foretold.
α is learned (with "auto" it is drawn). Words that do not occur in training are left out. Forms of β:

    0.01         the default
    learn        one for all words, learned
    shares       as much in all as `learn` has found, but shared out by how often words occur (Wallach et al. 2009)
    learn_words  one for the words of each frequency, learned
    each         one for every word, learned in the same way

Lower is better. Printed are the mean over the seeds, and its standard error where there are several; a seed chooses the
test documents as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi import LDA, Corpus
from topoi.chain.priors import learned_beta_of_words

#: Documents that are taken of each.
CORPORA = {"uci_kos/counts": 1500, "uci_nips/counts": 250, "20ng/train": 2500}
FORMS = ("0.01", "learn", "shares", "learn_words", "each")
SWEEPS = 100


def halves(name: str, n_documents: int, seed: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Training and test documents, over the words of the first."""
    counts = sparse.csr_array(sparse.load_npz(Path(os.environ["TOPOI_DATA"]) / f"{name}.npz"))
    rows = np.random.default_rng(seed).permutation(counts.shape[0])[:n_documents]
    n_test = len(rows) // 5
    train, test = counts[rows[n_test:]], counts[rows[:n_test]]
    known = np.flatnonzero(train.sum(0))
    return sparse.csr_array(train[:, known]), sparse.csr_array(test[:, known])


def fit(n_topics: Any, corpus: Corpus, beta: Any, seed: int) -> LDA:
    """Topics with this β."""
    more = {} if n_topics == "auto" else {"n_sweeps": SWEEPS, "doc_topic_prior": "learn"}
    return LDA(n_topics, topic_word_prior=beta, random_state=seed, n_jobs=1, **more).fit(corpus)


def perplexities(n_topics: Any, name: str, seed: int) -> list[float]:
    """Of every form of β."""
    train, test = halves(name, CORPORA[name], seed)
    corpus, held_out = Corpus.from_counts(train), Corpus.from_counts(test, allow_empty=True)
    share = corpus.word_counts / corpus.n_tokens
    by_frequency = learned_beta_of_words.kinds_by_frequency
    found, learned = [], 0.0
    for form in FORMS:
        if form == "each":
            learned_beta_of_words.kinds_by_frequency = lambda counts: np.arange(len(counts))
        given = {"0.01": 0.01, "shares": learned * corpus.n_words * share, "each": "learn_words"}.get(form, form)
        model = fit(n_topics, corpus, given, seed)
        learned_beta_of_words.kinds_by_frequency = by_frequency
        if form == "learn":
            learned = float(model.topic_word_prior_)
        if form == "learn_words" and seed == 0:
            beta = model.topic_word_prior_
            digits = np.frexp(corpus.word_counts.astype(float))[1]
            print("   β by digits:", {int(d): float(f"{beta[digits == d][0]:.3g}") for d in np.unique(digits)})
        found.append(model.perplexity(held_out))
        print(f"   {name} seed {seed} {form}: {found[-1]:.1f}, {len(model.model_.alpha)} topics", flush=True)
    return found


def main() -> None:
    """Print a line for each corpus."""
    n_topics: Any = sys.argv[1] if len(sys.argv) > 1 else "50"
    n_topics = n_topics if n_topics == "auto" else int(n_topics)
    n_seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"{n_topics} topics, {n_seeds} seeds; perplexity with β: {', '.join(FORMS)}")
    for name in CORPORA:
        found = np.array([perplexities(n_topics, name, seed) for seed in range(n_seeds)])
        error = found.std(0, ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else np.zeros(len(FORMS))
        change = found / found[:, [1]] - 1  # of the same documents, against `learn`
        spread = change.std(0, ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else np.zeros(len(FORMS))
        print(name, " ".join(f"{mean:.1f}±{e:.1f}" for mean, e in zip(found.mean(0), error, strict=True)))
        print(
            "   against learn:",
            " ".join(f"{100 * c:+.2f}±{100 * s:.2f} %" for c, s in zip(change.mean(0), spread, strict=True)),
        )


if __name__ == "__main__":
    main()

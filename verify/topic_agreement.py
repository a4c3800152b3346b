"""The limit from which on topics of two chains count as the same (`topoi.estimators.alignment.SAME`), against topics
that are known to differ.

    python verify/topic_agreement.py            docstrings of the standard library, always there
    TOPOI_DATA=… PYTHONPATH=. python verify/topic_agreement.py 20ng     a sample of 20 Newsgroups

Overlaps are measured of

    chains      topics of two chains of the same documents, matched
    halves      topics of chains that have learned from different halves of the documents, matched
    neighbours  a topic and the topic most like it in the same model: two different topics of the same documents
    shuffled    topics of two chains, matched, after every word of the second was exchanged with one that is about as
                frequent: topics with the same sizes and shapes whose words have nothing to do with each other

The last two are what must not pass for the same. Neighbours are a hard test: a model may have a subject twice.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from topoi import LDA, Corpus, TopicModel
from topoi.estimators.alignment import SAME, match_topics, overlaps

LIMITS = (0.3, 0.4, SAME, 0.6)
NEAR = 20  # ranks of frequency within which words are exchanged


def documents(name: str) -> Corpus:
    """Documents by the name of their collection."""
    if name == "20ng":
        from benchmarks.data import load_20ng

        return load_20ng(quick=True).corpus
    from topoi.cli import _demo as demo

    return demo.read().train


def shuffled(model: TopicModel, corpus: Corpus, seed: int) -> TopicModel:
    """The model with every word in the place of another that is about as frequent."""
    rng = np.random.default_rng(seed)
    by_rank = np.argsort(-corpus.word_counts, kind="stable")
    place = np.arange(len(by_rank))
    for first in range(0, len(place), NEAR):
        rng.shuffle(place[first : first + NEAR])
    order = np.empty(len(by_rank), np.int64)
    order[by_rank] = by_rank[place]
    return replace(model, counts=model.counts[order])


def fit(corpus: Corpus, n_topics: int, seed: int) -> TopicModel:
    """The topics of one chain."""
    return LDA(n_topics, doc_topic_prior="learn", random_state=seed, n_jobs=-1).fit(corpus).model_


def main(name: str) -> None:
    """Print quantiles of the overlaps, and the share of them that passes each limit."""
    corpus = documents(name)
    halves = [corpus.take(np.arange(first, corpus.n_documents, 2)) for first in (0, 1)]
    for n_topics in (20, 50, 100):
        one, other = fit(corpus, n_topics, 0), fit(corpus, n_topics, 1)
        within = overlaps(one, one)
        np.fill_diagonal(within, 0.0)
        others = [shuffled(other, corpus, seed) for seed in range(5)]
        found = {
            "chains": match_topics(one, other).overlap,
            "halves": match_topics(fit(halves[0], n_topics, 0), fit(halves[1], n_topics, 1)).overlap,
            "neighbours": within.max(1),
            "shuffled": np.concatenate([match_topics(one, another).overlap for another in others]),
        }
        print(f"{name}, {n_topics} topics: median, 95 %, largest overlap; share that passes {LIMITS}")
        for what, values in found.items():
            quantiles = "  ".join(f"{value:.2f}" for value in np.quantile(values, (0.5, 0.95, 1.0)))
            passed = "  ".join(f"{(values >= limit).mean():4.0%}" for limit in LIMITS)
            print(f"  {what:10}  {quantiles}    {passed}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["docs"])

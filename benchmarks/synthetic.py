"""A corpus drawn from LDA, of any size: a chunk of documents at a time and straight to disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CHUNK = 20_000  # documents
LENGTH = 100  # tokens of a document, on average
TOPICS_OF_A_DOCUMENT = 4.0
Topic = tuple[NDArray[np.int32], NDArray[np.float64]]


def generate(folder: Path, n_documents: int, n_words: int, n_topics: int, seed: int = 0) -> None:
    """Write a corpus to `folder`, unless the whole of it is there.

    Word w has weight 1/(w + 10); a topic has about one word in 30, reweighted at random; a document has a few topics.
    """
    if (folder / "corpus.json").exists():
        return
    rng = np.random.default_rng(seed)
    topics = _topics(rng, n_words, n_topics)
    lengths = rng.poisson(LENGTH, n_documents)
    doc_ptr = np.concatenate(([0], np.cumsum(lengths)))
    folder.mkdir(parents=True, exist_ok=True)  # what an interrupted run has left is written anew
    np.save(folder / "doc_ptr.npy", doc_ptr.astype(np.int64))
    words = np.lib.format.open_memmap(folder / "words.npy", "w+", np.int32, (int(doc_ptr[-1]),))
    for first in range(0, n_documents, CHUNK):
        last = min(first + CHUNK, n_documents)
        words[doc_ptr[first] : doc_ptr[last]] = _documents(rng, topics, n_words, lengths[first:last])
    words.flush()
    about = {"version": 1, "n_words": n_words, "has_vocabulary": False}
    (folder / "corpus.json").write_text(json.dumps(about))  # the last file: without it the corpus is not complete


def _topics(rng: np.random.Generator, n_words: int, n_topics: int) -> list[Topic]:
    """The words of each topic, and the share of it that each and those before it have."""
    zipf, found = 1.0 / (np.arange(n_words) + 10.0), []
    for _ in range(n_topics):
        words = np.flatnonzero(rng.random(n_words) < 1 / 30)
        below = np.cumsum(zipf[words] * rng.gamma(0.5, 2.0, len(words)))
        found.append((words.astype(np.int32), below / below[-1]))
    return found


def _documents(
    rng: np.random.Generator, topics: list[Topic], n_words: int, lengths: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The words of documents of these lengths, sorted in each."""
    n_of = 1 + rng.poisson(TOPICS_OF_A_DOCUMENT - 1, len(lengths))
    chosen = rng.integers(len(topics), size=(len(lengths), n_of.max()))
    document = np.repeat(np.arange(len(lengths)), lengths)
    z = chosen[document, (rng.random(len(document)) * n_of[document]).astype(np.int64)]
    w = np.empty(len(z), np.int64)
    order = np.argsort(z.astype(np.int16 if len(topics) < 2**15 else np.int64), kind="stable")  # short ones are quick
    edges = np.searchsorted(z[order], np.arange(len(topics) + 1))
    for k, (words, below) in enumerate(topics):
        here = order[edges[k] : edges[k + 1]]
        w[here] = words[np.searchsorted(below, rng.random(len(here)))]
    return (np.sort(document * n_words + w) % n_words).astype(np.int32)

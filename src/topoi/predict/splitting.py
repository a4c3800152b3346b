"""One topic in two: its tokens are found in the documents, and a chain of two topics shares them out.

A model does not keep the topics of the tokens. They are drawn again, by a fold-in with the topics of the model fixed;
those of the topic in question are documents of their own, and the topics that a chain with K = 2 finds in them are the
two parts. Of each word the parts then have what the topic had, in the proportion that the chain has found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.chain.loop import Schedule, run
from topoi.chain.model import TopicModel
from topoi.chain.plan import make_plan
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state
from topoi.corpus import Corpus
from topoi.errors import CorpusError
from topoi.predict.fold_in import fold_in

#: Of the chain that shares the tokens out.
SWEEPS, SAMPLES = 100, 10
#: α of a part at least: with less, all tokens that a document has of the topic begin in one part and never leave it.
LEAST_ALPHA = 0.05


@dataclass(frozen=True)
class Halves:
    """Share of the first part, the larger one, in the tokens that a topic has: of each word, and of each document."""

    words: NDArray[np.float64]
    documents: NDArray[np.float64]


def topics_of_tokens(model: TopicModel, corpus: Corpus, n_sweeps: int, seed: int, pool: Pool) -> NDArray[Any]:
    """A draw of the topics of all tokens, the topics of the model fixed."""
    return fold_in(model, corpus, model.priors.topics.alpha_of(corpus), n_sweeps, seed, pool)[1]


def split_topic(model: TopicModel, k: int, corpus: Corpus, z: NDArray[Any], seed: int, pool: Pool) -> Halves:
    """How topic k divides, given the topics of the tokens. Words and documents without a token of it have the mean."""
    own = z == k
    if int(own.sum()) < 2:
        raise CorpusError(f"topic {k} has fewer than two tokens in the documents given, and cannot be split.")
    document = np.repeat(np.arange(corpus.n_documents), corpus.doc_lengths)[own]
    doc_ptr = np.concatenate(([0], np.cumsum(np.bincount(document, minlength=corpus.n_documents)))).astype(np.int64)
    part = Corpus(np.asarray(corpus.words)[own], doc_ptr, corpus.n_words)
    alpha = max(float(model.alpha[k]) / 2, LEAST_ALPHA)
    state = new_state(part, fixed_priors([alpha, alpha], model.beta), seed)
    found = run(state, make_plan("auto", part, 2), Schedule(SWEEPS, SAMPLES), pool=pool)
    tokens = found.model.topic_counts
    first = int(tokens[1] > tokens[0])
    mean = float(tokens[first] / tokens.sum())
    if mean == 1:
        raise CorpusError(f"topic {k} cannot be split: all of its tokens are in one part, no second one is found.")
    by_word = found.model.counts.toarray().astype(np.float64)
    assert found.doc_topic is not None  # `run` keeps them unless told otherwise
    of_documents = np.where(part.doc_lengths > 0, found.doc_topic[:, first].astype(np.float64), mean)
    total = by_word.sum(1)
    of_words = np.where(total > 0, by_word[:, first] / np.maximum(total, 1.0), mean)
    return Halves(of_words, of_documents)

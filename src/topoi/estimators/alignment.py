"""Which topics of two models are the same: matched one to one by the words that they have in common.

The overlap of two topics is Σ_w min(p_w, q_w), the probability that they share: 1 if they are the same distribution, 0
if they have no word in common; 1 minus it is the total variation distance. p and q are shares of the tokens of a topic,
n_wk/n_k, that is φ without its smoothing: with β, topics of a few tokens are alike in the words that they have not
seen.

Topics are matched by the assignment with the largest total overlap (Kuhn's Hungarian method, by SciPy), so that no
topic is the partner of two. Partners count as the same topic if they share at least half of their probability (`SAME`).
Two topics that have no words in common cannot both share more than half with a third. `verify/topic_agreement.py`
compares the limit with topics that are known to differ: see docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from topoi.chain.model import TopicModel
from topoi.errors import ParameterError

#: Overlap from which on partners are the same topic.
SAME = 0.5
#: In place of a partner, for a topic that has none.
NONE = -1


@dataclass(frozen=True)
class Alignment:
    """For every topic of one model its partner in another, `NONE` (-1) if it has none, and their overlap, else 0."""

    partner: NDArray[np.int64]
    overlap: NDArray[np.float64]

    @property
    def same(self) -> NDArray[np.bool_]:
        """Whether a topic and its partner count as the same."""
        return self.overlap >= SAME


@dataclass(frozen=True)
class TopicAgreement:
    """In how many of the chains a topic of the best one was found, that one included, and how well they agree.

    `agreement` is the mean overlap with its partners in the other chains, 0 where there is none. A topic without tokens
    is found in no chain, and its agreement is nan.
    """

    found_in: int
    n_chains: int
    agreement: float


def overlaps(one: TopicModel, other: TopicModel) -> NDArray[np.float64]:
    """Overlap of every topic of one model with every topic of another; 0 for topics without tokens."""
    if one.n_words != other.n_words:
        raise ParameterError("other", f"has {other.n_words} words, but the model it is compared with {one.n_words}")
    by_topic, by_word = _shares(one).tocsc(), _shares(other)
    out = np.zeros((one.n_topics, other.n_topics))
    for k in range(one.n_topics):
        part = slice(by_topic.indptr[k], by_topic.indptr[k + 1])
        rows = by_word[by_topic.indices[part]]
        least = np.minimum(rows.data, np.repeat(by_topic.data[part], np.diff(rows.indptr)))
        out[k] = np.bincount(rows.indices, least, minlength=other.n_topics)
    return np.minimum(out, 1.0)  # sums of shares may be 1 and a rounding error


def _shares(model: TopicModel) -> sparse.csr_array:
    """Of every topic the shares (words, topics) of its tokens that words have."""
    counts = model.counts.tocsr().astype(np.float64)
    n_k = np.asarray(counts.sum(0), np.float64)
    return sparse.csr_array((counts.data / np.maximum(n_k, 1.0)[counts.indices], counts.indices, counts.indptr),
                            shape=counts.shape)  # fmt: skip


def match_topics(one: TopicModel, other: TopicModel) -> Alignment:
    """Match the topics of two models of the same words one to one, so that the sum of the overlaps is largest.

    The models may have different numbers of topics; those that are left over, and those that share no word with any
    topic that is left, have no partner.
    """
    overlap = overlaps(one, other)
    topics, partners = linear_sum_assignment(overlap, maximize=True)
    partner, found = np.full(one.n_topics, NONE, np.int64), np.zeros(one.n_topics)
    found[topics] = overlap[topics, partners]
    partner[topics] = np.where(found[topics] > 0, partners, NONE)
    return Alignment(partner, found)


def agreement_of(model: TopicModel, others: Sequence[TopicModel]) -> list[TopicAgreement]:
    """In how many chains each topic of a model was found, given those of the other chains."""
    aligned = [match_topics(model, other) for other in others]
    same = np.sum([one.same for one in aligned], axis=0) + 1
    overlap = np.mean([one.overlap for one in aligned], axis=0)
    n_chains = len(others) + 1
    return [
        TopicAgreement(int(same[k]), n_chains, float(overlap[k])) if tokens else TopicAgreement(0, n_chains, np.nan)
        for k, tokens in enumerate(model.topic_counts.tolist())
    ]

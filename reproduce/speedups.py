"""FastLDA against dense LDA: what its paper's figures of time have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reproduce.chains import begun, copy, seconds
from reproduce.table import Row
from topoi.chain.samplers import SAMPLERS
from topoi.corpus import Corpus

BETA = 0.01
METHODS = {"scalar": "scalar_dense", "simd": "collapsed", "fast": "fast", "fast_333": "fast_333"}
STAND_IN = {
    "nips": "UCI NIPS, the paper's corpus, with the words that occur more than 20 times (the paper: more than 10)",
    "20ng": "20 Newsgroups without stop words for Enron (e-mail), which is not at hand",
    "reuters": "Reuters ModApte for NYTimes (news), which is not at hand",
    "arxiv": "arXiv abstracts for PubMed (abstracts), which is not at hand",
}


@dataclass(frozen=True)
class Protocol:
    """Sweeps of burn-in, which are not timed, and sweeps that are."""

    burn_in: int
    timed: int

    @property
    def said(self) -> str:
        """In the words of a figure's settings."""
        return f"{self.timed} sweeps of each sampler after {self.burn_in} of burn-in."


QUICK = Protocol(30, 2)
FITS = Protocol(100, 3)
WHOLE_RUN = Protocol(0, 500)  # the paper, NIPS and Enron: from random topics, burn-in included
BURNED_IN = Protocol(300, 20)  # the paper, NYTimes and PubMed


def measure_one(corpus: Corpus, n_topics: int, alpha: float, seed: int, protocol: Protocol) -> Row:
    """CPU seconds of a sweep of every method from the same topics, speed-ups, and the share of topics visited."""
    state = begun(corpus, n_topics, alpha, BETA, seed, protocol.burn_in)
    took = {method: seconds(state, name, protocol.timed) for method, name in METHODS.items()}
    after = copy(state)
    sampler = SAMPLERS["fast"](after)
    for _ in range(protocol.timed):
        visited = sampler.sweep()["topics_visited"]
    return {
        **{f"seconds_{method}": time for method, time in took.items()},
        "over_scalar": took["scalar"] / took["fast"],
        "over_simd": took["simd"] / took["fast"],
        "visited": visited,
        "share_visited": visited / n_topics,
    }


def exponent(x: ArrayLike, y: ArrayLike) -> float:
    """The slope of log y over log x: y grows as x to this power."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(y), 1)[0])


def span(values: ArrayLike) -> str:
    """Smallest and largest of some speed-ups, in words."""
    low, high = np.min(values), np.max(values)
    return f"{low:.1f}× to {high:.1f}×" if f"{low:.1f}" != f"{high:.1f}" else f"{low:.1f}×"

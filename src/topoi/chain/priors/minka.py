"""Minka's (2000) fixed point for a Dirichlet-multinomial, by which α and β are learned from the topics of the tokens.

Learning is empirical Bayes. With ψ the digamma function, A = Σα and the current α on the right-hand side, one step is

    α_k ← (α_k · Σ_d [ψ(n_dk + α_k) − ψ(α_k)] + SHAPE − 1) / (Σ_d [ψ(N_d + A) − ψ(A)] + RATE)

It climbs log p(z | α) + Σ_k [(SHAPE − 1)·log α_k − RATE·α_k], and never steps down: the quotient is the
maximum of Minka's lower bound, which touches that sum at the current α. The second part is a Gamma(SHAPE,
RATE) prior on each α_k. Without it a topic that has lost its tokens would get α_k = 0 and never return, and
counts that vary less than a multinomial would send α to infinity; with it, an empty topic gets what one seat
in one document would be worth. Among more than a few documents it changes nothing else. The same holds for β,
with words for topics and topics for documents.

The sums are over histograms of the counts (chain.counts.spectra), so digamma is taken once for each different count.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

SHAPE = 2.0
RATE = 1.0
# Learned values stop here: an empty topic of a huge corpus keeps some chance to get a token again.
FLOOR = 1e-5
N_STEPS = 20


def rise(size: NDArray[np.int64], times: NDArray[np.int64], weight: Any) -> NDArray[np.float64]:
    """Each entry's part of Σ [ψ(n + weight) − ψ(weight)]: the slope of the log rising factorial."""
    return np.asarray(times * (digamma(size + weight) - digamma(weight)), np.float64)


def log_gamma_density(values: Any) -> float:
    """Log density of Gamma(SHAPE, RATE) at some values, summed."""
    x = np.atleast_1d(np.asarray(values, np.float64))
    norm = SHAPE * math.log(RATE) - math.lgamma(SHAPE)
    return float(np.sum((SHAPE - 1) * np.log(x) - RATE * x) + len(x) * norm)

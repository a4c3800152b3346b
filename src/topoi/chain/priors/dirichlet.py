"""The priors: α for the topics of a document, β for the words of a topic, and how both are learned.

Learning is empirical Bayes given the topics of the tokens: Minka's (2000) fixed point for a
Dirichlet-multinomial. With ψ the digamma function, A = Σα and the current α on the right-hand side, one step
is

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

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from topoi._machine.pool import Pool
from topoi.chain.counts.spectra import Spectrum, document_spectrum, word_spectrum
from topoi.chain.state import State
from topoi.errors import ParameterError

SHAPE = 2.0
RATE = 1.0
# Learned values stop here: an empty topic of a huge corpus keeps some chance to get a token again.
FLOOR = 1e-5
# Kernels multiply α, β and 1/(n_k + Vβ) in float32, where the product must not vanish (it would below 1e-45).
SMALLEST = 1e-10
LARGEST = 1e10

DEFAULT_ALPHA = 0.1
DEFAULT_ALPHA_SUM = 50.0
DEFAULT_BETA = 0.01


def _rise(size: NDArray[np.int64], times: NDArray[np.int64], weight: Any) -> NDArray[np.float64]:
    """Each entry's part of Σ [ψ(n + weight) − ψ(weight)]: the slope of the log rising factorial."""
    return np.asarray(times * (digamma(size + weight) - digamma(weight)), np.float64)


def learn_alpha(
    state: State, pool: Pool | None = None, n_steps: int = 20, *, symmetric: bool = False
) -> NDArray[np.float64]:
    """α after `n_steps` of Minka's fixed point from the state's α, given its topics; the state is left alone.

    With `symmetric`, all topics share one value, which starts from the mean.
    """
    return alpha_of(state, document_spectrum(state, pool or Pool(1)), n_steps, symmetric=symmetric)


def alpha_of(state: State, spectrum: Spectrum, n_steps: int = 20, *, symmetric: bool = False) -> NDArray[np.float64]:
    """`learn_alpha` from the histogram of n_dk."""
    n_topics = state.n_topics
    topic, size, times = spectrum
    lengths, n_documents = np.unique(state.corpus.doc_lengths, return_counts=True)
    alpha = state.alpha.astype(np.float64)
    if symmetric:
        alpha = np.full(n_topics, alpha.mean())
    for _ in range(n_steps):
        rise = np.bincount(topic, _rise(size, times, alpha[topic]), n_topics)
        total = _rise(lengths, n_documents, alpha.sum()).sum()
        if symmetric:
            value = (alpha[0] * rise.sum() + SHAPE - 1) / (n_topics * total + RATE)
            alpha = np.full(n_topics, max(value, FLOOR))
        else:
            alpha = np.maximum((alpha * rise + SHAPE - 1) / (total + RATE), FLOOR)
    return alpha


def learn_beta(state: State, pool: Pool | None = None, n_steps: int = 20) -> float:
    """β after `n_steps` of Minka's fixed point from the state's β, given its topics; the state is left alone.

    Base counts are data like those of the corpus: β is learned from all tokens, wherever their topics came
    from.
    """
    return beta_of(state, *word_spectrum(state, pool or Pool(1)), n_steps)


def beta_of(state: State, spectrum: Spectrum, n_k: NDArray[np.int64], n_steps: int = 20) -> float:
    """`learn_beta` from the histogram of n_wk, and n_k."""
    n_words = state.corpus.n_words
    _, size, times = spectrum
    once = np.ones_like(n_k)
    beta = float(state.beta)
    for _ in range(n_steps):
        rise = _rise(size, times, beta).sum()
        total = _rise(n_k, once, n_words * beta).sum()
        beta = max(float((beta * rise + SHAPE - 1) / (n_words * total + RATE)), FLOOR)
    return beta


# ---- Parameters --------------------------------------------------------------------------------------------


def default_alpha(n_topics: int) -> float:
    """α of each topic unless given: 0.1 up to 500 topics, 50/K above, so that Σα is never more than 50."""
    return min(DEFAULT_ALPHA, DEFAULT_ALPHA_SUM / n_topics)


def resolve_alpha(value: Any, n_topics: int) -> tuple[NDArray[np.float64], bool]:
    """(α of each topic, whether it is to be learned) from what a user gives.

    None stands for `default_alpha`, "learn" for learning from there, a number for the same α in each topic, a
    sequence for one α per topic.
    """
    name = "doc_topic_prior"
    if value is None or (isinstance(value, str) and value == "learn"):
        return np.full(n_topics, default_alpha(n_topics)), value is not None
    entries = np.array(value, dtype=object)
    if entries.ndim == 0:
        return np.full(n_topics, _positive(name, entries.item(), "", "one per topic, ")), False
    if entries.shape != (n_topics,):
        raise ParameterError(name, f"has shape {entries.shape}; {n_topics} topics need {n_topics} numbers")
    return np.array([_positive(name, x, f"entry {k} ") for k, x in enumerate(entries.tolist())]), False


def resolve_beta(value: Any) -> tuple[float, bool]:
    """(β, whether it is to be learned) from what a user gives: None is 0.01, "learn" starts from there."""
    if value is None or (isinstance(value, str) and value == "learn"):
        return DEFAULT_BETA, value is not None
    return _positive("topic_word_prior", np.array(value, dtype=object).tolist(), "", ""), False


def _positive(parameter: str, value: Any, which: str, more: str | None = None) -> float:
    """`value` as a float, if it is a number that a prior can have; `more` says what else is accepted."""
    allowed = "a positive number" if more is None else f'a positive number, {more}None or "learn"'
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(parameter, f"{which}is {value!r}, a {type(value).__name__}; must be {allowed}")
    number = float(value)
    if not 0 < number < np.inf:
        raise ParameterError(parameter, f"{which}is {value!r}; must be {allowed}")
    if not SMALLEST <= number <= LARGEST:
        raise ParameterError(parameter, f"{which}is {value!r}; must be from {SMALLEST:g} to {LARGEST:g}")
    return number

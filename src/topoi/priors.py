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

The sums are over histograms of the counts (how many documents have n_dk = n), so digamma is taken once for
each different count, and neither D×K nor V×K numbers are ever stored.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from topoi._jit import kernel
from topoi._pool import Pool
from topoi.errors import ParameterError
from topoi.state import State
from topoi.tables import count_word

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

# Counts below SMALL go to a histogram; of larger ones there are at most tokens/SMALL, and they are listed.
SMALL = 32
# Parts that histograms are counted in: few, since each has a histogram of its own; fixed, though the sums are
# of whole numbers and would be the same in any case.
PARTS = 16


class Spectrum(NamedTuple):
    """`times[j]` of the counts of row `row[j]` are equal to `size[j]`; counts of 0 are not listed."""

    row: NDArray[np.int64]
    size: NDArray[np.int64]
    times: NDArray[np.int64]


@kernel
def note(row: Any, count: Any, small: Any, large: Any, n_large: Any) -> Any:
    """Enter one count of `row` into the histogram `small` or the list `large`; returns the list's length.

    Equivalent to ``small[row, count] += 1`` or ``large.append((row, count))``.
    """
    if count < small.shape[1]:
        small[row, count] += 1
        return n_large
    large[n_large, 0] = row
    large[n_large, 1] = count
    return n_large + 1


@kernel
def note_documents(doc_ptr: Any, first: Any, last: Any, z: Any, n_topics: Any, small: Any, large: Any) -> Any:
    """Enter n_dk of documents first … last − 1 into `small` and `large` (row k); returns the latter's length.

    Equivalent to ``note(k, n_dk[d, k], …)`` for all n_dk > 0.
    """
    n_d = np.zeros(n_topics, np.int64)
    n_large = 0
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] += 1
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            k = z[i]
            if n_d[k] > 0:
                n_large = note(k, n_d[k], small, large, n_large)
                n_d[k] = 0
    return n_large


@kernel
def note_words(
    order: Any, word_ptr: Any, first: Any, last: Any, z: Any, base: Any, small: Any, large: Any, n_k: Any
) -> Any:
    """Enter n_wk of words first … last − 1, base included, as row 0; adds them to `n_k`; returns as above.

    Equivalent to ``note(0, n_wk[w, k], …)`` for all n_wk > 0. Base counts are whole numbers, stored as
    floats.
    """
    n_w = np.zeros(n_k.shape[0], np.int64)
    n_large = 0
    for w in range(first, last):
        if base.shape[0] > 0:
            count_word(order, word_ptr, w, z, base, n_w)
            for k in range(n_k.shape[0]):
                if n_w[k] > 0:
                    n_large = note(0, n_w[k], small, large, n_large)
                    n_k[k] += n_w[k]
                    n_w[k] = 0
            continue
        for j in range(word_ptr[w], word_ptr[w + 1]):
            n_w[z[order[j]]] += 1
        for j in range(word_ptr[w], word_ptr[w + 1]):
            k = z[order[j]]
            if n_w[k] > 0:
                n_large = note(0, n_w[k], small, large, n_large)
                n_k[k] += n_w[k]
                n_w[k] = 0
    return n_large


def _spectrum(
    n_rows: int,
    ptr: NDArray[np.int64],
    room: Callable[[int, int], int],
    enter: Callable[[int, int, NDArray[np.int32], NDArray[np.int64]], int],
    pool: Pool,
) -> Spectrum:
    """The histogram of all counts that `enter` enters, part by part; `room` bounds the sum of a part."""
    cuts = ptr[np.linspace(0, len(ptr) - 1, min(PARTS, len(ptr) - 1) + 1).astype(np.int64)]

    def work(part: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        first, last = int(cuts[part]), int(cuts[part + 1])
        small = np.zeros((n_rows, SMALL), np.int32)
        large = np.empty((room(first, last) // SMALL, 2), np.int64)
        n_large = enter(first, last, small, large)
        return small, large[:n_large]

    parts = pool.map(work, range(len(cuts) - 1))
    small = np.zeros((n_rows, SMALL), np.int64)
    for part, _ in parts:
        small += part
    row, count = np.nonzero(small)
    large, times = np.unique(np.concatenate([part for _, part in parts]), axis=0, return_counts=True)
    return Spectrum(
        np.concatenate((row, large[:, 0])),
        np.concatenate((count, large[:, 1])),
        np.concatenate((small[row, count], times)),
    )


def document_spectrum(state: State, pool: Pool) -> Spectrum:
    """How often each count n_dk > 0 occurs, topic by topic."""
    doc_ptr = state.corpus.doc_ptr

    def room(first: int, last: int) -> int:
        return int(doc_ptr[last] - doc_ptr[first])

    def enter(first: int, last: int, small: NDArray[np.int32], large: NDArray[np.int64]) -> int:
        return int(note_documents(doc_ptr, first, last, state.z, state.n_topics, small, large))

    return _spectrum(state.n_topics, state.corpus.block_ptr, room, enter, pool)


def word_spectrum(state: State, pool: Pool) -> tuple[Spectrum, NDArray[np.int64]]:
    """How often each count n_wk > 0 occurs in all topics together (row 0), and n_k; both with the base."""
    order, word_ptr = state.corpus.by_word
    base = state.base_table
    parts = []  # of n_k; whole numbers, so the order in which threads append them does not matter

    def room(first: int, last: int) -> int:
        return int(word_ptr[last] - word_ptr[first]) + int(base[first:last].sum(dtype=np.float64))

    def enter(first: int, last: int, small: NDArray[np.int32], large: NDArray[np.int64]) -> int:
        n_k = np.zeros(state.n_topics, np.int64)
        n_large = note_words(order, word_ptr, first, last, state.z, base, small, large, n_k)
        parts.append(n_k)
        return int(n_large)

    spectrum = _spectrum(1, state.corpus.word_block_ptr, room, enter, pool)
    return spectrum, np.sum(parts, axis=0, dtype=np.int64)


def _rise(size: NDArray[np.int64], times: NDArray[np.int64], weight: Any) -> NDArray[np.float64]:
    """Each entry's part of Σ [ψ(n + weight) − ψ(weight)]: the slope of the log rising factorial."""
    return np.asarray(times * (digamma(size + weight) - digamma(weight)), np.float64)


def learn_alpha(
    state: State, pool: Pool | None = None, n_steps: int = 20, *, symmetric: bool = False
) -> NDArray[np.float64]:
    """α after `n_steps` of Minka's fixed point from the state's α, given its topics; the state is left alone.

    With `symmetric`, all topics share one value, which starts from the mean.
    """
    n_topics = state.n_topics
    topic, size, times = document_spectrum(state, pool or Pool(1))
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
    n_words = state.corpus.n_words
    (_, size, times), n_k = word_spectrum(state, pool or Pool(1))
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

"""Table counts: the auxiliary variables by which α = a·Ψ, and whatever else makes α, is drawn given the topics.

The n tokens that a topic has in a document sit at tables, as in the Chinese restaurant process: token number j opens
one with probability α/(α + j − 1), whatever the others did. The number of tables l has Antoniak's (1974) distribution,

    p(l | n, α) = s(n, l) · α^l · Γ(α)/Γ(α + n),        s: unsigned Stirling numbers of the first kind

so that the Dirichlet-multinomial, whose Γ(n + α)/Γ(α) no conjugate prior fits, is α^l given the tables. What is left of
α, Γ(A)/Γ(A + N_d) with A = Σα, is q^A with a second auxiliary variable, q ~ Beta(A, N_d) (Escobar & West 1995; Teh,
Jordan, Beal & Blei 2006).

One α for all documents needs the sums over documents alone. They are sums of binomial draws over the histogram of the
counts (Terenin, Magnusson & Jonsson 2020): of the D_kj documents in which topic k has at least j tokens, each opens a
table with the j-th.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import binomial, gamma, log_beta, uniform
from topoi.chain.counts.spectra import Spectrum


@kernel
def draw_tables(stream: Stream, n: Int, alpha: float) -> np.int64:
    """The number of tables of the n tokens of one topic in one document."""
    if n == 0:
        return np.int64(0)
    tables = np.int64(1)
    for j in range(1, n):
        if uniform(stream) * (alpha + j) < alpha:
            tables += 1
    return tables


@kernel
def add_tables(topic: Ints, size: Ints, times: Ints, alpha: Floats, tables: Ints, stream: Stream) -> None:
    """Add the tables of all documents to tables[topic]; entries are in the order of topics, sizes rising.

    Equivalent in law to ``tables[topic[e]] += draw_tables(stream, size[e], alpha[topic[e]])``, times[e] times for every
    entry e.
    """
    n = topic.shape[0]
    first = 0
    while first < n:
        k = topic[first]
        last = first
        n_documents = np.int64(0)  # that have the topic j times at least
        while last < n and topic[last] == k:
            n_documents += times[last]
            last += 1
        j = np.int64(1)
        for entry in range(first, last):
            while j <= size[entry]:
                tables[k] += binomial(stream, n_documents, alpha[k] / (alpha[k] + (j - 1)))
                j += 1
            n_documents -= times[entry]
        first = last


def draw_table_counts(spectrum: Spectrum, alpha: NDArray[np.float64], stream: Stream) -> NDArray[np.int64]:
    """l_k: the tables of every topic in all documents, given how often each count n_dk > 0 occurs."""
    order = np.lexsort((spectrum.size, spectrum.row))
    tables = np.zeros(len(alpha), np.int64)
    topic, size, times = (column[order].astype(np.int64) for column in spectrum)
    add_tables(topic, size, times, alpha, tables, stream)
    return tables


@kernel
def draw_concentration(
    concentration: float, n_tables: Int, lengths: Ints, shape: float, rate: float, stream: Stream
) -> float:
    """A step for A = Σα, which is Gamma(shape, rate) itself, given the tables of documents of these lengths.

    With q_d ~ Beta(A, N_d):  A ~ Gamma(shape + Σ_k l_k, rate − Σ_d log q_d).
    """
    for d in range(lengths.shape[0]):
        if lengths[d] > 0:
            log_q, _ = log_beta(stream, concentration, float(lengths[d]))
            rate -= log_q
    drawn: float = gamma(stream, shape + n_tables) / rate
    return drawn

"""How well tokens would do in other topics: what the search for the number of topics asks before it gives one up."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Flags, Float, Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.state import State

#: Logarithms are summed in steps of this size: sums of whole numbers are the same in any order, on any engine.
STEP = 2.0**-20


class WordRows(NamedTuple):
    """Word–topic counts as sparse rows, β, and 1/(n_k + Vβ)."""

    start: Ints
    topic: Ints
    times: Ints
    beta: Float
    inverse: Floats


def word_rows(counts: sparse.csr_array, beta: float) -> WordRows:
    """Of counts (V, K)."""
    n_k = np.asarray(counts.sum(0), np.float64)
    start, topic = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    return WordRows(start, topic, counts.data.astype(np.int64), float(beta), 1 / (n_k + counts.shape[0] * beta))


@kernel
def add_best(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, z: Ints, of: WordRows, alpha: Floats, closed: Flags, found: Ints
) -> None:
    """Add the log of the best (n_dj + α_j) φ_wj among open topics j for each token of a closed topic k to found[k].

    Topics that the word does not have elsewhere are looked at only where it has none: the best may be a little better.
    """
    least = 0.0
    for k in range(alpha.shape[0]):
        if not closed[k]:
            least = max(least, alpha[k] * of.beta * of.inverse[k])
    n_d = np.zeros(alpha.shape[0])
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] += 1.0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if not closed[z[i]]:
                continue
            best = 0.0
            for p in range(of.start[words[i]], of.start[words[i] + 1]):
                k = of.topic[p]
                if not closed[k]:
                    best = max(best, (n_d[k] + alpha[k]) * (of.times[p] + of.beta) * of.inverse[k])
            if best == 0.0:
                best = least
                for j in range(doc_ptr[d], doc_ptr[d + 1]):
                    k = z[j]
                    if not closed[k]:
                        best = max(best, (n_d[k] + alpha[k]) * of.beta * of.inverse[k])
            found[z[i]] += round(math.log(best) / STEP)
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] = 0.0


def best_elsewhere(state: State, of: WordRows, closed: NDArray[np.bool_], pool: Pool) -> NDArray[np.int64]:
    """Σ log of the best place in an open topic over the tokens of each closed one, in steps of `STEP`."""
    corpus, ptr = state.corpus, state.corpus.block_ptr

    def work(block: int) -> NDArray[np.int64]:
        found = np.zeros(state.n_topics, np.int64)
        first, last = int(ptr[block]), int(ptr[block + 1])
        add_best(corpus.words, corpus.doc_ptr, first, last, state.z, of, state.alpha, closed, found)
        return found

    found: NDArray[np.int64] = np.sum(pool.map(work, range(len(ptr) - 1)), axis=0, dtype=np.int64)
    return found

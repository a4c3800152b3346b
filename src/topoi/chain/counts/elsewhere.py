"""How well tokens would do in other topics: what the search for the number of topics asks before it joins some."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Int, Ints, PerWord
from topoi._machine.jit import kernel, of_word
from topoi._machine.pool import Pool
from topoi.chain.state import State

#: Logarithms are summed in steps of this size: sums of whole numbers are the same in any order, on any engine.
STEP = 2.0**-20


def whole_logs(p: Floats) -> NDArray[np.int64]:
    """Logarithms in whole steps: np.log differs in its last bit with AVX-512, but what is a tie stays one like this."""
    return np.rint(np.log(p) / STEP).astype(np.int64)


class WordRows(NamedTuple):
    """Word–topic counts as sparse rows, β, and 1/(n_k + Vβ)."""

    start: Ints
    topic: Ints
    times: Ints
    beta: PerWord
    inverse: Floats


def word_rows(counts: sparse.csr_array, beta: PerWord, beta_sum: float) -> WordRows:
    """Of counts (V, K); `beta_sum` is Σ_w β_w."""
    n_k = np.asarray(counts.sum(0), np.float64)
    start, topic = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    return WordRows(start, topic, counts.data.astype(np.int64), beta, 1 / (n_k + beta_sum))


#: What a topic may lose its tokens to, if not to one topic: to nothing, or to any topic that loses none.
NOTHING, ANY = -1, -2


@kernel
def add_elsewhere(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, z: Ints, of: WordRows, alpha: Floats, rival: Ints, found: Ints
) -> None:
    """Add to found[:, k], for each token of a topic k with a rival, the log of the rival's weight and the surprise.

    The weight of topic j is (n_dj + α_j) φ_wj. With `ANY` it is that of the best topic without a rival; topics that the
    word does not have are looked at only where it has no other: the best may be a little better. The surprise is
    −log q, where q is the probability that the token, taken out, returns to k rather than to the rival.
    """
    least, best_free, any_beta = 0.0, -1, of_word(of.beta, 0)  # the best topic is that for every β
    for k in range(alpha.shape[0]):
        if rival[k] == NOTHING and alpha[k] * any_beta * of.inverse[k] > least:
            least, best_free = alpha[k] * any_beta * of.inverse[k], k
    n_d = np.zeros(alpha.shape[0])
    for d in range(first, last):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] += 1.0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            own, other = z[i], rival[z[i]]
            if other == NOTHING:
                continue
            best, times, beta = 0.0, 0, of_word(of.beta, words[i])
            for p in range(of.start[words[i]], of.start[words[i] + 1]):
                k = of.topic[p]
                if k == own:
                    times = of.times[p]
                elif k == other or (other == ANY and rival[k] == NOTHING):
                    best = max(best, (n_d[k] + alpha[k]) * (of.times[p] + beta) * of.inverse[k])
            if best == 0.0 and other != ANY:
                best = (n_d[other] + alpha[other]) * beta * of.inverse[other]
            elif best == 0.0:
                if best_free >= 0:
                    best = alpha[best_free] * beta * of.inverse[best_free]
                for j in range(doc_ptr[d], doc_ptr[d + 1]):
                    k = z[j]
                    if rival[k] == NOTHING:
                        best = max(best, (n_d[k] + alpha[k]) * beta * of.inverse[k])
            back = (n_d[own] - 1 + alpha[own]) * (times - 1 + beta) / (1 / of.inverse[own] - 1)
            found[0, own] += round(math.log(best) / STEP)
            found[1, own] += round(math.log1p(best / back) / STEP)
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            n_d[z[i]] = 0.0


def elsewhere(state: State, of: WordRows, rival: NDArray[np.int64], pool: Pool) -> NDArray[np.int64]:
    """Σ log weight of the rival, and Σ surprise, over the tokens of each topic (2, K), in steps of `STEP`."""
    corpus, ptr = state.corpus, state.corpus.block_ptr

    def work(block: int) -> NDArray[np.int64]:
        found = np.zeros((2, state.n_topics), np.int64)
        first, last = int(ptr[block]), int(ptr[block + 1])
        add_elsewhere(corpus.words, corpus.doc_ptr, first, last, state.z, of, state.alpha, rival, found)
        return found

    found: NDArray[np.int64] = np.sum(pool.map(work, range(len(ptr) - 1)), axis=0, dtype=np.int64)
    return found

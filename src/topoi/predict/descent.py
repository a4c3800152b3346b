"""Linear weights on columns that are known: the convex fit behind predictions, by dual coordinate descent.

For every task, weights u minimise

    ½|u|² + C Σ_d c_d (t_d − u·x_d)²

where t are the targets. For labels, ±1, the square counts only while t·(u·x) < 1: a document that is on its label's
side by more than the margin is not pulled back (the squared hinge loss of a linear support vector machine). The dual
has one number β_d for each document, u = Σ_d β_d x_d, and a step in one of them has a closed form:

    β_d ← β_d + (t_d − u·x_d − s_d β_d) / (|x_d|² + s_d),    s_d = 1/(2 C c_d),   for labels kept at t_d β_d ≥ 0

(Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; Ho & Lin 2012). A pass costs O(non-zeros). Sixteen tasks go at once, in
the same order of documents: their weights lie next to each other. The order is drawn from a stream of the seed, and
groups of tasks do not see each other, so that the answer does not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import REFIT, integer, new_stream
from topoi._machine.simd import LANES

#: A pass that changes no score by more than this, in margins or standard deviations, is the last.
SETTLED = 1e-3


@dataclass(frozen=True)
class Table:
    """Columns of documents: `words`, sparse (documents, V), and `rest`, dense (documents, J)."""

    words: sparse.csr_array
    rest: Floats

    def scores(self, weights: Weights) -> NDArray[np.float64]:
        """Scores (documents, tasks)."""
        scores: NDArray[np.float64] = self.words @ weights.words + self.rest @ weights.rest
        return scores


@dataclass(frozen=True)
class Weights:
    """Weights of the columns: `words` (V, tasks) and `rest` (J, tasks)."""

    words: NDArray[np.float64]
    rest: NDArray[np.float64]


@kernel
def descend(
    ptr: Ints, index: Ints, value: Floats, rest: Floats, norm: Floats, target: Floats, slack: Floats, one_sided: bool,
    beta: Floats, of_words: Floats, of_rest: Floats, stream: Stream, n_passes: Int, settled: float,
) -> None:  # fmt: skip
    """Passes over the documents for sixteen tasks; updates beta (documents, 16) and the weights (columns, 16).

    A target that is NaN has no say. `slack` (documents, 16) is s.
    """
    n_documents, n_rest = rest.shape
    score, step = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32)
    order = np.arange(n_documents)
    for _ in range(n_passes):
        for last in range(n_documents - 1, 0, -1):
            other = integer(stream, last + 1)
            order[last], order[other] = order[other], order[last]
        largest = 0.0
        for i in range(n_documents):
            d = order[i]
            for lane in range(LANES):
                score[lane] = np.float32(0)
            for j in range(ptr[d], ptr[d + 1]):
                w, x = index[j], value[j]
                for lane in range(LANES):
                    score[lane] += x * of_words[w, lane]
            for k in range(n_rest):
                x = rest[d, k]
                for lane in range(LANES):
                    score[lane] += x * of_rest[k, lane]
            moved = 0.0
            for lane in range(LANES):
                t = target[d, lane]
                step[lane] = np.float32(0)
                if t == t:  # NaN is not itself
                    s = slack[d, lane]
                    new = beta[d, lane] + (t - score[lane] - s * beta[d, lane]) / (norm[d] + s)
                    if one_sided and t * new < np.float32(0):
                        new = np.float32(0)
                    step[lane] = new - beta[d, lane]
                    beta[d, lane] = new
                    moved = max(moved, abs(step[lane]) * norm[d])
            if moved > 0.0:
                largest = max(largest, moved)
                for j in range(ptr[d], ptr[d + 1]):
                    w, x = index[j], value[j]
                    for lane in range(LANES):
                        of_words[w, lane] += x * step[lane]
                for k in range(n_rest):
                    x = rest[d, k]
                    for lane in range(LANES):
                        of_rest[k, lane] += x * step[lane]
        if largest <= settled:
            break


def fit_weights(
    table: Table, targets: Floats, weight: Floats, strength: float | Floats, one_sided: bool, seed: int, pool: Pool,
    n_passes: int,
) -> Weights:  # fmt: skip
    """The weights of all tasks for targets (documents, tasks; NaN: not known), which count by `weight`.

    `strength` is C, the same for all tasks or one of each.
    """
    words, rest = table.words, table.rest
    norm = (np.asarray(words.multiply(words).sum(1)).ravel() + np.einsum("dj,dj->d", rest, rest)).astype(np.float32)
    n_documents, n_tasks = targets.shape
    half = np.broadcast_to(0.5 / np.asarray(strength, np.float64), n_tasks)
    found = Weights(np.zeros((words.shape[1], n_tasks)), np.zeros((rest.shape[1], n_tasks)))
    ptr, index = words.indptr.astype(np.int64), words.indices.astype(np.int32)

    def work(first: int) -> None:
        tasks = slice(first, min(first + LANES, n_tasks))
        n = tasks.stop - tasks.start
        target = np.full((n_documents, LANES), np.nan, np.float32)
        slack = np.ones((n_documents, LANES), np.float32)
        target[:, :n] = np.where(weight[:, tasks] > 0, targets[:, tasks], np.nan)
        np.divide(half[tasks], weight[:, tasks], out=slack[:, :n], where=weight[:, tasks] > 0)
        of_words, of_rest = (np.zeros((n, LANES), np.float32) for n in (words.shape[1], rest.shape[1]))
        beta = np.zeros((n_documents, LANES), np.float32)
        descend(
            ptr, index, words.data, rest, norm, target, slack, one_sided, beta, of_words, of_rest,
            new_stream(seed, REFIT, 0, first), n_passes, SETTLED,
        )  # fmt: skip
        found.words[:, tasks] = of_words[:, :n]
        found.rest[:, tasks] = of_rest[:, :n]

    pool.map(work, range(0, n_tasks, LANES))
    return found

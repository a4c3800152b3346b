"""Left-to-right: log p(words of a document | φ, α) by particles that read the document token by token.

A particle holds topics of the tokens read so far. Before it reads token n it moves earlier topics by Gibbs steps, which
leave p(z_<n | w_<n) unchanged; it then foretells the token,

    p(w_n | z_<n) = Σ_k φ_kw (n_k + α_k) / (n − 1 + Σα),

multiplies its weight by that, and draws the topic z_n. The mean weight of the particles is an unbiased estimate of the
probability of the document, for any number of particles and of moves: in expectation the weighted particles have mass
p(z_<n, w_<n) at every n, since moves leave this measure as it is and a token multiplies it by p(w_n, z_n | z_<n).

When few particles hold most of the weight they are drawn anew (systematic resampling), each as often on average as its
weight says, so that the measure stays the same; what has been multiplied until then is taken out as a factor.

Wallach, Murray, Salakhutdinov & Mimno (2009) take the product over tokens of the average over particles that never see
each other; that has little noise, but is not unbiased. Buntine (2009) looks into it. Cost: O(N²K) for each particle of
a document of N tokens, O(N·n_moves·K) with a limit on the moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints, Keys, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import LEFT_TO_RIGHT, integer, seed_stream, uniform
from topoi._machine.simd import LANES, aligned_zeros, draw_topic, new_sums, pad, padded
from topoi.chain.alpha import AlphaRows, DocumentAlpha
from topoi.corpus import Corpus
from topoi.corpus.checks import running_total

FEW = 0.5  # particles are drawn anew when the effective number of them falls below this share
PIECES = 64  # documents are cut into so many pieces of about the same cost


@kernel
def move_earlier(
    rows: Ints, n: Int, z: Ints, n_moves: Int, stream: Stream, n_d: Floats, p: Floats, alpha: Floats, phi: Floats,
    scale: Floats,
) -> None:  # fmt: skip
    """Gibbs steps on the topics of tokens 0 … n − 1: on each in turn, or on `n_moves` picked at random if that is less.

    Changes z and the counts n_d.
    """
    every = n_moves < 0 or n_moves >= n
    for j in range(n if every else n_moves):
        i = j if every else integer(stream, n)
        n_d[z[i]] -= 1.0
        k = draw_topic(n_d, rows[i], p, uniform(stream), alpha, phi, 0.0, scale)
        z[i] = k
        n_d[k] += 1.0


@kernel
def draw_anew(weight: Floats, stream: Stream, z: Ints, n: Int, n_d: Floats) -> None:
    """Replace the particles by as many drawn from them, r weight[r] times on average; all weights become 1.

    Systematic resampling: one uniform number for all. The weights sum to the number of particles.
    """
    n_particles = weight.shape[0]
    source = np.zeros(n_particles, np.int64)
    u = uniform(stream)
    below = 0.0
    r = 0
    for copy in range(n_particles):
        while r < n_particles - 1 and below + weight[r] <= copy + u:
            below += weight[r]
            r += 1
        source[copy] = r
    old_z = z[:, :n].copy()
    old_n_d = n_d.copy()
    for copy in range(n_particles):
        r = source[copy]
        for i in range(n):
            z[copy, i] = old_z[r, i]
        for k in range(n_d.shape[1]):
            n_d[copy, k] = old_n_d[r, k]
        weight[copy] = 1.0


@kernel
def read_document(
    rows: Ints, n_particles: Int, n_moves: Int, stream: Stream, alpha: Floats, alpha_sum: float, phi: Floats,
    scale: Floats,
) -> float:  # fmt: skip
    """Estimate log p(tokens) of one document, whose tokens are rows of `phi`; advances the stream."""
    n_tokens = rows.shape[0]
    z = np.zeros((n_particles, n_tokens), np.int64)
    n_d = np.zeros((n_particles, alpha.shape[0]))
    weight = np.ones(n_particles)
    p = new_sums(alpha)
    score = 0.0
    for n in range(n_tokens):
        mean = 0.0
        for r in range(n_particles):
            move_earlier(rows, n, z[r], n_moves, stream, n_d[r], p, alpha, phi, scale)
            k = draw_topic(n_d[r], rows[n], p, uniform(stream), alpha, phi, 0.0, scale)
            if k < 0:  # no topic has the word
                return -np.inf
            total = 0.0  # of the weights of all topics, by which `draw_topic` has just drawn
            for lane in range(p.shape[0] - LANES, p.shape[0]):
                total += p[lane]
            z[r, n] = k
            n_d[r, k] += 1.0
            weight[r] *= total / (n + alpha_sum)
            mean += weight[r] / n_particles
        # The mean goes into the score, so that the weights stay near 1.
        score += math.log(mean)
        squares = 0.0
        for r in range(n_particles):
            weight[r] /= mean
            squares += weight[r] * weight[r]
        if n_particles * n_particles / squares < FEW * n_particles:
            draw_anew(weight, stream, z, n + 1, n_d)
    return score


@kernel
def read_documents(
    rows: Ints, doc_ptr: Ints, first: Int, last: Int, keys: Keys, seed: Int, n_particles: Int, n_moves: Int,
    prior: AlphaRows, sums: Floats, phi: Floats, scale: Floats, score: Floats,
) -> None:  # fmt: skip
    """Fill score[first:last] with the estimates of these documents, each with a random stream of its own.

    `sums` has Σα of every row of the prior.
    """
    stream = np.zeros(3, np.uint64)
    for d in range(first, last):
        seed_stream(stream, seed, LEFT_TO_RIGHT, 0, keys[d])
        tokens = rows[doc_ptr[d] : doc_ptr[d + 1]]
        alpha, alpha_sum = prior.rows[prior.row_of[d]], sums[prior.row_of[d]]
        score[d] = read_document(tokens, n_particles, n_moves, stream, alpha, alpha_sum, phi, scale)


def log_documents(
    rows_of: Callable[[NDArray[np.int64]], Floats], alpha: DocumentAlpha, corpus: Corpus, n_particles: int,
    n_moves: int, seed: int, pool: Pool,
) -> NDArray[np.float64]:  # fmt: skip
    """Estimates of log p(words of d | φ, α) for every document; 0 for an empty one. `n_moves` < 0: all.

    `rows_of` gives φ (len(words), K) of some words.
    A document's stream is keyed by its words: the estimate is the same alone or in a batch, on any number of threads.
    """
    used, rows = np.unique(corpus.words, return_inverse=True)
    n_topics = alpha.rows.shape[1]
    table = aligned_zeros((len(used), pad(n_topics)), np.float64)
    table[:, :n_topics] = rows_of(used.astype(np.int64))
    prior = alpha.for_kernels(corpus.n_documents, np.float64, table.shape[1])
    scale = padded(np.ones(n_topics), np.float64)
    score = np.zeros(corpus.n_documents)
    keys, sums = corpus.document_keys, alpha.rows.sum(1)
    lengths = corpus.doc_lengths
    cost = running_total(lengths * (lengths if n_moves < 0 else np.minimum(lengths, n_moves + 1)))
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], PIECES + 1)[1:-1])
    ptr = np.concatenate(([0], cuts, [corpus.n_documents]))

    def work(piece: int) -> None:
        read_documents(
            rows, corpus.doc_ptr, ptr[piece], ptr[piece + 1], keys, np.uint64(seed), n_particles, n_moves, prior,
            sums, table, scale, score,
        )  # fmt: skip

    pool.map(work, range(len(ptr) - 1))
    return score

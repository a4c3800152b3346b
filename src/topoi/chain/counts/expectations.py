"""Expected counts in place of drawn ones: what documents make of their tokens given φ, and words of all documents.

    γ_dwk ∝ (n_dk + α_k) · φ_wk,    n_dk = Σ_w times_dw γ_dwk,    n_wk = Σ_d times_dw γ_dwk

A document finds its n_d by itself: it begins with its prior's shares and takes up one distinct word after another; each
moves it by a step that becomes smaller. Then a word sums γ, made anew of the n_d of its documents and the same φ, over
them. So γ is never kept, and n_d only of some documents at a time; both sides are parallel without anyone adding to the
same number, and a sum is in the order of the documents, whoever computes it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Float, Floats, Int, Ints, PerWord
from topoi._machine.jit import kernel, of_word
from topoi._machine.lanes import blend, weigh_topics
from topoi.chain.alpha import AlphaRows

#: How often a document takes up each of its words: more than two gain little.
DOCUMENT_PASSES = 2
#: Steps that a document takes are 1/(10 + v)^0.9 for its distinct words v = 1, 2, …, and shrink no more after so many.
STEPS = 4096


class Seen(NamedTuple):
    """Some documents, as words ask for them: a row of expected counts each, and their distinct words in order."""

    counts: Floats  # n_dk + α_dk (documents, padded topics): words need not know which α a document has
    word: NDArray[np.int32]
    row: NDArray[np.int32]  # of the document of a word
    times: Floats  # how often the document has the word


def document_steps(real: type[np.floating[Any]]) -> Floats:
    """What is left of a document's expected counts after a token of its v-th word: 1 − 1/(10 + v)^0.9."""
    return np.array([1.0 - math.pow(10.0 + v, -0.9) for v in range(1, STEPS + 1)], real)


@kernel
def whole_power(x: Float, n: Int) -> Float:
    """x to the power of a whole number n ≥ 1, by squares: the same bits with and without the compiler."""
    result = x
    n -= 1
    while n > 0:
        if n & 1:
            result = result * x
        x = x * x
        n >>= 1
    return result


@kernel
def expect_document(
    words: Ints, lo: Int, hi: Int, table: Floats, offsets: PerWord, scale: Floats, alpha: Floats, steps: Floats,
    n_d: Floats, weight: Floats,
) -> None:  # fmt: skip
    """Fill n_d with the expected topic counts of the document with tokens lo … hi − 1, whose words ascend."""
    real = table.dtype.type
    total = real(0)
    for k in range(alpha.shape[0]):
        total += alpha[k]
    length = real(hi - lo)
    for k in range(alpha.shape[0]):
        n_d[k] = alpha[k] / total * length
    v = 0
    for _ in range(DOCUMENT_PASSES):
        i = lo
        while i < hi:
            w = words[i]
            times = 1
            while i + times < hi and words[i + times] == w:
                times += 1
            i += times
            mass = weigh_topics(n_d, w, weight, alpha, table, of_word(offsets, w), scale)
            keep = whole_power(steps[min(v, steps.shape[0] - 1)], times)
            v += 1
            if mass > real(0):
                blend(n_d, keep, length * (real(1) - keep) / mass, weight)


@kernel
def expect_documents(
    words: Ints, doc_ptr: Ints, first: int, step: int, begin: int, end: int, table: Floats, offsets: PerWord,
    scale: Floats, prior: AlphaRows, steps: Floats, counts: Floats,
) -> None:  # fmt: skip
    """Fill counts[begin:end], where row r has n_d + α_d of document d = first + r · step."""
    weight = np.zeros(table.shape[1], table.dtype)
    for row in range(begin, end):
        d = first + row * step
        alpha, n_d = prior.rows[prior.row_of[d]], counts[row]
        expect_document(words, doc_ptr[d], doc_ptr[d + 1], table, offsets, scale, alpha, steps, n_d, weight)
        for k in range(alpha.shape[0]):
            n_d[k] += alpha[k]


@kernel
def list_words(words: Ints, doc_ptr: Ints, first: Int, step: Int, word: Ints, row: Ints, times: Floats) -> Int:
    """List the distinct words of documents first, first + step, …, each with the row of its document; returns how many.

    There is room for one for each token.
    """
    n = 0
    for number, d in enumerate(range(first, doc_ptr.shape[0] - 1, step)):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            if i > doc_ptr[d] and words[i] == words[i - 1]:
                times[n - 1] += 1
            else:
                word[n] = words[i]
                row[n] = number
                times[n] = 1
                n += 1
    return n


@kernel
def expect_words(
    seen: Seen, order: Ints, word_ptr: Ints, edges: Ints, table: Floats, offsets: PerWord, scale: Floats, base: Floats,
    keep: float, gain: float, growth: float, totals: Floats,
) -> None:  # fmt: skip
    """Blend what the documents `seen` make of words into the table, and add it to the total of the words' block.

    Blocks of words begin and end at `edges`. Equivalent to ``table[w] = table[w] * keep + s[w] * gain + base[w] *
    growth``, where s[w] = Σ_d times_dw γ_dwk is over the pairs ``order[word_ptr[w]:word_ptr[w + 1]]`` of `seen`.
    """
    real = table.dtype.type
    sums, weight = np.zeros(table.shape[1], table.dtype), np.zeros(table.shape[1], table.dtype)
    nothing = np.zeros(table.shape[1], table.dtype)  # α is in the counts already
    for block in range(edges.shape[0] - 1):
        for w in range(edges[block], edges[block + 1]):
            if word_ptr[w] < word_ptr[w + 1] or keep != 1.0:
                sums[:] = 0
                offset = of_word(offsets, w)
                for j in range(word_ptr[w], word_ptr[w + 1]):
                    pair = order[j]
                    mass = weigh_topics(seen.counts[seen.row[pair]], w, weight, nothing, table, offset, scale)
                    if mass > real(0):
                        blend(sums, real(1), seen.times[pair] / mass, weight)
                for k in range(totals.shape[1]):
                    totals[block, k] += sums[k]
                blend(table[w], keep, gain, sums)
            if base.shape[0] > 0:
                for k in range(base.shape[1]):
                    table[w, k] += real(growth) * base[w, k]

"""Draws with a tilt: the responses of a document pull its tokens towards topics that score well.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_k) · φ_wk · exp(g_d(k; m⁻)),      m_l = Σ_k η_kl n_dk
    g_d(k; m) = Σ_l [ κ_dl η_kl / N − ω_dl (η_kl² + 2 η_kl m_l) / (2N²) ]

The tilt of all K topics costs O(K · tasks). It is made once for a *part* of the document, some `part` tokens, with the
scores m of the tokens outside the part scaled up to the whole document, and multiplied into the word factor's scale:
the dense draw then costs what it costs without a tilt. A Metropolis–Hastings step corrects the difference, O(tasks) and
only for tokens that want to move. Nothing in the table depends on a token that it is used for, so the step is exact
(the two halves of DESIGN §2, with more and smaller parts: the smaller a part, the better its table). Parts are
interleaved, since neighbours are the same word. With part = 1 the table is the conditional itself: Gibbs MedLDA.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, PerWord, Stream
from topoi._machine.jit import kernel, of_word
from topoi._machine.lanes import add_weighted, add_weighted_squares
from topoi._machine.rng import branch, uniform
from topoi._machine.simd import draw_topic, new_sums
from topoi.chain.alpha import AlphaRows
from topoi.chain.samplers._document import count_document

# Tilts below e^−FLOOR of the best topic's are raised to it: the step corrects any proposal that is positive. The table
# of a larger part is only a guess: too sure of itself, it would hardly ever let a token leave a topic of which it
# thinks little, so it is kept flatter (docs/supervised.md).
FLOOR = 60.0
FLOOR_OF_PART = 4.0


class TiltInput(NamedTuple):
    """What tilts are made of: weights η (tasks, K padded), the same topic by topic, and κ and ω of every document."""

    eta: Floats
    eta_t: Floats
    kappa: Floats
    omega: Floats


@kernel
def fill_curve(eta: Floats, b: Floats, curve: Floats) -> None:
    """curve[k] = ½ Σ_l b_l η_lk²: what the tilts of all parts of a document have in common."""
    curve[:] = 0
    add_weighted_squares(eta, (0.5 * b).astype(curve.dtype), curve)


@kernel
def fill_tilt(eta: Floats, linear: Floats, curve: Floats, n_topics: Int, floor: float, tilt: Floats) -> None:
    """tilt[k] ∝ exp(Σ_l linear_l η_lk − curve_k), largest 1, roughly: what is proposed is corrected as it is.

    The exponential is (1 + x/256 + …)^256 by eight squarings: plain arithmetic, which vectorises.
    """
    width = tilt.shape[0]
    real = tilt.dtype.type  # constants of the table's type: the same arithmetic compiled and interpreted
    for k in range(width):
        tilt[k] = -curve[k]
    add_weighted(eta, linear, tilt)
    best = tilt[0]
    for k in range(n_topics):  # without the padding, whose 0 may be far above all topics
        best = max(best, tilt[k])
    for k in range(width):
        x = min(max(tilt[k] - best, -real(floor)), real(0.0)) * real(0.00390625)
        y = real(1.0) + x * (real(1.0) + x * (real(0.5) + x * (real(0.16666667) + x * real(0.041666667))))
        y = y * y
        y = y * y
        y = y * y
        y = y * y
        y = y * y
        y = y * y
        y = y * y
        tilt[k] = y * y


@kernel
def start_document(
    z: Ints, lo: Int, hi: Int, kappa: Floats, omega: Floats, eta_t: Floats, a: Floats, b: Floats, m: Floats
) -> bool:
    """Fill a_l = κ_l/N, b_l = ω_l/N² and the scores m of the document lo … hi − 1; returns whether it has a label.

    Without one they are 0, and so is its tilt. `eta_t` has the weights by topic: those of one token are neighbours.
    """
    n_tasks = eta_t.shape[1]
    n = hi - lo
    labelled = False
    for task in range(n_tasks):
        labelled = labelled or (n > 0 and omega[task] != 0.0)
    a[:] = 0.0
    b[:] = 0.0
    m[:] = 0.0
    if labelled:
        for task in range(n_tasks):
            a[task] = kappa[task] / n
            b[task] = omega[task] / (np.float64(n) * n)
        for i in range(lo, hi):
            k = z[i]
            for task in range(n_tasks):
                m[task] += eta_t[k, task]
    return labelled


@kernel
def term(eta_t: Floats, a: Floats, b: Floats, m: Floats, s: Int, t: Int, task: Int) -> float:
    """What one task adds to `difference`."""
    change = np.float64(eta_t[t, task]) - eta_t[s, task]
    return change * (a[task] - b[task] * (m[task] + 0.5 * change))


@kernel
def difference(eta_t: Floats, a: Floats, b: Floats, m: Floats, s: Int, t: Int) -> float:
    """g(t; m⁻) − g(s; m⁻), where m still has the token at topic s."""
    # Four sums side by side: a single one would make every addition wait for the one before it.
    sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
    n_tasks = eta_t.shape[1]
    for task in range(0, n_tasks - 3, 4):
        sum_0 += term(eta_t, a, b, m, s, t, task)
        sum_1 += term(eta_t, a, b, m, s, t, task + 1)
        sum_2 += term(eta_t, a, b, m, s, t, task + 2)
        sum_3 += term(eta_t, a, b, m, s, t, task + 3)
    for task in range(n_tasks - n_tasks % 4, n_tasks):
        sum_0 += term(eta_t, a, b, m, s, t, task)
    return (sum_0 + sum_1) + (sum_2 + sum_3)


@kernel
def move_scores(eta_t: Floats, m: Floats, s: Int, t: Int) -> None:
    """Keep the scores m up to date when a token goes from topic s to topic t."""
    for task in range(eta_t.shape[1]):
        m[task] += np.float64(eta_t[t, task]) - eta_t[s, task]


@kernel
def count_parts(n: Int, labelled: bool, part: Int) -> Int:
    """Into how many parts a document of n tokens falls: at least two, so that each has others to learn from."""
    return min(n, max(2, (n + part - 1) // part)) if labelled else min(n, 1)


@kernel
def slopes(
    z: Ints, lo: Int, hi: Int, first: Int, step: Int, eta_t: Floats, a: Floats, b: Floats, m: Floats, linear: Floats
) -> Int:
    """The tilt Σ_l η_l (linear_l − ½ b_l η_l) of the part first, first + step, … of a document, from its others.

    Fills linear; returns the number of tokens in the part.
    """
    n = hi - lo
    inside = (hi - first + step - 1) // step
    for task in range(eta_t.shape[1]):
        linear[task] = m[task]
    for i in range(first, hi, step):
        k = z[i]
        for task in range(eta_t.shape[1]):
            linear[task] -= eta_t[k, task]
    # One token misses itself alone, and then its table is exact; a larger part also misses what its others add.
    scale = 0.0 if inside == n else (1.0 if inside == 1 else n / (n - inside))
    for task in range(eta_t.shape[1]):
        linear[task] = a[task] - b[task] * linear[task] * scale
    return inside


@kernel
def sweep_tilted(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, z: Ints, table: Floats, offsets: PerWord, scale: Floats,
    prior: AlphaRows, n_k: Floats | None, beta_sum: float, eta: Floats, eta_t: Floats, kappa: Floats, omega: Floats,
    part: Int, stream: Stream,
) -> tuple[Int, Int]:  # fmt: skip
    """Move every token of documents first … last − 1; returns (wanted to move, moved).

    With an n_k, table and scale are counts that are kept up to date; without (None) they are fixed, and the compiler
    leaves out what keeps them.
    """
    width = table.shape[1]
    n_tasks = eta.shape[0]
    n_topics = eta_t.shape[0]
    n_d = np.zeros(width, table.dtype)
    p = new_sums(prior.rows[0])
    one = table.dtype.type(1)
    tilt = np.ones(width, table.dtype)
    tilted_scale = np.zeros(width, table.dtype)
    a = np.zeros(n_tasks)
    b = np.zeros(n_tasks)
    m = np.zeros(n_tasks)
    linear = np.zeros(n_tasks, table.dtype)
    curve = np.zeros(width, table.dtype)
    wanted = 0
    moved = 0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        own = branch(stream, d - first) if n_k is None else stream  # as the samplers without a tilt have it
        alpha = prior.rows[prior.row_of[d]]
        count_document(z, lo, hi, n_d)
        labelled = start_document(z, lo, hi, kappa[d], omega[d], eta_t, a, b, m)
        if labelled:
            fill_curve(eta, b, curve)
        else:
            for k in range(width):
                tilt[k] = 1.0
                tilted_scale[k] = scale[k]
        n_parts = count_parts(hi - lo, labelled, part)
        for number in range(n_parts):
            if labelled:
                inside = slopes(z, lo, hi, lo + number, n_parts, eta_t, a, b, m, linear)
                fill_tilt(eta, linear, curve, n_topics, FLOOR if inside == 1 else FLOOR_OF_PART, tilt)
                for k in range(width):
                    tilted_scale[k] = scale[k] * tilt[k]
            for i in range(lo + number, hi, n_parts):
                w = words[i]
                old = np.int64(z[i])
                n_d[old] -= one
                if n_k is not None:
                    table[w, old] -= one
                    n_k[old] -= 1
                    scale[old] = 1.0 / (n_k[old] + beta_sum)
                    tilted_scale[old] = scale[old] * tilt[old]
                new = draw_topic(n_d, w, p, uniform(own), alpha, table, of_word(offsets, w), tilted_scale)
                if new < 0:
                    new = old
                if labelled and new != old:
                    wanted += 1
                    log_ratio = difference(eta_t, a, b, m, old, new) + math.log(tilt[old] / tilt[new])
                    if log_ratio >= 0.0 or uniform(own) < math.exp(log_ratio):
                        moved += 1
                        move_scores(eta_t, m, old, new)
                    else:
                        new = old
                n_d[new] += one
                if n_k is not None:
                    table[w, new] += one
                    n_k[new] += 1
                    scale[new] = 1.0 / (n_k[new] + beta_sum)
                    tilted_scale[new] = scale[new] * tilt[new]
                z[i] = new
    return wanted, moved

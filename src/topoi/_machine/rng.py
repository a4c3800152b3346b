"""Random streams that are a function of (seed, purpose, sweep, block), and scalar draws from them.

A stream is an array of three 64-bit words: two words of key and a counter. Draw number `i` is a hash of key and
counter, so nothing is shared between streams, none depends on how much another has used, and any part of a run can be
repeated alone. The hash is SplitMix64's finaliser (Steele, Lea, Flood 2014; Stafford's variant 13) with the second key
word mixed in between its two multiplications: streams whose counters happen to meet still differ.

Every function here works inside a kernel and in plain Python, with the same result.
"""

from __future__ import annotations

import math

import numpy as np

from topoi._machine.arrays import Int, Stream
from topoi._machine.jit import kernel

U64 = np.uint64
GOLDEN = U64(0x9E3779B97F4A7C15)
_MIX_1 = U64(0xBF58476D1CE4E5B9)
_MIX_2 = U64(0x94D049BB133111EB)
_LOW_32 = U64(0xFFFFFFFF)

# Purposes: what a stream is for. A new use gets a new number; numbers are never reused (they fix the bytes of a fit).
INIT = 1  # first topics of the tokens
TOPICS = 2  # topics of the tokens of a block of documents
WORD_FACTOR = 3  # the word factor φ of a block of words
INFER = 4  # topics of a new document
CHAIN = 5  # seeds of several chains
RESPONSE = 6  # auxiliary variables of the responses of a document
WEIGHTS = 7  # weights of a task
TOPIC_PRIOR = 8  # the prior of the topics of a document
WORD_PRIOR = 9  # the prior of the words of a topic
COLUMNS = 11  # weights of columns that are known in advance, of a task
OWN = 12  # parameters of a loss of its own, of a task
REFIT = 13  # the order in which documents move the weights of a group of tasks
DIVISION = 14  # the parts of topics that were learned as one
TABLES = 15  # tables of the topics of a block of documents, given α of each
HALVES = 101  # halves of test documents
LEFT_TO_RIGHT = 102  # topics of a test document, token by token
FOLDS = 103  # which documents are held out together
COMPOSITION = 104  # topic shares of documents, for a regression on covariates


@kernel
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits (SplitMix64's finaliser)."""
    x = (x ^ (x >> U64(30))) * _MIX_1
    x = (x ^ (x >> U64(27))) * _MIX_2
    return x ^ (x >> U64(31))


@kernel
def seed_stream(stream: Stream, seed: Int, purpose: Int, sweep: Int, block: Int) -> None:
    """Point `stream` (three uint64, overwritten) at the start of the stream (seed, purpose, sweep, block)."""
    a = mix(U64(seed) + GOLDEN)
    a = mix((a ^ U64(purpose)) + GOLDEN)
    a = mix((a ^ U64(sweep)) + GOLDEN)
    a = mix((a ^ U64(block)) + GOLDEN)
    stream[0] = mix(a + GOLDEN)
    stream[1] = mix(a ^ _MIX_2)
    stream[2] = U64(0)


def new_stream(seed: int, purpose: int, sweep: int = 0, block: int = 0) -> Stream:
    """The stream (seed, purpose, sweep, block), at its start."""
    stream = np.empty(3, np.uint64)
    seed_stream(stream, U64(seed), U64(purpose), U64(sweep), U64(block))
    return stream


@kernel
def branch(stream: Stream, number: Int) -> Stream:
    """A stream of its own for part `number` of what `stream` is for: parts may then run in any order."""
    out = np.empty(3, np.uint64)
    a = mix(stream[0] + mix(U64(number) + GOLDEN))
    out[0] = mix(a + GOLDEN)
    out[1] = mix(a ^ stream[1])
    out[2] = U64(0)
    return out


@kernel
def bits(stream: Stream) -> np.uint64:
    """The next 64 random bits; advances the counter of `stream`."""
    i = stream[2] + U64(1)
    stream[2] = i
    x: np.uint64 = stream[0] + i * GOLDEN
    x = (x ^ (x >> U64(30))) * _MIX_1
    x = x ^ stream[1]
    x = (x ^ (x >> U64(27))) * _MIX_2
    return x ^ (x >> U64(31))


@kernel
def uniform(stream: Stream) -> float:
    """A float64 in the open interval (0, 1): the midpoint of one of 2⁵² cells, so its logarithm is always finite."""
    return (np.float64(np.int64(bits(stream) >> U64(12))) + 0.5) * 2.220446049250313e-16


@kernel
def integer(stream: Stream, n: Int) -> np.int64:
    """An integer in 0 … n − 1, 1 ≤ n < 2³², each with exactly the same probability (Lemire 2019)."""
    m = (bits(stream) >> U64(32)) * U64(n)
    if (m & _LOW_32) < U64(n):
        threshold = (U64(4294967296) - U64(n)) % U64(n)
        while (m & _LOW_32) < threshold:
            m = (bits(stream) >> U64(32)) * U64(n)
    return np.int64(m >> U64(32))


# ---- Scalar draws --------------------------------------------------------------------------------------------------
# Plain Python raises where machine code gives inf or nan (log of 0, exp of 1000, a division by a zero), so the draws
# below never reach such a place: that is what keeps compiled and interpreted results the same.

_LARGEST_SKIP = np.int64(9223372036854775807)
# log k! − Stirling's first terms, (k + ½)·log k − k + ½·log 2π, for k = 1 … 9 (entry 0 is not used).
_STIRLING_ERROR = (
    0.0,
    0.08106146679532726,
    0.0413406959554093,
    0.027677925684998338,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
)


@kernel
def normal(stream: Stream) -> float:
    """A standard normal draw: ratio of uniforms with quadratic bounds (Leva 1992)."""
    # Of the methods without tables or a kept second value this one is the quickest: 1.37 pairs of uniforms, and a
    # logarithm in one draw out of a hundred (Box–Muller: a logarithm, a root and a cosine in each).
    while True:
        u = uniform(stream)
        v = 1.7156 * (uniform(stream) - 0.5)  # never 0: `uniform` gives midpoints, and ½ is none
        x = u - 0.449871
        y = abs(v) + 0.386595
        q = x * x + y * (0.196 * y - 0.25472 * x)
        # Inside the inner ellipse: in the region. Outside the outer one: not. Between: the region's own equation.
        if q < 0.27597 or (q <= 0.27846 and v * v <= -4.0 * u * u * math.log(u)):
            return v / u


@kernel
def exponential(stream: Stream) -> float:
    """A draw from the exponential distribution of mean 1, by inversion."""
    return -math.log(uniform(stream))


@kernel
def _gamma_from_one(stream: Stream, shape: float) -> float:
    """A gamma draw of scale 1 for shape ≥ 1 (Marsaglia and Tsang 2000)."""
    d = shape - 0.3333333333333333
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(stream)
        square = x * x
        if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return d * v


@kernel
def log_gamma(stream: Stream, shape: float) -> float:
    """The logarithm of a gamma draw of scale 1: finite where the draw itself would underflow (shape ≪ 1)."""
    if shape >= 1.0:
        return math.log(_gamma_from_one(stream, shape))
    # G(shape) = G(shape + 1) · U^(1/shape), in the log domain.
    log_power = math.log(uniform(stream)) / shape
    return math.log(_gamma_from_one(stream, shape + 1.0)) + log_power


@kernel
def gamma(stream: Stream, shape: float) -> float:
    """A gamma draw of scale 1 for any shape > 0; below shape ≈ 0.05 it may underflow to 0 (see `log_gamma`)."""
    if shape >= 1.0:
        return _gamma_from_one(stream, shape)
    return math.exp(log_gamma(stream, shape))


@kernel
def log_beta(stream: Stream, a: float, b: float) -> tuple[float, float]:
    """The logarithms of x and of 1 − x, where x is a beta draw: both finite where x itself would be 0 or 1."""
    first, second = log_gamma(stream, a), log_gamma(stream, b)
    best = max(first, second)
    total = best + math.log(math.exp(first - best) + math.exp(second - best))
    return first - total, second - total


# Trials of a binomial draw that are made one by one, or by their gaps.
_FEW_TRIALS = 32


@kernel
def binomial(stream: Stream, n: Int, p: float) -> np.int64:
    """A binomial draw in O(log n) steps, for any n ≥ 0 and 0 ≤ p ≤ 1.

    Of n uniform numbers the one of rank i is a beta draw. It tells on which side of p either i or n − i + 1 of them
    are, and the others are uniform again on what is left (Relles 1972; Ahrens and Dieter 1974).
    """
    found = np.int64(0)
    left = np.int64(n)
    while left > _FEW_TRIALS and 0.0 < p < 1.0:
        rank = left // 2 + 1
        x = gamma(stream, float(rank))
        x = x / (x + gamma(stream, float(left + 1 - rank)))
        if x <= p:
            found += rank
            left -= rank
            p = (p - x) / (1.0 - x)
        else:
            left = rank - 1
            p = p / x
    if p >= 1.0:
        return found + left
    for _ in range(left):
        if uniform(stream) <= p:
            found += 1
    return found


@kernel
def _log_poisson(k: float, rate: float) -> float:
    """Log probability of k under a Poisson distribution, without the cancellation of k·log(rate) against log k!."""
    if k < 1.0:
        return -rate
    if k < 10.0:
        error = _STIRLING_ERROR[np.int64(k)]
    else:
        r = 1.0 / (k * k)
        error = (0.08333333333333333 - r * (0.002777777777777778 - r * (0.0007936507936507937 - r / 1680.0))) / k
    d = (rate - k) / k
    return k * (math.log1p(d) - d) - 0.5 * math.log(6.283185307179586 * k) - error


@kernel
def _poisson_by_inversion(stream: Stream, first: Int, p: float, rate: float) -> np.int64:
    """Walk up from the value `first`, which has probability `p`; for rates below 10."""
    while True:
        u = uniform(stream)
        k = first
        term = p
        # Rounding may leave a rest of u ≈ 1e-16 that no term can use up; past 100 nothing is left: draw anew.
        while k < 100:
            if u <= term:
                return np.int64(k)
            u -= term
            k += 1
            term *= rate / k


@kernel
def poisson(stream: Stream, rate: float) -> np.int64:
    """A Poisson draw for 0 ≤ rate ≤ 10¹⁵: inversion below 10, Hörmann's (1993) transformed rejection PTRS above."""
    if rate < 10.0:
        return _poisson_by_inversion(stream, 0, math.exp(-rate), rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        side = 0.5 - abs(u)
        # A float until accepted: close to the sides the candidate may be beyond any integer type.
        k = np.floor((2.0 * a / side + b) * u + rate + 0.43)
        if side >= 0.07 and v <= v_r:
            return np.int64(k)
        if k < 0.0 or (side < 0.013 and v > side):
            continue
        if math.log(v * inverse_alpha / (a / (side * side) + b)) <= _log_poisson(k, rate):
            return np.int64(k)


@kernel
def zero_truncated_poisson(stream: Stream, rate: float) -> np.int64:
    """A Poisson draw given that it is at least 1; rate 0 gives the limit, 1."""
    if rate <= 0.0:
        return np.int64(1)
    if rate < 10.0:
        return _poisson_by_inversion(stream, 1, rate / math.expm1(rate), rate)
    while True:  # a zero has probability below 5e-5 here
        k = poisson(stream, rate)
        if k > 0:
            return k


@kernel
def geometric_skip(stream: Stream, log_fail: float) -> np.int64:
    """Failures before the first success, log_fail = log(1 − p); at most 2⁶³ − 1, which p = 0 always gives."""
    # k failures at least ⇔ u ≤ (1 − p)^k ⇔ log u / log_fail ≥ k. The product comes before the quotient, so that
    # neither p = 0 nor a tiny p can divide by zero or leave the range of int64.
    log_u = math.log(uniform(stream))
    if log_u <= 9.2e18 * log_fail:
        return _LARGEST_SKIP
    return np.int64(log_u / log_fail)


@kernel
def inverse_gaussian(stream: Stream, mean: float, shape: float) -> float:
    """An inverse Gaussian draw; mean = inf gives the limit, a Lévy draw shape / ε²."""
    # Michael, Schucany, Haas (1976): the smaller root x of shape·(x − m)² = m²·x·ε², else the other one, m²/x. The
    # textbook root m + m²ε²/2s − … cancels to 0 or below for large m. With Y = mε² and a = Y + √Y·√(Y + 4s) it is
    # 4smY/a² = 2sm/(2s + a), since a² = 2Y·(2s + a); divided through by m, all terms positive and the limit included:
    #     x = 2s / (2r + ε² + |ε|·√(ε² + 4r)),  r = s/m.
    e = abs(normal(stream))
    r = shape / mean
    x = 2.0 * shape / (2.0 * r + e * e + e * math.sqrt(e * e + 4.0 * r))
    if uniform(stream) * (1.0 + x / mean) <= 1.0:  # keep x with probability m/(m + x)
        return x
    return mean * (mean / x)
